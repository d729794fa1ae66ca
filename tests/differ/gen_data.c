/* Statements about numbers and memory. */
#include "gen_private.h"

static bool wide(struct gen *g)
{
	return chance(g, 65);
}

/* ---- numbers */

void do_alu(struct gen *g)
{
	u8 op = (u8)PICK(g, BPF_ADD, BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_MOD, BPF_OR, BPF_AND, BPF_AND, BPF_AND, BPF_XOR, BPF_LSH,
			 BPF_RSH, BPF_RSH, BPF_ARSH);
	bool shift = op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH, is64 = wide(g);
	u8 class = is64 ? BPF_ALU64 : BPF_ALU;
	int dst = num_reg(g), src = chance(g, 35) ? find_reg(g, NUM) : -1;
	s64 imm, off = (op == BPF_DIV || op == BPF_MOD) && chance(g, 30);

	if (dst < 0 || !may_write(g, (u8)dst, true))
		return;
	if (src >= 0) {
		put(g, class | op | BPF_X, (u8)dst, (u8)src, off, 0);
		set_num(g, (u8)dst, ~0ull);
		return;
	}
	imm = shift ? rnd(g, is64 ? 64 : 32) : constant(g);
	if (op == BPF_AND && chance(g, 50))
		imm = (1 << (1 + rnd(g, 8))) - 1;
	if ((op == BPF_DIV || op == BPF_MOD) && !imm)
		imm = 3;
	put(g, class | op | BPF_K, (u8)dst, 0, off, imm);
	set_num(g, (u8)dst, op == BPF_AND && imm >= 0 ? (u64)imm : ~0ull);
}

void do_unary(struct gen *g)
{
	int r = find_reg(g, NUM);

	if (r < 0 || !may_write(g, (u8)r, true))
		return;
	switch (rnd(g, 5)) {
	case 0:
		put(g, (wide(g) ? BPF_ALU64 : BPF_ALU) | BPF_NEG, (u8)r, 0, 0, 0);
		break;
	case 1:
		put(g, BPF_ALU | BPF_END | BPF_TO_BE, (u8)r, 0, 0, PICK(g, 16, 32, 64));
		break;
	case 2:
		put(g, BPF_ALU | BPF_END | BPF_TO_LE, (u8)r, 0, 0, PICK(g, 16, 32, 64));
		break;
	case 3:
		put(g, BPF_ALU64 | BPF_END, (u8)r, 0, 0, PICK(g, 16, 32, 64));
		break;
	default:
		put(g, BPF_ALU | BPF_MOV | BPF_X, (u8)r, (u8)r, 0, 0);
	}
	set_num(g, (u8)r, ~0ull);
}

static bool is_number(const struct gen *g, int r)
{
	return r >= 0 && g->now.reg[r].what == NUM;
}

void do_move(struct gen *g)
{
	int src = (int)rnd(g, 10), dst;

	if (g->now.reg[src].what == NONE)
		return;
	dst = free_reg(g, is_number(g, src));
	if (dst < 0 || dst == src)
		return;
	if (is_number(g, src) && chance(g, 25)) {
		put(g, BPF_ALU64 | BPF_MOV | BPF_X, (u8)dst, (u8)src, PICK(g, 8, 16, 32), 0);
		set_num(g, (u8)dst, ~0ull);
	} else if (is_number(g, src) && chance(g, 25)) {
		put(g, BPF_ALU | BPF_MOV | BPF_X, (u8)dst, (u8)src, PICK(g, 0, 0, 8, 16), 0);
		set_num(g, (u8)dst, ~0ull);
	} else if (chance(g, 8)) {
		u64 x = gen_rnd64(&g->rnd) >> rnd(g, 64);

		if (!may_write(g, (u8)dst, true))
			return;
		put(g, BPF_LD | BPF_IMM | BPF_DW, (u8)dst, 0, 0, (s32)x);
		put(g, 0, 0, 0, 0, (s32)(x >> 32));
		set_num(g, (u8)dst, x);
	} else {
		put_mov(g, (u8)dst, (u8)src);
	}
}

/* ---- context and packet */

struct field { u8 off, what; };

