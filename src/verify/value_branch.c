/* Conditional jumps on values: which way must it go, and what does each way prove.
 *
 * Pure functions like the rest of value*.c; what pointers have to do with it is branch.c's. */
#include "value.h"

/* One operand as the comparison sees it: 64 bits, or its lower 32. */
struct side {
	struct tnum bits;
	u64 umin, umax;
	s64 smin, smax;
};

static struct side side_of(const struct value *v, bool is32)
{
	if (!is32)
		return (struct side){v->bits, v->umin, v->umax, v->smin, v->smax};
	return (struct side){tnum_cast(v->bits, 4), v->u32min, v->u32max, v->s32min, v->s32max};
}

static bool apart(const struct side *a, const struct side *b)
{
	return a->umin > b->umax || a->umax < b->umin || a->smin > b->smax || a->smax < b->smin;
}

/* 1 equal, 0 different, -1 not known. */
static int equal(const struct value *va, const struct value *vb, bool is32)
{
	struct side a = side_of(va, is32), b = side_of(vb, is32);

	if (tnum_is_const(a.bits) && tnum_is_const(b.bits))
		return a.bits.value == b.bits.value;
	if (!tnum_overlap(a.bits, b.bits) || apart(&a, &b))
		return 0;
	if (!is32) {
		a = side_of(va, true);
		b = side_of(vb, true);
		if (apart(&a, &b))
			return 0;
	}
	return -1;
}

static int any_bit_set(const struct side *a, const struct side *b)
{
	const struct side *konst = tnum_is_const(b->bits) ? b : a;
	const struct side *other = konst == b ? a : b;

	if (!tnum_is_const(konst->bits))
		return -1;
	if (other->bits.value & konst->bits.value)
		return 1;
	return (other->bits.value | other->bits.mask) & konst->bits.value ? -1 : 0;
}

static int not(int known)
{
	return known < 0 ? known : !known;
}

/* amin..amax against bmin..bmax: is every a above every b (1), or none (0)? */
#define ABOVE(amin, amax, bmin, bmax) ((amin) > (bmax) ? 1 : (amax) <= (bmin) ? 0 : -1)
#define GREATER_U(a, b)		      ABOVE((a).umin, (a).umax, (b).umin, (b).umax)
#define GREATER_S(a, b)		      ABOVE((a).smin, (a).smax, (b).smin, (b).smax)

int value_branch(const struct value *va, const struct value *vb, u8 op, bool is32)
{
	struct side a = side_of(va, is32), b = side_of(vb, is32);

	switch (op) {
	case BPF_JEQ:
		return equal(va, vb, is32);
	case BPF_JNE:
		return not(equal(va, vb, is32));
	case BPF_JSET:
		return any_bit_set(&a, &b);
	case VALUE_JNSET:
		return not(any_bit_set(&a, &b));
	case BPF_JGT:
		return GREATER_U(a, b);
	case BPF_JLE:
		return not(GREATER_U(a, b));
	case BPF_JLT:
		return GREATER_U(b, a);
	case BPF_JGE:
		return not(GREATER_U(b, a));
	case BPF_JSGT:
		return GREATER_S(a, b);
	case BPF_JSLE:
		return not(GREATER_S(a, b));
	case BPF_JSLT:
		return GREATER_S(b, a);
	case BPF_JSGE:
		return not(GREATER_S(b, a));
	}
	return -1;
}

u8 value_negate_op(u8 op)
{
	switch (op) {
	case BPF_JEQ:
		return BPF_JNE;
	case BPF_JNE:
		return BPF_JEQ;
	case BPF_JSET:
		return VALUE_JNSET;
	case VALUE_JNSET:
		return BPF_JSET;
	case BPF_JGT:
		return BPF_JLE;
	case BPF_JGE:
		return BPF_JLT;
	case BPF_JLT:
		return BPF_JGE;
	case BPF_JLE:
		return BPF_JGT;
	case BPF_JSGT:
		return BPF_JSLE;
	case BPF_JSGE:
		return BPF_JSLT;
	case BPF_JSLT:
		return BPF_JSGE;
	default:
		return BPF_JSGT;
	}
}

u8 value_swap_op(u8 op)
{
	switch (op) {
	case BPF_JGT:
		return BPF_JLT;
	case BPF_JGE:
		return BPF_JLE;
	case BPF_JLT:
		return BPF_JGT;
	case BPF_JLE:
		return BPF_JGE;
	case BPF_JSGT:
		return BPF_JSLT;
	case BPF_JSGE:
		return BPF_JSLE;
	case BPF_JSLT:
		return BPF_JSGT;
	case BPF_JSLE:
		return BPF_JSGE;
	default:
		return op;
	}
}

