/* Control flow: every instruction reachable, jumps to real ones, and the points where paths meet (prune points) or arrive by
 * a jump (jump points, which the history needs to be walked back).
 *
 * A depth-first walk that follows calls too, in the kernel's order (check_cfg), because that order decides which complaint
 * comes first. Then the postorder of each function, for the dataflow passes. */
#include "engine.h"

enum { NEW = 0, FALL = 1, BRANCH = 2, DISCOVERED = 0x10, EXPLORED = 0x20 };
enum { DONE = 0, KEEP_GOING = 1 };

struct walk {
	struct verifier *v;
	u8 *state;		/* per instruction: NEW, DISCOVERED | last edge followed, EXPLORED */
	u32 *stack;
	u32 n;
};

static void prune_point(struct verifier *v, u32 i)
{
	if (i < v->n_insns)
		v->info[i].prune_point = true;
}

static void jump_point(struct verifier *v, u32 i)
{
	if (i < v->n_insns)
		v->info[i].jump_point = true;
}

/* Follow the edge from -> to unless that was done: KEEP_GOING when `to` must be visited first. */
static int follow(struct walk *w, u32 from, s64 to, u8 edge)
{
	struct verifier *v = w->v;

	if (w->state[from] >= (DISCOVERED | edge))
		return DONE;
	if (to < 0 || to >= v->n_insns) {
		print_source_line(v, from);
		return verify_refuse(v, -EINVAL, "jump-range", -1, "jump out of range from insn %u to %d", from, (s32)to);
	}
	if (edge == BRANCH) {
		prune_point(v, to);
		jump_point(v, to);
	}
	if (w->state[to] == NEW) {
		w->state[from] = DISCOVERED | edge;
		w->state[to] = DISCOVERED;
		w->stack[w->n++] = to;
		return KEEP_GOING;
	}
	if (w->state[to] & DISCOVERED) {
		if (v->bpf_capable)
			return DONE;
		print_source_line(v, from);
		print_source_line(v, to);
		return verify_refuse(v, -EINVAL, "back-edge", -1, "back-edge from insn %u to %u", from, (u32)to);
	}
	w->state[from] = DISCOVERED | edge;
	return DONE;
}

/* What a function does somewhere holds for its callers. Callees are finished first; recursion is refused later. */
static void merge_effects(struct verifier *v, u32 caller_insn, u32 callee_insn)
{
	struct subprog *caller = &v->subprog[subprog_of(v, caller_insn)];
	const struct subprog *callee = &v->subprog[subprog_of(v, callee_insn)];

	caller->changes_packet |= callee->changes_packet;
	caller->might_sleep |= callee->might_sleep;
}

static int visit_call(struct walk *w, u32 t, bool into_callee)
{
	const struct bpf_insn *i = &w->v->insns[t];
	u32 size = isa_is_ld_imm64(i) ? 2 : 1;
	int ret = follow(w, t, (s64)t + size, FALL);

	if (ret)
		return ret;
	prune_point(w->v, t + size);
	jump_point(w->v, t + size);
	if (!into_callee)
		return DONE;
	prune_point(w->v, t);
	merge_effects(w->v, t, t + i->imm + 1);
	return follow(w, t, (s64)t + i->imm + 1, BRANCH);
}

static void note_helper(struct verifier *v, u32 t)
{
	const struct helper_proto *p = helper_get(v->insns[t].imm);
	struct subprog *s = &v->subprog[subprog_of(v, t)];

	if (!p)
		return;
	/* the program that a tail call goes on with may do it */
	s->changes_packet |= p->changes_packet || v->insns[t].imm == BPF_FUNC_tail_call;
	s->might_sleep |= p->might_sleep;
}

static int visit_helper_or_call(struct walk *w, u32 t)
{
	struct verifier *v = w->v;
	const struct bpf_insn *i = &v->insns[t];

	if (subprog_calls_sync_callback(i)) {
		/* the callback is explored by coming back here again and again: equal states must meet here */
		v->info[t].calls_callback = true;
		v->info[t].force_checkpoint = true;
		prune_point(v, t);
		jump_point(v, t);
	}
	if (v->info[t].kfunc && v->info[t].kfunc->flags & KFUNC_ITER_NEXT) {
		/* loops over iterators converge only if equal states meet at each round */
		prune_point(v, t);
		v->info[t].force_checkpoint = true;
	}
	if (isa_is_helper_call(i)) {
		if (i->imm == BPF_FUNC_timer_set_callback)
			prune_point(v, t);
		note_helper(v, t);
	}
	return visit_call(w, t, i->src_reg == BPF_PSEUDO_CALL);
}

static int visit_jump(struct walk *w, u32 t)
{
	struct verifier *v = w->v;
	const struct bpf_insn *i = &v->insns[t];
	s64 to = (s64)t + 1 + (BPF_CLASS(i->code) == BPF_JMP ? i->off : i->imm);
	int ret;

	if (BPF_SRC(i->code) != BPF_K)
		return verify_refuse(v, -EINVAL, "insn-reserved", -1, "indirect jumps are not known to this version (insn %u)", t);
	ret = follow(w, t, to, FALL);
	if (ret)
		return ret;
	prune_point(v, to);
	jump_point(v, to);
	return DONE;
}

