/* Statements that call: maps, helpers, functions. */
#include "gen_private.h"

static void put_call(struct gen *g, s32 helper)
{
	put(g, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
	clobber(g);
}

/* r1-r5 are about to be set: what is needed must lie elsewhere. A copy in r6-r9, or -1. */
static int safe_copy(struct gen *g, int r)
{
	if (r < 0 || r > 5)
		return r;
	for (u8 to = 6; to < 10; to++)
		if (may_write(g, to, false) && g->now.reg[to].what <= NUM) {
			put_mov(g, to, (u8)r);
			return to;
		}
	return -1;
}

/* r1-r5 := pointers to bytes of the stack that hold a key or a value; below the slots. */
enum { KEY_OFF = AREA_OFF - 16, VALUE_OFF = AREA_OFF - 64 };

static void put_stack_arg(struct gen *g, u8 reg, s32 off)
{
	put_mov(g, reg, 10);
	put(g, BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, off);
	g->now.reg[reg] = (struct held){ 0 };
}

static void put_key(struct gen *g, u32 map)
{
	const struct gen_map_spec *m = &gen_maps[map];
	int r = chance(g, 35) ? find_reg(g, NUM) : -1;
	s32 first = (s32)PICK(g, 0, 0, 1, 1, 2, 3, 4, -1);

	if (map == GEN_TRIE) {
		put(g, BPF_ST | BPF_MEM | BPF_W, 10, 0, KEY_OFF, PICK(g, 32, 8, 16, 24, 0));
		put(g, BPF_ST | BPF_MEM | BPF_W, 10, 0, KEY_OFF + 4, first);
		return;
	}
	if (map == GEN_LRU)	/* few keys: what is evicted is nobody's business */
		r = -1;
	if (m->key == 8)
		put(g, BPF_ST | BPF_MEM | BPF_DW, 10, 0, KEY_OFF, first);
	else
		put(g, BPF_ST | BPF_MEM | BPF_W, 10, 0, KEY_OFF, first);
	if (r >= 0)
		put(g, BPF_STX | BPF_MEM | (chance(g, 50) ? BPF_B : BPF_W), 10, (u8)r, KEY_OFF, 0);
}

static u32 some_map(struct gen *g, bool array_too)
{
	static const u8 maps[] = { GEN_HASH, GEN_WIDE, GEN_LRU, GEN_TRIE, GEN_CPUHASH, GEN_ARRAY, GEN_ARRAY, GEN_CPUS };

	return maps[rnd(g, array_too ? ARRAY_SIZE(maps) : 5)];
}

/* r1 := a map out of a map; false: cannot be done here. */
static bool put_inner_map(struct gen *g)
{
	if (g->no_exit || g->n_exits == ARRAY_SIZE(g->exits))
		return false;
	put(g, BPF_ST | BPF_MEM | BPF_W, 10, 0, KEY_OFF, PICK(g, 0, 0, 0, 1, 2));
	put_map(g, 1, GEN_OUTER);
	put_stack_arg(g, 2, KEY_OFF);
	put_call(g, BPF_FUNC_map_lookup_elem);
	g->exits[g->n_exits++] = put_jump(g, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 0);
	put_key(g, GEN_ARRAY);
	put_mov(g, 1, 0);
	g->p->maps |= 1u << GEN_ARRAY;
	return true;
}

void do_lookup(struct gen *g)
{
	u32 map = chance(g, 8) ? GEN_OUTER : some_map(g, true), jump;
	int keep;

	if (!may_call(g))
		return;
	if (map != GEN_OUTER) {
		put_key(g, map);
		put_map(g, 1, map);
	} else if (put_inner_map(g)) {
		map = GEN_ARRAY;
	} else {
		return;
	}
	put_stack_arg(g, 2, KEY_OFF);
	put_call(g, BPF_FUNC_map_lookup_elem);
	jump = put_jump(g, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 0);
	{
		struct known before = g->now;

		g->now.reg[0] = (struct held){ .what = VALUE, .map = (u8)map, .room = gen_maps[map].value };
		keep = chance(g, 60) ? safe_copy(g, 0) : 0;
		if (!g->no_exit && g->n_exits < ARRAY_SIZE(g->exits) && chance(g, 40)) {
			g->exits[g->n_exits++] = jump;
			return;
		}
		g->depth++;
		block(g, 1 + rnd(g, 6));
		g->depth--;
		land(g, jump);
		for (u32 i = 0; i < 10; i++)
			if (g->now.reg[i].what != before.reg[i].what || (int)i == keep)
				g->now.reg[i] = (struct held){ 0 };
		for (u32 i = 0; i < SLOTS; i++)
			if (g->now.slot[i].what != before.slot[i].what)
				g->now.slot[i] = (struct held){ 0 };
	}
}

void do_update(struct gen *g)
{
	u32 map = some_map(g, true), size = gen_maps[map].value;

	if (!may_call(g))
		return;
	put_key(g, map);
	for (u32 at = 0; at < size; at += 8) {
		int r = chance(g, 40) ? find_reg(g, NUM) : -1;

		if (r >= 0)
			put(g, BPF_STX | BPF_MEM | BPF_DW, 10, (u8)r, VALUE_OFF + (s32)at, 0);
		else
			put(g, BPF_ST | BPF_MEM | BPF_DW, 10, 0, VALUE_OFF + (s32)at, constant(g));
	}
	put_map(g, 1, map);
	put_stack_arg(g, 2, KEY_OFF);
	put_stack_arg(g, 3, VALUE_OFF);
	put_imm(g, 4, PICK(g, 0, 0, 0, 1, 2));
	put_call(g, BPF_FUNC_map_update_elem);
	set_num(g, 0, ~0ull);
}

void do_delete(struct gen *g)
{
	u32 map = some_map(g, false);

	if (!may_call(g))
		return;
	put_key(g, map);
	put_map(g, 1, map);
	put_stack_arg(g, 2, KEY_OFF);
	put_call(g, BPF_FUNC_map_delete_elem);
	set_num(g, 0, ~0ull);
}

void do_queue(struct gen *g)
{
	s32 helper = (s32)PICK(g, BPF_FUNC_map_push_elem, BPF_FUNC_map_push_elem, BPF_FUNC_map_pop_elem, BPF_FUNC_map_peek_elem);
	int r = find_reg(g, NUM);

	if (!may_call(g))
		return;
	if (r >= 0)
		put(g, BPF_STX | BPF_MEM | BPF_DW, 10, (u8)r, VALUE_OFF, 0);
	else
		put(g, BPF_ST | BPF_MEM | BPF_DW, 10, 0, VALUE_OFF, constant(g));
	put_map(g, 1, chance(g, 50) ? GEN_QUEUE : GEN_STACK);
	put_stack_arg(g, 2, VALUE_OFF);
	put_imm(g, 3, PICK(g, 0, 0, 2, 1));
	put_call(g, helper);
	set_num(g, 0, ~0ull);
}

/* Reserve, fill, submit; nothing may leave in between. */
void do_ring(struct gen *g)
{
	bool no_exit = g->no_exit;
	int keep = -1;
	u32 jump;

	for (u8 r = 6; r < 10; r++)
		if (may_write(g, r, false) && g->now.reg[r].what <= NUM)
			keep = r;
	if (!may_call(g) || keep < 0 || g->loops)
		return;
	put_map(g, 1, GEN_RING);
	put_imm(g, 2, 16);
	put_imm(g, 3, 0);
	put_call(g, BPF_FUNC_ringbuf_reserve);
	put_mov(g, (u8)keep, 0);
	jump = put_jump(g, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 0);
	put(g, BPF_ST | BPF_MEM | BPF_DW, (u8)keep, 0, 0, constant(g));
	put(g, BPF_ST | BPF_MEM | BPF_DW, (u8)keep, 0, 8, constant(g));
	g->now.reg[0] = (struct held){ 0 };
	g->now.reg[keep] = (struct held){ 0 };
	g->fixed |= (u16)(1u << keep);
	g->no_exit = true;
	for (u32 n = rnd(g, 3); n; n--)
		do_alu(g);
	g->no_exit = no_exit;
	g->fixed &= (u16)~(1u << keep);
	put_mov(g, 1, (u8)keep);
	put_imm(g, 2, 0);
	put_call(g, chance(g, 60) ? BPF_FUNC_ringbuf_submit : BPF_FUNC_ringbuf_discard);
	land(g, jump);
	g->now.reg[keep] = (struct held){ 0 };
	for (u32 r = 6; r < 10; r++)		/* numbers made in between may be unset on the other way */
		if (g->now.reg[r].what == NUM && !(g->numbers & 1u << r))
			g->now.reg[r] = (struct held){ 0 };
}

void do_data(struct gen *g)
{
	int dst = free_reg(g, false);
	u32 off = rnd(g, 6) * 8;

	if (dst < 0)
		return;
	put(g, BPF_LD | BPF_IMM | BPF_DW, (u8)dst, BPF_PSEUDO_MAP_VALUE, 0, GEN_DATA);
	put(g, 0, 0, 0, 0, off);
	g->p->maps |= 1u << GEN_DATA;
	g->now.reg[dst] = (struct held){ .what = VALUE, .map = GEN_DATA, .room = gen_maps[GEN_DATA].value - off };
}

/* ---- the packet as a whole */

void do_move_packet(struct gen *g)
{
	int ctx = find_reg(g, CTX);
	s32 helper = (s32)PICK(g, BPF_FUNC_xdp_adjust_head, BPF_FUNC_xdp_adjust_tail, BPF_FUNC_xdp_adjust_meta);

	if (g->p->type == BPF_PROG_TYPE_SCHED_CLS)
		helper = (s32)PICK(g, BPF_FUNC_skb_change_tail, BPF_FUNC_skb_change_head, BPF_FUNC_skb_pull_data,
				   BPF_FUNC_skb_vlan_pop, BPF_FUNC_skb_vlan_push, BPF_FUNC_skb_adjust_room);
	if (g->no_move || !may_call(g) || ctx < 0 || g->p->type == BPF_PROG_TYPE_SOCKET_FILTER)
		return;
	/* room made in headers that were cut off shows what lies behind the packet: docs/abi.md */
	if (helper == BPF_FUNC_skb_adjust_room && g->cut)
		return;
	g->cut |= helper == BPF_FUNC_skb_change_tail || helper == BPF_FUNC_skb_adjust_room;
	put_mov(g, 1, (u8)ctx);
	switch (helper) {
	case BPF_FUNC_skb_vlan_push:
		put_imm(g, 2, PICK(g, 0x0081, 0xa888, 0x0080));
		put_imm(g, 3, PICK(g, 0, 5, 0x1fff));
		break;
	case BPF_FUNC_skb_adjust_room:
		put_imm(g, 2, PICK(g, 0, 4, -4, 8, -8, 20));
		put_imm(g, 3, PICK(g, 0, 1));
		put_imm(g, 4, 0);
		break;
	case BPF_FUNC_skb_change_tail:
	case BPF_FUNC_skb_change_head:
	case BPF_FUNC_skb_pull_data:
		put_imm(g, 2, PICK(g, 0, 4, 8, 14, 20, 60, 100, 200, 1000));
		put_imm(g, 3, 0);
		break;
	case BPF_FUNC_skb_vlan_pop:
		break;
	default:
		put_imm(g, 2, PICK(g, 0, 4, -4, 8, -8, 14, -20, 32, -32, 100, -100));
	}
	put_call(g, helper);
	forget_packet(g);
	set_num(g, 0, ~0ull);
}

/* A register with the context that the setting of r2-r5 leaves alone. */
static int safe_ctx(const struct gen *g)
{
	for (int r = 6; r < 10; r++)
		if (g->now.reg[r].what == CTX)
			return r;
	return g->now.reg[1].what == CTX ? 1 : -1;
}

void do_bytes(struct gen *g)
{
	int ctx = safe_ctx(g), r = chance(g, 30) ? find_reg(g, NUM) : -1;
	bool xdp = g->p->type == BPF_PROG_TYPE_XDP, store = chance(g, 40) && g->p->type != BPF_PROG_TYPE_SOCKET_FILTER;

	if (!may_call(g) || ctx < 0 || !has_area(g) || (store && !xdp && g->no_move))
		return;
	if (r >= 0) {
		put_mov(g, 4, (u8)r);
		put(g, BPF_ALU64 | BPF_AND | BPF_K, 4, 0, 0, 31);
		if (!xdp)
			put(g, BPF_ALU64 | BPF_ADD | BPF_K, 4, 0, 0, 1);	/* 0 is refused */
	} else {
		put_imm(g, 4, PICK(g, 1, 2, 4, 6, 8, 16, 31, 32));
	}
	if (ctx != 1)
		put_mov(g, 1, (u8)ctx);
	put_imm(g, 2, PICK(g, 0, 0, 6, 12, 14, 23, 1000));
	put_stack_arg(g, 3, AREA_OFF);
	if (!xdp && store)
		put_imm(g, 5, PICK(g, 0, 0, 1, 2, 3));
	if (xdp)
		put_call(g, store ? BPF_FUNC_xdp_store_bytes : BPF_FUNC_xdp_load_bytes);
	else
		put_call(g, store ? BPF_FUNC_skb_store_bytes : BPF_FUNC_skb_load_bytes);
	if (!xdp && store)
		forget_packet(g);
	set_num(g, 0, ~0ull);
}

void do_csum(struct gen *g)
{
	if (!may_call(g) || !has_area(g) || g->p->type == BPF_PROG_TYPE_SOCKET_FILTER)
		return;
	put_imm(g, 1, 0);
	put_imm(g, 2, 0);
	put_stack_arg(g, 3, AREA_OFF);
	put_imm(g, 4, PICK(g, 4, 8, 16, 32));
	put_imm(g, 5, constant(g));
	put_call(g, BPF_FUNC_csum_diff);
	set_num(g, 0, ~0ull);
}

void do_small_helper(struct gen *g)
{
	int ctx = find_reg(g, CTX);

	if (!may_call(g) || ctx < 0 || g->p->type != BPF_PROG_TYPE_XDP)
		return;
	put_mov(g, 1, (u8)ctx);
	put_call(g, BPF_FUNC_xdp_get_buff_len);
	set_num(g, 0, ~0ull);
}

/* ---- functions */

/* A function after the present one whose kind is in the set; -1: none. */
static int callee(struct gen *g, u32 kinds)
{
	u32 first = g->func + 1, n = first < g->n_funcs ? g->n_funcs - first : 0, at = n ? rnd(g, n) : 0;

	if (g->n_calls == ARRAY_SIZE(g->call))
		return -1;
	for (u32 i = 0; i < n; i++, at = (at + 1) % n)
		if (kinds >> g->func_info[first + at].kind & 1)
			return (int)(first + at);
	return -1;
}

static void note_call(struct gen *g, u32 n)
{
	g->func_info[n].uses++;
	g->call[g->n_calls].at = g->p->n;
	g->call[g->n_calls++].func = n;
}

void do_call(struct gen *g)
{
	int n = callee(g, 1u << GEN_STATIC | 1u << GEN_GLOBAL), ctx = find_reg(g, CTX), r = find_reg(g, NUM);

	if (n < 0 || !may_call(g) || r < 0 || g->loops > 1)
		return;
	if (g->func_info[n].kind == GEN_STATIC) {
		if (ctx < 0 || !has_area(g))
			return;
		if (r != 2)
			put_mov(g, 2, (u8)r);
		if (ctx == 2)
			return;
		if (ctx != 1)
			put_mov(g, 1, (u8)ctx);
		put_stack_arg(g, 3, AREA_OFF + 16);
	} else {
		put_mov(g, 2, (u8)r);
		put_imm(g, 1, constant(g));
	}
	note_call(g, (u32)n);
	put(g, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
	clobber(g);
	set_num(g, 0, ~0ull);
}

void do_callback(struct gen *g)
{
	int n = callee(g, 1u << GEN_CALLBACK), r = find_reg(g, NUM);

	if (n < 0 || !may_call(g) || !has_area(g) || g->loops)
		return;
	if (r >= 0 && chance(g, 40)) {
		put_mov(g, 1, (u8)r);
		put(g, BPF_ALU64 | BPF_AND | BPF_K, 1, 0, 0, 7);
	} else {
		put_imm(g, 1, 1 + rnd(g, 9));
	}
	note_call(g, (u32)n);
	put(g, BPF_LD | BPF_IMM | BPF_DW, 2, BPF_PSEUDO_FUNC, 0, 0);
	put(g, 0, 0, 0, 0, 0);
	put_stack_arg(g, 3, AREA_OFF);
	put_imm(g, 4, 0);
	put_call(g, BPF_FUNC_loop);
	set_num(g, 0, ~0ull);
}

void do_each(struct gen *g)
{
	int n = callee(g, 1u << GEN_EACH);

	if (n < 0 || !may_call(g) || !has_area(g) || g->loops)
		return;
	put_map(g, 1, GEN_ARRAY);
	note_call(g, (u32)n);
	put(g, BPF_LD | BPF_IMM | BPF_DW, 2, BPF_PSEUDO_FUNC, 0, 0);
	put(g, 0, 0, 0, 0, 0);
	put_stack_arg(g, 3, AREA_OFF);
	put_imm(g, 4, 0);
	put_call(g, BPF_FUNC_for_each_map_elem);
	set_num(g, 0, ~0ull);
}

void do_tail_call(struct gen *g)
{
	int ctx = find_reg(g, CTX);

	if (!may_call(g) || ctx < 0 || g->func)
		return;
	if (ctx != 1)
		put_mov(g, 1, (u8)ctx);
	put_map(g, 2, GEN_PROGS);
	put_imm(g, 3, PICK(g, 0, 1, 1, 2, 9));
	put_call(g, BPF_FUNC_tail_call);	/* fallen through: r0 is a number, but not the same everywhere */
}
