/* A generator that keeps a rough idea of what each register holds and mostly respects it, so that programs get far enough
 * to be interesting; now and then it does not. */
#include "access_random.h"
#include "isa/isa.h"
#include <stdio.h>

enum kind { NONE, NUM, CTX, PKT, END, META, STACK, VALUE, MAYBE, RING, N_KINDS };

struct gen {
	u64 rnd;
	struct bpf_insn insn[400];
	u32 n;
	u8 is[11];		/* enum kind of each register */
	u32 wild;		/* how often, in 400, a register is taken blindly */
	u32 jump[64], n_jumps;	/* to be pointed at a later statement */
	u32 statement[64], n_statements;
	u32 call[8], n_calls;	/* calls of the second function, to be pointed at it */
	u8 args[11];		/* what the last of them passed */
	bool looped;
	u8 counter;		/* register that counts the loop being written; 0: none */
};

static u32 rnd(struct gen *g, u32 n)
{
	g->rnd ^= g->rnd << 13;
	g->rnd ^= g->rnd >> 7;
	g->rnd ^= g->rnd << 17;
	return (u32)(g->rnd >> 11) % n;
}

static bool chance(struct gen *g, u32 percent)
{
	return rnd(g, 100) < percent;
}

#define PICK(g, ...) ({ static const s64 pick_[] = { __VA_ARGS__ }; pick_[rnd(g, ARRAY_SIZE(pick_))]; })

static void put(struct gen *g, u8 code, u8 dst, u8 src, s64 off, s64 imm)
{
	if (g->n < ARRAY_SIZE(g->insn))
		g->insn[g->n++] = (struct bpf_insn){ .code = code, .dst_reg = dst, .src_reg = src, .off = (s16)off,
						     .imm = (s32)imm };
}

static void put_mov(struct gen *g, u8 dst, u8 src)
{
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
	g->is[dst] = g->is[src];
}

static void put_imm(struct gen *g, u8 dst, s64 imm)
{
	put(g, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm);
	g->is[dst] = NUM;
}

static void put_map(struct gen *g, u8 dst, u32 map)
{
	put(g, BPF_LD | BPF_IMM | BPF_DW, dst, BPF_PSEUDO_MAP_FD, 0, map);
	put(g, 0, 0, 0, 0, 0);
}

static void put_call(struct gen *g, s32 id, enum kind result)
{
	put(g, BPF_JMP | BPF_CALL, 0, 0, 0, id);
	g->is[0] = result;
	memset(g->is + 1, NONE, 5);
}

/* A jump past some of the statements that follow. */
static void put_jump(struct gen *g, u8 code, u8 dst, u8 src, s64 imm)
{
	if (g->n_jumps < ARRAY_SIZE(g->jump))
		g->jump[g->n_jumps++] = g->n;
	put(g, code, dst, src, 0, imm);
}

/* A register that holds `kind`, or some other one if there is none (or by chance). */
static u8 reg_of(struct gen *g, enum kind kind)
{
	u8 at = rnd(g, 10);

	if (rnd(g, 400) < g->wild)
		return rnd(g, 11);
	for (u32 i = 0; i < 10; i++, at = (at + 1) % 10)
		if (g->is[at] == kind)
			return at;
	return kind == STACK ? 10 : at;
}

static u8 reg_any(struct gen *g)
{
	u8 at = rnd(g, 10);

	for (u32 i = 0; i < 10 && rnd(g, 400) >= g->wild; i++, at = (at + 1) % 10)
		if (g->is[at])
			break;
	return at;
}

static u8 reg_dst(struct gen *g)
{
	u8 r = chance(g, 70) ? 6 + rnd(g, 4) : rnd(g, 10);

	return g->counter && r == g->counter ? 0 : r;
}

static u8 size_code(struct gen *g)
{
	return (u8)PICK(g, BPF_B, BPF_H, BPF_W, BPF_W, BPF_DW, BPF_DW);
}

