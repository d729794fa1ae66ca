/* The cases of tests/cases/verify: whole programs, judged by skep and by the running kernel. See engine.c for their form. */
#ifndef ENGINE_TEST_H
#define ENGINE_TEST_H
#include "base/abi.h"

enum { MAX_FUNCS = 300, MAX_LINES = 16, MAX_PATCHES = 8, N_MAPS = 3 };

struct engine_func {
	char name[32];
	bool global, returns_void, has_offset;
	u32 offset;		/* instruction; else the next function's start */
	char args[128];		/* "int, ctx, mem8, mem8!, void*" */
};

struct engine_answer {
	int err;
	char text[256];		/* last line before the statistics */
	u32 insns, states, peak, per_insn;	/* from the line "processed ..." */
};

struct engine_case {
	char name[96];
	u32 flags;		/* BPF_F_* */
	bool own_states;	/* the kernel's statistics are known to differ: a comment in the case says why */
	bool own_answer;	/* so is its verdict: what skep has not built */
	struct bpf_insn *insns;
	u32 n;
	struct engine_func func[MAX_FUNCS];
	u32 n_funcs;
	u32 line[MAX_LINES];	/* instructions with line records */
	u32 n_lines;
	struct engine_answer want;
	struct bpf_func_info *func_info;	/* from engine_btf() */
	struct bpf_line_info line_info[MAX_LINES];
};

/* BTF of the case's functions; fills func_info and line_info. malloc'ed; NULL: the case has none. */
void *engine_btf(struct engine_case *c, u32 *size);

/* maps 0: array of 4 u64, 1: hash of u64, 2: prog_array */
extern const u32 engine_maps[N_MAPS][4];	/* type, key, value, entries */
bool engine_kernel_open(void);
void engine_kernel(struct engine_case *c, struct engine_answer *a, u32 level);
void engine_skep(struct engine_case *c, struct engine_answer *a, u32 level);
void engine_read_log(char *text, struct engine_answer *a);

#endif
