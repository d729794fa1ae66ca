/* The instructions that load and store: their operands, and that one instruction always goes through the same sort of
 * pointer. */
#include "access.h"

/* Context accesses are rewritten, so an instruction that reaches the context on one path may reach nothing else on another;
 * all other memory is accessed alike. */
static bool is_rewritten(u16 type)
{
	switch ((enum reg_type)(type & 0xff)) {
	case REG_CTX:
	case REG_SOCKET:
	case REG_SOCK_COMMON:
	case REG_TCP_SOCK:
	case REG_XDP_SOCK:
	case REG_BTF_ID:
	case REG_ARENA:
		return true;
	default:
		return false;
	}
}

static enum proof_ptr proof_of(enum reg_type type)
{
	switch (type) {
	case REG_CTX:
		return PROOF_CTX;
	case REG_STACK:
		return PROOF_STACK;
	case REG_MAP_VALUE:
	case REG_MAP_KEY:
		return PROOF_MAP_VALUE;
	case REG_PACKET:
	case REG_PACKET_META:
		return PROOF_PACKET;
	case REG_BTF_ID:
	case REG_CONST_MAP:
		return PROOF_BTF;
	default:
		return PROOF_MEM;
	}
}

static int note_pointer(struct verifier *v, enum reg_type type)
{
	struct insn_info *info = &v->info[v->insn_idx];
	enum proof_ptr proof = proof_of(type);

	if (!info->ptr_type)
		info->ptr_type = type;
	else if (info->ptr_type != type && (is_rewritten(info->ptr_type) || is_rewritten(type)))
		return verify_refuse(v, -EINVAL, "insn-mixed-ptr", -1,
				     "same insn cannot be used with different pointers");
	if (info->ptr_class == PROOF_NONE)
		info->ptr_class = proof;
	else if (info->ptr_class != proof)
		info->ptr_class = PROOF_MIXED;
	return 0;
}

static int load(struct verifier *v, const struct bpf_insn *i, bool strict)
{
	enum reg_type type;
	int err = ptr_check_reg_arg(v, i->src_reg, false);

	if (!err)
		err = ptr_check_reg_arg(v, i->dst_reg, true);
	if (err)
		return err;
	type = state_regs(v->cur)[i->src_reg].type;
	err = mem_access(v, v->insn_idx, i->src_reg, i->off, isa_size(i->code), false, i->dst_reg, strict,
			 BPF_MODE(i->code) == BPF_MEMSX);
	return err ? err : note_pointer(v, type);
}

static int store(struct verifier *v, const struct bpf_insn *i, bool strict)
{
	bool imm = BPF_CLASS(i->code) == BPF_ST;
	enum reg_type type;
	int err = imm ? 0 : ptr_check_reg_arg(v, i->src_reg, false);

	if (!err)
		err = ptr_check_reg_arg(v, i->dst_reg, false);
	if (err)
		return err;
	type = state_regs(v->cur)[i->dst_reg].type;
	err = mem_access(v, v->insn_idx, i->dst_reg, i->off, isa_size(i->code), true, imm ? -1 : i->src_reg, strict,
			 false);
	return err ? err : note_pointer(v, type);
}

int mem_load(struct verifier *v, const struct bpf_insn *i)
{
	return load(v, i, false);
}

int mem_store(struct verifier *v, const struct bpf_insn *i)
{
	bool imm = BPF_CLASS(i->code) == BPF_ST;

	if (BPF_MODE(i->code) != BPF_MEM || (imm ? i->src_reg != 0 : i->imm != 0))
		return verify_refuse(v, -EINVAL, "insn-reserved", -1, "BPF_ST%s uses reserved fields",
				     imm ? "" : "X");
	return store(v, i, false);
}

/* Atomics. */

static bool atomic_ok(enum reg_type type)
{
	switch (type) {
	case REG_CTX:
	case REG_PACKET:
	case REG_PACKET_META:
		case REG_FLOW_KEYS:
	case REG_SOCKET:
	case REG_SOCK_COMMON:
	case REG_TCP_SOCK:
	case REG_XDP_SOCK:
	case REG_ARENA:
		return false;
	default:
		return true;
	}
}

static int refuse_atomic(struct verifier *v, const struct reg *r, u32 regno, const char *what)
{
	char type[64];

	return verify_refuse(v, -EACCES, "atomic-target", regno, "BPF_ATOMIC %s R%u %s is not allowed", what, regno,
			     print_reg_type(r, type));
}

static int check_no_leak(struct verifier *v, u32 regno)
{
	if (!ptr_leaks(v, &state_regs(v->cur)[regno]))
		return 0;
	return verify_refuse(v, -EACCES, "ptr-leak", regno, "R%u leaks addr into mem", regno);
}

/* The operands of a read-modify-write, in the kernel's order. */
static int check_rmw_operands(struct verifier *v, const struct bpf_insn *i)
{
	const struct reg *target = &state_regs(v->cur)[i->dst_reg];
	int err;

	if (BPF_SIZE(i->code) != BPF_W && BPF_SIZE(i->code) != BPF_DW)
		return verify_refuse(v, -EINVAL, "atomic-op", -1, "invalid atomic operand size");
	err = ptr_check_reg_arg(v, i->src_reg, false);
	if (!err)
		err = ptr_check_reg_arg(v, i->dst_reg, false);
	if (!err && i->imm == BPF_CMPXCHG) {
		err = ptr_check_reg_arg(v, BPF_REG_0, false);
		if (!err)
			err = check_no_leak(v, BPF_REG_0);
	}
	if (!err)
		err = check_no_leak(v, i->src_reg);
	if (!err && !atomic_ok(target->type))
		return refuse_atomic(v, target, i->dst_reg, "stores into");
	return err;
}

