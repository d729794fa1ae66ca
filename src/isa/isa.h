/* Instructions of BPF ISA v1 to v4 (RFC 9669) as one table, insn.def; decode, disassemble, assemble, control flow.
 *
 * The raw form is everywhere `struct bpf_insn`; this module says what its bits mean. */
#ifndef ISA_ISA_H
#define ISA_ISA_H
#include "base/abi.h"
#include "base/log.h"

/* One row of insn.def: how an opcode (with its sub-code in off or imm) is read. */
enum isa_form {
	ISA_ALU,	/* dst op= src|imm, 32 or 64 bits */
	ISA_NEG, ISA_END, ISA_MOV, ISA_MOVSX,
	ISA_LD_IMM64, ISA_LD_ABS, ISA_LD_IND,
	ISA_LDX, ISA_LDSX, ISA_ST, ISA_STX, ISA_ATOMIC, ISA_LOAD_ACQ, ISA_STORE_REL,
	ISA_JA, ISA_GOTOL, ISA_JCOND /* if */, ISA_MAY_GOTO, ISA_CALL, ISA_CALLX, ISA_EXIT, ISA_TAIL_CALL,
	ISA_ADDR_SPACE_CAST,
};

struct isa_op {
	u8 code;		/* the opcode byte */
	u8 form;		/* enum isa_form */
	u8 version;		/* 1..4, first ISA version that has it */
	const char *name;	/* the operator or mnemonic: "+=", "s>>=", "==" */
};

/* The row an instruction belongs to, sub-codes (off of sdiv/movsx/ldsx, imm of atomics and bswap) considered; NULL: no such
 * instruction. Reserved fields are not judged here (verify does, with the kernel's words). */
const struct isa_op *isa_op(const struct bpf_insn *insn);
bool isa_known_opcode(u8 code);		/* as the kernel's bpf_opcode_in_insntable */

static inline bool isa_is_ld_imm64(const struct bpf_insn *i)
{
	return i->code == (BPF_LD | BPF_IMM | BPF_DW);
}
static inline bool isa_is_pseudo_call(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | BPF_CALL) && i->src_reg == BPF_PSEUDO_CALL;
}
static inline bool isa_is_pseudo_func(const struct bpf_insn *i)
{
	return isa_is_ld_imm64(i) && i->src_reg == BPF_PSEUDO_FUNC;
}
static inline bool isa_is_helper_call(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | BPF_CALL) && i->src_reg == 0;
}
/* Width in bytes of a memory access: BPF_B, _H, _W, _DW of code. */
static inline u32 isa_size(u8 code)
{
	static const u8 bytes[] = { 4, 2, 1, 8 };

	return bytes[BPF_SIZE(code) >> 3];
}

/* Disassembly in the syntax of the kernel's verifier log: "r1 = *(u32 *)(r2 +4)". One instruction, no index, no newline;
 * ld_imm64 takes two slots. Callbacks may be NULL. */
struct isa_print {
	void *ctx;
	const char *(*helper)(void *ctx, u32 id);			/* "map_lookup_elem" -> printed as call bpf_map_lookup_elem#1 */
	const char *(*imm64)(void *ctx, u32 insn_idx, char *buf, size_t room);	/* text for a ld_imm64 with a pseudo source; NULL: number */
	bool hide_pointers;
};
void isa_print_insn(struct log *log, const struct bpf_insn *insn, u32 idx, const struct isa_print *how);

/* Text assembler for test cases: one instruction a line in the disassembler's syntax; "label:" and "goto label"; ';' or '#'
 * begin a comment. Result is malloc'ed. Errors: "line N: ..." in err, -EINVAL. */
int isa_assemble(const char *text, struct bpf_insn **insns, u32 *n, struct log *err);

/* Successors of an instruction inside one program: up to 2; returns their number. ld_imm64 skips its second slot. */
u32 isa_successors(const struct bpf_insn *insns, u32 n, u32 idx, u32 next[2]);

#endif