static s64 constant(struct gen *g)
{
	return PICK(g, 0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 40, 41, 44, 48, 63, 64, 255, 256, 0xffff, 0x10000, 0x7fffffff,
		    -1, -2, -4, -8, -16, -256, -0x80000000ll, 0x1fffffff, 0x20000000, 65531, 65532);
}

static void do_ctx_load(struct gen *g)
{
	static const u8 gives[] = { PKT, END, META, NUM, NUM, NUM };
	u8 dst = reg_dst(g), field = chance(g, 80) ? rnd(g, 5) : 3;

	put(g, BPF_LDX | BPF_MEM | BPF_W, dst, reg_of(g, CTX), field * 4, 0);
	g->is[dst] = gives[field];
}

static void do_random_number(struct gen *g)
{
	u8 dst = reg_dst(g);

	put_call(g, BPF_FUNC_get_prandom_u32, NUM);
	put_mov(g, dst, 0);
}

static void do_alu_imm(struct gen *g)
{
	u8 op = (u8)PICK(g, BPF_ADD, BPF_ADD, BPF_ADD, BPF_SUB, BPF_AND, BPF_AND, BPF_AND, BPF_OR, BPF_XOR, BPF_LSH,
			 BPF_RSH, BPF_ARSH, BPF_MUL, BPF_DIV, BPF_MOD);
	u8 class = chance(g, 70) ? BPF_ALU64 : BPF_ALU, dst = reg_of(g, NUM);
	s64 imm;

	if (dst == g->counter)
		return;
	imm = op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH ? (s64)rnd(g, class == BPF_ALU ? 32 : 64) : constant(g);

	put(g, class | op | BPF_K, dst, 0, 0, (op == BPF_DIV || op == BPF_MOD) && !imm ? 3 : imm);
}

static void do_alu_reg(struct gen *g)
{
	u8 op = (u8)PICK(g, BPF_ADD, BPF_ADD, BPF_SUB, BPF_AND, BPF_OR, BPF_XOR, BPF_LSH, BPF_RSH, BPF_ARSH, BPF_MUL,
			 BPF_DIV, BPF_MOD);

	u8 dst = reg_of(g, NUM);

	if (dst != g->counter)
		put(g, (chance(g, 70) ? BPF_ALU64 : BPF_ALU) | op | BPF_X, dst, reg_of(g, NUM), 0, 0);
}

static void do_mov(struct gen *g)
{
	u8 dst = reg_dst(g), src = reg_any(g);

	if (chance(g, 15))
		put_imm(g, dst, constant(g));
	else if (chance(g, 15) && g->is[src] == NUM)
		put(g, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, PICK(g, 8, 16, 32), 0), g->is[dst] = NUM;
	else if (chance(g, 15) && g->is[src] == NUM)
		put(g, BPF_ALU | BPF_MOV | BPF_X, dst, src, 0, 0), g->is[dst] = NUM;
	else
		put_mov(g, dst, src);
}

static bool has(const struct gen *g, enum kind kind)
{
	for (u32 i = 0; i < 10; i++)
		if (g->is[i] == kind)
			return true;
	return kind == STACK;
}

/* A kind of pointer that some register holds. */
static enum kind pointer(struct gen *g)
{
	for (u32 i = 0; i < 20; i++) {
		enum kind kind = (enum kind)PICK(g, PKT, PKT, PKT, META, VALUE, VALUE, VALUE, STACK, STACK, RING, RING, CTX, MAYBE);

		if (has(g, kind) && (kind != MAYBE || chance(g, 5)) && (kind != CTX || chance(g, 20)))
			return kind;
	}
	return STACK;
}

