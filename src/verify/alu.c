/* ALU instructions: checked, then carried out on what is known of the registers.
 *
 * Copies are more than values: a copied number gets the id of its source, so that a later test of
 * one tells about the other. A number keeps its family through "+= constant" (REG_LINK_ADD_CONST);
 * every other operation ends the tie. */
#include "verifier.h"
#include <stdio.h>

enum { ADDR_SPACE_CAST = 1 }; /* off of a 64-bit mov that converts arena pointers */

static const char *const op_text[] = {
    "+=", "-=", "*=", "/=", "|=", "&=", "<<=", ">>=", "neg", "%=", "^=", "=", "s>>=", "endian"};

static bool is_alu32(const struct bpf_insn *i)
{
	return BPF_CLASS(i->code) == BPF_ALU;
}

static struct reg *reg_at(struct verifier *v, u32 regno)
{
	return &state_regs(v->cur)[regno];
}

static void unbound(struct reg *r)
{
	value_unbound64(&r->v);
	value_unbound32(&r->v);
}

/* The unknown result of an operation. Without CAP_BPF nothing is tracked back, so every number
 * counts as precise. */
static void set_unknown(struct verifier *v, struct reg *r)
{
	reg_mark_unknown(r);
	r->precise = !v->bpf_capable;
}

static const char *contradiction(const struct value *v)
{
	if (v->umin > v->umax || v->smin > v->smax || v->u32min > v->u32max ||
	    v->s32min > v->s32max)
		return "range bounds violation";
	if (value_is_const(v) && (v->umin != v->umax || v->umin != v->bits.value ||
				  v->smin != v->smax || (u64)v->smin != v->bits.value))
		return "const tnum out of sync with range bounds";
	return "const subreg tnum out of sync with range bounds";
}

int alu_check_bounds(struct verifier *v, struct reg *r, const char *which)
{
	const struct value *x = &r->v;
	char text[512];

	if (value_is_consistent(x))
		return 0;
	snprintf(text, sizeof(text),
		 "verifier bug: REG INVARIANTS VIOLATION (%s): %s u64=[0x%llx, 0x%llx] "
		 "s64=[0x%llx, 0x%llx] "
		 "u32=[0x%x, 0x%x] s32=[0x%x, 0x%x] var_off=(0x%llx, 0x%llx)",
		 which, contradiction(x), (unsigned long long)x->umin, (unsigned long long)x->umax,
		 (unsigned long long)x->smin, (unsigned long long)x->smax, x->u32min, x->u32max,
		 (u32)x->s32min, (u32)x->s32max, (unsigned long long)x->bits.value,
		 (unsigned long long)x->bits.mask);
	if (v->test_reg_invariants)
		return verify_refuse(v, -EFAULT, "scalar-bounds", -1, "%s", text);
	verify_line(v, "%s", text);
	unbound(r); /* a path that can't be taken; any range is right for it */
	return 0;
}

static int reserved(struct verifier *v, const char *what)
{
	return verify_refuse(v, -EINVAL, "insn-reserved", -1, "%s uses reserved fields", what);
}

static int neg_end(struct verifier *v, const struct bpf_insn *i)
{
	bool neg = BPF_OP(i->code) == BPF_NEG, swap = BPF_SRC(i->code) == BPF_TO_BE || !is_alu32(i);
	struct reg *dst;
	int err;

	if (neg && (BPF_SRC(i->code) != BPF_K || i->src_reg || i->off || i->imm))
		return reserved(v, "BPF_NEG");
	if (!neg && (i->src_reg || i->off || (i->imm != 16 && i->imm != 32 && i->imm != 64) ||
		     (!is_alu32(i) && BPF_SRC(i->code) != BPF_TO_LE)))
		return reserved(v, "BPF_END");
	err = ptr_check_reg_arg(v, i->dst_reg, false);
	if (err)
		return err;
	dst = reg_at(v, i->dst_reg);
	if (ptr_leaks(v, dst))
		return verify_refuse(v, -EACCES, "ptr-arith", i->dst_reg,
				     "R%d pointer arithmetic prohibited", i->dst_reg);
	err = ptr_check_reg_arg(v, i->dst_reg, true);
	if (err)
		return err;
	if (dst->type != REG_SCALAR) {
		set_unknown(v, dst);
		return 0;
	}
	if (!neg && !swap && i->imm == 64)
		return 0; /* the host is little-endian: nothing happens */
	if (neg)
		value_neg(&dst->v, is_alu32(i));
	else if (swap)
		value_bswap(&dst->v, i->imm);
	else
		value_truncate(&dst->v, i->imm / 8);
	dst->id = 0;
	dst->off = 0;
	return 0;
}

