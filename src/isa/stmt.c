/* One statement of assembler text. Each kind has a function that reads it and answers NULL, or what
 * it expected. Rows of insn.def say which opcode an operator and its operands make. */
#include "stmt.h"

/* The row of this form and operator whose opcode byte has these bits under the mask. */
static const struct isa_op *find(u32 form, const char *name, u8 mask, u8 bits)
{
	for (u32 id = 0; id < ISA_ID_MAX; id++) {
		const struct isa_op *op = isa_op_by_id(id);

		if (op->form == form && (op->code & mask) == bits && !strcmp(op->name, name))
			return op;
	}
	return NULL;
}

static void use(struct stmt *st, const struct isa_op *op)
{
	st->i.code = op->code;
	if (op->sub == ISA_SUB_OFF)
		st->i.off = op->sub_value;
	else if (op->sub == ISA_SUB_IMM)
		st->i.imm = op->sub_value;
	else if (op->sub == ISA_SUB_SRC)
		st->i.src_reg = op->sub_value;
}

/* The longest operator of this form that comes next. */
static const char *scan_operator(struct scan *s, u32 form)
{
	const char *best = NULL;

	for (u32 id = 0; id < ISA_ID_MAX; id++) {
		const struct isa_op *op = isa_op_by_id(id);
		size_t len = strlen(op->name);
		struct scan try = *s;

		if (op->form == form && isa_scan_is(&try, op->name) &&
		    (!best || len > strlen(best)))
			best = op->name;
	}
	if (best)
		isa_scan_is(s, best);
	return best;
}

/* pc+N, or a label; imm says where the distance goes. */
static const char *target(struct scan *s, struct stmt *st, bool imm)
{
	struct scan try = *s;
	s64 v;
	bool hex;

	if (isa_scan_is(&try, "pc") && isa_scan_number(&try, &v, &hex)) {
		if (imm ? v < INT32_MIN || v > INT32_MAX : v < INT16_MIN || v > INT16_MAX)
			return "a distance that fits";
		if (imm)
			st->i.imm = v;
		else
			st->i.off = v;
		*s = try;
		return NULL;
	}
	st->to_imm = imm;
	return isa_scan_word(s, &st->to.name, &st->to.len) ? NULL : "pc+N or a label";
}

/* ---- statements that begin with a word */

static const char *stmt_if(struct scan *s, struct stmt *st)
{
	const struct isa_op *op;
	const char *name;
	char kind, kind2;
	bool from_reg;
	u8 dst, src = 0;
	s32 imm = 0;

	if (!isa_scan_reg(s, &kind, &dst))
		return "a register";
	name = scan_operator(s, ISA_JCOND);
	if (!name)
		return "a comparison";
	from_reg = isa_scan_reg(s, &kind2, &src);
	if (from_reg ? kind2 != kind : !isa_scan_imm(s, &imm))
		return "a register of the same width, or a 32-bit number";
	if (!isa_scan_is(s, "goto"))
		return "goto";
	op = find(ISA_JCOND, name, 0xf,
		  (kind == 'r' ? BPF_JMP : BPF_JMP32) | (from_reg ? BPF_X : BPF_K));
	use(st, op);
	st->i.dst_reg = dst;
	st->i.src_reg = src;
	st->i.imm = imm;
	return target(s, st, false);
}

static const char *stmt_call(struct scan *s, struct stmt *st)
{
	struct scan try = *s;
	const char *name;
	u32 len;
	s32 id;

	st->i.code = BPF_JMP | BPF_CALL;
	if (isa_scan_imm(s, &st->i.imm))
		return NULL;
	if (isa_scan_is(&try, "kernel-function")) {
		st->i.src_reg = BPF_PSEUDO_KFUNC_CALL;
	} else if (!isa_scan_word(&try, &name, &len) || try.p == try.end || *try.p != '#') {
		st->i.src_reg = BPF_PSEUDO_CALL;
		return target(s, st, true);
	}
	if (!isa_scan_is(&try, "#") || !isa_scan_imm(&try, &id))
		return "#number";
	st->i.imm = id;
	*s = try;
	return NULL;
}

static const char *stmt_callx(struct scan *s, struct stmt *st)
{
	char kind;
	u8 reg;

	if (!isa_scan_reg(s, &kind, &reg) || kind != 'r')
		return "a register";
	st->i.code = BPF_JMP | BPF_CALL | BPF_X;
	st->i.dst_reg = reg;
	return NULL;
}

/* (u32 *)(r1 +4): the address an atomic works on */
static const char *operand(struct scan *s, u8 *size, u8 *reg, s16 *off)
{
	bool is_signed;

	if (!isa_scan_size(s, size, &is_signed) || is_signed || !isa_scan_mem(s, reg, off))
		return "(u32 *)(rN +off)";
	return NULL;
}

