/* Registers as operands, and arithmetic on pointers.
 *
 * A pointer is base + off + v: `off` is the constant part, `v` what is known of the variable part. Adding a constant moves
 * `off`; adding anything else widens `v`, and for packets makes a new base with a new id, because a length that was proven
 * for the old one says nothing about it. Both parts stay within +-VERIFY_MAX_VAR_OFF, so that sums of them and of an access
 * size never overflow. */
#include "access.h"

bool ptr_leaks(const struct verifier *v, const struct reg *r)
{
	return !v->allow_ptr_leaks && r->type != REG_SCALAR;
}

void ptr_reg_scratched(struct verifier *v, u32 regno)
{
	v->scratched_regs |= 1u << regno;
}

void ptr_slot_scratched(struct verifier *v, u32 slot)
{
	v->scratched_slots |= 1ull << slot;
}

void ptr_invalidate(struct verifier *v, struct reg *r)
{
	if (v->allow_ptr_leaks)
		access_unknown(v, r);
	else
		reg_mark_not_init(r);
}

/* Does the instruction handle all 64 bits of the register it names as source (or destination)? Where it does, a value that
 * a 32-bit operation defined needs its upper half zeroed. In doubt: yes. */
static bool is_wide_jump(const struct bpf_insn *i, bool write)
{
	if (BPF_OP(i->code) != BPF_CALL)
		return true;
	/* calls of subprograms clobber r0-r5 and nothing more; helpers read 64-bit arguments */
	return i->src_reg != BPF_PSEUDO_CALL && !write;
}

static bool is_wide_alu(const struct bpf_insn *i)
{
	bool end = BPF_OP(i->code) == BPF_END;

	if (BPF_CLASS(i->code) == BPF_ALU64)
		return !(end && (i->imm == 16 || i->imm == 32));
	return end && i->imm == 64;
}

static bool is_wide(const struct bpf_insn *i, const struct reg *r, bool write)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_JMP:
		return is_wide_jump(i, write);
	case BPF_ALU:
	case BPF_ALU64:
		return is_wide_alu(i);
	case BPF_JMP32:
		return false;
	case BPF_LDX:
		return !write || BPF_SIZE(i->code) == BPF_DW || BPF_MODE(i->code) == BPF_MEMSX;
	case BPF_STX:
		return (!write && r->type != REG_SCALAR) || BPF_SIZE(i->code) == BPF_DW;
	case BPF_LD:
		return BPF_MODE(i->code) == BPF_IMM || !write;
	default:
		return true;
	}
}

static void need_zext(struct verifier *v, struct reg *r)
{
	if (!r->subreg_def)
		return;
	v->info[r->subreg_def - 1].zext = true;
	r->subreg_def = 0;
}

static int check_reg_arg(struct verifier *v, struct frame *f, u32 regno, bool write)
{
	const struct bpf_insn *i = &v->insns[v->insn_idx];
	struct reg *r;
	bool wide;

	if (regno > BPF_REG_10)
		return verify_refuse(v, -EINVAL, "reg-invalid", -1, "R%u is invalid", regno);
	ptr_reg_scratched(v, regno);
	r = &f->regs[regno];
	wide = is_wide(i, r, write);
	if (write) {
		if (regno == BPF_REG_10)
			return verify_refuse(v, -EACCES, "frame-ptr-write", regno,
					     "frame pointer is read only");
		r->subreg_def = wide ? 0 : v->insn_idx + 1;
		return 0;
	}
	if (r->type == REG_NOT_INIT)
		return verify_refuse(v, -EACCES, "reg-uninit", regno, "R%u !read_ok", regno);
	if (wide && regno != BPF_REG_10)
		need_zext(v, r);
	return 0;
}

int ptr_check_reg_arg(struct verifier *v, u32 regno, bool write)
{
	return check_reg_arg(v, state_frame(v->cur), regno, write);
}

void ptr_clobber_caller_saved(struct verifier *v, struct frame *f)
{
	for (u32 r = BPF_REG_0; r <= BPF_REG_5; r++) {
		reg_mark_not_init(&f->regs[r]);
		check_reg_arg(v, f, r, true);
	}
}

void ptr_give_id(struct verifier *v, struct reg *r)
{
	if (r->type != REG_SCALAR)
		return;
	if (r->id & REG_LINK_ADD_CONST) {
		/* a chain of constants is not followed: the copy begins a new family */
		r->id = 0;
		r->off = 0;
	}
	if (!r->id && !value_is_const(&r->v))
		r->id = ++v->next_id;
}

