/* Precision on demand. Numbers start imprecise: pruning ignores their ranges. When a range decides something (a branch, an
 * offset, a size), this goes back over the instructions that were walked, by the jump history, and marks as precise what the
 * range rested on in each kept state on the way. Then a later path may end in such a state only with ranges within it.
 *
 * A `need` is a set of registers and stack slots, per frame; each instruction turns the need after it into the need before
 * it. What can't be followed falls back to "everything is precise", which only costs pruning. */
#include "engine.h"

#define REGS_ARGS 0x3eu

/* jump_history.flags */
enum {
	FRAME_MASK = 7,
	SLOT_SHIFT = 3, SLOT_MASK = 63,
	ON_STACK = 1 << 9,	/* the instruction accessed the slot said by the bits above */
	DST_IS_STACK = 1 << 10, SRC_IS_STACK = 1 << 11,	/* conditional jumps: that operand is a stack pointer */
};

struct backtrack {
	u32 frame;		/* where the walk back is */
	u32 regs[STATE_MAX_FRAMES];
	u64 slots[STATE_MAX_FRAMES];
};

int precise_init(struct verifier *v)
{
	v->backtrack = calloc(1, sizeof(*v->backtrack));
	return v->backtrack ? 0 : -ENOMEM;
}

/* ---- history */

int precise_push_history(struct verifier *v, struct state *s, u32 flags, u64 linked)
{
	struct jump_history *h;

	if (v->cur_history >= 0) {
		s->history[v->cur_history].flags |= flags;
		if (linked)
			s->history[v->cur_history].linked_regs = linked;
		return 0;
	}
	if (s->n_history == s->history_cap) {
		u32 cap = s->history_cap ? s->history_cap * 2 : 16;

		h = realloc(s->history, cap * sizeof(*h));
		if (!h)
			return -ENOMEM;
		s->history = h;
		s->history_cap = cap;
	}
	v->cur_history = s->n_history;
	s->history[s->n_history++] = (struct jump_history){
		.insn = v->insn_idx, .prev = v->prev_insn_idx, .flags = flags, .linked_regs = linked,
	};
	return 0;
}

static void note(struct verifier *v, u32 flags, u64 linked)
{
	if (precise_push_history(v, v->cur, flags, linked))
		v->no_memory = true;
}

void precise_note_stack(struct verifier *v, u32 frameno, s32 slot)
{
	if (slot >= 0 && slot <= SLOT_MASK)
		note(v, ON_STACK | frameno | slot << SLOT_SHIFT, 0);
}

void precise_note_compare(struct verifier *v, bool src_is_stack, bool dst_is_stack)
{
	if (src_is_stack || dst_is_stack)
		note(v, (src_is_stack ? SRC_IS_STACK : 0) | (dst_is_stack ? DST_IS_STACK : 0), 0);
}

/* Ten bits an entry from bit 4 (frame 3, stack 1, index 6), the number of entries below. */
void precise_note_linked(struct verifier *v, const struct linked_regs *l)
{
	u64 packed = l->n;

	for (u32 i = 0; i < l->n; i++)
		packed |= (u64)(l->reg[i].frameno | l->reg[i].is_stack << 3 | l->reg[i].index << 4) << (4 + 10 * i);
	note(v, 0, packed);
}

static_assert(4 + 10 * LINKED_MAX <= 64, "linked registers fit into their word");

/* ---- the set of needs */

static bool is_empty(const struct backtrack *b)
{
	for (u32 i = 0; i <= b->frame; i++)
		if (b->regs[i] || b->slots[i])
			return false;
	return true;
}

static bool needs_reg(const struct backtrack *b, u32 r)
{
	return b->regs[b->frame] >> r & 1;
}

static void need_reg(struct backtrack *b, u32 r)
{
	b->regs[b->frame] |= 1u << r;
}

static void drop_reg(struct backtrack *b, u32 r)
{
	b->regs[b->frame] &= ~(1u << r);
}

/* One of a family of linked registers: all of them. */
static void spread_links(struct backtrack *b, const struct jump_history *h)
{
	u32 n = h ? h->linked_regs & 15 : 0;
	bool some = false;

	for (u32 pass = 0; pass < 2; pass++) {
		for (u32 i = 0; i < n; i++) {
			u32 e = h->linked_regs >> (4 + 10 * i), frame = e & 7, at = e >> 4 & 63;
			bool is_stack = e >> 3 & 1;

			if (!pass)
				some |= is_stack ? b->slots[frame] >> at & 1 : b->regs[frame] >> at & 1;
			else if (is_stack)
				b->slots[frame] |= 1ull << at;
			else
				b->regs[frame] |= 1u << at;
		}
		if (!some)
			return;
	}
}

