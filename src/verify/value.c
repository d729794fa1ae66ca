/* A number's forms of knowledge - known bits, and ranges read as u64, s64, u32 and s32 - and how
 * each tightens the others.
 *
 * None of the forms implies the others: a signed range that crosses zero says nothing of the
 * unsigned one, a 32-bit test says nothing of the upper half. value_sync() is called after every
 * operation that sharpened one form. How far it goes is the kernel's 6.18 practice, to the letter:
 * programs are accepted because of it, and what it does not see must stay unseen, so that nothing
 * is accepted here that the kernel refuses. */
#include "value.h"

#define RAISE(bound, to)                                                                           \
	do {                                                                                       \
		__typeof__(bound) to_ = (to);                                                      \
		if (to_ > (bound))                                                                 \
			(bound) = to_;                                                             \
	} while (0)
#define LOWER(bound, to)                                                                           \
	do {                                                                                       \
		__typeof__(bound) to_ = (to);                                                      \
		if (to_ < (bound))                                                                 \
			(bound) = to_;                                                             \
	} while (0)
#define HIGH32(x) ((u64)(x) >> 32)

struct value value_const(u64 x)
{
	return (struct value){
	    .bits = TNUM_CONST(x),
	    .smin = x,
	    .smax = x,
	    .umin = x,
	    .umax = x,
	    .s32min = x,
	    .s32max = x,
	    .u32min = x,
	    .u32max = x,
	};
}

void value_unbound32(struct value *v)
{
	v->s32min = INT32_MIN;
	v->s32max = INT32_MAX;
	v->u32min = 0;
	v->u32max = UINT32_MAX;
}

void value_unbound64(struct value *v)
{
	v->smin = INT64_MIN;
	v->smax = INT64_MAX;
	v->umin = 0;
	v->umax = UINT64_MAX;
}

struct value value_unknown(void)
{
	struct value v = {.bits = TNUM_UNKNOWN};

	value_unbound64(&v);
	value_unbound32(&v);
	return v;
}

/* The least and the greatest number of each reading that the bits allow. */
void value_bounds_from_bits32(struct value *v)
{
	u32 known = v->bits.value, unknown = v->bits.mask;

	RAISE(v->s32min, (s32)(known | (unknown & 0x80000000u)));
	LOWER(v->s32max, (s32)(known | (unknown & 0x7fffffffu)));
	RAISE(v->u32min, known);
	LOWER(v->u32max, known | unknown);
}

/* Range and bits may have one number in common, although neither says so: 1 .. 16 with only bit 4
 * unknown is 16. */
static void only_common_number(struct value *v)
{
	u64 last = v->bits.value | v->bits.mask;
	bool first_in = !((v->umin ^ v->bits.value) & ~v->bits.mask);
	u64 next;

	if (v->bits.mask == ~0ull && v->umin < v->umax)
		return;
	next = tnum_next(v->bits, v->umin);
	if (first_in && next > v->umax)
		*v = value_const(v->umin);
	else if (!first_in && next == last)
		*v = value_const(last);
	else if (!first_in && next <= v->umax && tnum_next(v->bits, next) > v->umax)
		*v = value_const(next);
}

void value_bounds_from_bits(struct value *v)
{
	const u64 sign = 1ull << 63;

	value_bounds_from_bits32(v);
	RAISE(v->smin, (s64)(v->bits.value | (v->bits.mask & sign)));
	LOWER(v->smax, (s64)(v->bits.value | (v->bits.mask & ~sign)));
	RAISE(v->umin, v->bits.value);
	LOWER(v->umax, v->bits.value | v->bits.mask);
	only_common_number(v);
}

/* min .. max lie in one 4-GiB page, so their lower halves are a range too, in every reading where
 * they don't wrap. */
static void low_half_of_page(struct value *v, u64 min, u64 max)
{
	if ((u32)min <= (u32)max) {
		RAISE(v->u32min, (u32)min);
		LOWER(v->u32max, (u32)max);
	}
	if ((s32)min <= (s32)max) {
		RAISE(v->s32min, (s32)min);
		LOWER(v->s32max, (s32)max);
	}
}

/* min .. max run from the negative end of one page into the non-negative part of the next: -1 to 1
 * is the common case. */
static void low_half_across_pages(struct value *v, u64 min, u64 max)
{
	if ((u32)(HIGH32(min) + 1) == (u32)HIGH32(max) && (s32)min < 0 && (s32)max >= 0) {
		RAISE(v->s32min, (s32)min);
		LOWER(v->s32max, (s32)max);
	}
}

