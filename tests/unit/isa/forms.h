/* Every row of insn.def as instructions to try: the row's opcode and sub-code with a few choices of
 * the free fields. */
#ifndef FORMS_H
#define FORMS_H
#include "isa/isa.h"

struct form {
	struct bpf_insn insn[2];
	u32 n;
};

/* The variant-th instruction of a row; false past the last. Only fields that the row reads are
 * filled. */
static inline bool form_make(struct form *f, u32 id, u32 variant)
{
	static const s32 imms[] = {0, 1, -1, 0x7fffffff, -0x7fffffff - 1, 17};
	static const s16 offs[] = {0, 1, -8, 32767, -32768, 24};
	const struct isa_op *op = isa_op_by_id(id);
	struct bpf_insn *i = &f->insn[0];
	bool reg = BPF_SRC(op->code) == BPF_X;

	if (variant >= ARRAY_SIZE(imms))
		return false;
	*f = (struct form){.n = 1};
	*i = (struct bpf_insn){.code = op->code, .dst_reg = variant, .src_reg = 10 - variant};
	i->imm = imms[variant];
	i->off = offs[variant];
	switch (op->form) {
	case ISA_ALU:
	case ISA_MOV:
	case ISA_MOVSX:
		i->off = 0;
		if (reg)
			i->imm = 0;
		else
			i->src_reg = 0;
		break;
	case ISA_NEG:
	case ISA_END:
		i->src_reg = i->off = i->imm = 0;
		break;
	case ISA_LD_IMM64:
		f->n = 2;
		i->off = 0;
		f->insn[1].imm = ~imms[variant];
		if (op->sub_value == BPF_PSEUDO_MAP_FD || op->sub_value == BPF_PSEUDO_FUNC ||
		    op->sub_value == BPF_PSEUDO_MAP_IDX)
			f->insn[1].imm = 0;
		break;
	case ISA_LD_ABS:
		i->dst_reg = i->src_reg = i->off = 0;
		break;
	case ISA_LD_IND:
		i->dst_reg = i->off = 0;
		break;
	case ISA_LDX:
	case ISA_LDSX:
	case ISA_STX:
		i->imm = 0;
		break;
	case ISA_ST:
		i->src_reg = 0;
		break;
	case ISA_JA:
		i->dst_reg = i->src_reg = i->imm = 0;
		break;
	case ISA_MAY_GOTO:
		i->dst_reg = i->imm = 0;
		break;
	case ISA_GOTOL:
		i->dst_reg = i->src_reg = i->off = 0;
		break;
	case ISA_JCOND:
		if (reg)
			i->imm = 0;
		else
			i->src_reg = 0;
		break;
	case ISA_CALL:
		i->dst_reg = i->off = 0;
		break;
	case ISA_CALLX:
		i->src_reg = i->off = i->imm = 0;
		break;
	case ISA_EXIT:
	case ISA_TAIL_CALL:
		*i = (struct bpf_insn){.code = op->code};
		break;
	}
	if (op->sub == ISA_SUB_OFF)
		i->off = op->sub_value;
	else if (op->sub == ISA_SUB_IMM)
		i->imm = op->sub_value;
	else if (op->sub == ISA_SUB_SRC)
		i->src_reg = op->sub_value;
	return true;
}

static inline const char *form_helper_name(void *ctx, u32 id)
{
	return id == 0	  ? "unspec"
	       : id == 1  ? "map_lookup_elem"
	       : id == 17 ? "get_cgroup_classid"
			  : NULL;
}
#endif
