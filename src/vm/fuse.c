/* Pairs that run as one: the last step of decoding. Only the first slot's op changes, and both
 * slots keep their operands, so a jump to the second still finds it, and the instances that look at
 * every instruction run the two as they are. */
#include "image.h"
#include "isa/isa.h"

/* The pair's op by the second instruction (MOV_ALU) or the first (JCC_JA); 0: none. */
static const u16 mov_alu[VM_OP_MAX] = {
#define MOV_ALU(id, bits) [ISA_ID_##id] = VM_OP_MOV_##id,
#include "fuse.def"
#undef MOV_ALU
};
static const u16 jcc_ja[VM_OP_MAX] = {
#define JCC_JA(id, bits) [ISA_ID_##id] = VM_OP_JA_##id,
#include "fuse.def"
#undef JCC_JA
};

static bool is_64(const struct vm_insn *i)
{
	return BPF_CLASS(isa_op_by_id(i->op)->code) == BPF_ALU64;
}

static u16 pair(const struct vm_insn *i)
{
	const struct vm_insn *next = i + 1;

	if (jcc_ja[i->op])
		return next->op == ISA_ID_JA || next->op == ISA_ID_GOTOL ? jcc_ja[i->op] : 0;
	if (i->op != ISA_ID_MOV64_X && i->op != ISA_ID_MOV32_X)
		return 0;
	/* an operand that is the register just moved to would be read too early */
	if (!mov_alu[next->op] || i->dst != next->dst || is_64(i) != is_64(next))
		return 0;
	if (BPF_SRC(isa_op_by_id(next->op)->code) == BPF_X && next->src == next->dst)
		return 0;
	return mov_alu[next->op];
}

void vm_fuse(struct vm_image *img)
{
	u16 op;

	for (u32 i = 0; i < img->n_insns; i++) {
		op = pair(&img->insns[i]);
		if (!op)
			continue;
		img->insns[i].op = op;
		i++;
	}
}
