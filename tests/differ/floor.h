/* One of the two systems that answer bpf(2): the running kernel, asked by the bare system call, or skep in this process. */
#ifndef DIFFER_FLOOR_H
#define DIFFER_FLOOR_H
#include "gen.h"
#include "sys/sys.h"

struct floor {
	const char *name;
	bool kernel;
	int map[GEN_MAPS], btf;		/* descriptors */
	u32 btf_ids[GEN_KINDS];
	u8 *mapped[GEN_MAPS];		/* values of mappable arrays */
	int tail;			/* program in slot 1 of the prog_array */
	struct sys_caller *caller;	/* skep: who calls */
};

/* caller: who calls skep; the kernel looks at the process. -errno, with a line printed */
int floor_open(struct floor *f, bool kernel, u32 type, struct sys_caller *caller);
void floor_close(struct floor *f);

/* A descriptor or -errno. log may be NULL. */
int floor_load(struct floor *f, const struct gen_program *p, char *log, u32 log_size, u32 log_level);
void floor_drop(struct floor *f, int prog);
u32 floor_verified_insns(struct floor *f, int prog);

struct floor_run {
	int err;
	u32 retval, size;
	u8 data[4096];
};
void floor_test_run(struct floor *f, int prog, const u8 *packet, u32 size, struct floor_run *r);

/* Put the maps of the set (a bit each) as they are before a program. */
void floor_reset_maps(struct floor *f, u32 maps);
/* A digest of what they hold: order and per-CPU placement do not count. */
u64 floor_digest(struct floor *f, u32 map);
long floor_bpf(struct floor *f, u32 cmd, union abi_attr *attr);

#endif