static int check_mov_fields(struct verifier *v, const struct bpf_insn *i)
{
	bool sx_ok = i->off == 0 || i->off == 8 || i->off == 16 || (i->off == 32 && !is_alu32(i));

	if (BPF_SRC(i->code) == BPF_K)
		return i->src_reg || i->off ? reserved(v, "BPF_MOV") : 0;
	if (!is_alu32(i) && i->off == ADDR_SPACE_CAST) {
		if (i->imm != 1 && i->imm != 1 << 16)
			return verify_refuse(
			    v, -EINVAL, "insn-reserved", -1,
			    "addr_space_cast insn can only convert between address space 1 and 0");
		return verify_refuse(
		    v, -EINVAL, "kind-map", -1,
		    "addr_space_cast insn can only be used in a program that has an associated "
		    "arena");
	}
	return !sx_ok || i->imm ? reserved(v, "BPF_MOV") : 0;
}

static void mov_imm(struct verifier *v, const struct bpf_insn *i)
{
	struct reg *dst = reg_at(v, i->dst_reg);

	reg_mark_const(dst, is_alu32(i) ? (u64)(u32)i->imm : (u64)(s64)i->imm);
	dst->precise = !v->bpf_capable;
}

/* dst = src, and of one family with it if the move keeps the value as it is. */
static void copy_scalar(struct verifier *v, struct reg *dst, struct reg *src, bool same_value)
{
	s32 def = dst->subreg_def;

	if (same_value)
		ptr_give_id(v, src);
	*dst = *src;
	if (!same_value) {
		dst->id = 0;
		dst->off = 0;
	}
	dst->subreg_def = def;
}

static int mov64(struct verifier *v, const struct bpf_insn *i)
{
	struct reg *dst = reg_at(v, i->dst_reg), *src = reg_at(v, i->src_reg);

	if (i->off == 0) {
		copy_scalar(v, dst, src, true);
		return 0;
	}
	if (ptr_leaks(v, src))
		return verify_refuse(v, -EACCES, "ptr-partial-copy", i->src_reg,
				     "R%d sign-extension part of pointer", i->src_reg);
	if (src->type != REG_SCALAR) {
		set_unknown(v, dst);
		return 0;
	}
	copy_scalar(v, dst, src, src->v.umax < 1ull << (i->off - 1));
	value_sext(&dst->v, i->off / 8, true);
	return 0;
}

static int mov32(struct verifier *v, const struct bpf_insn *i)
{
	struct reg *dst = reg_at(v, i->dst_reg), *src = reg_at(v, i->src_reg);

	if (ptr_leaks(v, src))
		return verify_refuse(v, -EACCES, "ptr-partial-copy", i->src_reg,
				     "R%d partial copy of pointer", i->src_reg);
	if (src->type != REG_SCALAR) {
		set_unknown(v, dst);
		value_zext32(&dst->v);
		return 0;
	}
	if (i->off == 0) {
		copy_scalar(v, dst, src, src->v.umax <= UINT32_MAX);
		value_zext32(&dst->v);
	} else {
		copy_scalar(v, dst, src, src->v.umax < 1ull << (i->off - 1));
		value_sext(&dst->v, i->off / 8, false);
	}
	return 0;
}

