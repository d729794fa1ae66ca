/* Run instructions: the interpreter (reference for every engine).
 *
 * vm knows nothing of verify: it takes lowered instructions and a side table, and trusts them. What an instruction means
 * is RFC 9669, plus:
 *  - CALL with src_reg 0 or 2 calls aux[i].addr (an env_helper_fn), imm is only a name; src_reg 1 calls the subprogram at
 *    i + 1 + imm, which must be in funcs; BPF_X calls the address in dst_reg (callx), or what code.resolve makes of it;
 *  - ld_imm64 with src_reg BPF_PSEUDO_FUNC yields a callback value for env->call: the subprogram at i + 1 + imm;
 *    every other ld_imm64 is the plain 64-bit constant (lower has put addresses in);
 *  - ABI_TAIL_CALL (JMP|0xf0): r1 ctx, r2 struct map * of a prog_array, whose slots hold struct vm_image *, r3 index. The other program
 *    replaces the function that runs, in its frame; falls through when it cannot;
 *  - LD_ABS/LD_IND call aux[i].addr with (r6, offset, size) as a vm_load_abs_fn; failure leaves the function with 0;
 *  - may_goto: each call of a function may take 8,388,608 of them, then they jump;
 *  - a function's stack is zero when it begins, so that a run can be repeated exactly. */
#ifndef VM_VM_H
#define VM_VM_H
#include "base/abi.h"
#include "env/env.h"

struct vm_aux {
	u64 addr;	/* helper function, 0 elsewhere */
	u32 flags;	/* VM_AUX_* */
};
#define VM_AUX_END_ON_ZERO 1	/* the function's 0 is the run's result at once (instruction tests, later bpf_throw) */

struct vm_func {
	u32 start, end;		/* instructions [start, end) */
	u16 stack;		/* bytes of stack used, <= 512 */
};

/* *out and true; false: outside the packet */
typedef bool (*vm_load_abs_fn)(void *ctx, s64 off, u32 size, u64 *out, struct env *env);

struct vm_code {		/* input of vm_image_new; borrowed */
	const struct bpf_insn *insns;
	const struct vm_aux *aux;	/* n_insns, or NULL for none */
	u32 n_insns;
	const struct vm_func *funcs;	/* sorted by start; funcs[0].start == 0 */
	u32 n_funcs;
	env_helper_fn (*resolve)(u64 value);	/* callx: the function for a register's value, NULL: none; may be NULL */
};

struct vm_image;
int vm_image_new(struct vm_image **out, const struct vm_code *code);	/* -EINVAL: an instruction the engine does not know */
void vm_image_free(struct vm_image *img);

/* Run on the fast interpreter. env_enter() must have been done. Returns r0. */
u64 vm_run(const struct vm_image *img, struct env *env, void *ctx);

/* The same, adding the instructions that ran to env->insn_count. */
u64 vm_run_counted(const struct vm_image *img, struct env *env, void *ctx);

/* The observed instance: before each instruction observer->step is told the index and the registers (r0..r10). */
struct vm_observer {
	const struct vm_image *image;	/* vm's: whose instruction it is; changes with tail calls */
	void (*step)(struct vm_observer *o, u32 insn, const u64 *regs, u32 depth);
};
u64 vm_run_observed(const struct vm_image *img, struct env *env, void *ctx, struct vm_observer *observer);

/* Bare entry for instruction tests: r1 and r2 given; helpers by aux. max_insns 0: no limit; -ELOOP when reached. A limit on the
 * fast interpreter runs its counting instance. */
int vm_run_raw(const struct vm_image *img, struct env *env, u64 r1, u64 r2, u64 max_insns, bool observed, u64 *r0);

#endif
