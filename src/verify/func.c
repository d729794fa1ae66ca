/* Calls of the program's own functions, their returns, functions called back by helpers, and the end of the program. */
#include "engine.h"
#include <stdio.h>

static int push_frame(struct verifier *v, struct state *s, u32 subprog, s32 callsite)
{
	struct frame *f;

	if (s->cur + 1 >= STATE_MAX_FRAMES)
		return verify_refuse(v, -E2BIG, "call-depth", -1, "the call stack of %u frames is too deep", s->cur + 2);
	f = state_frame_new(s->pool, s->cur + 1, subprog, callsite);
	if (!f)
		return -ENOMEM;
	s->frame[++s->cur] = f;
	walk_scratch_all(v);
	return 0;
}

/* A global function was, or will be, judged on its own: what matters here is that the arguments fit. */
static int call_global(struct verifier *v, u32 n, int args_err)
{
	struct frame *caller = state_frame(v->cur);
	const char *name = subprog_name(v, n);

	if (v->cur->active_locks)
		return verify_refuse(v, -EINVAL, "lock-held", -1,
				     "global function calls are not allowed while holding a lock,\nuse static function instead");
	if (v->subprog[n].might_sleep && !v->cur->in_sleepable)
		return verify_refuse(v, -EINVAL, "helper-sleep", -1,
				     "global functions that may sleep are not allowed in non-sleepable context,\n"
				     "i.e., in a RCU/IRQ/preempt-disabled section, or in\na non-sleepable BPF program context");
	if (args_err)
		return verify_refuse(v, args_err, "subprog-args", -1, "Caller passes invalid args into func#%u ('%s')", n, name);
	verify_say(v, LOG_ANY, "Func#%u ('%s') is global and assumed valid.\n", n, name);
	if (v->subprog[n].changes_packet)
		ptr_kill_packets(v);
	v->subprog[n].called = true;
	ptr_clobber_caller_saved(v, caller);
	reg_mark_unknown(&caller->regs[BPF_REG_0]);
	caller->regs[BPF_REG_0].precise = !v->bpf_capable;
	caller->regs[BPF_REG_0].subreg_def = 0;
	return 0;
}

static int call_static(struct verifier *v, u32 n, u32 *next)
{
	struct state *s = v->cur;
	struct frame *caller = state_frame(s);
	int err = push_frame(v, s, n, v->insn_idx);

	if (err)
		return err;
	for (u32 r = BPF_REG_1; r <= BPF_REG_5; r++)
		state_frame(s)->regs[r] = caller->regs[r];
	ptr_clobber_caller_saved(v, caller);
	*next = v->subprog[n].start;
	if (!v->log || !(v->log->level & LOG_ANY))
		return 0;
	verify_say(v, LOG_ANY, "caller:\n");
	print_state(v, s, caller->frameno, true);
	verify_say(v, LOG_ANY, "callee:\n");
	print_state(v, s, s->cur, true);
	return 0;
}

int func_call(struct verifier *v, const struct bpf_insn *i, u32 *next)
{
	s32 n = subprog_at(v, v->insn_idx + i->imm + 1);
	int err;

	if (n < 0)
		return verify_refuse(v, -EFAULT, "internal", -1, "no function at the target of call at insn %u", v->insn_idx);
	err = args_check_call(v, n);
	if (err == -EFAULT)
		return err;
	return v->subprog[n].is_global ? call_global(v, n, err) : call_static(v, n, next);
}

int walk_push_callback(struct verifier *v, u32 insn, u32 subprog,
		       int (*set)(struct verifier *, struct frame *caller, struct frame *callee, u32 insn))
{
	struct frame *caller = state_frame(v->cur);
	struct state *s;
	int err;

	err = args_check_call(v, subprog);
	if (err == -EFAULT)
		return err;
	v->subprog[subprog].is_cb = true;
	/* the call goes on in the present state; the callback is walked later, and comes back to the call */
	s = walk_push(v, v->subprog[subprog].start, insn);
	if (!s)
		return v->why->err ? v->why->err : -ENOMEM;
	err = push_frame(v, s, subprog, insn);
	if (err)
		return err;
	err = set(v, s->frame[s->cur - 1], state_frame(s), insn);
	if (err)
		return err;
	s->callback_unroll_depth++;
	s->frame[s->cur - 1]->callback_depth++;
	caller->callback_depth = 0;
	return 0;
}

/* ---- returns */

static int refuse_range(struct verifier *v, const struct reg *r, const char *when, s64 min, s64 max)
{
	char known[80] = " unknown scalar value";
	int n = 0;

	if (r->v.smin > INT64_MIN)
		n = snprintf(known, sizeof(known), " smin=%lld", (long long)r->v.smin);
	if (r->v.smax < INT64_MAX)
		snprintf(known + n, sizeof(known) - n, " smax=%lld", (long long)r->v.smax);
	return verify_refuse(v, -EINVAL, "return-range", BPF_REG_0, "%s the register R0 has%s should have been in [%d, %d]", when,
			     known, (int)min, (int)max);
}

static bool within(const struct reg *r, s64 min, s64 max)
{
	return r->v.smin >= min && r->v.smax <= max;
}