/* ---- one instruction, backwards. 0, or -ENOTSUPP_: can't be followed */

static int back_alu(struct backtrack *b, const struct bpf_insn *i)
{
	bool reg_src = BPF_SRC(i->code) == BPF_X;
	u8 op = BPF_OP(i->code);

	if (!needs_reg(b, i->dst_reg) || op == BPF_END || op == BPF_NEG)
		return 0;
	if (op == BPF_MOV)
		drop_reg(b, i->dst_reg);
	if (reg_src && i->src_reg != BPF_REG_10)
		need_reg(b, i->src_reg);
	return 0;
}

static u32 flags_of(const struct jump_history *h)
{
	return h ? h->flags : 0;
}

static int back_load(struct backtrack *b, const struct bpf_insn *i, const struct jump_history *h)
{
	u32 flags = flags_of(h);

	if (!needs_reg(b, i->dst_reg))
		return 0;
	drop_reg(b, i->dst_reg);
	if (flags & ON_STACK)
		b->slots[flags & FRAME_MASK] |= 1ull << (flags >> SLOT_SHIFT & SLOT_MASK);
	return 0;
}

static int back_store(struct backtrack *b, const struct bpf_insn *i, const struct jump_history *h)
{
	u32 flags = flags_of(h), frame = flags & FRAME_MASK, slot = flags >> SLOT_SHIFT & SLOT_MASK;

	/* a number as the address: pointers were subtracted */
	if (needs_reg(b, i->dst_reg))
		return -ENOTSUPP_;
	if (!(flags & ON_STACK) || !(b->slots[frame] >> slot & 1))
		return 0;
	b->slots[frame] &= ~(1ull << slot);
	if (BPF_CLASS(i->code) == BPF_STX)
		need_reg(b, i->src_reg);
	return 0;
}

static int back_atomic(struct backtrack *b, const struct bpf_insn *i, const struct jump_history *h)
{
	u32 flags = flags_of(h), frame = flags & FRAME_MASK, slot = flags >> SLOT_SHIFT & SLOT_MASK;
	u32 loaded = i->imm == BPF_CMPXCHG ? BPF_REG_0 : i->src_reg;

	if (i->imm == ABI_LOAD_ACQ)
		return back_load(b, i, h);
	if (i->imm == ABI_STORE_REL)
		return back_store(b, i, h);
	if (needs_reg(b, i->dst_reg))
		return -ENOTSUPP_;
	if ((flags & ON_STACK) && b->slots[frame] >> slot & 1)
		return -ENOTSUPP_;
	if (!(i->imm & BPF_FETCH) || !needs_reg(b, loaded))
		return 0;
	if (flags & ON_STACK)
		return -ENOTSUPP_;
	drop_reg(b, loaded);
	return 0;
}

/* Out of a function, to the call that the history says led into it. */
static int leave_function(struct backtrack *b, bool carry_args)
{
	u32 args = b->regs[b->frame] & REGS_ARGS;

	if (b->regs[b->frame] & ~REGS_ARGS || b->slots[b->frame] || !b->frame)
		return -ENOTSUPP_;
	b->regs[b->frame--] = 0;
	if (carry_args)
		b->regs[b->frame] |= args;
	return 0;
}

/* Into a function that ended by an instruction other than exit: a tail call, whose program left any number in r0, or a
 * packet load that failed, which leaves 0. */
static int back_early_end(struct backtrack *b)
{
	drop_reg(b, BPF_REG_0);
	if (b->regs[b->frame] & REGS_ARGS || b->frame + 1 >= STATE_MAX_FRAMES)
		return -ENOTSUPP_;
	b->frame++;
	b->regs[b->frame] = 0;
	b->slots[b->frame] = 0;
	return 0;
}

static int back_call(struct verifier *v, struct backtrack *b, u32 idx, s32 after)
{
	const struct bpf_insn *i = &v->insns[idx];

	if (isa_is_pseudo_call(i)) {
		s32 n = subprog_at(v, idx + i->imm + 1);

		if (n < 0)
			return -ENOTSUPP_;
		if (!v->subprog[n].is_global)
			return leave_function(b, true);
	} else if (v->info[idx].calls_callback && (s32)idx != after - 1) {
		return leave_function(b, false);
	} else if (isa_is_helper_call(i) && i->imm == BPF_FUNC_tail_call && (s32)idx != after - 1 && after >= 0) {
		return back_early_end(b);
	}
	drop_reg(b, BPF_REG_0);
	return b->regs[b->frame] & REGS_ARGS ? -ENOTSUPP_ : 0;
}

