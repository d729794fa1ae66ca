/* Conditional jumps: decided by what is known, or followed both ways, each way knowing more than
 * before.
 *
 * A decision rests on ranges, so these become precise: states kept for pruning must then match in
 * them. An undecided jump tells something of the compared numbers and of all numbers linked to
 * them; of pointers it tells that they are not NULL, or how far the packet reaches. */
#include "verifier.h"

static struct reg *reg_at(struct state *s, u32 regno)
{
	return &state_regs(s)[regno];
}

static bool is_any_packet(const struct reg *r)
{
	return reg_is_packet(r) || r->type == REG_PACKET_END;
}

static bool is_const(const struct reg *r, bool is32)
{
	return r->type == REG_SCALAR && (is32 ? value_is_const32(&r->v) : value_is_const(&r->v));
}

/* A packet pointer that an earlier comparison put at or behind the end. */
static int decide_packet(const struct reg *a, const struct reg *b, u8 op)
{
	const struct reg *p = a;
	bool beyond;

	if (b->type != REG_PACKET_END) {
		if (a->type != REG_PACKET_END)
			return -1;
		p = b;
		op = value_swap_op(op);
	}
	if ((s32)p->range >= 0)
		return -1;
	beyond = (s32)p->range == REG_BEYOND_PKT_END;
	switch (op) {
	case BPF_JGT:
	case BPF_JLE:
		return beyond ? op == BPF_JGT : -1;
	case BPF_JGE:
	case BPF_JLT:
		return op == BPF_JGE;
	}
	return -1;
}

static bool never_null(const struct reg *r)
{
	if (r->flags & REGF_NULL)
		return false;
	switch (r->type) {
	case REG_SOCKET:
	case REG_TCP_SOCK:
	case REG_MAP_VALUE:
	case REG_MAP_KEY:
	case REG_SOCK_COMMON:
	case REG_CONST_MAP:
		return true;
	case REG_BTF_ID:
		return r->ref_id || r->flags & (REGF_TRUSTED | REGF_RCU);
	case REG_MEM:
		return !(r->flags & REGF_UNTRUSTED);
	default:
		return false;
	}
}

/* A pointer against 0. */
static int decide_null(const struct reg *a, const struct reg *b, u8 op, bool is32)
{
	u64 x;

	if (!is_const(b, is32)) {
		const struct reg *t = a;

		a = b;
		b = t;
		op = value_swap_op(op);
	}
	if (!is_const(b, is32) || !never_null(a))
		return -1;
	x = is32 ? (u32)b->v.bits.value : b->v.bits.value;
	if (x)
		return -1;
	return op == BPF_JEQ ? 0 : op == BPF_JNE ? 1 : -1;
}

static int decide(const struct reg *a, const struct reg *b, u8 op, bool is32)
{
	if (is_any_packet(a) && is_any_packet(b) && !is32)
		return decide_packet(a, b, op);
	if (a->type != REG_SCALAR || b->type != REG_SCALAR)
		return decide_null(a, b, op, is32);
	return value_branch(&a->v, &b->v, op, is32);
}

static void add_link(struct linked_regs *l, struct reg *r, u32 id, u32 frameno, bool is_stack,
		     u32 index)
{
	if (r->type != REG_SCALAR || !r->id || (r->id & ~REG_LINK_ADD_CONST) != id)
		return;
	if (l->n == LINKED_MAX) { /* too many to follow: this one leaves the family */
		r->id = 0;
		return;
	}
	l->reg[l->n++] = (struct linked_reg){frameno, is_stack, index};
}

/* Where frame n stands: at the jump, or in the call it waits for. */
static u32 insn_of(const struct verifier *v, u32 n)
{
	return n == v->cur->cur ? v->insn_idx : (u32)v->cur->frame[n + 1]->callsite;
}

/* All numbers known to be the same as r, or r plus a constant, r included; registers only if they
 * are read again. */
static void collect_links(struct verifier *v, struct linked_regs *l, const struct reg *r)
{
	u32 id = r->id & ~REG_LINK_ADD_CONST;

	if (r->type != REG_SCALAR || !id)
		return;
	for (int n = v->cur->cur; n >= 0; n--) {
		struct frame *f = v->cur->frame[n];
		u16 live = v->info[insn_of(v, n)].live_regs;

		for (u32 i = 0; i < BPF_REG_10; i++)
			if (live >> i & 1)
				add_link(l, &f->regs[i], id, n, false, i);
		for (u32 i = 0; i < f->n_slots; i++)
			if (f->slots[i].type[7] == SLOT_SPILL)
				add_link(l, &f->slots[i].spilled, id, n, true, i);
	}
}

