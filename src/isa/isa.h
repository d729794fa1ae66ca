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

/* Which field of struct bpf_insn tells apart instructions that share an opcode byte. */
enum isa_sub { ISA_SUB_NONE, ISA_SUB_OFF, ISA_SUB_IMM, ISA_SUB_SRC };

enum isa_id {		/* ISA_ID_ADD64_X, ISA_ID_LDSX16, ...: one a row of insn.def */
#define ISA(id, code, sub, value, form, version, name) ISA_ID_##id,
#include "isa/insn.def"
#undef ISA
	ISA_ID_MAX
};

struct isa_op {
	u8 id;			/* enum isa_id */
	u8 code;		/* the opcode byte */
	u8 form;		/* enum isa_form */
	u8 version;		/* 1..4, first ISA version that has it */
	u8 sub;			/* enum isa_sub, and the value that field must have */
	s16 sub_value;
	const char *name;	/* the operator or mnemonic: "+=", "s>>=", "==" */
};

/* The row an instruction belongs to, sub-codes (off of sdiv/movsx/ldsx, imm of atomics and bswap) considered; NULL: no such
 * instruction. Reserved fields are not judged here (verify does, with the kernel's words). */
const struct isa_op *isa_op(const struct bpf_insn *insn);
const struct isa_op *isa_op_by_id(u32 id);	/* id < ISA_ID_MAX */
const struct isa_op *isa_op_of_code(u8 code);	/* the byte's first row, whatever the sub-code; NULL: none */
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

/* Disassembly in the syntax of the kernel's verifier log: "(61) r1 = *(u32 *)(r2 +4)". One instruction with the opcode in
 * front as the kernel has it, no index, no newline. insn[1] is read when insn[0] is a ld_imm64, so it must be there.
 * how and its callbacks may be NULL. */
struct isa_print {
	void *ctx;
	const char *(*helper)(void *ctx, u32 id);			/* "map_lookup_elem" -> printed as call bpf_map_lookup_elem#1 */
	const char *(*kfunc)(void *ctx, const struct bpf_insn *insn);	/* name of a called kernel function, printed as it is */
	const char *(*imm64)(void *ctx, u32 insn_idx, char *buf, size_t room);	/* text for a ld_imm64 with a pseudo source; NULL: number */
	bool hide_pointers;						/* print map and BTF addresses as 0x0 */
};
void isa_print_insn(struct log *log, const struct bpf_insn *insn, u32 idx, const struct isa_print *how);

/* Text assembler for test cases: one instruction a line in the disassembler's syntax; "label:" and "goto label"; ';' or '#'
 * at the start of a line or after a blank begin a comment. The opcode "(bf)" in front is optional and checked when there.
 * "r1 = 0x5" is a ld_imm64 (that is how the kernel prints one), "r1 = 5" a mov. What the kernel's text does not tell:
 *	r1 = map_fd(3)  map_value(3, 8)  map_idx(0)  map_idx_value(0, 8)  btf_id(7, 0)  func(label or pc+N)
 *	call 5 (a helper)  call kernel-function#7  callx r2  tail_call  call label
 * Result is malloc'ed. Errors: "line N: ..." in err, -EINVAL. */
int isa_assemble(const char *text, struct bpf_insn **insns, u32 *n, struct log *err);

/* Successors of an instruction inside one program: up to 2; returns their number. ld_imm64 skips its second slot.
 * Targets outside [0, n) are left out, so that the answer can be followed; a subprogram call just goes on. */
u32 isa_successors(const struct bpf_insn *insns, u32 n, u32 idx, u32 next[2]);

#endif