static void deduce32(struct value *v)
{
	if (HIGH32(v->umin) == HIGH32(v->umax))
		low_half_of_page(v, v->umin, v->umax);
	if (HIGH32(v->smin) == HIGH32(v->smax))
		low_half_of_page(v, v->smin, v->smax);
	low_half_across_pages(v, v->umin, v->umax);
	low_half_across_pages(v, v->smin, v->smax);
	if ((s32)v->u32min <= (s32)v->u32max) {
		RAISE(v->s32min, (s32)v->u32min);
		LOWER(v->s32max, (s32)v->u32max);
	}
	if ((u32)v->s32min <= (u32)v->s32max) {
		RAISE(v->u32min, (u32)v->s32min);
		LOWER(v->u32max, (u32)v->s32max);
		return;
	}
	/* The signed range, read unsigned, is two pieces: 0 .. s32max and s32min .. the end. If the
	 * unsigned range misses one of them, the value lies in the other. */
	if (v->u32max < (u32)v->s32min) {
		v->s32min = v->u32min;
		LOWER(v->u32max, (u32)v->s32max);
	} else if ((u32)v->s32max < v->u32min) {
		v->s32max = v->u32max;
		RAISE(v->u32min, (u32)v->s32min);
	}
}

static void deduce64(struct value *v)
{
	if ((s64)v->umin <= (s64)v->umax) {
		RAISE(v->smin, (s64)v->umin);
		LOWER(v->smax, (s64)v->umax);
	}
	if ((u64)v->smin <= (u64)v->smax) {
		RAISE(v->umin, (u64)v->smin);
		LOWER(v->umax, (u64)v->smax);
		return;
	}
	/* two pieces again, as in deduce32 */
	if (v->umax < (u64)v->smin) {
		v->smin = v->umin;
		LOWER(v->umax, (u64)v->smax);
	} else if ((u64)v->smax < v->umin) {
		v->smax = v->umax;
		RAISE(v->umin, (u64)v->smin);
	}
}

static void deduce64_from32(struct value *v)
{
	const u64 high = ~0ull << 32;

	/* within the first (last) page no number's lower half is below u32min (above u32max) */
	RAISE(v->umin, (v->umin & high) | v->u32min);
	LOWER(v->umax, (v->umax & high) | v->u32max);
	RAISE(v->smin, (s64)((v->smin & high) | v->u32min));
	LOWER(v->smax, (s64)((v->smax & high) | v->u32max));

	/* a sign-extended 32-bit number that proved non-negative: the upper half is 0 */
	if (v->s32min >= 0 && v->smin >= INT32_MIN && v->smax <= INT32_MAX) {
		v->smin = v->s32min;
		v->smax = v->s32max;
		v->umin = v->s32min;
		v->umax = v->s32max;
		v->bits = tnum_intersect(v->bits, tnum_range(v->smin, v->smax));
	}
}

static void bits_from_bounds(struct value *v)
{
	struct tnum all = tnum_intersect(v->bits, tnum_range(v->umin, v->umax));
	struct tnum low = tnum_intersect(tnum_cast(all, 4), tnum_range(v->u32min, v->u32max));

	v->bits = tnum_with_low32(all, low);
}

/* A constant that all forms agree on: nothing is left to deduce. */
static bool is_settled(const struct value *v)
{
	u64 x = v->bits.value;

	return !v->bits.mask && v->umin == x && v->umax == x && (u64)v->smin == x &&
	       (u64)v->smax == x && v->u32min == (u32)x && v->u32max == (u32)x &&
	       v->s32min == (s32)x && v->s32max == (s32)x;
}

void value_sync(struct value *v)
{
	if (is_settled(v))
		return;
	value_bounds_from_bits(v);
	for (int round = 0; round < 3; round++) {
		struct value before = *v;

		deduce32(v);
		deduce64(v);
		deduce64_from32(v);
		if (!memcmp(&before, v, sizeof(before)))
			break;
	}
	bits_from_bounds(v);
	value_bounds_from_bits(v);
}

