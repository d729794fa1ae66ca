/* Known bits. A tnum stands for every number that agrees with `value` outside `mask`.
 *
 * Addition and subtraction find the bits that carries or borrows can reach by doing the sum twice:
 * once with every unknown bit 0, once with every unknown bit 1. Where the two differ, a carry is in
 * doubt. (Vishwanathan et al., "Sound, Precise, and Fast Abstract Interpretation with Tristate
 * Numbers", CGO 2022.) */
#include "value.h"

static struct tnum tnum_of(u64 value, u64 unknown)
{
	return (struct tnum){value & ~unknown, unknown};
}

/* The smallest tnum that holds min .. max: what both ends share from the top. */
struct tnum tnum_range(u64 min, u64 max)
{
	u64 differ = min ^ max;

	if (!differ)
		return TNUM_CONST(min);
	return tnum_of(min, ~0ull >> __builtin_clzll(differ));
}

struct tnum tnum_add(struct tnum a, struct tnum b)
{
	u64 least = a.value + b.value;
	u64 most = least + a.mask + b.mask;

	return tnum_of(least, (least ^ most) | a.mask | b.mask);
}

struct tnum tnum_sub(struct tnum a, struct tnum b)
{
	u64 known = a.value - b.value;
	u64 most = known + a.mask;
	u64 least = known - b.mask;

	return tnum_of(known, (least ^ most) | a.mask | b.mask);
}

struct tnum tnum_neg(struct tnum a)
{
	return tnum_sub(TNUM_CONST(0), a);
}

/* Long multiplication; a digit of a that is in doubt leaves both sums possible (as 6.18 does it).
 */
struct tnum tnum_mul(struct tnum a, struct tnum b)
{
	struct tnum sum = TNUM_CONST(0);

	for (; a.value | a.mask; a = tnum_rshift(a, 1), b = tnum_lshift(b, 1)) {
		if (a.value & 1)
			sum = tnum_add(sum, b);
		else if (a.mask & 1)
			sum = tnum_union(sum, tnum_add(sum, b));
	}
	return sum;
}

struct tnum tnum_and(struct tnum a, struct tnum b)
{
	u64 maybe = (a.value | a.mask) & (b.value | b.mask);
	u64 surely = a.value & b.value;

	return tnum_of(surely, maybe ^ surely);
}

struct tnum tnum_or(struct tnum a, struct tnum b)
{
	u64 surely = a.value | b.value;

	return tnum_of(surely, (a.mask | b.mask) & ~surely);
}

struct tnum tnum_xor(struct tnum a, struct tnum b)
{
	return tnum_of(a.value ^ b.value, a.mask | b.mask);
}

struct tnum tnum_lshift(struct tnum a, u8 by)
{
	return (struct tnum){a.value << by, a.mask << by};
}

struct tnum tnum_rshift(struct tnum a, u8 by)
{
	return (struct tnum){a.value >> by, a.mask >> by};
}

/* An unknown sign makes every bit shifted in unknown: shifting the mask arithmetically says just
 * that. */
struct tnum tnum_arshift(struct tnum a, u8 by, u8 width)
{
	if (width == 32)
		return (struct tnum){(u32)((s32)a.value >> by), (u32)((s32)a.mask >> by)};
	return (struct tnum){(s64)a.value >> by, (s64)a.mask >> by};
}

/* What both say. Where they contradict each other the bit becomes 1; the caller's ranges notice. */
struct tnum tnum_intersect(struct tnum a, struct tnum b)
{
	return tnum_of(a.value | b.value, a.mask & b.mask);
}

/* What either says. */
struct tnum tnum_union(struct tnum a, struct tnum b)
{
	return tnum_of(a.value, (a.value ^ b.value) | a.mask | b.mask);
}

bool tnum_overlap(struct tnum a, struct tnum b)
{
	return !((a.value ^ b.value) & ~(a.mask | b.mask));
}

struct tnum tnum_cast(struct tnum a, u8 bytes)
{
	u64 keep = bytes >= 8 ? ~0ull : (1ull << (bytes * 8)) - 1;

	return (struct tnum){a.value & keep, a.mask & keep};
}

/* a with its lower half replaced by b's. */
struct tnum tnum_with_low32(struct tnum a, struct tnum b)
{
	const u64 high = ~0ull << 32;

	return (struct tnum){(a.value & high) | (u32)b.value, (a.mask & high) | (u32)b.mask};
}

bool tnum_in(struct tnum outer, struct tnum inner)
{
	return !(inner.mask & ~outer.mask) && !((inner.value ^ outer.value) & ~outer.mask);
}

/* The smallest member above x, or the last one if there is none. */
u64 tnum_next(struct tnum t, u64 x)
{
	u64 last = t.value | t.mask, wrong, low, raise;

	if (x >= last)
		return last;
	x++;
	wrong = (x ^ t.value) & ~t.mask;
	if (!wrong)
		return x;
	/* the topmost known bit in which x is wrong, and all bits below it */
	low = ~0ull >> __builtin_clzll(wrong);
	if (!(x & (low ^ (low >> 1))))
		return (x & ~low) | (t.value & low);
	/* x has a 1 there: a higher, unknown bit must rise for it */
	raise = t.mask & ~x & ~low;
	raise &= -raise;
	return ((x | raise) & ~(raise - 1)) | (t.value & (raise - 1));
}

bool tnum_is_aligned(struct tnum a, u64 size)
{
	return !size || !((a.value | a.mask) & (size - 1));
}

struct tnum tnum_bswap16(struct tnum a)
{
	return (struct tnum){__builtin_bswap16(a.value), __builtin_bswap16(a.mask)};
}

struct tnum tnum_bswap32(struct tnum a)
{
	return (struct tnum){__builtin_bswap32(a.value), __builtin_bswap32(a.mask)};
}

struct tnum tnum_bswap64(struct tnum a)
{
	return (struct tnum){__builtin_bswap64(a.value), __builtin_bswap64(a.mask)};
}
