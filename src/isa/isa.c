/* The instruction table: which row of insn.def an instruction is, and where control goes after it.
 */
#include "isa.h"

#define ISA(id, code, sub, value, form, version, name)                                             \
	{ISA_ID_##id, code, form, version, ISA_SUB_##sub, value, name},
static const struct isa_op rows[] = {
#include "insn.def"
};
#undef ISA

/* Opcode byte -> its last row + 1 (a later initializer of the same element wins); 0: none. */
#define ISA(id, code, sub, value, form, version, name) [code] = ISA_ID_##id + 1,
static const u8 last_row[256] = {
#include "insn.def"
};
#undef ISA

static_assert(ISA_ID_MAX < 256, "row numbers fit a byte");
static_assert(ARRAY_SIZE(rows) == ISA_ID_MAX, "one row an id");

static s64 sub_code(const struct isa_op *op, const struct bpf_insn *insn)
{
	switch (op->sub) {
	case ISA_SUB_OFF:
		return insn->off;
	case ISA_SUB_IMM:
		return insn->imm;
	case ISA_SUB_SRC:
		return insn->src_reg;
	default:
		return 0;
	}
}

const struct isa_op *isa_op(const struct bpf_insn *insn)
{
	for (u32 i = last_row[insn->code]; i && rows[i - 1].code == insn->code; i--)
		if (sub_code(&rows[i - 1], insn) == rows[i - 1].sub_value)
			return &rows[i - 1];
	return NULL;
}

const struct isa_op *isa_op_by_id(u32 id)
{
	assert(id < ISA_ID_MAX);
	return &rows[id];
}

const struct isa_op *isa_op_of_code(u8 code)
{
	u32 i = last_row[code];

	while (i > 1 && rows[i - 2].code == code)
		i--;
	return i ? &rows[i - 1] : NULL;
}

bool isa_known_opcode(u8 code)
{
	/* callx is refused by the kernel, tail_call is made after verification only */
	return last_row[code] && code != (BPF_JMP | BPF_CALL | BPF_X) &&
	       code != (BPF_JMP | ABI_TAIL_CALL);
}

static u32 add(u32 next[2], u32 count, u32 n, s64 target)
{
	if (target < 0 || target >= n)
		return count;
	next[count] = target;
	return count + 1;
}

u32 isa_successors(const struct bpf_insn *insns, u32 n, u32 idx, u32 next[2])
{
	const struct bpf_insn *i = &insns[idx];
	const struct isa_op *op = isa_op(i);
	u32 count;

	switch (op ? op->form : ISA_ALU) {
	case ISA_EXIT:
		return 0;
	case ISA_JA:
		return add(next, 0, n, (s64)idx + 1 + i->off);
	case ISA_GOTOL:
		return add(next, 0, n, (s64)idx + 1 + i->imm);
	case ISA_JCOND:
	case ISA_MAY_GOTO:
		count = add(next, 0, n, (s64)idx + 1);
		return add(next, count, n, (s64)idx + 1 + i->off);
	case ISA_LD_IMM64:
		return add(next, 0, n, (s64)idx + 2);
	default:
		return add(next, 0, n, (s64)idx + 1);
	}
}