/* Into a function that had returned to `after`. */
static int back_exit(struct verifier *v, struct backtrack *b, s32 after)
{
	bool wants_r0;

	if (after >= 0 && v->info[after].calls_callback)
		b->regs[b->frame] &= ~REGS_ARGS;	/* set by whoever calls back */
	if (b->regs[b->frame] & REGS_ARGS || b->frame + 1 >= STATE_MAX_FRAMES)
		return -ENOTSUPP_;
	wants_r0 = after >= 1 && isa_is_pseudo_call(&v->insns[after - 1]) && needs_reg(b, BPF_REG_0);
	drop_reg(b, BPF_REG_0);
	b->frame++;
	b->regs[b->frame] = wants_r0 ? 1u << BPF_REG_0 : 0;
	b->slots[b->frame] = 0;
	return 0;
}

static int back_jump(struct verifier *v, struct backtrack *b, u32 idx, s32 after, const struct jump_history *h)
{
	const struct bpf_insn *i = &v->insns[idx];
	u8 op = BPF_OP(i->code);

	if (op == BPF_CALL)
		return back_call(v, b, idx, after);
	if (op == BPF_EXIT)
		return back_exit(v, b, after);
	if (op == BPF_JA || op == ABI_JCOND || BPF_SRC(i->code) != BPF_X)
		return 0;
	if (!needs_reg(b, i->dst_reg) && !needs_reg(b, i->src_reg))
		return 0;
	if (!(flags_of(h) & SRC_IS_STACK))
		need_reg(b, i->src_reg);
	if (!(flags_of(h) & DST_IS_STACK))
		need_reg(b, i->dst_reg);
	return 0;
}

static int back_ld(struct backtrack *b, const struct bpf_insn *i, s32 idx, s32 after)
{
	u8 mode = BPF_MODE(i->code);

	if (!i->code)	/* second half of ld_imm64 */
		return 0;
	if ((mode == BPF_ABS || mode == BPF_IND) && after >= 0 && idx != after - 1)
		return back_early_end(b);
	if (mode == BPF_ABS || mode == BPF_IND)
		return needs_reg(b, BPF_REG_0) ? -ENOTSUPP_ : 0;
	drop_reg(b, i->dst_reg);
	return 0;
}

static int back_insn(struct verifier *v, struct backtrack *b, u32 idx, s32 after, const struct jump_history *h)
{
	const struct bpf_insn *i = &v->insns[idx];
	int err;

	spread_links(b, h);
	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		err = back_alu(b, i);
		break;
	case BPF_LDX:
		err = back_load(b, i, h);
		break;
	case BPF_ST:
		err = back_store(b, i, h);
		break;
	case BPF_STX:
		err = BPF_MODE(i->code) == BPF_ATOMIC ? back_atomic(b, i, h) : back_store(b, i, h);
		break;
	case BPF_LD:
		err = back_ld(b, i, idx, after);
		break;
	default:
		err = back_jump(v, b, idx, after, h);
	}
	spread_links(b, h);
	return err;
}

/* ---- marks */

static bool is_imprecise(const struct reg *r)
{
	return r->type == REG_SCALAR && !r->precise;
}

static bool is_spilled_scalar(const struct slot *s)
{
	return s->type[7] == SLOT_SPILL && s->spilled.type == REG_SCALAR;
}

/* Mark what is needed in a kept state; what is no number there, or precise already, needs no more. */
static bool mark_frame(struct frame *f, u32 *regs, u64 *slots)
{
	bool changed = false;

	for (u32 r = 0; r < ARRAY_SIZE(f->regs); r++) {
		if (!(*regs >> r & 1))
			continue;
		if (is_imprecise(&f->regs[r]))
			changed = f->regs[r].precise = true;
		else
			*regs &= ~(1u << r);
	}
	for (u64 left = *slots; left; left &= left - 1) {
		u32 i = __builtin_ctzll(left);

		if (i < f->n_slots && is_spilled_scalar(&f->slots[i]) && !f->slots[i].spilled.precise)
			changed = f->slots[i].spilled.precise = true;
		else
			*slots &= ~(1ull << i);
	}
	return changed;
}

