/* Disassembler: one instruction in the syntax of the kernel's verifier log (kernel/bpf/disasm.c
 * of 6.18).
 *
 * Where a reserved field holds something unknown the kernel still prints the plain instruction, and
 * so does this: the verifier prints an instruction before it refuses it. Opcodes that the kernel
 * refuses earlier print as "BUG_xx". */
#include "isa.h"

static const char *const sizes[] = {"u32", "u16", "u8", "u64"};
static const char *const signed_sizes[] = {"s32", "s16", "s8", "s64"};

static const char *size_of(const struct bpf_insn *i)
{
	return sizes[BPF_SIZE(i->code) >> 3];
}

static void print_alu(struct log *log, const struct bpf_insn *i, const struct isa_op *op)
{
	char reg = BPF_CLASS(i->code) == BPF_ALU ? 'w' : 'r';
	bool movsx = op->form == ISA_MOVSX;

	if (BPF_SRC(i->code) == BPF_X)
		log_printf(log, "(%02x) %c%d %s %s%c%d", i->code, reg, i->dst_reg,
			   movsx ? "=" : op->name, movsx ? op->name : "", reg, i->src_reg);
	else
		log_printf(log, "(%02x) %c%d %s %d", i->code, reg, i->dst_reg, op->name, i->imm);
}

static void print_neg(struct log *log, const struct bpf_insn *i)
{
	char reg = BPF_CLASS(i->code) == BPF_ALU ? 'w' : 'r';

	log_printf(log, "(%02x) %c%d = -%c%d", i->code, reg, i->dst_reg, reg, i->dst_reg);
}

static void print_atomic(struct log *log, const struct bpf_insn *i, const struct isa_op *op)
{
	const char *wide = BPF_SIZE(i->code) == BPF_DW ? "64" : "";

	if (op->sub_value == BPF_CMPXCHG)
		log_printf(log, "(%02x) r0 = atomic%s_cmpxchg((%s *)(r%d %+d), r0, r%d)", i->code,
			   wide, size_of(i), i->dst_reg, i->off, i->src_reg);
	else if (op->sub_value & BPF_FETCH)
		log_printf(log, "(%02x) r%d = atomic%s_%s((%s *)(r%d %+d), r%d)", i->code,
			   i->src_reg, wide, op->name, size_of(i), i->dst_reg, i->off, i->src_reg);
	else
		log_printf(log, "(%02x) lock *(%s *)(r%d %+d) %s r%d", i->code, size_of(i),
			   i->dst_reg, i->off, op->name, i->src_reg);
}

static bool is_address(const struct bpf_insn *i)
{
	return i->src_reg && i->src_reg != BPF_PSEUDO_FUNC &&
	       i->src_reg <= BPF_PSEUDO_MAP_IDX_VALUE;
}

static void print_ld_imm64(struct log *log, const struct bpf_insn *i, u32 idx,
			   const struct isa_print *how)
{
	u64 imm = (u64)(u32)i[1].imm << 32 | (u32)i[0].imm;
	const char *text = NULL;
	char buf[128];

	if (how && how->imm64 && i->src_reg)
		text = how->imm64(how->ctx, idx, buf, sizeof(buf));
	if (text) {
		log_printf(log, "(%02x) r%d = %s", i->code, i->dst_reg, text);
		return;
	}
	if (how && how->hide_pointers && is_address(i))
		imm = 0;
	log_printf(log, "(%02x) r%d = 0x%llx", i->code, i->dst_reg, (unsigned long long)imm);
}

static void print_call(struct log *log, const struct bpf_insn *i, const struct isa_print *how)
{
	const char *name = NULL;

	if (i->src_reg == BPF_PSEUDO_CALL) {
		log_printf(log, "(%02x) call pc%+d", i->code, i->imm);
	} else if (i->src_reg == BPF_PSEUDO_KFUNC_CALL) {
		if (how && how->kfunc)
			name = how->kfunc(how->ctx, i);
		log_printf(log, "(%02x) call %s#%d", i->code, name ? name : "kernel-function",
			   i->imm);
	} else {
		if (how && how->helper && !i->src_reg)
			name = how->helper(how->ctx, i->imm);
		log_printf(log, "(%02x) call %s%s#%d", i->code, name ? "bpf_" : "",
			   name ? name : "unknown", i->imm);
	}
}

static void print_jcond(struct log *log, const struct bpf_insn *i, const struct isa_op *op)
{
	char reg = BPF_CLASS(i->code) == BPF_JMP32 ? 'w' : 'r';

	if (BPF_SRC(i->code) == BPF_X)
		log_printf(log, "(%02x) if %c%d %s %c%d goto pc%+d", i->code, reg, i->dst_reg,
			   op->name, reg, i->src_reg, i->off);
	else
		log_printf(log, "(%02x) if %c%d %s 0x%x goto pc%+d", i->code, reg, i->dst_reg,
			   op->name, (u32)i->imm, i->off);
}

