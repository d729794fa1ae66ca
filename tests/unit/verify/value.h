/* Values made from the numbers they stand for, so that a test knows members of every value it has.
 */
#ifndef TEST_VALUE_H
#define TEST_VALUE_H
#include "verify/value.h"

enum { SET_MAX = 4 };

struct set { /* some members of a value, and the value */
	u64 x[SET_MAX];
	u32 n;
	struct value v;
};

static u64 rand_state = 0x9e3779b97f4a7c15ull;

static inline u64 rand64(void) /* xorshift: the same numbers in every run */
{
	rand_state ^= rand_state << 13;
	rand_state ^= rand_state >> 7;
	rand_state ^= rand_state << 17;
	return rand_state;
}

/* Numbers where carries, signs and halves change, and numbers of all lengths. */
static inline u64 rand_number(void)
{
	static const u64 edge[] = {0,		1ull << 31, 1ull << 32, 1ull << 63, ~0ull << 31,
				   ~0ull << 32, 0xffffffff, 0x8000,	0x80};
	u64 r = rand64();

	switch (r & 3) {
	case 0:
		return edge[(r >> 8) % ARRAY_SIZE(edge)] + ((r >> 16) % 9) - 4;
	case 1:
		return rand64() >> (r >> 8) % 64;
	case 2:
		return (s64)rand64() >> (r >> 8) % 64;
	default:
		return edge[(r >> 8) % ARRAY_SIZE(edge)] ^ (rand64() >> (r >> 16) % 64);
	}
}

static inline bool value_has(const struct value *v, u64 x)
{
	return !((x ^ v->bits.value) & ~v->bits.mask) && !(v->bits.value & v->bits.mask) &&
	       x >= v->umin && x <= v->umax && (s64)x >= v->smin && (s64)x <= v->smax &&
	       (u32)x >= v->u32min && (u32)x <= v->u32max && (s32)x >= v->s32min &&
	       (s32)x <= v->s32max;
}

static inline void value_include(struct value *v, u64 x)
{
	v->bits = tnum_union(v->bits, TNUM_CONST(x));
	v->umin = MIN(v->umin, x);
	v->umax = MAX(v->umax, x);
	v->smin = MIN(v->smin, (s64)x);
	v->smax = MAX(v->smax, (s64)x);
	v->u32min = MIN(v->u32min, (u32)x);
	v->u32max = MAX(v->u32max, (u32)x);
	v->s32min = MIN(v->s32min, (s32)x);
	v->s32max = MAX(v->s32max, (s32)x);
}

/* A value that stands for the set's numbers; forms that are forgotten are as good as unknown. */
static inline void set_join(struct set *s, u32 forget)
{
	struct value all = value_unknown();

	s->v = value_const(s->x[0]);
	for (u32 i = 1; i < s->n; i++)
		value_include(&s->v, s->x[i]);
	if (forget & 1)
		s->v.bits = all.bits;
	if (forget & 2)
		value_unbound32(&s->v);
	if (forget & 4)
		value_unbound64(&s->v);
	if (forget & 8)
		s->v.umin = 0;
	if (forget & 16)
		s->v.smax = INT64_MAX;
}

static inline void set_random(struct set *s)
{
	u64 r = rand64(), base = rand_number();

	s->n = 1 + (r & 3);
	for (u32 i = 0; i < s->n; i++)
		s->x[i] = r & 4 ? base + rand64() % 16 : rand_number();
	set_join(s, r & 8 ? (r >> 8) & 31 : 0);
}

#endif
