/* The cases of access.cases and the two verifiers that answer them: skep's and the running kernel's. */
#ifndef ACCESS_H
#define ACCESS_H
#include "base/abi.h"

struct access_case {
	char name[80];
	bool strict, nogpl, unpriv, ours, socket;
	int err; /* 0: accepted */
	char text[512];
	struct bpf_insn *insns; /* map fds are numbers of access_maps */
	u32 n;
	u32 func; /* where the second function begins; 0: none */
};

struct access_map {
	u32 type, key, value, entries, flags;
	bool frozen, lock;
	u32 inner; /* number + 1 of the template */
};
enum { ACCESS_MAPS = 13 };
extern const struct access_map access_maps[ACCESS_MAPS];
extern const u8 access_contents[16];

/* BTF: key type 1, value type with a lock 4, functions 6 and 7. */
const void *access_btf(u32 *size);

struct access_answer {
	int err;
	char text[512];
};
bool access_kernel_open(void); /* false: bpf(2) is not allowed here */
bool access_kernel_unpriv(void); /* does it take programs of callers without rights? */
void access_kernel(const struct access_case *c, struct access_answer *a, bool show);
void access_skep(const struct access_case *c, struct access_answer *a, bool show);

#endif
