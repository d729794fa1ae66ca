/* Conditional jumps: a decided one is decided rightly for all members, and what a branch assumes
 * loses no pair of members that goes that way. */
#include "tap.h"
#include "value.h"

static const u8 ops[] = {BPF_JEQ, BPF_JNE, BPF_JSET, VALUE_JNSET, BPF_JGT,  BPF_JGE,
			 BPF_JLT, BPF_JLE, BPF_JSGT, BPF_JSGE,	  BPF_JSLT, BPF_JSLE};

static bool holds64(u8 op, u64 a, u64 b)
{
	switch (op) {
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JSET:
		return a & b;
	case VALUE_JNSET:
		return !(a & b);
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSGT:
		return (s64)a > (s64)b;
	case BPF_JSGE:
		return (s64)a >= (s64)b;
	case BPF_JSLT:
		return (s64)a < (s64)b;
	default:
		return (s64)a <= (s64)b;
	}
}

static bool holds(u8 op, u64 a, u64 b, bool is32)
{
	bool is_signed = op == BPF_JSGT || op == BPF_JSGE || op == BPF_JSLT || op == BPF_JSLE;

	if (!is32)
		return holds64(op, a, b);
	return is_signed ? holds64(op, (s32)a, (s32)b) : holds64(op, (u32)a, (u32)b);
}

static u32 wrong_pair(const struct set *a, const struct set *b, u8 op, bool is32)
{
	struct value ya = a->v, yb = b->v, na = a->v, nb = b->v;
	int known = value_branch(&a->v, &b->v, op, is32);
	u32 wrong = 0;

	value_assume(&ya, &yb, op, is32);
	value_assume(&na, &nb, value_negate_op(op), is32);
	for (u32 i = 0; i < a->n; i++)
		for (u32 j = 0; j < b->n; j++) {
			bool yes = holds(op, a->x[i], b->x[j], is32);

			wrong += known >= 0 && known != yes;
			wrong += yes && (!value_has(&ya, a->x[i]) || !value_has(&yb, b->x[j]));
			wrong += !yes && (!value_has(&na, a->x[i]) || !value_has(&nb, b->x[j]));
			wrong += yes == holds(value_negate_op(op), a->x[i], b->x[j], is32);
			wrong += yes != holds(value_swap_op(op), b->x[j], a->x[i], is32);
		}
	wrong += known >= 0 && known == value_branch(&a->v, &b->v, value_negate_op(op), is32);
	return wrong;
}

static u32 wrong_random(u8 op, bool is32, u32 rounds)
{
	u32 wrong = 0;

	for (u32 i = 0; i < rounds; i++) {
		struct set a, b;

		set_random(&a);
		set_random(&b);
		if (i & 1) { /* comparisons with constants are the usual ones, and hit members */
			b.x[0] = a.x[0] + (rand64() & 3);
			b.n = 1;
			set_join(&b, 0);
		}
		if (i & 2)
			value_sync(&a.v);
		wrong += wrong_pair(&a, &b, op, is32);
	}
	return wrong;
}

static u32 wrong_edges(u8 op, bool is32, u64 edge)
{
	u32 wrong = 0;

	for (u32 i = 0; i < 6 * 6 * 6 * 6; i++) {
		struct set a = {.x = {edge + i % 6 - 3, edge + i / 6 % 6 - 3}, .n = 2};
		struct set b = {.x = {edge + i / 36 % 6 - 3, edge + i / 216 - 3}, .n = 2};

		set_join(&a, 0);
		set_join(&b, 0);
		wrong += wrong_pair(&a, &b, op, is32);
	}
	return wrong;
}

static void decides(void)
{
	struct value five = value_const(5), any = value_unknown(), low = value_unknown(),
		     odd = value_unknown();
	struct value mask = value_const(7);

	value_alu(&low, &mask, BPF_AND, false); /* 0 .. 7 */
	odd.bits = (struct tnum){1, ~1ull};
	value_sync(&odd);
	mask = value_const(8);
	EQ(value_branch(&five, &five, BPF_JEQ, false), 1);
	EQ(value_branch(&five, &any, BPF_JEQ, false), -1);
	EQ(value_branch(&low, &mask, BPF_JLT, false), 1);
	EQ(value_branch(&low, &mask, BPF_JGE, false), 0);
	EQ(value_branch(&low, &mask, BPF_JEQ, false), 0);
	EQ(value_branch(&low, &mask, BPF_JSET, false), 0);
	EQ(value_branch(&odd, &mask, BPF_JEQ, false), 0); /* by the bits alone */
	EQ(value_branch(&odd, &mask, BPF_JNE, true), 1);
	EQ(value_branch(&mask, &low, BPF_JSGT, true), 1);
}

int main(void)
{
	static const u64 edges[] = {0, 1ull << 31, 1ull << 32, 1ull << 63, ~0ull << 31};
	char what[80];

	for (u32 i = 0; i < ARRAY_SIZE(ops); i++)
		for (u32 is32 = 0; is32 < 2; is32++) {
			u32 wrong = wrong_random(ops[i], is32, 60000);

			for (u32 e = 0; e < ARRAY_SIZE(edges); e++)
				wrong += wrong_edges(ops[i], is32, edges[e]);
			snprintf(what, sizeof(what),
				 "jump %#x, %u bits: no member lost, none sent wrong (%u)", ops[i],
				 is32 ? 32 : 64, wrong);
			tap_ok(!wrong, __FILE__, __LINE__, what);
		}
	decides();
	return tap_done();
}