/* Is offset `r` (a number, or the pointer itself) small enough to take part in arithmetic with a pointer of ptr's type? */
static int check_sane(struct verifier *v, u32 dst, const struct reg *r, const struct reg *ptr)
{
	const s64 max = VERIFY_MAX_VAR_OFF;
	s64 val = (s64)r->v.bits.value, smin = r->v.smin;
	char type[64];

	print_reg_type(ptr, type);
	if (value_is_const(&r->v) && (val >= max || val <= -max))
		return verify_refuse(v, -EINVAL, "ptr-arith-bounds", dst,
				     "math between %s pointer and %lld is not allowed", type,
				     (long long)val);
	/* a number's off is the constant added to the one it is linked to: the kernel bounds it alike */
	if (r->off >= max || r->off <= -max)
		return verify_refuse(v, -EINVAL, "ptr-arith-bounds", dst,
				     "%s pointer offset %d is not allowed", type, r->off);
	if (smin == INT64_MIN)
		return verify_refuse(v, -EINVAL, "ptr-arith-bounds", dst,
				     "math between %s pointer and register with unbounded min "
				     "value is not allowed",
				     type);
	if (smin >= max || smin <= -max)
		return verify_refuse(v, -EINVAL, "ptr-arith-bounds", dst,
				     "value %lld makes %s pointer be out of bounds",
				     (long long)smin, type);
	return 0;
}

/* May a pointer of this type be moved by `off` at all? */
static int check_movable(struct verifier *v, const struct bpf_insn *i, const struct reg *ptr,
			 const struct reg *off)
{
	bool known = value_is_const(&off->v);
	char type[64];

	if (ptr->flags & REGF_NULL)
		return verify_refuse(v, -EACCES, "ptr-arith-null", i->dst_reg,
				     "R%d pointer arithmetic on %s prohibited, null-check it first",
				     i->dst_reg, print_reg_type(ptr, type));
	switch ((enum reg_type)ptr->type) {
	case REG_CTX:
	case REG_MAP_VALUE:
	case REG_MAP_KEY:
	case REG_STACK:
	case REG_PACKET_META:
	case REG_PACKET:
	case REG_TP_BUFFER:
	case REG_BTF_ID:
	case REG_MEM:
	case REG_BUF:
	case REG_FUNC:
	case REG_DYNPTR:
		return 0;
	case REG_FLOW_KEYS:
		if (known)
			return 0;
		/* fallthrough */
	case REG_CONST_MAP:
		if (known && off->v.smin == 0 && BPF_OP(i->code) == BPF_ADD)
			return 0;
		/* fallthrough */
	default:
		return verify_refuse(v, -EACCES, "ptr-arith", i->dst_reg,
				     "R%d pointer arithmetic on %s prohibited", i->dst_reg,
				     print_reg_type(ptr, type));
	}
}

static void unbound32(struct value *v)
{
	v->s32min = INT32_MIN;
	v->s32max = INT32_MAX;
	v->u32min = 0;
	v->u32max = UINT32_MAX;
}

/* A packet pointer that a variable was added to is a new base; `keep_range` when it can only have moved back. */
static void new_packet_base(struct verifier *v, struct reg *r, bool keep_range)
{
	if (!reg_is_packet(r))
		return;
	r->id = ++v->next_id;
	if (!keep_range)
		r->raw1 = r->raw2 = 0;
}

static void add(struct verifier *v, struct reg *dst, const struct value *o)
{
	struct value *p = &dst->v;
	s64 fixed;
	bool bad;

	if (value_is_const(o) && !__builtin_add_overflow((s64)dst->off, o->smin, &fixed) &&
	    fixed == (s32)fixed) {
		dst->off = (s32)fixed;
		return;
	}
	bad = __builtin_add_overflow(p->smin, o->smin, &p->smin);
	bad |= __builtin_add_overflow(p->smax, o->smax, &p->smax);
	if (bad) {
		p->smin = INT64_MIN;
		p->smax = INT64_MAX;
	}
	bad = __builtin_add_overflow(p->umin, o->umin, &p->umin);
	bad |= __builtin_add_overflow(p->umax, o->umax, &p->umax);
	if (bad) {
		p->umin = 0;
		p->umax = UINT64_MAX;
	}
	p->bits = tnum_add(p->bits, o->bits);
	new_packet_base(v, dst, false);
}