static const struct field xdp_fields[] = {
	{ 0, PKT }, { 4, END }, { 0, PKT }, { 4, END }, { 8, META }, { 12, NUM }, { 16, NUM },
};
/* of struct __sk_buff: data, data_end, data_meta; the rest are numbers that do not depend on the machine */
static const struct field skb_fields[] = {
	{ 76, PKT }, { 80, END }, { 76, PKT }, { 80, END }, { 76, PKT }, { 80, END }, { 140, META }, { 0, NUM }, { 4, NUM },
	{ 8, NUM }, { 12, NUM }, { 16, NUM }, { 20, NUM }, { 24, NUM }, { 28, NUM }, { 32, NUM }, { 36, NUM }, { 40, NUM },
	{ 44, NUM }, { 48, NUM }, { 52, NUM }, { 64, NUM }, { 164, NUM }, { 176, NUM },
};
static const u8 tc_written[] = { 8, 12, 32, 44, 48, 52, 56, 60, 64, 72 };

static bool is_tc(const struct gen *g)
{
	return g->p->type == BPF_PROG_TYPE_SCHED_CLS;
}

static void put_context_store(struct gen *g, u8 ctx)
{
	int r = num_reg(g);
	u8 off = is_tc(g) ? tc_written[rnd(g, ARRAY_SIZE(tc_written))] : 48 + 4 * rnd(g, 5);

	if (r < 0 || r == ctx)
		return;
	put(g, BPF_STX | BPF_MEM | BPF_W, ctx, (u8)r, off, 0);
}

void do_context(struct gen *g)
{
	bool xdp = g->p->type == BPF_PROG_TYPE_XDP;
	const struct field *f = xdp ? &xdp_fields[rnd(g, ARRAY_SIZE(xdp_fields))] : &skb_fields[rnd(g, ARRAY_SIZE(skb_fields))];
	int ctx = find_reg(g, CTX), dst;
	u8 size = BPF_W, at = 0;

	if (ctx < 0 || (f->what == META && chance(g, 60)) || (f->what != NUM && g->p->type == BPF_PROG_TYPE_SOCKET_FILTER))
		return;
	if (!xdp && chance(g, 20)) {
		put_context_store(g, (u8)ctx);
		return;
	}
	dst = free_reg(g, f->what == NUM);
	if (dst < 0)
		return;
	if (!xdp && f->what == NUM && f->off < 48 && chance(g, 30)) {	/* a part of it */
		size = chance(g, 50) ? BPF_B : BPF_H;
		at = (u8)(rnd(g, 4 / isa_size(size)) * isa_size(size));
	}
	put(g, BPF_LDX | BPF_MEM | size, (u8)dst, (u8)ctx, f->off + at, 0);
	g->now.reg[dst] = (struct held){ .what = f->what, .max = ~0ull };
}

/* LD_ABS and LD_IND: from the packet into r0, or the program ends. */
void do_load_absolute(struct gen *g)
{
	u8 size = (u8)PICK(g, BPF_B, BPF_H, BPF_W);
	int r = chance(g, 40) ? find_reg(g, NUM) : -1;

	if (g->p->type == BPF_PROG_TYPE_XDP || g->func || g->no_exit || g->now.reg[6].what != CTX || !may_call(g))
		return;
	if (r >= 0 && may_write(g, (u8)r, true)) {
		put(g, BPF_ALU64 | BPF_AND | BPF_K, (u8)r, 0, 0, 31);
		put(g, BPF_LD | BPF_IND | size, 0, (u8)r, 0, PICK(g, 0, 1, 4, 12));
		set_num(g, (u8)r, 31);
	} else {
		put(g, BPF_LD | BPF_ABS | size, 0, 0, 0, PICK(g, 0, 1, 2, 6, 9, 12, 13, 16, 20, 40, 1000, -4096, -0x200000));
	}
	clobber(g);
	set_num(g, 0, ~0ull);
}

/* A scratch register among r0-r5 that is not one of the two. */
static int scratch(struct gen *g, int not1, int not2)
{
	u32 at = rnd(g, 6);

	for (u32 i = 0; i < 6; i++, at = (at + 1) % 6)
		if ((int)at != not1 && (int)at != not2 && may_write(g, (u8)at, false) && g->now.reg[at].what <= NUM)
			return (int)at;
	return -1;
}

