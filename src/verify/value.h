/* What is known of a number: known bits (tnum) and signed/unsigned, 64/32-bit ranges. Pure values in, pure values out.
 *
 * Invariant of every function here (checked exhaustively for small widths in tests): the set of concrete values that the
 * result stands for contains every concrete result of the operation on members of the inputs. Results are as tight as the
 * kernel's (6.18), because programs are accepted by it. */
#ifndef VERIFY_VALUE_H
#define VERIFY_VALUE_H
#include "base/abi.h"

struct tnum { u64 value, mask; };	/* bit of mask set: unknown; value has 0 there */

struct value {
	struct tnum bits;
	s64 smin, smax;
	u64 umin, umax;
	s32 s32min, s32max;
	u32 u32min, u32max;
};
static_assert(sizeof(struct value) == 64, "no padding: values are compared as bytes");

#define TNUM_CONST(x) ((struct tnum){ (x), 0 })
#define TNUM_UNKNOWN ((struct tnum){ 0, ~0ull })
struct tnum tnum_range(u64 min, u64 max);
struct tnum tnum_add(struct tnum a, struct tnum b);
struct tnum tnum_sub(struct tnum a, struct tnum b);
struct tnum tnum_mul(struct tnum a, struct tnum b);
struct tnum tnum_and(struct tnum a, struct tnum b);
struct tnum tnum_or(struct tnum a, struct tnum b);
struct tnum tnum_xor(struct tnum a, struct tnum b);
struct tnum tnum_neg(struct tnum a);
struct tnum tnum_lshift(struct tnum a, u8 by);
struct tnum tnum_rshift(struct tnum a, u8 by);
struct tnum tnum_arshift(struct tnum a, u8 by, u8 width);
struct tnum tnum_intersect(struct tnum a, struct tnum b);
struct tnum tnum_union(struct tnum a, struct tnum b);
struct tnum tnum_cast(struct tnum a, u8 bytes);
struct tnum tnum_with_low32(struct tnum a, struct tnum low);
bool tnum_in(struct tnum outer, struct tnum inner);	/* inner is a subset */
bool tnum_overlap(struct tnum a, struct tnum b);	/* some number is in both */
u64 tnum_next(struct tnum t, u64 x);			/* smallest member above x; none: the greatest member */
bool tnum_is_aligned(struct tnum a, u64 size);
struct tnum tnum_bswap16(struct tnum a);
struct tnum tnum_bswap32(struct tnum a);
struct tnum tnum_bswap64(struct tnum a);
static inline bool tnum_is_const(struct tnum a)
{
	return !a.mask;
}

struct value value_const(u64 x);
struct value value_unknown(void);
static inline bool value_is_const(const struct value *v)
{
	return tnum_is_const(v->bits);
}
static inline bool value_is_const32(const struct value *v)
{
	return !(u32)v->bits.mask;
}
bool value_is_consistent(const struct value *v);	/* every range non-empty and agreeing with bits */
void value_sync(struct value *v);			/* let each form tighten the others, to the kernel's fixpoint */
void value_zext32(struct value *v);			/* upper half becomes 0 */
void value_sext(struct value *v, u8 bytes, bool to64);	/* movsx / ldsx: sign-extend from bytes */
void value_truncate(struct value *v, u8 bytes);		/* as a narrow load or store does */
bool value_within(const struct value *outer, const struct value *inner);	/* range_within + tnum_in: prune test */

/* Single steps of the above, for operations that combine them. */
void value_unbound32(struct value *v);		/* ranges to everything; bits stay */
void value_unbound64(struct value *v);
void value_bounds_from_bits(struct value *v);
void value_bounds_from_bits32(struct value *v);
void value_set_low32(struct value *v, u32 x);
void value_clear_high(struct value *v);		/* value_zext32 without the sync */

/* dst = dst op src, op is BPF_ADD .. BPF_ARSH, BPF_MOD, BPF_DIV; alu32: 32-bit with zero extension. Unknown results where the
 * kernel makes them unknown: false then. Shifts past the width are legal input here. */
bool value_alu(struct value *dst, const struct value *src, u8 op, bool alu32);
void value_neg(struct value *v, bool alu32);
void value_bswap(struct value *v, u32 bits);		/* the low `bits`, bytes swapped; 0 above */
void value_add_const_raw(struct value *v, s64 k);		/* += k without tightening (linked scalars) */

/* Conditional jump a op b (op BPF_JEQ ..), is32 for JMP32: 1 always taken, 0 never, -1 not known. */
int value_branch(const struct value *a, const struct value *b, u8 op, bool is32);
/* Refine a and b under "a op b holds" (call with value_negate_op(op) for the other branch). */
void value_assume(struct value *a, struct value *b, u8 op, bool is32);
u8 value_negate_op(u8 op);	/* the op of the branch not taken; JSET <-> VALUE_JNSET */
u8 value_swap_op(u8 op);	/* the op that says the same with the operands swapped */
#define VALUE_JNSET 0x0f	/* internal op: no bit of b is set in a (as kernel's BPF_JSET | BPF_X) */

#endif