static struct reg *linked(struct state *s, const struct linked_reg *l)
{
	struct frame *f = s->frame[l->frameno];

	return l->is_stack ? &f->slots[l->index].spilled : &f->regs[l->index];
}

/* r belongs to known's family: what is known of known holds for r, shifted by the difference of
 * their constants. Constants added at different widths don't compare. */
static void follow(struct reg *r, const struct reg *known)
{
	u32 made_by = (r->id ^ known->id) & REG_LINK_ADD_CONST;
	struct reg was = *r;

	if (made_by == REG_LINK_ADD_CONST)
		return;
	*r = *known;
	r->subreg_def = was.subreg_def;
	if (!((was.id | known->id) & REG_LINK_ADD_CONST) || was.off == known->off)
		return;
	r->off = was.off;
	r->id = was.id;
	value_add_const_raw(&r->v, (s64)was.off - known->off);
	if ((was.id | known->id) & REG_LINK_ADD32)
		value_clear_high(&r->v);
	value_sync(&r->v);
}

static void sync_links(struct state *s, const struct reg *known, const struct linked_regs *l)
{
	if (known->type != REG_SCALAR || !known->id)
		return;
	for (u32 i = 0; i < l->n; i++) {
		struct reg *r = linked(s, &l->reg[i]);

		if (r->type == REG_SCALAR && r != known &&
		    (r->id & ~REG_LINK_ADD_CONST) == (known->id & ~REG_LINK_ADD_CONST))
			follow(r, known);
	}
}

/* The jump under judgement. For an immediate, src and taken_src are numbers of our own. */
struct jump {
	const struct bpf_insn *i;
	u8 op;
	bool is32, reg_src;
	struct reg *dst, *src;		   /* in the current state, which falls through */
	struct reg *taken_dst, *taken_src; /* in the other one */
	struct reg imm[2];
	struct linked_regs links;
};

static int check_operands(struct verifier *v, struct jump *j)
{
	const struct bpf_insn *i = j->i;
	int err = ptr_check_reg_arg(v, i->dst_reg, false);

	if (err)
		return err;
	j->dst = reg_at(v->cur, i->dst_reg);
	if (j->reg_src ? i->imm != 0 : i->src_reg != 0)
		return verify_refuse(v, -EINVAL, "insn-reserved", -1,
				     "BPF_JMP/JMP32 uses reserved fields");
	if (!j->reg_src) {
		j->src = &j->imm[0];
		j->imm[0] = (struct reg){.type = REG_SCALAR, .v = value_const((u64)(s64)i->imm)};
		return 0;
	}
	err = ptr_check_reg_arg(v, i->src_reg, false);
	if (err)
		return err;
	j->src = reg_at(v->cur, i->src_reg);
	if (!(is_any_packet(j->dst) && is_any_packet(j->src)) && ptr_leaks(v, j->src))
		return verify_refuse(v, -EACCES, "ptr-compare", i->src_reg,
				     "R%d pointer comparison prohibited", i->src_reg);
	return 0;
}

/* The jump goes one way only: the ranges that say so matter from here back. */
static int decided(struct verifier *v, const struct jump *j, bool taken, u32 *next_insn)
{
	int err = 0;

	if (j->dst->type == REG_SCALAR)
		err = precise_mark(v, j->i->dst_reg);
	if (!err && j->reg_src && j->src->type == REG_SCALAR)
		err = precise_mark(v, j->i->src_reg);
	if (err)
		return err;
	v->info[v->insn_idx].branch_seen |= taken ? 1 : 2;
	print_insn_state(v, v->cur, v->cur->cur);
	if (taken)
		*next_insn += j->i->off;
	return 0;
}

static int push_taken(struct verifier *v, struct jump *j, u32 target, struct state **other)
{
	*other = walk_push(v, target, v->insn_idx);
	if (!*other) {
		/* too many pending jumps: the kernel's errno at a conditional jump is EFAULT */
		if (v->why->err == -E2BIG)
			v->why->err = -EFAULT;
		return v->why->err ? v->why->err : -ENOMEM;
	}
	j->taken_dst = reg_at(*other, j->i->dst_reg);
	j->taken_src = j->reg_src ? reg_at(*other, j->i->src_reg) : &j->imm[1];
	j->imm[1] = j->imm[0];
	return 0;
}

