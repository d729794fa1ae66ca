/* Known bits, exhaustively over 4 and 5 bits: every concrete result is a member of the abstract
 * one, and the operations that can be exact are. */
#include "tap.h"
#include "value.h"

typedef struct tnum (*binary)(struct tnum a, struct tnum b);
typedef u64 (*concrete)(u64 a, u64 b);

static u64 add(u64 a, u64 b)
{
	return a + b;
}
static u64 sub(u64 a, u64 b)
{
	return a - b;
}
static u64 mul(u64 a, u64 b)
{
	return a * b;
}
static u64 and (u64 a, u64 b)
{
	return a & b;
}
static u64 or (u64 a, u64 b)
{
	return a | b;
}
static u64 xor (u64 a, u64 b) { return a ^ b; }

    static bool has(struct tnum t, u64 x)
{
	return !((x ^ t.value) & ~t.mask) && !(t.value & t.mask);
}

/* Call fn for each tnum of `width` bits. */
#define EACH_TNUM(t, width)                                                                        \
	for (struct tnum t = {0, 0}; t.mask < 1u << (width); t.mask++)                             \
		for (t.value = 0; t.value < 1u << (width); t.value++)                              \
			if (!(t.value & t.mask))
#define EACH_MEMBER(x, t, width)                                                                   \
	for (u64 x = 0; x < 1u << (width); x++)                                                    \
		if (has(t, x))

/* exact: the result must be the smallest tnum that has all concrete results. */
static u32 wrong_binary(binary f, concrete g, u32 width, bool exact)
{
	u32 wrong = 0;

	EACH_TNUM(a, width) EACH_TNUM(b, width)
	{
		struct tnum r = f(a, b), best = {0, 0};
		bool first = true;

		EACH_MEMBER(x, a, width) EACH_MEMBER(y, b, width)
		{
			u64 z = g(x, y);

			wrong += !has(r, z);
			best = first ? TNUM_CONST(z) : tnum_union(best, TNUM_CONST(z));
			first = false;
		}
		wrong += exact && (best.value != r.value || best.mask != r.mask);
	}
	return wrong;
}

static u32 wrong_shifts(u32 width)
{
	u32 wrong = 0;

	EACH_TNUM(a, width) EACH_MEMBER(x, a, width) for (u32 by = 0; by < 32; by++)
	{
		struct tnum top = tnum_lshift(a, 64 - width), top32 = tnum_lshift(a, 32 - width);

		wrong += !has(tnum_lshift(a, by), x << by);
		wrong += !has(tnum_rshift(top, by), (x << (64 - width)) >> by);
		wrong += !has(tnum_arshift(top, by, 64), (s64)(x << (64 - width)) >> by);
		wrong +=
		    !has(tnum_arshift(top32, by, 32), (u32)((s32)(u32)(x << (32 - width)) >> by));
	}
	return wrong;
}

static u32 wrong_sets(u32 width)
{
	u32 wrong = 0;

	EACH_TNUM(a, width) EACH_TNUM(b, width)
	{
		bool inside = true, meet = false;

		EACH_MEMBER(x, b, width)
		{
			inside &= has(a, x);
			meet |= has(a, x);
			wrong += !has(tnum_union(a, b), x);
			wrong += has(a, x) && !has(tnum_intersect(a, b), x);
		}
		wrong += inside != tnum_in(a, b);
		wrong += meet != tnum_overlap(a, b);
	}
	return wrong;
}

static u32 wrong_next(u32 width)
{
	u32 wrong = 0;

	EACH_TNUM(t, width) for (u64 x = 0; x < 1u << width; x++)
	{
		u64 next = x + 1;

		while (next < 1u << width && !has(t, next))
			next++;
		if (next >= 1u << width)
			next = t.value | t.mask;
		wrong += tnum_next(t, x) != next;
	}
	return wrong;
}

static u32 wrong_ranges(void)
{
	u32 wrong = 0;

	for (u64 min = 0; min < 64; min++)
		for (u64 max = min; max < 64; max++)
			for (u64 x = min; x <= max; x++) {
				wrong += !has(tnum_range(min, max), x);
				wrong += !has(tnum_range(-max - 1, -min - 1), -x - 1);
			}
	return wrong;
}

static u32 wrong_others(void)
{
	u32 wrong = 0;

	for (u32 i = 0; i < 200000; i++) {
		u64 mask = rand_number(), x = rand_number();
		struct tnum t = {x & ~mask, mask};
		u64 y = (x & ~mask) | (rand64() & mask);

		wrong += !has(tnum_bswap16(t), __builtin_bswap16(y)) ||
			 !has(tnum_bswap32(t), __builtin_bswap32(y));
		wrong += !has(tnum_bswap64(t), __builtin_bswap64(y)) || !has(tnum_neg(t), -y);
		wrong += !has(tnum_cast(t, 4), (u32)y) || !has(tnum_cast(t, 1), (u8)y) ||
			 !has(tnum_cast(t, 8), y);
		wrong += !has(tnum_with_low32(t, tnum_bswap32(t)),
			      (y & ~0ull << 32) | __builtin_bswap32(y));
		for (u64 size = 1; size <= 8; size *= 2)
			wrong += tnum_is_aligned(t, size) && y % size;
	}
	return wrong;
}

int main(void)
{
	EQ(wrong_binary(tnum_add, add, 4, true), 0);
	EQ(wrong_binary(tnum_sub, sub, 4, true), 0);
	EQ(wrong_binary(tnum_and, and, 4, true), 0);
	EQ(wrong_binary(tnum_or, or, 4, true), 0);
	EQ(wrong_binary(tnum_xor, xor, 4, true), 0);
	EQ(wrong_binary(tnum_mul, mul, 5, false), 0);
	EQ(wrong_shifts(5), 0);
	EQ(wrong_sets(5), 0);
	EQ(wrong_next(6), 0);
	EQ(tnum_next(TNUM_UNKNOWN, ~0ull), ~0ull);
	EQ(tnum_next((struct tnum){ 1ull << 63, 1 }, 5), 1ull << 63);
	EQ(wrong_ranges(), 0);
	EQ(wrong_others(), 0);
	OK(tnum_is_aligned((struct tnum){8, ~7ull & ~8ull}, 8) &&
	   !tnum_is_aligned((struct tnum){8, 4}, 8));
	return tap_done();
}