/* if (p + k > end) in one of its forms: what jumps is the failure. */
static u32 put_check(struct gen *g, u8 tmp, u8 end)
{
	if (chance(g, 70))
		return put_jump(g, BPF_JMP | BPF_JGT | BPF_X, tmp, end, 0);
	return put_jump(g, BPF_JMP | BPF_JLT | BPF_X, end, tmp, 0);
}

void do_packet_check(struct gen *g)
{
	int p = find_reg(g, PKT), end = find_reg(g, END), tmp = scratch(g, p, end);
	u32 bytes = (u32)PICK(g, 1, 2, 4, 8, 14, 14, 20, 34, 54), jump;
	struct held before;

	if (p < 0 || end < 0 || tmp < 0)
		return;
	put_mov(g, (u8)tmp, (u8)p);
	put(g, BPF_ALU64 | BPF_ADD | BPF_K, (u8)tmp, 0, 0, bytes);
	g->now.reg[tmp] = (struct held){ 0 };
	jump = put_check(g, (u8)tmp, (u8)end);
	before = g->now.reg[p];
	g->now.reg[p].room = MAX(g->now.reg[p].room, bytes);
	if (!g->no_exit && g->n_exits < ARRAY_SIZE(g->exits) && chance(g, 70)) {
		g->exits[g->n_exits++] = jump;
		return;
	}
	{
		struct known outside = g->now;

		outside.reg[p] = before;
		g->depth++;
		block(g, 1 + rnd(g, 5));
		g->depth--;
		land(g, jump);
		/* what the block knew of the pointer ends with it */
		for (u32 i = 0; i < 10; i++)
			if (g->now.reg[i].what == PKT)
				g->now.reg[i].room = MIN(g->now.reg[i].room, outside.reg[i].what == PKT ? outside.reg[i].room : 0);
		for (u32 i = 0; i < 10; i++)
			if (g->now.reg[i].what != outside.reg[i].what || g->now.reg[i].map != outside.reg[i].map)
				g->now.reg[i] = (struct held){ 0 };
		for (u32 i = 0; i < SLOTS; i++)
			if (g->now.slot[i].what != outside.slot[i].what)
				g->now.slot[i] = (struct held){ 0 };
			else
				g->now.slot[i].room = 0;
	}
}

/* A number below 2^bits, in a register that may be written; -1: none. */
static int index_reg(struct gen *g, u64 mask)
{
	int r = find_reg(g, NUM);

	if (r >= 0 && g->now.reg[r].max <= mask)
		return r;
	if (r < 0 || !may_write(g, (u8)r, true))
		return -1;
	if (chance(g, 75)) {
		put(g, BPF_ALU64 | BPF_AND | BPF_K, (u8)r, 0, 0, (s64)mask);
		set_num(g, (u8)r, mask);
		return r;
	}
	if (g->no_exit || g->n_exits == ARRAY_SIZE(g->exits))
		return -1;
	g->exits[g->n_exits++] = put_jump(g, BPF_JMP | BPF_JGT | BPF_K, (u8)r, 0, (s64)mask);
	g->now.reg[r].max = mask;
	return r;
}

static u8 size_of(struct gen *g, u32 room)
{
	u8 code;

	do
		code = (u8)PICK(g, BPF_B, BPF_H, BPF_W, BPF_DW);
	while (isa_size(code) > room);
	return code;
}

static void access_at(struct gen *g, u8 ptr, u32 room, u32 align)
{
	u8 size = size_of(g, room);
	u32 bytes = isa_size(size), off = rnd(g, room - bytes + 1);
	int reg;

	if (align)
		off = off / bytes * bytes;
	if (chance(g, 60)) {
		reg = free_reg(g, true);
		if (reg < 0)
			return;
		if (chance(g, 15) && size != BPF_DW)
			put(g, BPF_LDX | BPF_MEMSX | size, (u8)reg, ptr, off, 0);
		else
			put(g, BPF_LDX | BPF_MEM | size, (u8)reg, ptr, off, 0);
		set_num(g, (u8)reg, bytes < 8 && BPF_MODE(g->p->insn[g->p->n - 1].code) == BPF_MEM ? (1ull << bytes * 8) - 1 : ~0ull);
	} else if (chance(g, 40)) {
		put(g, BPF_ST | BPF_MEM | size, ptr, 0, off, constant(g));
	} else {
		reg = find_reg(g, NUM);
		if (reg >= 0)
			put(g, BPF_STX | BPF_MEM | size, ptr, (u8)reg, off, 0);
	}
}