static void do_move_pointer(struct gen *g)
{
	u8 dst = reg_of(g, pointer(g));

	if (dst == 10) {
		dst = reg_dst(g);
		put_mov(g, dst, 10);
	}
	if (chance(g, 50))
		put(g, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, g->is[dst] == STACK ? -8 * (s64)rnd(g, 8) : constant(g));
	else
		put(g, BPF_ALU64 | (u8)PICK(g, BPF_ADD, BPF_ADD, BPF_ADD, BPF_SUB) | BPF_X, dst, reg_of(g, NUM), 0, 0);
}

static s64 offset(struct gen *g, enum kind kind)
{
	if (kind == STACK)
		return chance(g, 85) ? -8 * (s64)(1 + rnd(g, 6)) : -(s64)rnd(g, 50);
	if (kind == CTX)
		return 4 * (s64)rnd(g, 6);
	return PICK(g, 0, 0, 0, 1, 2, 4, 7, 8, 12, 40, 41, 44, -1, -4, -8);
}

static void do_load(struct gen *g)
{
	enum kind kind = pointer(g);
	u8 src = reg_of(g, kind), dst = reg_dst(g);

	put(g, BPF_LDX | (chance(g, 85) ? BPF_MEM : BPF_MEMSX) | size_code(g), dst, src,
	    offset(g, (enum kind)g->is[src]), 0);
	if (BPF_MODE(g->insn[g->n - 1].code) == BPF_MEMSX && BPF_SIZE(g->insn[g->n - 1].code) == BPF_DW)
		g->insn[g->n - 1].code = BPF_LDX | BPF_MEM | BPF_DW;
	g->is[dst] = NUM;
}

static void do_store(struct gen *g)
{
	u8 dst = reg_of(g, pointer(g));
	s64 off = offset(g, (enum kind)g->is[dst]);

	if (chance(g, 40))
		put(g, BPF_ST | BPF_MEM | size_code(g), dst, 0, off, chance(g, 50) ? 0 : constant(g));
	else
		put(g, BPF_STX | BPF_MEM | size_code(g), dst, reg_of(g, NUM), off, 0);
}

static void do_spill(struct gen *g)
{
	u8 r = reg_any(g), dst = reg_dst(g);
	s64 off = -8 * (s64)(1 + rnd(g, 4));

	put(g, BPF_STX | BPF_MEM | (chance(g, 80) ? BPF_DW : size_code(g)), 10, r, off, 0);
	if (chance(g, 40)) {
		put(g, BPF_LDX | BPF_MEM | (chance(g, 80) ? BPF_DW : size_code(g)), dst, 10, off, 0);
		g->is[dst] = g->is[r];
	}
}

static void do_atomic(struct gen *g)
{
	u8 dst = reg_of(g, pointer(g)), src = reg_of(g, NUM);
	s32 op = (s32)PICK(g, BPF_ADD, BPF_ADD | BPF_FETCH, BPF_AND, BPF_XCHG, BPF_CMPXCHG, ABI_LOAD_ACQ, ABI_STORE_REL);

	if (src == g->counter)
		return;
	if (op == ABI_LOAD_ACQ)
		put(g, BPF_STX | BPF_ATOMIC | size_code(g), src, dst, offset(g, (enum kind)g->is[dst]), op);
	else
		put(g, BPF_STX | BPF_ATOMIC | (u8)PICK(g, BPF_W, BPF_DW), dst, src, offset(g, (enum kind)g->is[dst]), op);
}

static void do_packet_check(struct gen *g)
{
	u8 p = reg_of(g, chance(g, 85) ? PKT : META), end = reg_of(g, g->is[p] == META ? PKT : END), tmp = rnd(g, 6);
	u8 op = (u8)PICK(g, BPF_JGT, BPF_JGT, BPF_JGE, BPF_JLT, BPF_JLE);

	put_mov(g, tmp, p);
	put(g, BPF_ALU64 | BPF_ADD | BPF_K, tmp, 0, 0, PICK(g, 1, 2, 4, 8, 14, 64));
	if (chance(g, 70))
		put_jump(g, BPF_JMP | op | BPF_X, tmp, end, 0);
	else
		put_jump(g, BPF_JMP | op | BPF_X, end, tmp, 0);
}