static const char *stmt_lock(struct scan *s, struct stmt *st)
{
	const char *wrong, *name;
	u8 size, dst, src;
	char kind;
	s16 off;

	if (!isa_scan_is(s, "*"))
		return "*";
	wrong = operand(s, &size, &dst, &off);
	if (wrong)
		return wrong;
	name = scan_operator(s, ISA_ATOMIC);
	if (!name || !isa_scan_reg(s, &kind, &src) || kind != 'r')
		return "+=, |=, &= or ^= and a register";
	if (!find(ISA_ATOMIC, name, 0xff, BPF_STX | BPF_ATOMIC | size))
		return "u32 or u64";
	use(st, find(ISA_ATOMIC, name, 0xff, BPF_STX | BPF_ATOMIC | size));
	st->i.dst_reg = dst;
	st->i.src_reg = src;
	st->i.off = off;
	return NULL;
}

static const char *stmt_store(struct scan *s, struct stmt *st)
{
	const char *wrong;
	u8 size, dst, src = 0;
	char kind;
	s16 off;

	wrong = operand(s, &size, &dst, &off);
	if (wrong)
		return wrong;
	if (!isa_scan_is(s, "="))
		return "=";
	if (isa_scan_reg(s, &kind, &src)) {
		if (kind != 'r')
			return "a 64-bit register (rN)";
		st->i.code = BPF_STX | BPF_MEM | size;
	} else {
		if (!isa_scan_imm(s, &st->i.imm))
			return "a register or a 32-bit number";
		st->i.code = BPF_ST | BPF_MEM | size;
	}
	st->i.dst_reg = dst;
	st->i.src_reg = src;
	st->i.off = off;
	return NULL;
}

static const char *stmt_store_release(struct scan *s, struct stmt *st)
{
	u8 size, dst, src;
	char kind;
	s16 off;

	if (!isa_scan_is(s, "(") || operand(s, &size, &dst, &off) || !isa_scan_is(s, ",") ||
	    !isa_scan_reg(s, &kind, &src) || kind != 'r' || !isa_scan_is(s, ")"))
		return "store_release((u32 *)(rN +off), rN)";
	use(st, find(ISA_STORE_REL, "store_release", 0xff, BPF_STX | BPF_ATOMIC | size));
	st->i.dst_reg = dst;
	st->i.src_reg = src;
	st->i.off = off;
	return NULL;
}

/* ---- what stands behind "rN =" */

static const char *value_load(struct scan *s, struct stmt *st)
{
	const char *wrong = "skb[N], skb[rN + N] or (rN +off)";
	bool is_signed;
	u8 size, src;
	char kind;
	s16 off;

	if (!isa_scan_size(s, &size, &is_signed))
		return "a size: (u8 *), (s16 *)";
	if (!is_signed && size != BPF_DW && isa_scan_is(s, "skb")) {
		if (st->i.dst_reg || !isa_scan_is(s, "["))
			return wrong;
		st->i.code = BPF_LD | BPF_ABS | size;
		if (isa_scan_reg(s, &kind, &src)) {
			st->i.code = BPF_LD | BPF_IND | size;
			st->i.src_reg = src;
			isa_scan_is(s, "+");
		}
		return isa_scan_imm(s, &st->i.imm) && isa_scan_is(s, "]") ? NULL : wrong;
	}
	if (!isa_scan_mem(s, &src, &off))
		return wrong;
	if (is_signed && size == BPF_DW)
		return "a size: s64 does not exist";
	st->i.code = BPF_LDX | size | (is_signed ? BPF_MEMSX : BPF_MEM);
	st->i.src_reg = src;
	st->i.off = off;
	return NULL;
}

/* A word that begins with "atomic_" or "atomic64_" and the row's name. */
static const struct isa_op *atomic_named(const char *word, u32 len)
{
	u8 size = BPF_W;

	if (len > 9 && !memcmp(word, "atomic64_", 9)) {
		size = BPF_DW;
		word += 9;
		len -= 9;
	} else if (len > 7 && !memcmp(word, "atomic_", 7)) {
		word += 7;
		len -= 7;
	} else {
		return NULL;
	}
	for (u32 id = 0; id < ISA_ID_MAX; id++) {
		const struct isa_op *op = isa_op_by_id(id);

		if (op->form == ISA_ATOMIC && BPF_SIZE(op->code) == size &&
		    op->sub_value & BPF_FETCH && strlen(op->name) == len &&
		    !memcmp(op->name, word, len))
			return op;
	}
	return NULL;
}