static void set_all(struct reg *r, void *arg)
{
	if (r->type == REG_SCALAR)
		r->precise = *(bool *)arg;
}

static void force_frame(struct verifier *v, struct frame *f)
{
	for (u32 r = 0; r < BPF_REG_10; r++)
		if (f->regs[r].type == REG_SCALAR && !f->regs[r].precise) {
			f->regs[r].precise = true;
			verify_say(v, ABI_LOG_LEVEL2, "force_precise: frame%u: forcing r%u to be precise\n", f->frameno, r);
		}
	for (u32 n = 0; n < f->n_slots; n++) {
		struct slot *slot = &f->slots[n];

		if (slot->type[7] != SLOT_SPILL || slot->spilled.type != REG_SCALAR || slot->spilled.precise)
			continue;
		slot->spilled.precise = true;
		verify_say(v, ABI_LOG_LEVEL2, "force_precise: frame%u: forcing fp%d to be precise\n", f->frameno,
			   -8 * (s32)(n + 1));
	}
}

void precise_all(struct verifier *v, struct state *s)
{
	verify_say(v, ABI_LOG_LEVEL2, "mark_precise: frame%u: falling back to forcing all scalars precise\n", s->cur);
	/* where it was done before it was done for all further ones: a long path would be walked again and again */
	for (s = s->parent; s && !s->forced; s = s->parent) {
		for (u32 n = 0; n <= s->cur; n++)
			force_frame(v, s->frame[n]);
		s->forced = true;
	}
}

void precise_none(struct state *s)
{
	bool no = false;

	state_each_reg(s, set_all, &no);
}

/* ---- the log of level 2 */

static bool talks(const struct verifier *v)
{
	return v->log && v->log->level & ABI_LOG_LEVEL2;
}

static void say_needs(struct verifier *v, u32 regs, u64 slots)
{
	const char *sep = "";

	verify_say(v, ABI_LOG_LEVEL2, "regs=");
	for (u32 r = 0; r < 32; r++)
		if (regs >> r & 1) {
			verify_say(v, ABI_LOG_LEVEL2, "%sr%u", sep, r);
			sep = ",";
		}
	verify_say(v, ABI_LOG_LEVEL2, " stack=");
	sep = "";
	for (u32 i = 0; i < 64; i++)
		if (slots >> i & 1) {
			verify_say(v, ABI_LOG_LEVEL2, "%s-%u", sep, (i + 1) * 8);
			sep = ",";
		}
}

static void say_insn(struct verifier *v, const struct backtrack *b, u32 idx)
{
	if (!talks(v) || !v->insns[idx].code)
		return;
	verify_say(v, ABI_LOG_LEVEL2, "mark_precise: frame%u: ", b->frame);
	say_needs(v, b->regs[b->frame], b->slots[b->frame]);
	verify_say(v, ABI_LOG_LEVEL2, " before %u: ", idx);
	print_insn_text(v, idx);
}

static void say_parent(struct verifier *v, struct state *s, u32 frame, u32 regs, u64 slots)
{
	if (!talks(v))
		return;
	verify_say(v, ABI_LOG_LEVEL2, "mark_precise: frame%u: parent state ", frame);
	say_needs(v, regs, slots);
	verify_say(v, ABI_LOG_LEVEL2, ": ");
	print_state(v, s, frame, true);
}

/* ---- the walk back */

static const struct jump_history *entry_of(const struct state *s, u32 n, u32 insn)
{
	return n && s->history[n - 1].insn == insn ? &s->history[n - 1] : NULL;
}

/* The instruction before insn on the way from s's first one; -1: there is none. *n: history entries not used yet. */
static s32 step_back(const struct state *s, s32 insn, u32 *n)
{
	if (insn == (s32)s->first_insn && (!*n || (*n == 1 && s->history[0].insn == s->first_insn)))
		return -1;
	if (*n && s->history[*n - 1].insn == (u32)insn)
		return s->history[--*n].prev;
	return insn - 1;
}

/* From `last` back to s's first instruction. 1: nothing is needed any more; 0: go on in the parent. */
static int back_segment(struct verifier *v, struct backtrack *b, const struct state *s, s32 last, s32 *after, bool skip)
{
	u32 n = s->n_history;
	s32 i = last;

	while (i >= 0) {
		if (i >= (s32)v->n_insns)
			return -ENOTSUPP_;
		if (!skip) {
			int err;

			say_insn(v, b, i);
			err = back_insn(v, b, i, *after, entry_of(s, n, i));
			if (err)
				return err;
		}
		skip = false;
		if (is_empty(b))
			return 1;
		*after = i;
		i = step_back(s, i, &n);
	}
	return 0;
}