/* Back in the helper that called: it looks at r0. */
static int return_to_helper(struct verifier *v, struct frame *callee)
{
	const struct reg *r0 = &callee->regs[BPF_REG_0];
	int err;

	if (r0->type != REG_SCALAR)
		return verify_refuse(v, -EACCES, "return-type", BPF_REG_0, "R0 not a scalar value");
	err = precise_mark(v, BPF_REG_0);
	if (err)
		return err;
	if (!within(r0, callee->callback_ret.min, callee->callback_ret.max))
		return refuse_range(v, r0, "At callback return", callee->callback_ret.min, callee->callback_ret.max);
	return 0;
}

static void say_return(struct verifier *v, u32 callee, u32 next)
{
	if (!v->log || !(v->log->level & LOG_ANY))
		return;
	verify_say(v, LOG_ANY, "returning from callee:\n");
	print_state(v, v->cur, callee, true);
	verify_say(v, LOG_ANY, "to caller at %u:\n", next);
	print_state(v, v->cur, callee - 1, true);
}

static int return_to_caller(struct verifier *v, u32 *next)
{
	struct state *s = v->cur, *before;
	struct frame *callee = state_frame(s), *caller = s->frame[s->cur - 1];
	bool callback = callee->in_callback;
	int err = 0;

	live_update(v);
	if (callee->regs[BPF_REG_0].type == REG_STACK)
		return verify_refuse(v, -EINVAL, "return-type", BPF_REG_0, "cannot return stack pointer to the caller");
	if (callback)
		err = return_to_helper(v, callee);
	else
		caller->regs[BPF_REG_0] = callee->regs[BPF_REG_0];
	if (err)
		return err;
	*next = callback ? callee->callsite : callee->callsite + 1;
	say_return(v, s->cur, *next);
	state_frame_free(s->pool, callee);
	s->frame[s->cur--] = NULL;
	/* numbers that change from one call to the next become unknown, or the calls would never look the same */
	before = callback ? prune_previous_entry(v, s, *next) : NULL;
	if (before)
		prune_widen(v, before, s);
	return 0;
}

/* A program tail-called by the running function, which is not the main program, ended: back to the function's caller with
 * any number in r0. */
int func_tail_called(struct verifier *v, u32 *next)
{
	struct reg *r0 = &state_regs(v->cur)[BPF_REG_0];

	reg_mark_unknown(r0);
	r0->precise = !v->bpf_capable;
	r0->subreg_def = 0;
	return return_to_caller(v, next);
}

/* LD_ABS and LD_IND outside of the packet end the running function with 0, as if it returned; inside, the next instruction
 * follows. In the main program that end needs no look: the program is over. */
int func_load_failed(struct verifier *v, u32 *next)
{
	struct frame *f = state_frame(v->cur);

	if (!f->frameno)
		return 0;
	if (!walk_push(v, *next, v->insn_idx))
		return v->why->err ? v->why->err : -ENOMEM;
	reg_mark_const(&f->regs[BPF_REG_0], 0);
	f->regs[BPF_REG_0].precise = !v->bpf_capable;
	return return_to_caller(v, next);
}

static int check_program_result(struct verifier *v)
{
	const struct kind *kind = v->in->kind;
	struct kind_range range = { 0 };
	char type[64];
	struct reg *r0;
	int err = ptr_check_reg_arg(v, BPF_REG_0, false);

	if (err)
		return err;
	r0 = &state_regs(v->cur)[BPF_REG_0];
	if (ptr_leaks(v, r0))
		return verify_refuse(v, -EACCES, "ptr-leak", BPF_REG_0, "R0 leaks addr as return value");
	if (state_frame(v->cur)->subprog) {
		if (r0->type == REG_SCALAR)
			return 0;
		return verify_refuse(v, -EINVAL, "return-type", BPF_REG_0,
				     "At subprogram exit the register R0 is not a scalar value (%s)", print_reg_type(r0, type));
	}
	if (kind->returns)
		range = kind->returns(v->in->attach_type);
	if (!range.checked)
		return 0;
	if (r0->type != REG_SCALAR)
		return verify_refuse(v, -EINVAL, "return-type", BPF_REG_0,
				     "At program exit the register R0 is not a known value (%s)", print_reg_type(r0, type));
	err = precise_mark(v, BPF_REG_0);
	if (err)
		return err;
	return within(r0, range.min, range.max) ? 0 : refuse_range(v, r0, "At program exit", range.min, range.max);
}

int func_exit(struct verifier *v, const struct bpf_insn *i, u32 *next)
{
	int err;

	if (BPF_SRC(i->code) != BPF_K || i->imm || i->src_reg || i->dst_reg || BPF_CLASS(i->code) == BPF_JMP32)
		return verify_refuse(v, -EINVAL, "insn-reserved", -1, "BPF_EXIT uses reserved fields");
	err = call_check_no_refs(v, true, "BPF_EXIT instruction in main prog");
	if (err)
		return err;
	if (v->cur->cur)
		return return_to_caller(v, next);
	err = check_program_result(v);
	return err ? err : WALK_PATH_DONE;
}