static const char *value_atomic(struct scan *s, struct stmt *st, const struct isa_op *op)
{
	bool cmpxchg = op->sub_value == BPF_CMPXCHG;
	u8 dst, src, r0 = 0, size;
	char kind;
	s16 off;

	if (!isa_scan_is(s, "(") || operand(s, &size, &dst, &off) || size != BPF_SIZE(op->code) ||
	    !isa_scan_is(s, ",") ||
	    (cmpxchg && (!isa_scan_reg(s, &kind, &r0) || r0 || !isa_scan_is(s, ","))) ||
	    !isa_scan_reg(s, &kind, &src) || !isa_scan_is(s, ")"))
		return "the atomic's arguments: ((u64 *)(rN +off), rN)";
	if (st->i.dst_reg != (cmpxchg ? 0 : src))
		return "the result in the register the instruction puts it in";
	use(st, op);
	st->i.dst_reg = dst;
	st->i.src_reg = src;
	st->i.off = off;
	return NULL;
}

static const char *value_load_acquire(struct scan *s, struct stmt *st)
{
	u8 size, src;
	s16 off;

	if (!isa_scan_is(s, "(") || operand(s, &size, &src, &off) || !isa_scan_is(s, ")"))
		return "load_acquire((u32 *)(rN +off))";
	use(st, find(ISA_LOAD_ACQ, "load_acquire", 0xff, BPF_STX | BPF_ATOMIC | size));
	st->i.src_reg = src;
	st->i.off = off;
	return NULL;
}

static const char *value_cast(struct scan *s, struct stmt *st)
{
	bool hex;
	char kind;
	s64 a, b;
	u8 src;

	if (!isa_scan_is(s, "(") || !isa_scan_reg(s, &kind, &src) || !isa_scan_is(s, ",") ||
	    !isa_scan_number(s, &a, &hex) || !isa_scan_is(s, ",") ||
	    !isa_scan_number(s, &b, &hex) || !isa_scan_is(s, ")") || (a | b) >> 16)
		return "addr_space_cast(rN, A, B)";
	use(st, isa_op_by_id(ISA_ID_ADDR_SPACE_CAST));
	st->i.src_reg = src;
	st->i.imm = (s32)((u32)a << 16 | (u32)b);
	return NULL;
}

/* map_fd(3), map_value(3, 8), func(label) */
static const char *value_pseudo(struct scan *s, struct stmt *st, const struct isa_op *op)
{
	const char *wrong;

	use(st, op);
	st->wide = true;
	if (!isa_scan_is(s, "("))
		return "(";
	if (op->sub_value == BPF_PSEUDO_FUNC) {
		wrong = target(s, st, true);
		if (wrong)
			return wrong;
	} else if (!isa_scan_imm(s, &st->i.imm)) {
		return "a number";
	}
	if (isa_scan_is(s, ",") && !isa_scan_imm(s, &st->high.imm))
		return "a number";
	return isa_scan_is(s, ")") ? NULL : ")";
}

/* le16 r1, be32 r1, bswap64 r1: the row whose name and width make up the word */
static const struct isa_op *end_named(const char *word, u32 len)
{
	for (u32 id = 0; id < ISA_ID_MAX; id++) {
		const struct isa_op *op = isa_op_by_id(id);
		size_t n = strlen(op->name);

		if (op->form == ISA_END && len == n + 2 && !memcmp(word, op->name, n) &&
		    (word[n] - '0') * 10 + word[n + 1] - '0' == op->sub_value)
			return op;
	}
	return NULL;
}

static const struct isa_op *pseudo_named(const char *word, u32 len)
{
	for (u32 id = 0; id < ISA_ID_MAX; id++) {
		const struct isa_op *op = isa_op_by_id(id);

		if (op->form == ISA_LD_IMM64 && len && strlen(op->name) == len &&
		    !memcmp(word, op->name, len))
			return op;
	}
	return NULL;
}

static const char *value_word(struct scan *s, struct stmt *st, char kind)
{
	const char *word, *wrong = "a value";
	const struct isa_op *op;
	char kind2;
	u32 len;
	u8 reg;

	if (kind != 'r' || !isa_scan_word(s, &word, &len))
		return wrong;
	op = end_named(word, len);
	if (op) {
		use(st, op);
		return isa_scan_reg(s, &kind2, &reg) && reg == st->i.dst_reg ? NULL
									     : "the same register";
	}
	op = pseudo_named(word, len);
	if (op)
		return value_pseudo(s, st, op);
	op = atomic_named(word, len);
	if (op)
		return value_atomic(s, st, op);
	if (len == 12 && !memcmp(word, "load_acquire", len))
		return value_load_acquire(s, st);
	if (len == 15 && !memcmp(word, "addr_space_cast", len))
		return value_cast(s, st);
	return wrong;
}