/* Both numbers, both ways (reg_set_min_max). */
static int refine_scalars(struct verifier *v, struct jump *j)
{
	int err;

	if (j->dst->type != REG_SCALAR || j->src->type != REG_SCALAR)
		return 0;
	value_assume(&j->dst->v, &j->src->v, value_negate_op(j->op), j->is32);
	value_assume(&j->taken_dst->v, &j->taken_src->v, j->op, j->is32);
	err = alu_check_bounds(v, j->taken_dst, "true_reg1");
	if (!err)
		err = alu_check_bounds(v, j->taken_src, "true_reg2");
	if (!err)
		err = alu_check_bounds(v, j->dst, "false_reg1");
	if (!err)
		err = alu_check_bounds(v, j->src, "false_reg2");
	return err;
}

static void sync_both(struct verifier *v, struct jump *j, struct state *other)
{
	if (j->reg_src && j->src->id == j->taken_src->id) {
		sync_links(v->cur, j->src, &j->links);
		sync_links(other, j->taken_src, &j->links);
	}
	if (j->dst->id == j->taken_dst->id) {
		sync_links(v->cur, j->dst, &j->links);
		sync_links(other, j->taken_dst, &j->links);
	}
}

static bool is_object(const struct reg *r)
{
	return r->type != REG_SCALAR && r->type != REG_BTF_ID;
}

/* Equal to a pointer that is never NULL: then not NULL either. Only the register compared learns
 * it, not its copies. */
static void compare_pointers(const struct jump *j)
{
	bool dst_null = j->dst->flags & REGF_NULL, src_null = j->src->flags & REGF_NULL;

	if (j->is32 || !j->reg_src || !is_object(j->dst) || !is_object(j->src) ||
	    dst_null == src_null)
		return;
	if (j->op == BPF_JEQ)
		ptr_mark_not_null(dst_null ? j->taken_dst : j->taken_src);
	else if (j->op == BPF_JNE)
		ptr_mark_not_null(dst_null ? j->dst : j->src);
}

static int refine_pointers(struct verifier *v, struct jump *j, struct state *other)
{
	bool eq_ne = j->op == BPF_JEQ || j->op == BPF_JNE;
	u32 regno = j->i->dst_reg;

	compare_pointers(j);
	if (!j->is32 && !j->reg_src && j->i->imm == 0 && eq_ne && j->dst->flags & REGF_NULL) {
		ptr_mark_null(v, v->cur, regno, j->op == BPF_JNE);
		ptr_mark_null(v, other, regno, j->op == BPF_JEQ);
		return 0;
	}
	if (!ptr_try_packet_compare(j->i, j->dst, j->src, other, v->cur) && ptr_leaks(v, j->dst))
		return verify_refuse(v, -EACCES, "ptr-compare", regno,
				     "R%d pointer comparison prohibited", regno);
	return 0;
}

/* Both ways are open: the current state falls through, a copy takes the jump later. */
static int both_ways(struct verifier *v, struct jump *j, u32 target)
{
	struct state *other;
	int err;

	if (j->reg_src)
		collect_links(v, &j->links, j->src);
	collect_links(v, &j->links, j->dst);
	if (j->links.n > 1)
		precise_note_linked(v, &j->links);
	err = push_taken(v, j, target, &other);
	if (!err)
		err = refine_scalars(v, j);
	if (err)
		return err;
	sync_both(v, j, other);
	v->info[v->insn_idx].branch_seen |= 3;
	err = refine_pointers(v, j, other);
	if (err)
		return err;
	print_insn_state(v, v->cur, v->cur->cur);
	return 0;
}

int branch_insn(struct verifier *v, const struct bpf_insn *i, u32 *next_insn)
{
	struct jump j = {
	    .i = i,
	    .op = BPF_OP(i->code),
	    .is32 = BPF_CLASS(i->code) == BPF_JMP32,
	    .reg_src = BPF_SRC(i->code) == BPF_X,
	};
	int err, known;

	if (j.op == BPF_JA || j.op > BPF_JSLE)
		return verify_refuse(v, -EINVAL, "insn-unknown", -1,
				     "invalid BPF_JMP/JMP32 opcode %x", j.op);
	err = check_operands(v, &j);
	if (err)
		return err;
	precise_note_compare(v, j.reg_src && j.src->type == REG_STACK, j.dst->type == REG_STACK);
	known = decide(j.dst, j.src, j.op, j.is32);
	if (known >= 0)
		return decided(v, &j, known, next_insn);
	return both_ways(v, &j, *next_insn + i->off);
}
