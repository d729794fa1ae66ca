/* One verification under way. Private to verify/; each file says which part of it is its own.
 *
 *   program.c  verify_program(): the order of the checks, BTF info, resolving ld_imm64, the proof
 *   cfg.c      subprograms, control flow, unreachable code, prune points, live registers, loops
 *   walk.c     the main loop: one instruction after another, branches pushed and popped, calls and exits
 *   state.c    copying and resizing states        prune.c  equivalence, kept states, loops
 *   precise.c  precision: going back over the history to mark what a range rested on
 *   value.c tnum.c alu.c branch.c  numbers        print.c  registers and states in the kernel's log syntax
 *   mem*.c stack*.c ctx.c packet.c  loads and stores by pointer type   ptr.c  arithmetic on pointers, packet ranges, null tests
 *   call.c     helper calls: arguments, result    rules.def  every reason for a refusal */
#ifndef VERIFY_VERIFIER_H
#define VERIFY_VERIFIER_H
#include "verify.h"
#include "state.h"
#include "helper/helper.h"
#include "isa/isa.h"
#include "kind/kind.h"
#include "map/map.h"

enum {
	VERIFY_MAX_INSNS_PROCESSED = 1000000,	/* BPF_COMPLEXITY_LIMIT_INSNS */
	VERIFY_MAX_JUMPS = 8192,		/* pending branches */
	VERIFY_MAX_STACK = 512,
	VERIFY_MAX_SUBPROGS = 256,
	VERIFY_MAX_MAPS = 64,
	VERIFY_MAX_VAR_OFF = 1 << 29,
};

enum sub_arg_kind { SUB_ARG_SCALAR, SUB_ARG_CTX, SUB_ARG_MEM, SUB_ARG_DYNPTR };
struct sub_arg { u8 kind; bool null_ok; u32 mem_size; };

struct subprog {
	u32 start, end;
	u16 stack_depth;
	bool has_tail_call, is_global, called, is_cb, is_async_cb, is_exception_cb, has_ld_abs, changes_packet, might_throw, might_sleep;
	u32 type_id;		/* its BTF_KIND_FUNC; 0: no func_info */
	u32 postorder, n_postorder;	/* cfg.c: its instructions in postorder, from v->postorder[postorder] */
	struct sub_arg arg[5];	/* args.c */
	u8 n_args;
	bool args_known, verified, unreliable;	/* unreliable: its BTF does not match how it is called */
};

struct insn_info {		/* kept per instruction while verifying */
	u8 seen;
	u8 ptr_class;		/* enum proof_ptr seen so far */
	bool prune_point, force_checkpoint, jump_point, calls_callback, zext, div_by_zero_possible, ctx_seen;
	u16 live_regs;		/* registers live before the instruction (bit r) */
	u8 branch_seen;
	struct map *map;	/* ld_imm64 of a map or its value */
	u32 map_index, map_off;	/* map_index: used-map index + 1 */
	const struct kfunc *kfunc;	/* call of a kernel function; NULL: none, or not built */
	u32 map_call;		/* helper call: used-map index + 1 of its only map so far; VERIFY_MANY: several */
	u64 key; u8 key_state;	/* 0 none yet, 1 the same constant so far, 2 poisoned */
	u32 ctx_off;
	u32 loop_inline_state;
	u32 scc;		/* cfg.c: the loop (strongly connected component) the instruction lies in; 0: none */
	u8 alu_state;	/* unpriv.c: how the pointer arithmetic here must be masked; 0: not seen */
	u32 alu_limit;
	u16 ptr_type;	/* mem_insn.c: type and flags of the pointer that loads and stores here went through; 0: none yet */
};
#define VERIFY_MANY 0xffffffffu

