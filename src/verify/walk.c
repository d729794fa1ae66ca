/* The walk: every path through a function, one after the other, instruction by instruction on abstract values. A conditional
 * jump that may go both ways goes on with one and leaves a copy of the state for the other on the stack of pending paths.
 * A path ends at exit, or where pruning finds that the rest is proven. */
#include "engine.h"
#include "kfunc.h"

struct pending {
	struct pending *next;
	struct state *state;	/* owned */
	u32 insn, prev;
	u64 log_mark;		/* the log of level 1 tells the present path only: back to here when this one is taken */
};

static void state_free(struct state *s)
{
	if (s)
		state_done(s);
	free(s);
}

struct state *walk_push(struct verifier *v, u32 insn, u32 prev_insn)
{
	struct pending *p = calloc(1, sizeof(*p));
	struct state *s = calloc(1, sizeof(*s));

	if (!p || !s || !state_copy(s, v->cur)) {
		state_free(s);
		free(p);
		return NULL;
	}
	*p = (struct pending){
		.next = v->pending, .state = s, .insn = insn, .prev = prev_insn, .log_mark = v->log ? v->log->total : 0,
	};
	v->pending = p;
	v->n_pending++;
	if (s->parent)
		s->parent->branches++;
	if (v->n_pending > VERIFY_MAX_JUMPS) {
		verify_refuse(v, -EFAULT, "complexity", -1, "The sequence of %u jumps is too complex.", v->n_pending);
		return NULL;
	}
	return s;
}

/* false: none is left. */
static bool pop(struct verifier *v)
{
	struct pending *p = v->pending;

	if (!p)
		return false;
	state_free(v->cur);
	v->cur = p->state;
	v->insn_idx = p->insn;
	v->prev_insn_idx = p->prev;
	v->pending = p->next;
	v->n_pending--;
	if (v->log && !(v->log->level & ABI_LOG_LEVEL2))
		log_reset(v->log, p->log_mark);
	free(p);
	return true;
}

static void drop_pending(struct verifier *v)
{
	while (v->pending) {
		struct pending *p = v->pending;

		v->pending = p->next;
		state_free(p->state);
		free(p);
	}
	v->n_pending = 0;
}

/* ---- instructions that are judged here */

static int may_goto(struct verifier *v, const struct bpf_insn *i, u32 *next)
{
	struct state *before, *other;

	if (i->code != (BPF_JMP | ABI_JCOND) || i->src_reg || i->dst_reg || i->imm)
		return verify_refuse(v, -EINVAL, "insn-reserved", -1, "invalid may_goto imm %d", i->imm);
	before = v->cur->parent ? prune_previous_entry(v, v->cur->parent, v->insn_idx) : NULL;
	other = walk_push(v, v->insn_idx + 1, v->insn_idx);
	if (!other)
		return -ENOMEM;	/* also when it is one too many: the kernel's answer */
	other->may_goto_depth++;
	if (before)
		prune_widen(v, before, other);
	v->info[v->insn_idx].branch_seen = 3;
	*next += i->off;
	return 0;
}

static int jump_always(struct verifier *v, const struct bpf_insn *i, u32 *next)
{
	bool is32 = BPF_CLASS(i->code) == BPF_JMP32;

	if (BPF_SRC(i->code) != BPF_K || i->src_reg || i->dst_reg || (is32 ? i->off != 0 : i->imm != 0))
		return verify_refuse(v, -EINVAL, "insn-reserved", -1, "BPF_JA uses reserved fields");
	*next += is32 ? i->imm : i->off;
	return 0;
}

static int call(struct verifier *v, const struct bpf_insn *i, u32 *next)
{
	int err;

	if (BPF_SRC(i->code) != BPF_K || (i->src_reg != BPF_PSEUDO_KFUNC_CALL && i->off) ||
	    i->src_reg > BPF_PSEUDO_KFUNC_CALL || i->dst_reg || BPF_CLASS(i->code) == BPF_JMP32)
		return verify_refuse(v, -EINVAL, "insn-reserved", -1, "BPF_CALL uses reserved fields");
	if (v->cur->active_locks && !i->src_reg && i->imm != BPF_FUNC_spin_unlock)
		return verify_refuse(v, -EINVAL, "lock-held", -1, "function calls are not allowed while holding a lock");
	if (i->src_reg == BPF_PSEUDO_KFUNC_CALL)
		err = kfunc_call(v, i);
	else
		err = i->src_reg == BPF_PSEUDO_CALL ? func_call(v, i, next) : call_helper(v, i, next);
	ptr_reg_scratched(v, BPF_REG_0);
	return err;
}