bool value_is_consistent(const struct value *v)
{
	u64 x = v->bits.value;

	if (v->umin > v->umax || v->smin > v->smax || v->u32min > v->u32max ||
	    v->s32min > v->s32max)
		return false;
	if (value_is_const(v) &&
	    (v->umin != x || v->umax != x || (u64)v->smin != x || (u64)v->smax != x))
		return false;
	return !value_is_const32(v) || (v->u32min == (u32)x && v->u32max == (u32)x &&
					(u32)v->s32min == (u32)x && (u32)v->s32max == (u32)x);
}

bool value_within(const struct value *outer, const struct value *inner)
{
	return outer->umin <= inner->umin && outer->umax >= inner->umax &&
	       outer->smin <= inner->smin && outer->smax >= inner->smax &&
	       outer->u32min <= inner->u32min && outer->u32max >= inner->u32max &&
	       outer->s32min <= inner->s32min && outer->s32max >= inner->s32max &&
	       tnum_in(outer->bits, inner->bits);
}

void value_set_low32(struct value *v, u32 x)
{
	v->bits = tnum_with_low32(v->bits, TNUM_CONST(x));
	v->s32min = v->s32max = (s32)x;
	v->u32min = v->u32max = x;
}

/* What value_zext32 does before it lets the forms tighten each other. */
void value_clear_high(struct value *v)
{
	v->bits = tnum_cast(v->bits, 4);
	v->umin = v->u32min;
	v->umax = v->u32max;
	v->smin = v->s32min >= 0 ? v->s32min : 0;
	v->smax = v->s32min >= 0 ? v->s32max : UINT32_MAX;
}

void value_zext32(struct value *v)
{
	value_clear_high(v);
	value_sync(v);
}

void value_truncate(struct value *v, u8 bytes)
{
	u64 keep;

	if (bytes >= 8)
		return;
	keep = (1ull << (bytes * 8)) - 1;
	v->bits = tnum_cast(v->bits, bytes);
	if ((v->umin & ~keep) == (v->umax & ~keep)) {
		v->umin &= keep;
		v->umax &= keep;
	} else {
		v->umin = 0;
		v->umax = keep;
	}
	v->smin = v->umin;
	v->smax = v->umax;
	if (bytes < 4)
		value_unbound32(v);
	value_sync(v);
}

static s64 sign_extend(u64 x, u32 width)
{
	return (s64)(x << (64 - width)) >> (64 - width);
}

/* Is min .. max, cut to width bits and sign-extended, one range of one sign? Then that range. */
static bool sign_extends_whole(s64 *min, s64 *max, u32 width)
{
	s64 a = sign_extend(*min, width), b = sign_extend(*max, width);

	if (*min >> width != *max >> width || (a < 0) != (b < 0))
		return false;
	*min = MIN(a, b);
	*max = MAX(a, b);
	return true;
}

static void sext64(struct value *v, u32 width)
{
	s64 min = v->smin, max = v->smax;

	if (value_is_const(v)) {
		*v = value_const(sign_extend(v->bits.value, width));
		return;
	}
	if (sign_extends_whole(&min, &max, width)) {
		v->bits = tnum_range(min, max);
		v->smin = v->s32min = min;
		v->smax = v->s32max = max;
		v->umin = min;
		v->umax = max;
		v->u32min = min;
		v->u32max = max;
		return;
	}
	*v = value_unknown();
	v->smin = v->s32min = sign_extend(1ull << (width - 1), width);
	v->smax = v->s32max = (1ll << (width - 1)) - 1;
}

/* The lower half only: the caller clears the upper one. */
static void sext32(struct value *v, u32 width)
{
	s64 min = v->s32min, max = v->s32max;

	if (value_is_const(v)) {
		v->bits = TNUM_CONST((u32)sign_extend(v->bits.value, width));
		v->s32min = v->s32max = v->u32min = v->u32max = v->bits.value;
		return;
	}
	if (sign_extends_whole(&min, &max, width)) {
		v->bits = tnum_cast(tnum_range((u32)min, (u32)max), 4);
		v->s32min = min;
		v->s32max = max;
		v->u32min = min;
		v->u32max = max;
		return;
	}
	v->bits = tnum_cast(TNUM_UNKNOWN, 4);
	value_unbound32(v);
	v->s32min = sign_extend(1ull << (width - 1), width);
	v->s32max = (1ll << (width - 1)) - 1;
}

void value_sext(struct value *v, u8 bytes, bool to64)
{
	if (to64) {
		sext64(v, bytes * 8);
		return;
	}
	if (bytes < 4)
		sext32(v, bytes * 8);
	value_zext32(v);
}
