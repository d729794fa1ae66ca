/* Arithmetic on values: from what is known of the operands to what is known of the result.
 *
 * A 64-bit and a 32-bit result follow the same rules, so the rules are written once, on a `span`
 * (the signed and the unsigned range at one width), and every operation is done at both widths: a
 * 64-bit addition also tells what happens to the lower halves. Bits that are carried in from below
 * don't exist for spans, so this is right for all operations but shifts. */
#include "value.h"

struct span {
	s64 smin, smax;
	u64 umin, umax;
};

static struct span span64(const struct value *v)
{
	return (struct span){v->smin, v->smax, v->umin, v->umax};
}

static struct span span32(const struct value *v)
{
	return (struct span){v->s32min, v->s32max, v->u32min, v->u32max};
}

static void put64(struct value *v, struct span r)
{
	v->smin = r.smin;
	v->smax = r.smax;
	v->umin = r.umin;
	v->umax = r.umax;
}

static void put32(struct value *v, struct span r)
{
	v->s32min = r.smin;
	v->s32max = r.smax;
	v->u32min = r.umin;
	v->u32max = r.umax;
}

static s64 least(u32 width)
{
	return width == 32 ? INT32_MIN : INT64_MIN;
}

static s64 greatest(u32 width)
{
	return width == 32 ? INT32_MAX : INT64_MAX;
}

static u64 all_ones(u32 width)
{
	return width == 32 ? UINT32_MAX : UINT64_MAX;
}

typedef __int128 wide;

static void set_signed(struct span *r, wide min, wide max, u32 width)
{
	bool fits = min >= least(width) && max <= greatest(width);

	r->smin = fits ? (s64)min : least(width);
	r->smax = fits ? (s64)max : greatest(width);
}

/* A sum or difference modulo 2^width stays one range when none of it wraps or all of it does. */
static void set_unsigned(struct span *r, wide min, wide max, u32 width)
{
	bool min_wraps = min < 0 || min > (wide)all_ones(width);
	bool max_wraps = max < 0 || max > (wide)all_ones(width);

	if (min_wraps == max_wraps) {
		r->umin = (u64)min & all_ones(width);
		r->umax = (u64)max & all_ones(width);
	} else {
		r->umin = 0;
		r->umax = all_ones(width);
	}
}

static struct span add(struct span a, struct span b, u32 width)
{
	struct span r;

	set_signed(&r, (wide)a.smin + b.smin, (wide)a.smax + b.smax, width);
	set_unsigned(&r, (wide)a.umin + b.umin, (wide)a.umax + b.umax, width);
	return r;
}

static struct span sub(struct span a, struct span b, u32 width)
{
	struct span r;

	set_signed(&r, (wide)a.smin - b.smax, (wide)a.smax - b.smin, width);
	set_unsigned(&r, (wide)a.umin - b.umax, (wide)a.umax - b.umin, width);
	return r;
}

static struct span mul(struct span a, struct span b, u32 width)
{
	const wide corner[] = {(wide)a.smin * b.smin, (wide)a.smin * b.smax, (wide)a.smax * b.smin,
			       (wide)a.smax * b.smax};
	wide min = corner[0], max = corner[0];
	unsigned __int128 top = (unsigned __int128)a.umax * b.umax;
	struct span r;

	for (u32 i = 1; i < ARRAY_SIZE(corner); i++) {
		min = MIN(min, corner[i]);
		max = MAX(max, corner[i]);
	}
	set_signed(&r, min, max, width);
	r.umin = top > all_ones(width) ? 0 : a.umin * b.umin;
	r.umax = top > all_ones(width) ? all_ones(width) : (u64)top;
	return r;
}

/* The unsigned range read as a signed one, if it does not cross the sign. */
static void signed_from_unsigned(struct span *r, u32 width)
{
	s64 min = width == 32 ? (s32)r->umin : (s64)r->umin;
	s64 max = width == 32 ? (s32)r->umax : (s64)r->umax;

	r->smin = min <= max ? min : least(width);
	r->smax = min <= max ? max : greatest(width);
}

/* and, or, xor: bits are the result's, at this width. */
static struct span logic(u8 op, struct span a, struct span b, struct tnum bits, u32 width)
{
	struct span r = {.umin = bits.value, .umax = bits.value | bits.mask};

	if (op == BPF_AND)
		r.umax = MIN(a.umax, b.umax);
	else if (op == BPF_OR)
		r.umin = MAX(a.umin, b.umin);
	signed_from_unsigned(&r, width);
	return r;
}

static struct span exactly(u64 x, u32 width)
{
	s64 s = width == 32 ? (s32)x : (s64)x;

	return (struct span){s, s, x, x};
}

static void value_logic(struct value *dst, const struct value *src, u8 op)
{
	bool const32 = value_is_const32(dst) && value_is_const32(src);
	bool const64 = value_is_const(dst) && value_is_const(src);
	struct tnum bits, low;

	if (op == BPF_AND)
		bits = tnum_and(dst->bits, src->bits);
	else if (op == BPF_OR)
		bits = tnum_or(dst->bits, src->bits);
	else
		bits = tnum_xor(dst->bits, src->bits);
	low = tnum_cast(bits, 4);
	dst->bits = bits;
	put32(dst, const32 ? exactly(low.value, 32) : logic(op, span32(dst), span32(src), low, 32));
	put64(dst,
	      const64 ? exactly(bits.value, 64) : logic(op, span64(dst), span64(src), bits, 64));
	value_bounds_from_bits(dst);
}

static void value_add(struct value *dst, const struct value *src)
{
	put32(dst, add(span32(dst), span32(src), 32));
	put64(dst, add(span64(dst), span64(src), 64));
	dst->bits = tnum_add(dst->bits, src->bits);
}

