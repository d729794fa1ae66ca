/* Arithmetic: whatever the operands' members, the concrete result is a member of the abstract one;
 * and constants stay constants. */
#include "tap.h"
#include "value.h"

static const u8 ops[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_OR,  BPF_AND,
			 BPF_LSH, BPF_RSH, BPF_MOD, BPF_XOR, BPF_ARSH};

static u64 run64(u8 op, u64 a, u64 b)
{
	switch (op) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_MOD:
		return b ? a % b : a;
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << (b & 63);
	case BPF_RSH:
		return a >> (b & 63);
	default:
		return (s64)a >> (b & 63);
	}
}

static u64 run32(u8 op, u32 a, u32 b)
{
	switch (op) {
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_MOD:
		return b ? a % b : a;
	case BPF_LSH:
		return (u32)(a << (b & 31));
	case BPF_RSH:
		return a >> (b & 31);
	case BPF_ARSH:
		return (u32)((s32)a >> (b & 31));
	default:
		return (u32)run64(op, a, b);
	}
}

static bool is_shift(u8 op)
{
	return op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH;
}

static u32 wrong_alu(u8 op, bool alu32, u32 rounds)
{
	u32 wrong = 0;

	for (u32 i = 0; i < rounds; i++) {
		struct set a, b;
		struct value r;

		set_random(&a);
		set_random(&b);
		if (is_shift(op)) {
			b.x[0] = rand64() % (i % 16 ? 64 : 80);
			b.n = 1;
			set_join(&b, 0);
		}
		if (i & 1)
			value_sync(&a.v);
		r = a.v;
		value_alu(&r, &b.v, op, alu32);
		for (u32 j = 0; j < a.n; j++)
			for (u32 k = 0; k < b.n; k++)
				wrong += !value_has(&r, alu32 ? run32(op, a.x[j], b.x[k])
							      : run64(op, a.x[j], b.x[k]));
		if (value_is_const(&a.v) && value_is_const(&b.v) && op != BPF_DIV &&
		    op != BPF_MOD && !(is_shift(op) && b.x[0] >= (alu32 ? 32 : 64)))
			wrong += !value_is_const(&r);
		wrong += !value_is_consistent(&r);
	}
	return wrong;
}

/* All ranges and bits of two members near an edge, all pairs: small, so complete. */
static u32 wrong_edges(u8 op, bool alu32, u64 edge)
{
	u32 wrong = 0;

	for (u64 a = 0; a < 8; a++)
		for (u64 a2 = a; a2 < 8; a2++)
			for (u64 b = 0; b < 8; b++)
				for (u64 b2 = b; b2 < 8; b2++) {
					struct set s = {.x = {edge + a - 4, edge + a2 - 4}, .n = 2};
					struct set t = {.x = {b - 4, b2 - 4}, .n = 2};

					set_join(&s, 0);
					set_join(&t, 0);
					value_alu(&s.v, &t.v, op, alu32);
					for (u32 j = 0; j < 4; j++) {
						u64 x = s.x[j & 1], y = t.x[j >> 1];

						wrong += !value_has(&s.v, alu32 ? run32(op, x, y)
										: run64(op, x, y));
					}
				}
	return wrong;
}

static u32 wrong_unary(u32 rounds)
{
	u32 wrong = 0;

	for (u32 i = 0; i < rounds; i++) {
		struct set s;
		struct value n, n32, z, w2, sx[3], wx[2], tr[4], b16, b32, b64;

		set_random(&s);
		value_sync(&s.v);
		n = n32 = z = w2 = sx[0] = sx[1] = sx[2] = wx[0] = wx[1] = b16 = b32 = b64 = s.v;
		value_neg(&n, false);
		value_neg(&n32, true);
		value_zext32(&z);
		value_add_const_raw(&w2, 77);
		value_bswap(&b16, 16);
		value_bswap(&b32, 32);
		value_bswap(&b64, 64);
		for (u32 k = 0; k < 3; k++)
			value_sext(&sx[k], 1 << k, true);
		for (u32 k = 0; k < 2; k++)
			value_sext(&wx[k], 1 << k, false);
		for (u32 k = 0; k < 4; k++) {
			tr[k] = s.v;
			value_truncate(&tr[k], 1 << k);
		}
		for (u32 j = 0; j < s.n; j++) {
			u64 x = s.x[j];

			wrong += !value_has(&n, -x) || !value_has(&n32, (u32)-x) ||
				 !value_has(&z, (u32)x) || !value_has(&w2, x + 77);
			wrong += !value_has(&b16, __builtin_bswap16(x)) ||
				 !value_has(&b32, __builtin_bswap32(x)) || !value_has(&b64, __builtin_bswap64(x));
			wrong += !value_has(&sx[0], (s8)x) || !value_has(&sx[1], (s16)x) ||
				 !value_has(&sx[2], (s32)x);
			wrong += !value_has(&wx[0], (u32)(s8)x) || !value_has(&wx[1], (u32)(s16)x);
			wrong += !value_has(&tr[0], (u8)x) || !value_has(&tr[1], (u16)x) ||
				 !value_has(&tr[2], (u32)x) || !value_has(&tr[3], x);
		}
	}
	return wrong;
}

static u32 wrong_sync(u32 rounds)
{
	u32 wrong = 0;

	for (u32 i = 0; i < rounds; i++) {
		struct value once;
		struct set s;

		set_random(&s);
		value_sync(&s.v);
		for (u32 j = 0; j < s.n; j++)
			wrong += !value_has(&s.v, s.x[j]);
		wrong += !value_is_consistent(&s.v);
		once = s.v;
		value_sync(&s.v);
		for (u32 j = 0; j < s.n; j++)
			wrong += !value_has(&s.v, s.x[j]);
		wrong += !value_within(&once, &s.v);
	}
	return wrong;
}

int main(void)
{
	static const u64 edges[] = {0, 1ull << 31, 1ull << 32, 1ull << 63, ~0ull << 31};
	char what[64];

	EQ(wrong_sync(400000), 0);
	for (u32 i = 0; i < ARRAY_SIZE(ops); i++)
		for (u32 alu32 = 0; alu32 < 2; alu32++) {
			u32 wrong = wrong_alu(ops[i], alu32, 60000);

			for (u32 e = 0; e < ARRAY_SIZE(edges); e++)
				wrong += wrong_edges(ops[i], alu32, edges[e]);
			snprintf(what, sizeof(what),
				 "op %#x, %u bits: results are members (%u are not)", ops[i],
				 alu32 ? 32 : 64, wrong);
			tap_ok(!wrong, __FILE__, __LINE__, what);
		}
	EQ(wrong_unary(200000), 0);
	return tap_done();
}