static int jump(struct verifier *v, const struct bpf_insn *i, u32 *next)
{
	v->jumps_processed++;
	switch (BPF_OP(i->code)) {
	case BPF_CALL:
		return call(v, i, next);
	case BPF_JA:
		return jump_always(v, i, next);
	case BPF_EXIT:
		return func_exit(v, i, next);
	case ABI_JCOND:
		return may_goto(v, i, next);
	}
	return branch_insn(v, i, next);
}

static int load_func(struct verifier *v, const struct bpf_insn *i, struct reg *dst)
{
	s32 n = subprog_at(v, v->insn_idx + i->imm + 1);

	if (!v->in->n_func_info)
		return verify_refuse(v, -EINVAL, "callback", i->dst_reg, "missing btf func_info");
	if (n < 0 || v->subprog[n].is_global)
		return verify_refuse(v, -EINVAL, "callback", i->dst_reg, "callback function not static");
	reg_mark_pointer(dst, REG_FUNC);
	dst->subprog = n;
	return 0;
}

static int load_imm64(struct verifier *v, const struct bpf_insn *i)
{
	const struct insn_info *info = &v->info[v->insn_idx];
	struct reg *dst;
	int err;

	if (BPF_SIZE(i->code) != BPF_DW)
		return verify_refuse(v, -EINVAL, "ld-imm64", -1, "invalid BPF_LD_IMM insn");
	if (i->off)
		return verify_refuse(v, -EINVAL, "ld-imm64", -1, "BPF_LD_IMM64 uses reserved fields");
	err = ptr_check_reg_arg(v, i->dst_reg, true);
	if (err)
		return err;
	dst = &state_regs(v->cur)[i->dst_reg];
	switch (i->src_reg) {
	case 0:
		reg_mark_const(dst, (u64)(u32)i[1].imm << 32 | (u32)i->imm);
		return 0;
	case BPF_PSEUDO_FUNC:
		return load_func(v, i, dst);
	case BPF_PSEUDO_MAP_VALUE:
	case BPF_PSEUDO_MAP_IDX_VALUE:
		reg_mark_pointer(dst, REG_MAP_VALUE);
		dst->off = info->map_off;
		break;
	default:
		reg_mark_pointer(dst, REG_CONST_MAP);
	}
	dst->map = info->map;
	return 0;
}

static int load_special(struct verifier *v, const struct bpf_insn *i, u32 *next)
{
	int err;

	switch (BPF_MODE(i->code)) {
	case BPF_ABS:
	case BPF_IND:
		err = mem_load_abs(v, i);
		return err ? err : func_load_failed(v, next);
	case BPF_IMM:
		++*next;
		v->info[v->insn_idx + 1].seen = true;
		return load_imm64(v, i);
	}
	return verify_refuse(v, -EINVAL, "insn-unknown", -1, "invalid BPF_LD mode");
}

static int judge(struct verifier *v, const struct bpf_insn *i, u32 *next)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		return alu_insn(v, i);
	case BPF_LDX:
		return mem_load(v, i);
	case BPF_ST:
		return mem_store(v, i);
	case BPF_STX:
		return BPF_MODE(i->code) == BPF_ATOMIC ? mem_atomic(v, v->insn_idx, i) : mem_store(v, i);
	case BPF_LD:
		return load_special(v, i, next);
	}
	return jump(v, i, next);
}

/* ---- the main loop */

struct walk {
	struct verifier *v;
	bool new_path;		/* the log owes a line "from A to B" with the whole state */
};

void walk_scratch_all(struct verifier *v)
{
	v->scratched_regs = ~0u;
	v->scratched_slots = ~0ull;
}

static void say_pruned(struct walk *w)
{
	struct verifier *v = w->v;

	if (w->new_path)
		verify_say(v, LOG_ANY, "\nfrom %d to %d: safe\n", (s32)v->prev_insn_idx, v->insn_idx);
	else
		verify_say(v, LOG_ANY, "%d: safe\n", v->insn_idx);
}

static void say_insn(struct walk *w)
{
	struct verifier *v = w->v;

	if (!v->log || !(v->log->level & LOG_ANY))
		return;
	if (w->new_path && v->log->level & ABI_LOG_LEVEL2) {
		verify_say(v, ABI_LOG_LEVEL2, "\nfrom %d to %d:", (s32)v->prev_insn_idx, v->insn_idx);
		print_state(v, v->cur, v->cur->cur, true);
		w->new_path = false;
	}
	if (v->scratched_regs || v->scratched_slots)
		print_insn_state(v, v->cur, v->cur->cur);
	print_insn_line(v, v->insn_idx);
}

