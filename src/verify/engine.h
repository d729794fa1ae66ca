/* What the engine's files (program.c, subprog.c, info.c, args.c, resolve.c, cfg.c, scc.c, live.c, walk.c, prune.c, loop.c,
 * precise.c, proof.c) offer to each other; what value and access need of them is in verifier.h. */
#ifndef VERIFY_ENGINE_H
#define VERIFY_ENGINE_H
#include "verifier.h"

#define LOG_ANY (ABI_LOG_LEVEL1 | ABI_LOG_LEVEL2)	/* the kernel's BPF_LOG_LEVEL: instructions are shown */

/* subprog.c */
int subprog_collect(struct verifier *v);
int subprog_check_jumps(struct verifier *v);
int subprog_check_stack(struct verifier *v);
s32 subprog_at(const struct verifier *v, u32 insn);		/* the one that starts there; -1: none */
u32 subprog_of(const struct verifier *v, u32 insn);		/* the one it lies in */
const char *subprog_name(const struct verifier *v, u32 n);	/* "" without BTF */
bool subprog_calls_sync_callback(const struct bpf_insn *i);

/* info.c, args.c, resolve.c */
int info_check_early(struct verifier *v);
int info_check(struct verifier *v);
int args_prepare(struct verifier *v, u32 subprog);		/* btf_prepare_func_args */
int args_check_call(struct verifier *v, u32 subprog);		/* btf_check_subprog_call: the running frame's r1.. against it */
int args_enter(struct verifier *v, u32 subprog, struct reg *regs);	/* registers at the entry of a global function */
int resolve_imm64(struct verifier *v);

/* cfg.c, scc.c, live_regs.c */
int cfg_check(struct verifier *v);
int cfg_postorder(struct verifier *v);
u32 cfg_next(const struct verifier *v, u32 insn, u32 next[2]);	/* successors within the function */
int scc_compute(struct verifier *v);
int live_registers(struct verifier *v);

/* live.c: stack slots */
int live_init(struct verifier *v);
void live_done(struct verifier *v);
void live_begin_insn(struct verifier *v, u32 insn);		/* before an instruction of v->cur is judged */
void live_end_insn(struct verifier *v);				/* its writes become facts */
void live_update(struct verifier *v);				/* make answers current */
u64 live_slots(struct verifier *v, const struct state *s, u32 frameno);	/* alive at s, all of whose paths were walked */

/* walk.c */
enum { WALK_PATH_DONE = 1 };	/* the path ends here */
int walk_function(struct verifier *v, u32 subprog);
void walk_scratch_all(struct verifier *v);			/* the next state line of the log shows everything */

/* func.c */
int func_call(struct verifier *v, const struct bpf_insn *i, u32 *next);
int func_load_failed(struct verifier *v, u32 *next);
int func_exit(struct verifier *v, const struct bpf_insn *i, u32 *next);	/* 0: went back to the caller; WALK_PATH_DONE */
int state_insn_of(const struct state *s, u32 frameno);		/* where that frame is: present instruction or call */

/* prune.c */
bool state_same_callsites(const struct state *a, const struct state *b);
struct state *prune_previous_entry(struct verifier *v, const struct state *cur, u32 insn);	/* find_prev_entry */
void prune_widen(struct verifier *v, const struct state *old, struct state *cur);	/* widen_imprecise_scalars */
int prune_branch_done(struct verifier *v, struct state *s);	/* update_branch_counts */
void prune_forget(struct verifier *v);				/* all kept states, between two functions */

/* loop.c: what is known of a loop (SCC) only once all its paths were walked */
int loop_enter(struct verifier *v, struct state *s);
int loop_exit(struct verifier *v, struct state *s);
bool loop_is_open(struct verifier *v, const struct state *s);
int loop_add_backedge(struct verifier *v, struct state *equal, const struct state *cur, u32 insn);
u32 loop_backedges(const struct verifier *v);
void loop_forget(struct verifier *v);

/* precise.c */
int precise_init(struct verifier *v);
int precise_push_history(struct verifier *v, struct state *s, u32 flags, u64 linked);
int precise_propagate(struct verifier *v, const struct state *old, struct state *cur, bool *changed);
void precise_all(struct verifier *v, struct state *s);
void precise_none(struct state *s);

/* proof.c */
int proof_make(struct verifier *v, struct proof *proof);

#endif