void do_packet_index(struct gen *g)
{
	int p = find_reg(g, PKT), end = find_reg(g, END), i, tmp, q;
	u32 bytes = (u32)PICK(g, 1, 2, 4, 8), jump;

	if (p < 0 || end < 0)
		return;
	i = index_reg(g, (u64)PICK(g, 7, 15, 63, 255, 0xffff));
	q = scratch(g, p, end);
	if (i < 0 || q < 0 || q == i)
		return;
	put_mov(g, (u8)q, (u8)p);
	put(g, BPF_ALU64 | BPF_ADD | BPF_X, (u8)q, (u8)i, 0, 0);
	if (chance(g, 30))
		put(g, BPF_ALU64 | BPF_ADD | BPF_K, (u8)q, 0, 0, rnd(g, 20));
	g->now.reg[q] = (struct held){ .what = PKT };
	tmp = scratch(g, q, end);
	if (tmp < 0 || tmp == i)
		return;
	put_mov(g, (u8)tmp, (u8)q);
	put(g, BPF_ALU64 | BPF_ADD | BPF_K, (u8)tmp, 0, 0, bytes);
	g->now.reg[tmp] = (struct held){ 0 };
	jump = put_check(g, (u8)tmp, (u8)end);
	access_at(g, (u8)q, bytes, 0);
	g->now.reg[q] = (struct held){ 0 };
	/* the destination may be anything but unset where the check failed */
	land(g, jump);
	for (u32 r = 0; r < 10; r++)
		if (g->now.reg[r].what == NUM && g->p->insn[g->p->n - 1].dst_reg == r &&
		    BPF_CLASS(g->p->insn[g->p->n - 1].code) == BPF_LDX)
			g->now.reg[r] = (struct held){ 0 };
}

void do_packet_size(struct gen *g)
{
	int p = find_reg(g, PKT), end = find_reg(g, END), dst = free_reg(g, true);

	if (p < 0 || end < 0 || dst < 0 || dst == p || dst == end || g->now.reg[dst].what > NUM)
		return;
	put_mov(g, (u8)dst, (u8)end);
	put(g, BPF_ALU64 | BPF_SUB | BPF_X, (u8)dst, (u8)p, 0, 0);
	set_num(g, (u8)dst, ~0ull);
}

void do_value_index(struct gen *g)
{
	int p = find_reg(g, chance(g, 70) ? VALUE : STACK), i, q;
	u32 room;

	if (p < 0)
		return;
	room = g->now.reg[p].room;
	if (room < 16)
		return;
	i = index_reg(g, room >= 40 ? 31 : 7);
	q = scratch(g, p, i);
	if (i < 0 || q < 0)
		return;
	put_mov(g, (u8)q, (u8)p);
	put(g, BPF_ALU64 | BPF_ADD | BPF_X, (u8)q, (u8)i, 0, 0);
	g->now.reg[q] = (struct held){ 0 };
	/* strict alignment is not asked for, but the stack wants slots that can be told apart */
	access_at(g, (u8)q, room - (room >= 40 ? 31 : 7), 0);
	if (g->now.reg[q].what != NUM)
		g->now.reg[q] = (struct held){ 0 };
}

/* ---- memory */

void do_load(struct gen *g)
{
	int p = find_pointer(g);

	if (p >= 0)
		access_at(g, (u8)p, g->now.reg[p].room, chance(g, 70));
}

void do_store(struct gen *g)
{
	do_load(g);
}