static int mov(struct verifier *v, const struct bpf_insn *i)
{
	int err = check_mov_fields(v, i);

	if (!err && BPF_SRC(i->code) == BPF_X)
		err = ptr_check_reg_arg(v, i->src_reg, false);
	if (!err)
		err = ptr_check_reg_arg(v, i->dst_reg, true);
	if (err)
		return err;
	if (BPF_SRC(i->code) == BPF_X)
		return is_alu32(i) ? mov32(v, i) : mov64(v, i);
	mov_imm(v, i);
	return 0;
}

/* dst is about to become dst op src: by which constant does it move away from the numbers it was
 * copied from? false: by none that can be remembered. One constant is, not a sum of them. */
static bool moves_by(const struct verifier *v, const struct bpf_insn *i, const struct reg *dst,
		     const struct reg *src, s32 *by)
{
	bool alu32 = is_alu32(i), is_sub = BPF_OP(i->code) == BPF_SUB;
	u64 k = src->v.bits.value;

	if (!v->bpf_capable || (!is_sub && BPF_OP(i->code) != BPF_ADD))
		return false;
	if (!dst->id || dst->id & REG_LINK_ADD_CONST || src == dst)
		return false;
	if (alu32 ? !value_is_const32(&src->v) || dst->v.umax > UINT32_MAX
		  : !value_is_const(&src->v))
		return false;
	if (!alu32 && (s64)k != (s32)k)
		return false;
	if (is_sub && (s32)k == INT32_MIN)
		return false;
	*by = is_sub ? -(s32)k : (s32)k;
	return true;
}

/* "x s>> 63" is -1 or 0, and compilers select with it: mask & const is const or 0. As ranges that
 * would be all numbers from 0 to const, so the two values are followed one by one: -1 here, 0 by
 * doing the instruction again later. */
static int fork_sign_mask(struct verifier *v, const struct bpf_insn *i, struct reg *dst,
			  const struct reg *src)
{
	bool wide = dst->v.smin == -1 && dst->v.smax == 0;
	bool low = dst->v.s32min == -1 && dst->v.s32max == 0;
	struct state *other;
	struct value *zero;

	if ((BPF_OP(i->code) != BPF_AND && BPF_OP(i->code) != BPF_OR) || !value_is_const(&src->v) ||
	    (!wide && !low))
		return 0;
	other = walk_push(v, v->insn_idx, v->insn_idx);
	if (!other)
		return v->why->err ? v->why->err : -ENOMEM;
	zero = &state_regs(other)[i->dst_reg].v;
	if (!wide) {
		value_set_low32(zero, 0);
		value_set_low32(&dst->v, UINT32_MAX);
		return 0;
	}
	*zero = value_const(0);
	state_regs(other)[i->dst_reg].id = 0;
	state_regs(other)[i->dst_reg].off = 0;
	dst->v = value_const(~0ull);
	return 0;
}

static int scalar_op(struct verifier *v, const struct bpf_insn *i, struct reg *dst,
		     const struct reg *src)
{
	s32 by = 0;
	bool linked = moves_by(v, i, dst, src, &by);
	int err = fork_sign_mask(v, i, dst, src);

	if (err)
		return err;
	if (!value_alu(&dst->v, &src->v, BPF_OP(i->code), is_alu32(i)))
		set_unknown(v, dst);
	dst->id = !linked ? 0 : dst->id | (is_alu32(i) ? REG_LINK_ADD32 : REG_LINK_ADD64);
	dst->off = by;
	return 0;
}

/* Two operands, at least one of them a pointer. */
static int pointer_op(struct verifier *v, const struct bpf_insn *i, struct reg *dst,
		      struct reg *src)
{
	u8 op = BPF_OP(i->code);
	int err;