struct verifier {
	const struct verify_input *in;
	struct refusal *why;
	struct log *log;		/* == in->log */
	const struct bpf_insn *insns;	/* == in->insns */
	u32 n_insns;
	struct insn_info *info;
	struct subprog subprog[VERIFY_MAX_SUBPROGS + 2];
	u32 n_subprogs;
	u32 *postorder, n_postorder;	/* of all subprogs, one after the other */
	u32 max_depth;		/* subprog.c: bytes of stack of the deepest chain of calls */
	struct state *cur;
	struct map *maps[VERIFY_MAX_MAPS];	/* as in->use_map numbered them */
	u32 n_maps;
	struct state_pool pool;		/* memory of states; state.c's */
	struct liveness *liveness;	/* live.c's: stack slots read and written per call chain */
	struct loops *loops;		/* loop.c's: loops being explored, by call chain */
	struct backtrack *backtrack;	/* precise.c's scratch */
	struct id_map *ids;		/* prune.c's scratch */
	s32 cur_history;		/* entry of cur->history made for the present instruction; -1: none */
	bool no_memory;			/* an allocation failed in a function that cannot say so: -ENOMEM after the instruction */
	u32 next_id;			/* source of reg ids and ref ids, from 1 */
	bool allow_ptr_leaks, allow_uninit_stack, bypass_spec_v1, bypass_spec_v4, bpf_capable, strict_alignment, test_state_freq, test_reg_invariants;
	bool seen_direct_write, changes_packet;
	u32 insns_processed, prev_insns_processed, jumps_processed, prev_jumps_processed;
	u32 total_states, peak_states, max_states_per_insn, longest_mark_read;
	u32 insn_idx, prev_insn_idx;
	u64 log_start;			/* log->total when the verification began */
	struct explored *explored;	/* prune.c's */
	u32 forgotten_states;		/* prune.c: kept for functions whose verification is over */
	struct pending *pending;	/* walk.c's stack of branches to do */
	u32 n_pending;
	u64 prev_log_total;		/* print.c: where the last state line ended */
	u32 prev_insn_printed;
	const struct bpf_line_info *prev_line;	/* print.c: the source line printed last */
	u32 scratched_regs; u64 scratched_slots;	/* print.c: what changed since the last print */
	bool internal_error;
};

/* Say why not, once: fills v->why (rule id, insn, reg, text), writes "text\n" to the log, returns err (negative). */
int verify_refuse(struct verifier *v, int err, const char *rule, int reg, const char *fmt, ...) PRINTF(5, 6);
/* A line before the last one of a refusal: written whatever the level, if there is a log; adds the newline. */
void verify_line(struct verifier *v, const char *fmt, ...) PRINTF(2, 3);
/* Text for the log at the given level (ABI_LOG_LEVEL1, _LEVEL2 ...). */
void verify_say(struct verifier *v, u32 level, const char *fmt, ...) PRINTF(3, 4);

/* print.c */
void print_reg(struct log *log, const struct verifier *v, const struct reg *r);	/* kernel 6.18 syntax: "scalar(smin=..,var_off=(0x0; 0xff))" */
void print_state(struct verifier *v, struct state *s, u32 frameno, bool all);	/* " R0=... R10=fp0 fp-8=..." + newline */
const char *print_reg_type(const struct reg *r, char buf[64]);			/* "map_value_or_null" */
void print_insn_line(struct verifier *v, u32 idx);				/* source line comment and "12: (bf) r1 = r2" */
void print_insn_text(struct verifier *v, u32 idx);				/* "(bf) r1 = r2" and newline; only with a log */
void print_live_regs(struct verifier *v);		/* at level 2, once live registers and loops are known */
void print_source_line(struct verifier *v, u32 idx);				/* the comment alone: verbose_linfo, nothing if it is the last one printed */
/* print_insn_state: what the instruction changed, on its own line ("; R0=..." aligned after it, when nothing else was said
 * since), else as "12: R0=...". Clears the scratched marks. */
void print_insn_state(struct verifier *v, struct state *s, u32 frameno);

/* stack.c, mem.c: access through regs[regno] at off of bytes; value_regno: source of a store (-1: immediate/unknown) or
 * destination of a load. */
int mem_access(struct verifier *v, u32 insn, u32 regno, s32 off, u32 bytes, bool write, int value_regno, bool strict_once, bool sign_extend);
int mem_atomic(struct verifier *v, u32 insn, const struct bpf_insn *i);
int mem_load(struct verifier *v, const struct bpf_insn *i);	/* LDX, LDSX */
int mem_store(struct verifier *v, const struct bpf_insn *i);	/* ST, STX */
int mem_load_abs(struct verifier *v, const struct bpf_insn *i);	/* LD_ABS, LD_IND */
/* Memory that a helper fills whatever was there: noted while the arguments are checked, then mem_raw_write(). */
struct mem_raw {
	u32 regno;	/* 0: none */
	u32 size;
};
/* A helper may read (or write) size bytes through regs[regno]; zero_ok: size 0 allowed; raw: NULL if the bytes must have been
 * initialised. */
int mem_helper_access(struct verifier *v, u32 regno, s32 size, bool write, bool zero_ok, struct mem_raw *raw);
/* The same with the size in regs[regno + 1]. */
int mem_helper_sized(struct verifier *v, u32 regno, bool write, bool zero_ok, struct mem_raw *raw);
int mem_raw_write(struct verifier *v, const struct mem_raw *raw);

/* ptr.c, packet.c, null.c */
int ptr_alu(struct verifier *v, const struct bpf_insn *i, struct reg *dst, const struct reg *ptr, const struct reg *off);
/* check_reg_arg: readable / writable ("R%d !read_ok"). Writing only notes whether the result is a 32-bit one (as the kernel's
 * DST_OP_NO_MARK): the caller sets the register's new value, whose subreg_def is then already right. */
