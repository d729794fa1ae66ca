/* The same program on both floors: loaded by prog_load() and run by run_test() on skep's, by bpf(2) as root on the kernel's. */
#ifndef TEST_FLOORS_H
#define TEST_FLOORS_H
#include "map/map.h"
#include "prog/prog.h"
#include "run/run.h"

enum { FLOORS_MAPS = 4, FLOORS_PACKET = 80000 };

/* A map on both floors; text of a program names it map_fd(i), map_value(i, off) with i its place in the list. */
struct floor_map {
	u32 type, key_size, value_size, max_entries, flags;
	const void *value;	/* of element 0, set before the load; the map is frozen then. NULL: leave it */
	struct map *user;
	int kernel;
};

struct floors {
	struct floor_map *maps;
	u32 n_maps;
	struct prog *user;
	int kernel;		/* descriptor, or -errno of the load; meaningless without has_kernel */
	int user_err;		/* 0 or -errno of the load */
	struct refusal why;
	char *user_log, *kernel_log;
};

struct floor_input {
	const u8 *packet;
	u32 size;
	u32 room;		/* data_size_out */
	const void *ctx;
	u32 ctx_size;
	u32 flags, repeat, batch_size;
};

struct floor_result {
	int err;
	u32 retval, size, ctx_size;
	u8 ctx[24];
	u8 data[FLOORS_PACKET + 4096];
};

bool floors_have_kernel(void);	/* may we ask it? false: not root, or no bpf(2) */
void floors_make_maps(struct floor_map *maps, u32 n);
void floors_drop_maps(struct floor_map *maps, u32 n);
/* Assemble and load on both floors. A text that does not assemble ends the test. */
void floors_load(struct floors *f, const char *text, u32 attach_type, u32 flags, struct floor_map *maps, u32 n_maps);
/* The same with everything said. Function records are made up when `with_funcs` or when a function's address is taken. */
struct floor_program {
	const struct bpf_insn *insns;
	u32 n_insns, attach_type, flags;
	struct floor_map *maps;
	u32 n_maps;
	const struct bpf_line_info *lines;
	u32 n_lines;
	bool with_funcs;
	const char *license;	/* NULL: GPL */
	bool quiet;		/* no logs: much faster where the verifier has much to do */
};
void floors_load_program(struct floors *f, const struct floor_program *p);
/* The kernel's view of its program; the pointers in info may be set before. false: no kernel. */
bool floors_kernel_info(const struct floors *f, struct abi_prog_info *info);
void floors_done(struct floors *f);
void floors_say_logs(const struct floors *f);	/* errors of the loads and the ends of their logs */
void floors_run_user(struct floors *f, const struct floor_input *in, struct floor_result *out);
void floors_run_kernel(struct floors *f, const struct floor_input *in, struct floor_result *out);
/* Run on both and compare everything; says what differs. True also when there is no kernel to ask. */
bool floors_agree(struct floors *f, const struct floor_input *in);
/* Does skep's result depend on where things lie? It then can't be compared. Runs twice, with all of that different. */
bool floors_address_free(const struct floor_program *p, const struct floor_input *in);

#endif