	if (src->type == REG_SCALAR) {
		err = precise_mark(v, i->src_reg);
		return err ? err : ptr_alu(v, i, dst, dst, src);
	}
	if (dst->type == REG_SCALAR) {
		err = precise_mark(v, i->dst_reg);
		return err ? err : ptr_alu(v, i, dst, src, dst);
	}
	if (op == BPF_SUB && v->allow_ptr_leaks) {
		set_unknown(v, dst);
		return 0;
	}
	return verify_refuse(v, -EACCES, "ptr-ptr-arith", i->dst_reg,
			     "R%d pointer %s pointer prohibited", i->dst_reg, op_text[op >> 4]);
}

static int apply_imm(struct verifier *v, const struct bpf_insn *i)
{
	struct reg *dst = reg_at(v, i->dst_reg);
	struct reg imm = {.type = REG_SCALAR, .v = value_const((u64)(s64)i->imm)};

	if (dst->type != REG_SCALAR)
		return ptr_alu(v, i, dst, dst, &imm);
	return scalar_op(v, i, dst, &imm);
}

static int apply_reg(struct verifier *v, const struct bpf_insn *i)
{
	struct reg *dst = reg_at(v, i->dst_reg), *src = reg_at(v, i->src_reg);
	int err;

	if (src->type != REG_SCALAR || dst->type != REG_SCALAR)
		return pointer_op(v, i, dst, src);
	if (dst->precise) {
		err = precise_mark(v, i->src_reg);
		if (err)
			return err;
	}
	return scalar_op(v, i, dst, src);
}

static int check_op_fields(struct verifier *v, const struct bpf_insn *i)
{
	u8 op = BPF_OP(i->code);
	bool is_div = op == BPF_DIV || op == BPF_MOD;
	bool extra = BPF_SRC(i->code) == BPF_X ? i->imm != 0 : i->src_reg != 0;

	return extra || i->off < 0 || i->off > 1 || (i->off == 1 && !is_div)
		   ? reserved(v, "BPF_ALU")
		   : 0;
}

/* What an immediate must not be. */
static int check_imm(struct verifier *v, const struct bpf_insn *i)
{
	u8 op = BPF_OP(i->code);
	s32 width = is_alu32(i) ? 32 : 64;

	if ((op == BPF_DIV || op == BPF_MOD) && i->imm == 0)
		return verify_refuse(v, -EINVAL, "alu-operand", -1, "div by zero");
	if ((op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH) && (i->imm < 0 || i->imm >= width))
		return verify_refuse(v, -EINVAL, "alu-operand", -1, "invalid shift %d", i->imm);
	return 0;
}

/* A register may be 0 as divisor whatever its range says: pruning takes imprecise numbers for
 * equal. */
static void note_divisor(struct verifier *v, const struct bpf_insn *i)
{
	u8 op = BPF_OP(i->code);

	if ((op == BPF_DIV || op == BPF_MOD) && BPF_SRC(i->code) == BPF_X)
		v->info[v->insn_idx].div_by_zero_possible = true;
}

static int binary(struct verifier *v, const struct bpf_insn *i)
{
	bool reg = BPF_SRC(i->code) == BPF_X;
	int err = check_op_fields(v, i);

	if (!err && reg)
		err = ptr_check_reg_arg(v, i->src_reg, false);
	if (!err)
		err = ptr_check_reg_arg(v, i->dst_reg, false);
	if (!err && !reg)
		err = check_imm(v, i);
	if (!err)
		err = ptr_check_reg_arg(v, i->dst_reg, true);
	if (err)
		return err;
	note_divisor(v, i);
	return reg ? apply_reg(v, i) : apply_imm(v, i);
}

int alu_insn(struct verifier *v, const struct bpf_insn *i)
{
	u8 op = BPF_OP(i->code);
	int err;

	if (op > BPF_END)
		return verify_refuse(v, -EINVAL, "insn-unknown", -1, "invalid BPF_ALU opcode %x",
				     op);
	if (op == BPF_NEG || op == BPF_END)
		err = neg_end(v, i);
	else if (op == BPF_MOV)
		err = mov(v, i);
	else
		err = binary(v, i);
	return err ? err : alu_check_bounds(v, reg_at(v, i->dst_reg), "alu");
}