static const char *value_number(struct scan *s, struct stmt *st, char kind)
{
	struct scan try = *s;
	bool hex;
	s64 v;

	if (!isa_scan_number(&try, &v, &hex))
		return value_word(s, st, kind);
	if (kind == 'r' && (hex || isa_scan_is(&try, "ll"))) {
		st->i.code = BPF_LD | BPF_IMM | BPF_DW;
		st->i.imm = (s32)(u32)v;
		st->high.imm = (s32)(u32)((u64)v >> 32);
		st->wide = true;
		*s = try;
		return NULL;
	}
	st->i.code = (kind == 'r' ? BPF_ALU64 : BPF_ALU) | BPF_MOV | BPF_K;
	return isa_scan_imm(s, &st->i.imm) ? NULL : "a number of 32 bits";
}

static const char *value(struct scan *s, struct stmt *st, char kind)
{
	static const char *const casts[] = {"(s8)", "(s16)", "(s32)"};
	u8 class = kind == 'r' ? BPF_ALU64 : BPF_ALU, src;
	struct scan try = *s;
	char kind2;

	if (isa_scan_is(s, "*"))
		return kind == 'r' ? value_load(s, st) : "a value: loads go to rN";
	if (isa_scan_is(&try, "-") && isa_scan_reg(&try, &kind2, &src)) {
		*s = try;
		st->i.code = class | BPF_NEG;
		return kind2 == kind && src == st->i.dst_reg ? NULL : "the same register";
	}
	for (u32 i = 0; i < ARRAY_SIZE(casts); i++) {
		if (!isa_scan_is(s, casts[i]))
			continue;
		if (!find(ISA_MOVSX, casts[i], 7, class))
			return "(s8) or (s16)";
		use(st, find(ISA_MOVSX, casts[i], 7, class));
		if (!isa_scan_reg(s, &kind2, &src) || kind2 != kind)
			return "a register of the same width";
		st->i.src_reg = src;
		return NULL;
	}
	if (!isa_scan_reg(s, &kind2, &src))
		return value_number(s, st, kind);
	if (kind2 != kind)
		return "a register of the same width";
	st->i.code = class | BPF_MOV | BPF_X;
	st->i.src_reg = src;
	return NULL;
}

static const char *stmt_assign(struct scan *s, struct stmt *st)
{
	const char *name;
	char kind, kind2;
	bool from_reg;
	u8 dst, src = 0;
	u8 class;

	if (!isa_scan_reg(s, &kind, &dst))
		return "an instruction";
	st->i.dst_reg = dst;
	if (isa_scan_is(s, "="))
		return value(s, st, kind);
	name = scan_operator(s, ISA_ALU);
	if (!name)
		return "an operator";
	from_reg = isa_scan_reg(s, &kind2, &src);
	if (from_reg ? kind2 != kind : !isa_scan_imm(s, &st->i.imm))
		return "a register of the same width, or a 32-bit number";
	class = kind == 'r' ? BPF_ALU64 : BPF_ALU;
	use(st, find(ISA_ALU, name, 0xf, class | (from_reg ? BPF_X : BPF_K)));
	st->i.src_reg = src;
	return NULL;
}

const char *isa_stmt_read(struct scan *s, struct stmt *st)
{
	static const u8 jumps[] = {ISA_ID_JA, ISA_ID_GOTOL, ISA_ID_MAY_GOTO};

	if (isa_scan_is(s, "if"))
		return stmt_if(s, st);
	if (isa_scan_is(s, "call"))
		return stmt_call(s, st);
	if (isa_scan_is(s, "callx"))
		return stmt_callx(s, st);
	if (isa_scan_is(s, "lock"))
		return stmt_lock(s, st);
	if (isa_scan_is(s, "*"))
		return stmt_store(s, st);
	if (isa_scan_is(s, "store_release"))
		return stmt_store_release(s, st);
	if (isa_scan_is(s, "exit")) {
		st->i.code = BPF_JMP | BPF_EXIT;
		return NULL;
	}
	if (isa_scan_is(s, "tail_call")) {
		st->i.code = BPF_JMP | ABI_TAIL_CALL;
		return NULL;
	}
	for (u32 i = 0; i < ARRAY_SIZE(jumps); i++) {
		if (!isa_scan_is(s, isa_op_by_id(jumps[i])->name))
			continue;
		use(st, isa_op_by_id(jumps[i]));
		return target(s, st, jumps[i] == ISA_ID_GOTOL);
	}
	return stmt_assign(s, st);
}