static void sub(struct verifier *v, struct reg *dst, const struct value *o)
{
	struct value *p = &dst->v;
	s64 fixed;
	bool bad;

	if (value_is_const(o) && !__builtin_sub_overflow((s64)dst->off, o->smin, &fixed) &&
	    fixed == (s32)fixed) {
		dst->off = (s32)fixed;
		return;
	}
	bad = __builtin_sub_overflow(p->smin, o->smax, &p->smin);
	bad |= __builtin_sub_overflow(p->smax, o->smin, &p->smax);
	if (bad) {
		p->smin = INT64_MIN;
		p->smax = INT64_MAX;
	}
	if (p->umin < o->umax) {
		p->umin = 0;
		p->umax = UINT64_MAX;
	} else {
		p->umin -= o->umax;
		p->umax -= o->umin;
	}
	p->bits = tnum_sub(p->bits, o->bits);
	new_packet_base(v, dst, o->smin >= 0);
}

/* Which operators a pointer may be an operand of; dst_is_off: "number op= pointer". */
static int check_operator(struct verifier *v, const struct bpf_insn *i, const struct reg *ptr,
			  bool dst_is_off)
{
	static const char *const name[16] = { "+=", "-=",  "*=", "/=", "|=", "&=",   "<<=",
					      ">>=", "neg", "%=", "^=", "=",	"s>>=", "endian" };
	u8 op = BPF_OP(i->code);

	switch (op) {
	case BPF_ADD:
		return 0;
	case BPF_SUB:
		if (dst_is_off)
			return verify_refuse(v, -EACCES, "ptr-sub", i->dst_reg,
					     "R%d tried to subtract pointer from scalar", i->dst_reg);
		if (ptr->type == REG_STACK)
			return verify_refuse(v, -EACCES, "ptr-sub", i->dst_reg,
					     "R%d subtraction from stack pointer prohibited",
					     i->dst_reg);
		return 0;
	case BPF_AND:
	case BPF_OR:
	case BPF_XOR:
		return verify_refuse(v, -EACCES, "ptr-arith-op", i->dst_reg,
				     "R%d bitwise operator %s on pointer prohibited", i->dst_reg,
				     name[op >> 4]);
	default:
		return verify_refuse(v, -EACCES, "ptr-arith-op", i->dst_reg,
				     "R%d pointer arithmetic with %s operator prohibited",
				     i->dst_reg, name[op >> 4] ? name[op >> 4] : "?");
	}
}

/* Bounds from a dead branch. */
static bool is_nonsense(const struct value *o)
{
	return (value_is_const(o) && (o->smin != o->smax || o->umin != o->umax)) ||
	       o->smin > o->smax || o->umin > o->umax;
}

int ptr_alu(struct verifier *v, const struct bpf_insn *i, struct reg *dst, const struct reg *ptr,
	    const struct reg *off)
{
	const struct reg p = *ptr, o = *off; /* dst may be either of them */
	bool dst_is_off = dst == off, wide = BPF_CLASS(i->code) == BPF_ALU64;
	s32 subreg_def = dst->subreg_def;
	struct ptr_mask mask = { 0 };
	int err;

	if (!is_nonsense(&o.v) && !wide && !(BPF_OP(i->code) == BPF_SUB && v->allow_ptr_leaks))
		return verify_refuse(v, -EACCES, "ptr-arith-32", i->dst_reg,
				     "R%d 32-bit pointer arithmetic prohibited", i->dst_reg);
	if (is_nonsense(&o.v) || !wide) {
		access_unknown(v, dst);
		return 0;
	}
	err = check_movable(v, i, &p, &o);
	if (!err)
		err = check_sane(v, i->dst_reg, &o, &p);
	if (!err)
		err = check_sane(v, i->dst_reg, &p, &p);
	if (!err)
		err = unpriv_alu(v, i, &p, &o, !dst_is_off, &mask, false);
	if (!err)
		err = check_operator(v, i, &p, dst_is_off);
	if (err)
		return err;

	/* the whole pointer, also in "number += pointer": frame, reference and region come with it */
	*dst = p;
	dst->subreg_def = subreg_def;
	unbound32(&dst->v);
	if (BPF_OP(i->code) == BPF_ADD)
		add(v, dst, &o.v);
	else
		sub(v, dst, &o.v);
	err = check_sane(v, i->dst_reg, dst, &p);
	if (err)
		return err;
	value_sync(&dst->v);
	err = unpriv_bounds(v, i->dst_reg);
	return err ? err : unpriv_alu(v, i, dst, &o, true, &mask, true);
}