/* kept: prune.c has a copy and tells of it in the end. */
static void tell_watch(struct verifier *v, bool kept)
{
	struct verify_watch *w = v->in->watch;

	if (w->all_precise || !kept)
		w->state(w, v->cur, v->insn_idx, v->info[v->insn_idx].live_regs, false);
}

/* What comes before an instruction is judged. WALK_PATH_DONE: pruned. */
static int arrive(struct walk *w)
{
	struct verifier *v = w->v;
	const struct insn_info *info = &v->info[v->insn_idx];
	u32 kept = v->total_states;
	int ret;

	if (++v->insns_processed > (v->in->max_insns ?: VERIFY_MAX_INSNS_PROCESSED))
		return verify_refuse(v, -E2BIG, "complexity", -1, "BPF program is too large. Processed %u insn",
				     v->insns_processed);
	v->cur_history = -1;
	v->cur->last_insn = v->prev_insn_idx;
	v->cur->insn = v->insn_idx;
	if (info->prune_point) {
		ret = prune_visit(v, v->insn_idx);
		if (ret == 1)
			say_pruned(w);
		if (ret)
			return ret;
	}
	if (info->jump_point) {
		ret = precise_push_history(v, v->cur, 0, 0);
		if (ret)
			return ret;
	}
	if (v->in->watch)
		tell_watch(v, v->total_states != kept);
	say_insn(w);
	return 0;
}

static int step(struct walk *w)
{
	struct verifier *v = w->v;
	const struct bpf_insn *i;
	u32 next = v->insn_idx + 1;
	int ret;

	if (v->insn_idx >= v->n_insns)
		return verify_refuse(v, -EFAULT, "internal", -1, "invalid insn idx %u insn_cnt %u", v->insn_idx, v->n_insns);
	ret = arrive(w);
	if (ret)
		return ret;
	i = &v->insns[v->insn_idx];
	v->info[v->insn_idx].seen = true;
	live_begin_insn(v, v->insn_idx);
	ret = judge(v, i, &next);
	if (ret < 0)
		return ret;
	live_end_insn(v);
	if (v->no_memory)
		return -ENOMEM;
	if (ret == WALK_PATH_DONE)
		return ret;
	w->new_path |= i->code == (BPF_JMP | BPF_EXIT);
	v->prev_insn_idx = v->insn_idx;
	v->insn_idx = next;
	return 0;
}

static int walk_all_paths(struct verifier *v)
{
	struct walk w = { .v = v };

	for (;;) {
		int ret = step(&w);

		if (ret < 0)
			return ret;
		if (ret != WALK_PATH_DONE)
			continue;
		walk_scratch_all(v);
		live_update(v);
		ret = prune_branch_done(v, v->cur);
		if (ret)
			return ret;
		if (!pop(v))
			return 0;
		w.new_path = true;
	}
}

/* What a function may assume when it begins. The main program gets the context. */
static int enter(struct verifier *v, u32 n)
{
	struct reg *regs = state_regs(v->cur);
	struct refusal kept = *v->why;
	int err;

	if (n) {
		verify_say(v, ~0u, "Validating %s() func#%u...\n", subprog_name(v, n), n);
		return args_enter(v, n, regs);
	}
	if (v->subprog[0].type_id) {
		/* its BTF matters only when it calls itself; complaints about it stay in the log */
		err = args_prepare(v, 0);
		if (err || v->subprog[0].n_args != 1 || v->subprog[0].arg[0].kind != SUB_ARG_CTX)
			v->subprog[0].unreliable = true;
		*v->why = kept;
	}
	reg_mark_pointer(&regs[BPF_REG_1], REG_CTX);
	return 0;
}

static int start(struct verifier *v, u32 n)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	v->cur = s;
	s->pool = &v->pool;
	s->branches = 1;
	s->in_sleepable = v->in->prog_flags & ABI_F_SLEEPABLE;
	s->frame[0] = state_frame_new(s->pool, 0, n, -1);
	if (!s->frame[0])
		return -ENOMEM;
	s->first_insn = v->subprog[n].start;
	s->last_insn = -1;
	v->insn_idx = v->subprog[n].start;
	v->prev_insn_idx = -1;
	v->prev_line = NULL;
	walk_scratch_all(v);
	return enter(v, n);
}

/* All paths of the main program (0) or of a global function. On success the log of level 1 has nothing to tell. */
int walk_function(struct verifier *v, u32 n)
{
	int err = start(v, n);

	if (!err)
		err = walk_all_paths(v);
	drop_pending(v);
	state_free(v->cur);
	v->cur = NULL;
	prune_forget(v);
	if (!err && v->log && !(v->log->level & ABI_LOG_LEVEL2))
		log_reset(v->log, v->log_start);
	return err;
}