static void do_branch(struct gen *g)
{
	u8 op = (u8)PICK(g, BPF_JEQ, BPF_JNE, BPF_JGT, BPF_JGE, BPF_JLT, BPF_JLE, BPF_JSGT, BPF_JSLT, BPF_JSGE, BPF_JSLE,
			 BPF_JSET);
	u8 class = chance(g, 75) ? BPF_JMP : BPF_JMP32, dst = chance(g, 90) ? reg_of(g, NUM) : reg_any(g);

	if (chance(g, 70))
		put_jump(g, class | op | BPF_K, dst, 0, constant(g));
	else
		put_jump(g, class | op | BPF_X, dst, chance(g, 90) ? reg_of(g, NUM) : reg_any(g), 0);
}

static void do_null_check(struct gen *g)
{
	u8 r = reg_of(g, MAYBE);

	put_jump(g, BPF_JMP | (u8)(chance(g, 80) ? BPF_JEQ : BPF_JNE) | BPF_K, r, 0, 0);
	if (g->is[r] == MAYBE)
		g->is[r] = VALUE;
}

static void do_lookup(struct gen *g)
{
	u8 dst = reg_dst(g);

	if (chance(g, 50))
		put(g, BPF_ST | BPF_MEM | BPF_W, 10, 0, PICK(g, -4, -8, -16), PICK(g, 0, 0, 1, 3, 4, -1));
	put_map(g, 1, (u32)PICK(g, 0, 0, 1, 1, 4, 5, 6, 8));
	if (chance(g, 85)) {
		put_mov(g, 2, 10);
		put(g, BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, PICK(g, -4, -8, -16));
	} else {
		put_mov(g, 2, reg_any(g));
	}
	put_call(g, BPF_FUNC_map_lookup_elem, MAYBE);
	put_mov(g, dst, 0);
	if (chance(g, 70))
		do_null_check(g);
}

static void do_memory_helper(struct gen *g)
{
	u8 ctx = reg_of(g, CTX), mem = reg_of(g, pointer(g)), size = reg_of(g, NUM);
	bool load = chance(g, 50);

	if (ctx != 3 && ctx != 4) {
		put_mov(g, 3, mem);
		if (mem == 10)
			put(g, BPF_ALU64 | BPF_ADD | BPF_K, 3, 0, 0, -8 * (s64)(1 + rnd(g, 4)));
		if (chance(g, 60))
			put_imm(g, 4, PICK(g, 0, 1, 4, 8, 8, 16, 48, 49));
		else
			put_mov(g, 4, size);
	}
	put_mov(g, 1, ctx);
	put_imm(g, 2, 0);
	put_call(g, load ? BPF_FUNC_xdp_load_bytes : BPF_FUNC_xdp_store_bytes, NUM);
}

static void do_adjust(struct gen *g)
{
	put_mov(g, 1, reg_of(g, CTX));
	put_imm(g, 2, 0);
	put_call(g, (s32)PICK(g, BPF_FUNC_xdp_adjust_head, BPF_FUNC_xdp_adjust_tail, BPF_FUNC_xdp_adjust_meta), NUM);
}

static void do_ring(struct gen *g)
{
	u8 r = reg_of(g, RING);

	if (g->is[r] != RING || chance(g, 20)) {
		put_map(g, 1, 2);
		put_imm(g, 2, PICK(g, 8, 8, 16));
		put_imm(g, 3, 0);
		put_call(g, BPF_FUNC_ringbuf_reserve, RING);
		r = reg_dst(g);
		put_mov(g, r, 0);
		if (chance(g, 90))
			put_jump(g, BPF_JMP | BPF_JEQ | BPF_K, r, 0, 0);
		return;
	}
	put_mov(g, 1, r);
	put_imm(g, 2, 0);
	put_call(g, chance(g, 50) ? BPF_FUNC_ringbuf_submit : BPF_FUNC_ringbuf_discard, NONE);
	g->is[r] = NONE;
}

