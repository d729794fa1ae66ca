/* Pointer arithmetic of callers without CAP_PERFMON. The kernel masks it against speculation, so it must stay where a mask
 * can hold it, and every path through an instruction must need the same mask. Nothing speculates here, but the verdicts are
 * the kernel's. */
#include "access.h"

enum { ALU_SRC = 1, ALU_DST = 2, ALU_NEG = 4, ALU_IMM = 8 };

static int refuse(struct verifier *v, u32 regno, const char *what)
{
	return verify_refuse(v, -EACCES, "unpriv-alu", (int)regno,
			     "R%u %s, pointer arithmetic with it prohibited for !root", regno, what);
}

/* Can the pointer be held back within its object? `*limit`: bytes it may still move. */
static int check_limit(struct verifier *v, u32 dst, const struct bpf_insn *i, const struct reg *ptr, bool to_left,
		       u32 *limit)
{
	u32 max;

	switch ((enum reg_type)ptr->type) {
	case REG_STACK:
		max = VERIFY_MAX_STACK + to_left;
		*limit = (u32) - ((s32)ptr->v.bits.value + ptr->off);
		break;
	case REG_MAP_VALUE:
		max = ptr->map->value_size;
		*limit = (u32)((to_left ? (u64)ptr->v.smin : ptr->v.umax) + (u64)(s64)ptr->off);
		break;
	default:
		return refuse(v, dst, "has pointer with unsupported alu operation");
	}
	if (*limit < max)
		return 0;
	return refuse(v, dst,
		      BPF_OP(i->code) == BPF_ADD ? "tried to add beyond pointer bounds" :
						   "tried to sub beyond pointer bounds");
}

/* commit false: before the pointer moved; true: after. `mask` is carried from one call to the other. */
int unpriv_alu(struct verifier *v, const struct bpf_insn *i, const struct reg *ptr, const struct reg *off,
	       bool ptr_is_dst, struct ptr_mask *mask, bool commit)
{
	struct insn_info *info = &v->info[v->insn_idx];
	bool neg = off->v.smin < 0, add = BPF_OP(i->code) == BPF_ADD;
	u32 limit = 0;
	int err;

	if (v->bypass_spec_v1 || BPF_SRC(i->code) == BPF_K || (!add && BPF_OP(i->code) != BPF_SUB))
		return 0;
	if (!commit) {
		if (!value_is_const(&off->v) && neg != (off->v.smax < 0))
			return refuse(v, ptr_is_dst ? i->src_reg : i->dst_reg,
				      "has unknown scalar with mixed signed bounds");
		mask->to_left = add == neg;
	}
	err = check_limit(v, i->dst_reg, i, ptr, mask->to_left, &limit);
	if (err)
		return err;
	if (!commit) {
		mask->state = (neg ? ALU_NEG : 0) | (value_is_const(&off->v) ? ALU_IMM : 0) |
			      (ptr_is_dst ? ALU_SRC : ALU_DST);
		mask->limit = limit;
		return 0;
	}
	limit = limit > mask->limit ? limit - mask->limit : mask->limit - limit;
	if (info->alu_state && (info->alu_state != mask->state || info->alu_limit != limit))
		return refuse(v, i->dst_reg,
			      add ? "tried to add from different maps, paths or scalars" :
				    "tried to sub from different maps, paths or scalars");
	info->alu_state = mask->state;
	info->alu_limit = limit;
	return 0;
}

/* The pointer that the arithmetic gave must lie within its object. */
int unpriv_bounds(struct verifier *v, u32 regno)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	s64 at;

	if (v->bypass_spec_v1)
		return 0;
	if (r->type == REG_MAP_VALUE) {
		struct refusal *why = v->why;
		int err = mem_map_value(v, regno, r->off, 1, false, false);

		if (err)
			why->rule = NULL; /* what follows is the reason */
		return err ? verify_refuse(v, -EACCES, "unpriv-alu", (int)regno,
					   "R%u pointer arithmetic of map value goes out of range, prohibited for !root",
					   regno) :
			     0;
	}
	if (r->type != REG_STACK)
		return 0;
	at = r->off + (s64)r->v.bits.value;
	if (!value_is_const(&r->v))
		return verify_refuse(v, -EACCES, "unpriv-stack", (int)regno,
				     "R%u variable stack access prohibited for !root, var_off=%s off=%d",
				     regno, access_tnum(r->v.bits).s, (s32)at);
	if (at >= 0 || at < -VERIFY_MAX_STACK)
		return verify_refuse(v, -EACCES, "unpriv-alu", (int)regno,
				     "R%u stack pointer arithmetic goes out of range, prohibited for !root; off=%d",
				     regno, (s32)at);
	return 0;
}