static void mark_state(struct verifier *v, struct backtrack *b, struct state *s, bool *changed)
{
	for (s32 n = MIN(b->frame, s->cur); n >= 0; n--) {
		*changed |= mark_frame(s->frame[n], &b->regs[n], &b->slots[n]);
		say_parent(v, s, n, b->regs[n], b->slots[n]);
	}
}

/* At the entry of a global function only its arguments can be left: they are what the caller may pass, that is anything. */
static int at_entry(struct backtrack *b, struct state *s, bool *changed)
{
	if (s->cur || !s->frame[0]->subprog || s->frame[0]->callsite != -1 || b->slots[0] || b->regs[0] & ~REGS_ARGS)
		return -ENOTSUPP_;
	*changed |= mark_frame(s->frame[0], &b->regs[0], &b->slots[0]);
	return 1;
}

static int go_back(struct verifier *v, struct backtrack *b, struct state *s, bool *changed)
{
	s32 last = s->insn, after = -1;
	bool skip = true;

	for (;;) {
		int ret;

		verify_say(v, ABI_LOG_LEVEL2, "mark_precise: frame%u: last_idx %d first_idx %u subseq_idx %d \n", b->frame, last,
			   s->first_insn, after);
		ret = last < 0 ? at_entry(b, s, changed) : back_segment(v, b, s, last, &after, skip);
		if (ret)
			return ret < 0 ? ret : 0;
		skip = false;
		after = s->first_insn;
		s = s->parent;
		if (!s)
			return is_empty(b) ? 0 : -ENOTSUPP_;
		mark_state(v, b, s, changed);
		if (is_empty(b))
			return 0;
		last = s->last_insn;
	}
}

static int satisfy(struct verifier *v, struct state *s, bool *changed)
{
	struct backtrack *b = v->backtrack;

	if (!v->bpf_capable || is_empty(b))
		return 0;
	if (go_back(v, b, s, changed))
		precise_all(v, s);
	return 0;
}

static void begin(struct verifier *v, const struct state *s)
{
	memset(v->backtrack, 0, sizeof(*v->backtrack));
	v->backtrack->frame = s->cur;
}

int precise_mark(struct verifier *v, u32 regno)
{
	bool changed = false;

	if (state_regs(v->cur)[regno].type != REG_SCALAR)
		return verify_refuse(v, -EFAULT, "internal", regno, "precision of r%u, which is no number", regno);
	begin(v, v->cur);
	need_reg(v->backtrack, regno);
	return satisfy(v, v->cur, &changed);
}

int precise_mark_slot(struct verifier *v, u32 frameno, s32 slot)
{
	bool changed = false;

	begin(v, v->cur);
	v->backtrack->slots[frameno] |= 1ull << slot;
	return satisfy(v, v->cur, &changed);
}

static void say_propagating(struct verifier *v, u32 frame, bool *more, const char *what, s32 at)
{
	if (*more)
		verify_say(v, ABI_LOG_LEVEL2, ",%s%d", what, at);
	else
		verify_say(v, ABI_LOG_LEVEL2, "frame %u: propagating %s%d", frame, what, at);
	*more = true;
}

static void need_what_was_needed(struct verifier *v, struct backtrack *b, const struct frame *f, u32 n)
{
	bool more = false;

	for (u32 r = 0; r < BPF_REG_10; r++) {
		if (f->regs[r].type != REG_SCALAR || !f->regs[r].precise)
			continue;
		b->regs[n] |= 1u << r;
		say_propagating(v, n, &more, "r", r);
	}
	for (u32 i = 0; i < f->n_slots; i++) {
		if (!is_spilled_scalar(&f->slots[i]) || !f->slots[i].spilled.precise)
			continue;
		b->slots[n] |= 1ull << i;
		say_propagating(v, n, &more, "fp", -8 * (s32)(i + 1));
	}
	if (more)
		verify_say(v, ABI_LOG_LEVEL2, "\n");
}

/* What `old` needs to be precise, cur needs too, now that cur counts as proven by it. */
int precise_propagate(struct verifier *v, const struct state *old, struct state *cur, bool *changed)
{
	begin(v, cur);
	for (s32 n = old->cur; n >= 0; n--)
		need_what_was_needed(v, v->backtrack, old->frame[n], n);
	return satisfy(v, cur, changed);
}