/* The memory is read as a number, maybe into the result register, and then overwritten. */
static int rmw(struct verifier *v, u32 insn, const struct bpf_insn *i)
{
	u32 size = isa_size(i->code);
	enum reg_type type;
	int result = -1, err = check_rmw_operands(v, i);

	if (err)
		return err;
	type = state_regs(v->cur)[i->dst_reg].type;
	if (i->imm & BPF_FETCH) {
		result = i->imm == BPF_CMPXCHG ? BPF_REG_0 : i->src_reg;
		err = ptr_check_reg_arg(v, (u32)result, true);
		if (err)
			return err;
		/* as a plain destination: when it is the pointer too, the access below goes through a number */
		access_unknown(v, &state_regs(v->cur)[result]);
	}
	err = mem_access(v, insn, i->dst_reg, i->off, size, false, -1, true, false);
	if (!err && result >= 0)
		err = mem_access(v, insn, i->dst_reg, i->off, size, false, result, true, false);
	if (!err)
		err = mem_access(v, insn, i->dst_reg, i->off, size, true, -1, true, false);
	return err ? err : note_pointer(v, type);
}

static int load_acquire(struct verifier *v, const struct bpf_insn *i)
{
	struct reg from = { 0 };
	int err;

	if (i->src_reg <= BPF_REG_10)
		from = state_regs(v->cur)[i->src_reg]; /* the load may overwrite it */
	err = load(v, i, true);
	if (!err && !atomic_ok(from.type))
		return refuse_atomic(v, &from, i->src_reg, "loads from");
	return err;
}

static int store_release(struct verifier *v, const struct bpf_insn *i)
{
	int err = store(v, i, true);
	const struct reg *r;

	if (err)
		return err;
	r = &state_regs(v->cur)[i->dst_reg];
	return atomic_ok(r->type) ? 0 : refuse_atomic(v, r, i->dst_reg, "stores into");
}

int mem_atomic(struct verifier *v, u32 insn, const struct bpf_insn *i)
{
	switch (i->imm) {
	case BPF_ADD:
	case BPF_ADD | BPF_FETCH:
	case BPF_AND:
	case BPF_AND | BPF_FETCH:
	case BPF_OR:
	case BPF_OR | BPF_FETCH:
	case BPF_XOR:
	case BPF_XOR | BPF_FETCH:
	case BPF_XCHG:
	case BPF_CMPXCHG:
		return rmw(v, insn, i);
	case ABI_LOAD_ACQ:
		return load_acquire(v, i);
	case ABI_STORE_REL:
		return store_release(v, i);
	default:
		return verify_refuse(v, -EINVAL, "atomic-op", -1, "BPF_ATOMIC uses invalid atomic opcode %02x",
				     (u32)i->imm);
	}
}

/* LD_ABS and LD_IND: loads from the packet of the skb in r6, which end the program when they fail. */

static bool has_skb(u32 prog_type)
{
	return prog_type == BPF_PROG_TYPE_SOCKET_FILTER || prog_type == BPF_PROG_TYPE_SCHED_CLS ||
	       prog_type == BPF_PROG_TYPE_SCHED_ACT;
}

static int check_ld_abs_form(struct verifier *v, const struct bpf_insn *i)
{
	if (!has_skb(v->in->kind->prog_type))
		return verify_refuse(v, -EINVAL, "ld-abs", -1,
				     "BPF_LD_[ABS|IND] instructions not allowed for this program type");
	if (i->dst_reg || i->off || BPF_SIZE(i->code) == BPF_DW || (BPF_MODE(i->code) == BPF_ABS && i->src_reg))
		return verify_refuse(v, -EINVAL, "insn-reserved", -1, "BPF_LD_[ABS|IND] uses reserved fields");
	return 0;
}

int mem_load_abs(struct verifier *v, const struct bpf_insn *i)
{
	struct reg *r6 = &state_regs(v->cur)[BPF_REG_6];
	int err = check_ld_abs_form(v, i);

	if (!err)
		err = ptr_check_reg_arg(v, BPF_REG_6, false);
	if (!err)
		err = call_check_no_refs(v, false, "BPF_LD_[ABS|IND]");
	if (err)
		return err;
	if (r6->type != REG_CTX)
		return verify_refuse(v, -EINVAL, "ld-abs", BPF_REG_6,
				     "at the time of BPF_LD_ABS|IND R6 != pointer to skb");
	if (BPF_MODE(i->code) == BPF_IND)
		err = ptr_check_reg_arg(v, i->src_reg, false);
	if (!err)
		err = mem_unmoved(v, r6, BPF_REG_6, false);
	if (err)
		return err;
	ptr_clobber_caller_saved(v, state_frame(v->cur));
	access_unknown(v, &state_regs(v->cur)[BPF_REG_0]);
	state_regs(v->cur)[BPF_REG_0].subreg_def = (s32)v->insn_idx + 1;
	return 0;
}