static void both_equal64(struct value *a, struct value *b)
{
	a->umin = b->umin = MAX(a->umin, b->umin);
	a->umax = b->umax = MIN(a->umax, b->umax);
	a->smin = b->smin = MAX(a->smin, b->smin);
	a->smax = b->smax = MIN(a->smax, b->smax);
	a->bits = b->bits = tnum_intersect(a->bits, b->bits);
}

static void both_equal32(struct value *a, struct value *b)
{
	struct tnum low = tnum_intersect(tnum_cast(a->bits, 4), tnum_cast(b->bits, 4));

	a->u32min = b->u32min = MAX(a->u32min, b->u32min);
	a->u32max = b->u32max = MIN(a->u32max, b->u32max);
	a->s32min = b->s32min = MAX(a->s32min, b->s32min);
	a->s32max = b->s32max = MIN(a->s32max, b->s32max);
	a->bits = tnum_with_low32(a->bits, low);
	b->bits = tnum_with_low32(b->bits, low);
}

/* Bounds wrap around where a condition can't hold: the ranges are empty then, and the caller finds
 * that out. */
#define MOVED(bound, by) ((__typeof__(bound))((u64)(bound) + (by)))

/* Not x: worth something only where x is an end of a range. */
#define EXCLUDE(min, max, x)                                                                       \
	do {                                                                                       \
		(min) = MOVED(min, (min) == (__typeof__(min))(x));                                 \
		(max) = MOVED(max, -(u64)((max) == (__typeof__(max))(x)));                         \
	} while (0)

static void exclude(struct value *v, u64 x, bool is32)
{
	if (is32) {
		EXCLUDE(v->u32min, v->u32max, x);
		EXCLUDE(v->s32min, v->s32max, x);
	} else {
		EXCLUDE(v->umin, v->umax, x);
		EXCLUDE(v->smin, v->smax, x);
	}
}

static void know_bits(struct value *v, u64 x, bool set, bool is32)
{
	struct tnum t = is32 ? tnum_cast(v->bits, 4) : v->bits;

	t = set ? tnum_or(t, TNUM_CONST(x)) : tnum_and(t, TNUM_CONST(~x));
	v->bits = is32 ? tnum_with_low32(v->bits, t) : t;
}

/* None of x's bits is set. 6.18 forgets the ranges then (a dead branch would make them contradict
 * the bits). */
static void forget_and_clear(struct value *v, u64 x, bool is32)
{
	value_unbound64(v);
	value_unbound32(v);
	know_bits(v, x, false, is32);
}

/* The tests that prove something only against a constant. */
static void assume_const(struct value *a, struct value *b, u8 op, bool is32)
{
	bool b_const = is32 ? value_is_const32(b) : value_is_const(b);
	struct value *v = b_const ? a : b, *konst = b_const ? b : a;
	u64 x = is32 ? (u32)konst->bits.value : konst->bits.value;

	if (!(is32 ? value_is_const32(konst) : value_is_const(konst)))
		return;
	if (op == BPF_JNE)
		exclude(v, x, is32);
	else if (op == VALUE_JNSET)
		forget_and_clear(v, x, is32);
	else if (x && !(x & (x - 1))) /* which of several bits is set is not known */
		know_bits(v, x, true, is32);
}

/* a <= b, or a < b when strict, on one pair of ranges. With a and b the same register the second
 * line sees the first's result, as in the kernel. */
#define ASSUME_LESS(a, b, min, max, strict)                                                        \
	do {                                                                                       \
		(a)->max = MIN((a)->max, MOVED((b)->max, -(u64)(strict)));                         \
		(b)->min = MAX(MOVED((a)->min, strict), (b)->min);                                 \
	} while (0)

static void assume_less(struct value *a, struct value *b, bool is_signed, bool is32, bool strict)
{
	if (is_signed && is32)
		ASSUME_LESS(a, b, s32min, s32max, strict);
	else if (is_signed)
		ASSUME_LESS(a, b, smin, smax, strict);
	else if (is32)
		ASSUME_LESS(a, b, u32min, u32max, strict);
	else
		ASSUME_LESS(a, b, umin, umax, strict);
}

void value_assume(struct value *a, struct value *b, u8 op, bool is32)
{
	switch (op) {
	case BPF_JEQ:
		is32 ? both_equal32(a, b) : both_equal64(a, b);
		break;
	case BPF_JNE:
	case BPF_JSET:
	case VALUE_JNSET:
		assume_const(a, b, op, is32);
		break;
	case BPF_JLE:
	case BPF_JLT:
	case BPF_JSLE:
	case BPF_JSLT:
		assume_less(a, b, op == BPF_JSLE || op == BPF_JSLT, is32,
			    op == BPF_JLT || op == BPF_JSLT);
		break;
	case BPF_JGE:
	case BPF_JGT:
	case BPF_JSGE:
	case BPF_JSGT:
		value_assume(b, a, value_swap_op(op), is32);
		return;
	}
	value_sync(a);
	value_sync(b);
}