static void value_sub(struct value *dst, const struct value *src)
{
	put32(dst, sub(span32(dst), span32(src), 32));
	put64(dst, sub(span64(dst), span64(src), 64));
	dst->bits = tnum_sub(dst->bits, src->bits);
}

static void value_mul(struct value *dst, const struct value *src)
{
	put32(dst, mul(span32(dst), span32(src), 32));
	put64(dst, mul(span64(dst), span64(src), 64));
	dst->bits = tnum_mul(dst->bits, src->bits);
}

/* Shifted left, an unsigned range stays one unless a bit may fall out at the top. */
static void lsh_unsigned(struct span *r, u32 by, u32 width)
{
	if (r->umax > 1ull << (width - 1 - by)) {
		r->umin = 0;
		r->umax = all_ones(width);
	} else {
		r->umin <<= by;
		r->umax <<= by;
	}
	r->smin = least(width);
	r->smax = greatest(width);
}

static void lsh64(struct value *v, u32 by)
{
	struct span r = span64(v);

	lsh_unsigned(&r, by, 64);
	if (by == 32) { /* how compilers sign-extend a 32-bit number: << 32, s>> 32 */
		r.smin = (s64)((u64)v->s32min << 32);
		r.smax = (s64)((u64)v->s32max << 32);
	}
	put64(v, r);
	if (by < 32) {
		r = span32(v);
		lsh_unsigned(&r, by, 32);
		put32(v, r);
	} else {
		value_unbound32(v);
	}
	v->bits = tnum_lshift(v->bits, by);
	value_bounds_from_bits(v);
}

static void rsh64(struct value *v, u32 by)
{
	u64 min = v->umin >> by, max = v->umax >> by;

	value_unbound64(v); /* the sign goes away; sync finds it again */
	value_unbound32(v);
	v->umin = min;
	v->umax = max;
	v->bits = tnum_rshift(v->bits, by);
	value_bounds_from_bits(v);
}

static void arsh64(struct value *v, u32 by)
{
	s64 min = v->smin >> by, max = v->smax >> by;

	value_unbound64(v);
	value_unbound32(v);
	v->smin = min;
	v->smax = max;
	v->bits = tnum_arshift(v->bits, by, 64);
	value_bounds_from_bits(v);
}

/* The upper half is cleared afterwards by the caller. */
static void shift32(struct value *v, u8 op, u32 by)
{
	struct span r = span32(v);

	v->bits = tnum_cast(v->bits, 4);
	value_unbound32(v);
	value_unbound64(v);
	if (op == BPF_LSH) {
		lsh_unsigned(&r, by, 32);
		put32(v, r);
		v->bits = tnum_lshift(v->bits, by);
	} else if (op == BPF_RSH) {
		v->u32min = r.umin >> by;
		v->u32max = r.umax >> by;
		v->bits = tnum_rshift(v->bits, by);
	} else {
		v->s32min = r.smin >> by;
		v->s32max = r.smax >> by;
		v->bits = tnum_arshift(v->bits, by, 32);
	}
	value_bounds_from_bits32(v);
}

/* Only shifts by a constant below the width are followed. false: result not known. */
static bool value_shift(struct value *dst, const struct value *src, u8 op, bool alu32)
{
	bool is_const =
	    alu32
		? value_is_const32(src) && src->u32min == src->u32max && src->s32min == src->s32max
		: value_is_const(src) && src->umin == src->umax && src->smin == src->smax;

	if (!is_const || src->umax >= (alu32 ? 32 : 64))
		return false;
	if (alu32)
		shift32(dst, op, src->u32min);
	else if (op == BPF_LSH)
		lsh64(dst, src->umin);
	else if (op == BPF_RSH)
		rsh64(dst, src->umin);
	else
		arsh64(dst, src->umin);
	return true;
}

static bool apply(struct value *dst, const struct value *src, u8 op, bool alu32)
{
	switch (op) {
	case BPF_ADD:
		value_add(dst, src);
		return true;
	case BPF_SUB:
		value_sub(dst, src);
		return true;
	case BPF_MUL:
		value_mul(dst, src);
		return true;
	case BPF_AND:
	case BPF_OR:
	case BPF_XOR:
		value_logic(dst, src, op);
		return true;
	case BPF_LSH:
	case BPF_RSH:
	case BPF_ARSH:
		return value_shift(dst, src, op, alu32);
	default: /* division and modulo: 6.18 knows nothing of the result */
		return false;
	}
}

bool value_alu(struct value *dst, const struct value *src, u8 op, bool alu32)
{
	struct value b = *src; /* src may be dst */

	if (!apply(dst, &b, op, alu32)) {
		*dst = value_unknown(); /* even the upper half of a 32-bit result */
		return false;
	}
	if (alu32)
		value_clear_high(dst);
	value_sync(dst);
	return true;
}

void value_neg(struct value *v, bool alu32)
{
	struct value zero = value_const(0);

	value_alu(&zero, v, BPF_SUB, alu32);
	*v = zero;
}

/* r = a + k without tightening: the form in which linked scalars follow each other. */
void value_add_const_raw(struct value *v, s64 k)
{
	struct value b = value_const(k);

	value_add(v, &b);
}

/* Only the bits follow a swap; ranges come from them. */
void value_bswap(struct value *v, u32 bits)
{
	struct tnum t;

	if (bits == 16)
		t = tnum_bswap16(v->bits);
	else if (bits == 32)
		t = tnum_bswap32(v->bits);
	else
		t = tnum_bswap64(v->bits);
	*v = value_unknown();
	v->bits = t;
	value_sync(v);
}