/* No such opcode, or a sub-code of an atomic that does not exist. */
static void print_bug(struct log *log, u8 code)
{
	static const char *const of_class[8] = {
	    [BPF_LD] = "ld_",
	    [BPF_LDX] = "ldx_",
	    [BPF_ST] = "st_",
	};
	const char *what = of_class[BPF_CLASS(code)];

	log_printf(log, "BUG_%s%02x", what ? what : "", code);
}

static void print_memory(struct log *log, const struct bpf_insn *i, const struct isa_op *op)
{
	switch (op->form) {
	case ISA_LD_ABS:
		log_printf(log, "(%02x) r0 = *(%s *)skb[%d]", i->code, size_of(i), i->imm);
		break;
	case ISA_LD_IND:
		log_printf(log, "(%02x) r0 = *(%s *)skb[r%d + %d]", i->code, size_of(i), i->src_reg,
			   i->imm);
		break;
	case ISA_LDX:
	case ISA_LDSX:
		log_printf(log, "(%02x) r%d = *(%s *)(r%d %+d)", i->code, i->dst_reg,
			   op->form == ISA_LDX ? size_of(i) : signed_sizes[BPF_SIZE(i->code) >> 3],
			   i->src_reg, i->off);
		break;
	case ISA_ST:
		log_printf(log, "(%02x) *(%s *)(r%d %+d) = %d", i->code, size_of(i), i->dst_reg,
			   i->off, i->imm);
		break;
	case ISA_STX:
		log_printf(log, "(%02x) *(%s *)(r%d %+d) = r%d", i->code, size_of(i), i->dst_reg,
			   i->off, i->src_reg);
		break;
	case ISA_LOAD_ACQ:
		log_printf(log, "(%02x) r%d = load_acquire((%s *)(r%d %+d))", i->code, i->dst_reg,
			   size_of(i), i->src_reg, i->off);
		break;
	case ISA_STORE_REL:
		log_printf(log, "(%02x) store_release((%s *)(r%d %+d), r%d)", i->code, size_of(i),
			   i->dst_reg, i->off, i->src_reg);
		break;
	}
}

void isa_print_insn(struct log *log, const struct bpf_insn *i, u32 idx, const struct isa_print *how)
{
	const struct isa_op *op = isa_op(i);

	if (!op && !(BPF_CLASS(i->code) == BPF_STX && BPF_MODE(i->code) == BPF_ATOMIC))
		op = isa_op_of_code(i->code);
	if (!op) {
		print_bug(log, i->code);
		return;
	}
	switch ((enum isa_form)op->form) {
	case ISA_ALU:
	case ISA_MOV:
	case ISA_MOVSX:
		print_alu(log, i, op);
		break;
	case ISA_NEG:
		print_neg(log, i);
		break;
	case ISA_END:
		log_printf(log, "(%02x) r%d = %s%d r%d", i->code, i->dst_reg, op->name, i->imm,
			   i->dst_reg);
		break;
	case ISA_ADDR_SPACE_CAST:
		log_printf(log, "(%02x) r%d = addr_space_cast(r%d, %u, %u)", i->code, i->dst_reg,
			   i->src_reg, (u32)i->imm >> 16, (u16)i->imm);
		break;
	case ISA_LD_IMM64:
		print_ld_imm64(log, i, idx, how);
		break;
	case ISA_ATOMIC:
		print_atomic(log, i, op);
		break;
	case ISA_LD_ABS:
	case ISA_LD_IND:
	case ISA_LDX:
	case ISA_LDSX:
	case ISA_ST:
	case ISA_STX:
	case ISA_LOAD_ACQ:
	case ISA_STORE_REL:
		print_memory(log, i, op);
		break;
	case ISA_JA:
		log_printf(log, "(%02x) goto pc%+d", i->code, i->off);
		break;
	case ISA_GOTOL:
		log_printf(log, "(%02x) gotol pc%+d", i->code, i->imm);
		break;
	case ISA_MAY_GOTO:
		log_printf(log, "(%02x) may_goto pc%+d", i->code, i->off);
		break;
	case ISA_JCOND:
		print_jcond(log, i, op);
		break;
	case ISA_CALL:
		print_call(log, i, how);
		break;
	case ISA_CALLX:
		log_printf(log, "(%02x) callx r%d", i->code, i->dst_reg);
		break;
	case ISA_EXIT:
		log_printf(log, "(%02x) exit", i->code);
		break;
	case ISA_TAIL_CALL:
		log_printf(log, "(%02x) tail_call", i->code);
		break;
	}
}