static bool is_may_goto(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | ABI_JCOND) && !i->src_reg;
}

static int visit(struct walk *w, u32 t)
{
	struct verifier *v = w->v;
	const struct bpf_insn *i = &v->insns[t];
	int ret;

	if (isa_is_pseudo_func(i))
		return visit_call(w, t, true);
	if (BPF_CLASS(i->code) != BPF_JMP && BPF_CLASS(i->code) != BPF_JMP32)
		return follow(w, t, (s64)t + (isa_is_ld_imm64(i) ? 2 : 1), FALL);
	switch (BPF_OP(i->code)) {
	case BPF_EXIT:
		return DONE;
	case BPF_CALL:
		return visit_helper_or_call(w, t);
	case BPF_JA:
		return visit_jump(w, t);
	}
	prune_point(v, t);
	if (is_may_goto(i))
		v->info[t].force_checkpoint = true;
	ret = follow(w, t, (s64)t + 1, FALL);
	return ret ? ret : follow(w, t, (s64)t + 1 + i->off, BRANCH);
}

static int walk_all(struct walk *w)
{
	w->state[0] = DISCOVERED;
	w->stack[w->n++] = 0;
	while (w->n) {
		u32 t = w->stack[w->n - 1];
		int ret;

		w->v->insn_idx = t;
		ret = visit(w, t);
		if (ret < 0)
			return ret;
		if (ret == KEEP_GOING)
			continue;
		w->state[t] = EXPLORED;
		w->n--;
	}
	return 0;
}

static int check_reached(struct walk *w)
{
	struct verifier *v = w->v;

	for (u32 i = 0; i < v->n_insns; i++) {
		v->insn_idx = i;
		if (w->state[i] != EXPLORED)
			return verify_refuse(v, -EINVAL, "unreachable", -1, "unreachable insn %u", i);
		if (!isa_is_ld_imm64(&v->insns[i]))
			continue;
		if (w->state[++i] != NEW)
			return verify_refuse(v, -EINVAL, "ld-imm64", -1, "jump into the middle of ldimm64 insn %u", i - 1);
	}
	return 0;
}

int cfg_check(struct verifier *v)
{
	struct walk w = { .v = v };
	int err = -ENOMEM;

	w.state = calloc(v->n_insns, sizeof(*w.state));
	w.stack = calloc(v->n_insns, sizeof(*w.stack));
	if (w.state && w.stack) {
		err = walk_all(&w);
		if (!err)
			err = check_reached(&w);
	}
	free(w.state);
	free(w.stack);
	return err;
}

u32 cfg_next(const struct verifier *v, u32 t, u32 next[2])
{
	const struct bpf_insn *i = &v->insns[t];
	u8 class = BPF_CLASS(i->code), op = BPF_OP(i->code);
	u32 n = 0;

	if (class != BPF_JMP && class != BPF_JMP32) {
		next[0] = t + (isa_is_ld_imm64(i) ? 2 : 1);
		return 1;
	}
	if (op == BPF_EXIT)
		return 0;
	if (op == BPF_JA) {
		next[0] = t + 1 + (class == BPF_JMP ? i->off : i->imm);
		return 1;
	}
	next[n++] = t + 1;
	if (op != BPF_CALL && i->off)
		next[n++] = t + 1 + i->off;
	return n;
}

/* Postorder of the instructions of one function, appended to v->postorder. mark: 0 new, 1 on the stack, 2 done. */
static u32 order_function(struct verifier *v, struct subprog *s, u8 *mark, u32 *stack, u32 at)
{
	u32 n = 0;

	s->postorder = at;
	stack[n++] = s->start;
	mark[s->start] = 1;
	while (n) {
		u32 t = stack[n - 1], next[2], n_next = cfg_next(v, t, next);
		bool deeper = false;

		for (u32 k = 0; k < n_next && !deeper; k++) {
			if (next[k] >= v->n_insns || mark[next[k]])
				continue;
			mark[next[k]] = 1;
			stack[n++] = next[k];
			deeper = true;
		}
		if (deeper)
			continue;
		mark[t] = 2;
		v->postorder[at++] = t;
		n--;
	}
	s->n_postorder = at - s->postorder;
	return at;
}

int cfg_postorder(struct verifier *v)
{
	u8 *mark = calloc(v->n_insns, sizeof(*mark));
	u32 *stack = calloc(v->n_insns, sizeof(*stack));
	u32 at = 0;

	v->postorder = calloc(v->n_insns, sizeof(*v->postorder));
	if (mark && stack && v->postorder)
		for (u32 i = 0; i < v->n_subprogs; i++)
			at = order_function(v, &v->subprog[i], mark, stack, at);
	else
		at = UINT32_MAX;
	free(mark);
	free(stack);
	v->n_postorder = at == UINT32_MAX ? 0 : at;
	return at == UINT32_MAX ? -ENOMEM : 0;
}