static void do_statement(struct gen *g);

/* for (r = 0; r < few; r++) a few statements */
static void do_loop(struct gen *g)
{
	u8 r = 6 + rnd(g, 4);
	u32 start;

	if (g->counter || g->looped)
		return;
	g->looped = true;
	put_imm(g, r, 0);
	start = g->n;
	g->counter = r;
	for (u32 n = 1 + rnd(g, 3); n; n--)
		do_statement(g);
	put(g, BPF_ALU64 | BPF_ADD | BPF_K, r, 0, 0, 1);
	put(g, BPF_JMP | (u8)PICK(g, BPF_JLT, BPF_JLT, BPF_JNE, BPF_JSLE) | BPF_K, r, 0, (s64)start - g->n - 1,
	    1 + rnd(g, 4));
	g->counter = 0;
}

static void do_call(struct gen *g)
{
	if (g->n_calls == ARRAY_SIZE(g->call))
		return;
	for (u8 r = 1; r <= 3; r++) {
		u8 from = reg_any(g);

		if (from > 5 || chance(g, 20))
			put_mov(g, r, chance(g, 15) ? 10 : from);
		else if (!g->is[r])
			put_imm(g, r, 7);
		if (g->insn[g->n - 1].src_reg == 10)
			put(g, BPF_ALU64 | BPF_ADD | BPF_K, r, 0, 0, -8 * (s64)(1 + rnd(g, 3)));
	}
	memcpy(g->args, g->is, sizeof(g->args));
	g->call[g->n_calls++] = g->n;
	put(g, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
	g->is[0] = NUM;
	memset(g->is + 1, NONE, 5);
}

static void do_callback(struct gen *g)
{
	bool context = chance(g, 80);

	if (g->n_calls == ARRAY_SIZE(g->call))
		return;
	if (context)
		put_mov(g, 3, 10);
	else
		put_imm(g, 3, 0);
	if (context)
		put(g, BPF_ALU64 | BPF_ADD | BPF_K, 3, 0, 0, -8 * (s64)(1 + rnd(g, 3)));
	g->call[g->n_calls++] = g->n;
	put(g, BPF_LD | BPF_IMM | BPF_DW, 2, BPF_PSEUDO_FUNC, 0, 0);
	put(g, 0, 0, 0, 0, 0);
	if (chance(g, 80) || !has(g, NUM))
		put_imm(g, 1, PICK(g, 0, 1, 2, 5, 100));
	else
		put_mov(g, 1, reg_of(g, NUM));
	put_imm(g, 4, 0);
	memset(g->args, NONE, sizeof(g->args));
	g->args[1] = NUM;
	g->args[2] = context ? STACK : NUM;
	put_call(g, BPF_FUNC_loop, NUM);
}

static void do_tail_call(struct gen *g)
{
	put_mov(g, 1, reg_of(g, CTX));
	put_map(g, 2, 3);
	put_imm(g, 3, 0);
	put_call(g, BPF_FUNC_tail_call, NONE);
}

/* What is done, and what some register must hold for it. */
static const struct {
	void (*fn)(struct gen *);
	u8 needs[2];
} statements[] = {
	{ do_ctx_load, { CTX } }, { do_ctx_load, { CTX } }, { do_random_number }, { do_alu_imm, { NUM } },
	{ do_alu_imm, { NUM } }, { do_alu_imm, { NUM } }, { do_alu_reg, { NUM } }, { do_mov }, { do_move_pointer, { NUM } },
	{ do_move_pointer, { NUM } }, { do_load }, { do_load }, { do_load }, { do_store, { NUM } }, { do_store, { NUM } },
	{ do_spill }, { do_spill }, { do_spill }, { do_atomic, { NUM } }, { do_packet_check, { PKT, END } },
	{ do_packet_check, { PKT, END } }, { do_branch, { NUM } }, { do_branch, { NUM } }, { do_branch, { NUM } },
	{ do_lookup }, { do_lookup }, { do_memory_helper, { CTX, NUM } }, { do_adjust, { CTX } }, { do_ring },
	{ do_loop }, { do_call }, { do_callback }, { do_tail_call, { CTX } },
};

static void do_statement(struct gen *g)
{
	u32 s = rnd(g, ARRAY_SIZE(statements));

	for (u32 i = 0; i < 2; i++)
		if (statements[s].needs[i] && !has(g, statements[s].needs[i]) && !chance(g, 2))
			return;
	statements[s].fn(g);
}

/* The jumps made since `from`, to statements made since `first` or to the end. */
static void point_jumps(struct gen *g, u32 from, u32 first)
{
	for (u32 j = from; j < g->n_jumps; j++) {
		u32 at = g->jump[j], to = g->n - 2, s = first;

		while (s < g->n_statements && g->statement[s] <= at)
			s++;
		if (s < g->n_statements && chance(g, 20))
			to = g->statement[s + rnd(g, MIN(3u, g->n_statements - s))];
		g->insn[at].off = (s16)(to - at - 1);
	}
}

static void write_function(struct gen *g, u32 len)
{
	u32 jumps = g->n_jumps, first = g->n_statements;

	for (u32 i = 0; i < len; i++) {
		if (g->n_statements < ARRAY_SIZE(g->statement))
			g->statement[g->n_statements++] = g->n;
		do_statement(g);
	}
	put_imm(g, 0, g->n_calls == ARRAY_SIZE(g->call) ? 0 : 2);
	put(g, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	point_jumps(g, jumps, first);
}

/* The function that the calls go to; it gets what the last of them passed, and calls nothing itself. */
static void write_callee(struct gen *g)
{
	u32 start = g->n, n_calls = g->n_calls;

	for (u32 i = 0; i < n_calls; i++)
		g->insn[g->call[i]].imm = (s32)(start - g->call[i] - 1);
	memset(g->is, NONE, sizeof(g->is));
	memcpy(g->is + 1, g->args + 1, 3);
	g->is[10] = STACK;
	g->n_calls = ARRAY_SIZE(g->call);
	write_function(g, 1 + rnd(g, 6));
}

void access_random(struct access_case *c, u64 seed)
{
	struct gen g = { .rnd = seed * 0x9e3779b97f4a7c15ull + 1 };
	u32 len;

	for (u32 i = 0; i < 8; i++)
		rnd(&g, 2);
	len = 3 + rnd(&g, 20);
	g.wild = (u32)PICK(&g, 0, 0, 1, 4);
	g.is[1] = CTX;
	g.is[10] = STACK;
	put_mov(&g, 6, 1);
	if (chance(&g, 60)) {
		put(&g, BPF_LDX | BPF_MEM | BPF_W, 7, 1, 0, 0);
		put(&g, BPF_LDX | BPF_MEM | BPF_W, 8, 1, 4, 0);
		g.is[7] = PKT;
		g.is[8] = END;
	}
	write_function(&g, len);
	if (g.n_calls)
		write_callee(&g);
	memset(c, 0, sizeof(*c));
	snprintf(c->name, sizeof(c->name), "random %llu", (unsigned long long)seed);
	c->strict = chance(&g, 10);
	c->n = g.n;
	c->insns = malloc(g.n * sizeof(*c->insns));
	assert(c->insns);
	memcpy(c->insns, g.insn, g.n * sizeof(*c->insns));
	for (u32 i = 0; i < c->n; i++)
		if (isa_is_pseudo_call(&c->insns[i]) || isa_is_pseudo_func(&c->insns[i]))
			c->func = i + (u32)c->insns[i].imm + 1;
}