void do_atomic(struct gen *g)
{
	int p = find_reg(g, chance(g, 60) ? VALUE : STACK), src = find_reg(g, NUM), r0;
	u8 size = chance(g, 50) ? BPF_DW : BPF_W;
	s32 op = (s32)PICK(g, BPF_ADD, BPF_OR, BPF_AND, BPF_XOR, BPF_ADD | BPF_FETCH, BPF_OR | BPF_FETCH, BPF_AND | BPF_FETCH,
			   BPF_XOR | BPF_FETCH, BPF_XCHG, BPF_CMPXCHG, ABI_LOAD_ACQ, ABI_STORE_REL);
	s64 off;

	if (p < 0 || src < 0 || g->now.reg[p].room < 8)
		return;
	off = rnd(g, g->now.reg[p].room / 8) * 8;
	if (size == BPF_W && chance(g, 50))
		off += 4;
	if (op == ABI_LOAD_ACQ) {
		r0 = free_reg(g, true);
		if (r0 < 0 || r0 == p)
			return;
		put(g, BPF_STX | BPF_ATOMIC | size, (u8)r0, (u8)p, off, op);
		set_num(g, (u8)r0, ~0ull);
		return;
	}
	if (op == BPF_CMPXCHG && (g->now.reg[0].what != NUM || !may_write(g, 0, true)))
		return;
	if (op & BPF_FETCH && op != BPF_CMPXCHG && op != ABI_STORE_REL && !may_write(g, (u8)src, true))
		return;
	put(g, BPF_STX | BPF_ATOMIC | size, (u8)p, (u8)src, off, op);
	if (op == BPF_CMPXCHG)
		set_num(g, 0, ~0ull);
	else if (op & BPF_FETCH && op != ABI_STORE_REL)
		set_num(g, (u8)src, ~0ull);
}

/* ---- the stack */

void do_spill(struct gen *g)
{
	u32 r = rnd(g, 10), slot = rnd(g, SLOTS);
	u8 what = g->now.reg[r].what, size = BPF_DW;
	s64 off;

	if (what == NONE || g->fixed_slots & 1u << slot)
		return;
	if (what != NUM && (slot >= AREA || (g->loops && g->now.slot[slot].what)))
		return;
	if (slot >= AREA && !has_area(g))
		return;
	off = -8 * (s64)(slot + 1);
	if (what == NUM && g->now.slot[slot].what == NUM && chance(g, 30)) {	/* a part of it */
		size = (u8)PICK(g, BPF_B, BPF_H, BPF_W, BPF_W);
		off += rnd(g, 8 / isa_size(size)) * isa_size(size);
	}
	put(g, BPF_STX | BPF_MEM | size, 10, (u8)r, off, 0);
	g->now.slot[slot] = g->now.reg[r];
	if (size != BPF_DW)
		g->now.slot[slot].max = ~0ull;
}

void do_fill(struct gen *g)
{
	u32 slot = rnd(g, SLOTS);
	const struct held *h = &g->now.slot[slot];
	int dst;
	u8 size = BPF_DW;
	s64 off = -8 * (s64)(slot + 1);

	if (h->what == NONE)
		return;
	dst = free_reg(g, h->what == NUM);
	if (dst < 0)
		return;
	if (h->what == NUM && chance(g, 40)) {
		size = (u8)PICK(g, BPF_B, BPF_H, BPF_W, BPF_W);
		off += rnd(g, 8 / isa_size(size)) * isa_size(size);
	}
	put(g, BPF_LDX | (size != BPF_DW && chance(g, 15) ? BPF_MEMSX : BPF_MEM) | size, (u8)dst, 10, off, 0);
	g->now.reg[dst] = *h;
	if (size != BPF_DW)
		set_num(g, (u8)dst, ~0ull);
}

/* A pointer to the area. */
void do_stack_index(struct gen *g)
{
	int dst = free_reg(g, false);
	u32 skip = rnd(g, AREA_SIZE - 8);

	if (dst < 0 || !has_area(g))
		return;
	put_mov(g, (u8)dst, 10);
	if (chance(g, 50))
		skip = skip / 8 * 8;
	put(g, BPF_ALU64 | BPF_ADD | BPF_K, (u8)dst, 0, 0, AREA_OFF + (s32)skip);
	g->now.reg[dst].room = AREA_SIZE - skip;
	if (skip % 8)
		g->now.reg[dst].room = 0;	/* for moving about only: atomics want it aligned */
}
