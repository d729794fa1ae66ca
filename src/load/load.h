/* .bpf.o files through unmodified libbpf, onto either floor. A .c file is compiled by clang first.
 *
 * On the user floor load makes a magic call and refuses to go on if skep does not answer: as root the kernel would. libbpf
 * remembers what it probed, so one process loads onto one floor only: fork before the first load for the other. */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H
#include "base/types.h"
#include "base/log.h"

struct bpf_object;
struct bpf_program;
struct bpf_map;
struct btf_types;
enum load_floor { LOAD_USER, LOAD_KERNEL };

struct load_opts {
	enum load_floor floor;
	const char *prog;		/* load only this program; NULL: all */
	const char *const *set;		/* "VAR=VALUE" texts, n_set of them: globals, typed by BTF, before load */
	const char *const *map;		/* "NAME=FILE" texts: maps filled after load, typed by BTF */
	u32 n_set, n_map;
};
/* An object file as read once: what was checked is what libbpf opens. */
struct load_file {
	u8 *data;	/* owned */
	size_t size;
};
struct load_object {
	struct bpf_object *obj;
	struct btf_types *btf;		/* the object's own types; NULL when it has none */
	enum load_floor floor;
	bool loaded;			/* bpf(2) took it; what failed later was our filling of maps */
	struct log messages;		/* what libbpf said, verifier log included */
	struct load_file file;
	char *made_from;		/* object compiled from a .c file, in a temporary folder; owned, removed on close */
};

/* Open path (- .c: compile it). 0; -errno with a sentence in err: -ENOENT, -EACCES ...: cannot be read; -ENOEXEC: is no BPF
 * object (or does not compile, the compiler's words follow); -ENODEV: skep does not answer on the user floor. */
int load_open(struct load_object **out, const char *path, const struct load_opts *opts, struct log *err);
/* Set globals, load, fill maps. -errno: -EINVAL with a sentence for --set and --map, else what bpf(2) answered. */
int load_load(struct load_object *o, const struct load_opts *opts, struct log *err);
void load_close(struct load_object *o);

/* The program called name; with name NULL the only one. NULL: none or several, said in err. */
struct bpf_program *load_program(struct load_object *o, const char *name, struct log *err);

/* One PROG_TEST_RUN on whichever floor the object stands on. -errno of bpf(2). */
struct load_test {
	const void *data_in;
	void *data_out;
	u32 size_in, size_out;		/* size_out: room, then bytes written */
	u32 repeat;			/* 0: once */
	u32 retval;
	const void *ctx_in;		/* NULL: no context in; likewise out */
	void *ctx_out;
	u32 ctx_size_in, ctx_size_out;
};
int load_test_run(int prog_fd, struct load_test *t);

/* The object file's sections and the relocations of its code, as text. -errno with a sentence. */
int load_describe(const char *path, struct log *out, struct log *err);

/* Fill a map from a file of lines "KEY VALUE" typed by BTF (hex bytes without BTF); '#' begins a comment line. */
int load_fill_map(struct load_object *o, const char *name, const char *path, struct log *err);

#endif