int ptr_check_reg_arg(struct verifier *v, u32 regno, bool write);
void ptr_clobber_caller_saved(struct verifier *v, struct frame *f);	/* r0-r5 become unreadable */
void ptr_reg_scratched(struct verifier *v, u32 regno);			/* print it with the next state line */
void ptr_slot_scratched(struct verifier *v, u32 slot);
bool ptr_leaks(const struct verifier *v, const struct reg *r);		/* a pointer that this caller may not make visible */
void ptr_kill_packets(struct verifier *v);				/* clear_all_pkt_pointers: the packet may have moved */
void ptr_give_id(struct verifier *v, struct reg *r);			/* assign_scalar_id_before_mov */
void ptr_refine_packet(struct state *s, struct reg *dst, enum reg_type type, bool range_open);	/* find_good_pkt_pointers */
void ptr_mark_null(struct verifier *v, struct state *s, u32 regno, bool is_null);	/* all copies by id */
void ptr_mark_not_null(struct reg *r);			/* mark_ptr_not_null_reg: this register alone, called by branch.c */
/* Conditional jump comparing pointers: does it prove something about a packet? 1 handled, 0 not a packet comparison. */
int ptr_try_packet_compare(const struct bpf_insn *i, struct reg *dst, struct reg *src, struct state *taken, struct state *fall);
/* alu.c: ALU/ALU64 instruction on the current state (check_alu_op): moves, endianness, neg, scalars; pointers via ptr_alu. */
int alu_insn(struct verifier *v, const struct bpf_insn *i);
/* reg_bounds_sanity_check: ranges that contradict each other (on a path that can't be taken) become unbounded; -EFAULT under
 * BPF_F_TEST_REG_INVARIANTS. which: "alu", "true_reg1". */
int alu_check_bounds(struct verifier *v, struct reg *r, const char *which);
/* branch.c: conditional jump (check_cond_jmp_op) except may_goto, which is walk.c's: decides, refines both states, pushes the
 * other branch. *next_insn is the fall-through on entry; set it to the target when that is followed. Sets info.branch_seen. */
int branch_insn(struct verifier *v, const struct bpf_insn *i, u32 *next_insn);

/* call.c. *next_insn is the instruction after the call on entry. */
int call_helper(struct verifier *v, const struct bpf_insn *i, u32 *next_insn);
int call_release_ref(struct verifier *v, u32 ref_id);
u32 call_acquire_ref(struct verifier *v, u32 insn);	/* id; 0: no memory */
int call_check_no_refs(struct verifier *v, bool at_exit, const char *where);

/* walk.c */
struct state *walk_push(struct verifier *v, u32 insn, u32 prev_insn);	/* a copy of the current state to be done later; NULL: limits or memory (refused) */
int walk_push_callback(struct verifier *v, u32 insn, u32 subprog, int (*set)(struct verifier *, struct frame *caller, struct frame *callee, u32 insn));
/* func.c: a tail-called program ended in place of the running function, which was called */
int func_tail_called(struct verifier *v, u32 *next_insn);
/* precise.c. The notes cannot fail to their callers: without memory they set v->no_memory. */
int precise_mark(struct verifier *v, u32 regno);			/* mark_chain_precision of the current frame's register */
void precise_note_stack(struct verifier *v, u32 frameno, s32 slot);	/* history: this insn touches that stack slot */
int precise_mark_slot(struct verifier *v, u32 frameno, s32 slot);	/* as precise_mark, for a spilled scalar (constant map keys) */
/* Linked scalars that a conditional jump is about to refine together (find_equal_scalars): note them in the history of the
 * present instruction before the other branch is pushed. At most LINKED_MAX of them. */
enum { LINKED_MAX = 6 };
struct linked_regs { u32 n; struct linked_reg { u8 frameno, is_stack, index; /* register or slot */ } reg[LINKED_MAX]; };
void precise_note_linked(struct verifier *v, const struct linked_regs *regs);
/* A conditional jump compares a stack pointer: that operand needs no precision (INSN_F_SRC_REG_STACK, INSN_F_DST_REG_STACK).
 * Called by branch.c before the decision; a no-op when neither is one. */
void precise_note_compare(struct verifier *v, bool src_is_stack, bool dst_is_stack);
/* live.c: which stack slots (bit i: slot i) the present instruction may read, and which it overwrites whole, all 8 bytes, at
 * a constant offset. Every read of the stack must be noted (loads, helper arguments, atomics), or pruning forgets slots that
 * matter; a write that is not noted only costs pruning. */
void live_stack_read(struct verifier *v, u32 frameno, u64 slots);
void live_stack_write(struct verifier *v, u32 frameno, u64 slots);
/* prune.c */
int prune_visit(struct verifier *v, u32 insn);	/* 1: an equivalent state was proven: prune; 0: go on; -errno */

#endif
