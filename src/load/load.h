/* .bpf.o files through unmodified libbpf, onto either floor. A .c file is compiled by clang first.
 *
 * On the user floor load makes a magic call and refuses to go on if skep does not answer: as root the kernel would. */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H
#include "base/types.h"
#include "base/log.h"

struct bpf_object;
struct bpf_program;
enum load_floor { LOAD_USER, LOAD_KERNEL };

struct load_opts {
	enum load_floor floor;
	const char *prog;		/* load only this program; NULL: all */
	const char *const *set;		/* "VAR=VALUE" texts, NULL-terminated: globals, typed by BTF, before load */
	const char *const *map;		/* "NAME=FILE" texts: filled after load, typed by BTF */
	bool verbose;
};
struct load_object {
	struct bpf_object *obj;
	enum load_floor floor;
	struct log messages;		/* what libbpf said, verifier log included */
	char *made_from;		/* temporary object compiled from a .c file; owned, unlinked on close */
	const char *failed_prog;	/* program whose load was refused, if that is why */
};
/* 0; -errno with sentences in err. Exit classes: -ENOENT/-EACCES/-ENOEXEC unreadable input, other: rejected. */
int load_open(struct load_object **out, const char *path, const struct load_opts *opts, struct log *err);
int load_load(struct load_object *o, const struct load_opts *opts, struct log *err);
void load_close(struct load_object *o);

#endif
