/* Shared by stack.c (bounds, who may touch what), stack_write.c and stack_read.c. */
#ifndef VERIFY_STACK_H
#define VERIFY_STACK_H
#include "access.h"

static inline u32 stack_slot_of(s32 off)
{
	return (u32)(-off - 1) / 8;
}

static inline u8 *stack_byte_of(struct frame *f, s32 off)
{
	u32 b = (u32)(-off - 1);

	return &f->slots[b / 8].type[b % 8];
}

static inline bool stack_is_spilled(const struct slot *s)
{
	return s->type[7] == SLOT_SPILL;
}

static inline bool stack_is_spilled_scalar(const struct slot *s)
{
	return stack_is_spilled(s) && s->spilled.type == REG_SCALAR;
}

/* Number of bits that the value can take. */
static inline u32 stack_width(const struct reg *r)
{
	return r->v.umax ? 64 - (u32)__builtin_clzll(r->v.umax) : 0;
}

/* The byte loses its place in a spilled register, but not that it was (or was not) written. */
static inline void stack_scrub_byte(u8 *type)
{
	if (*type != SLOT_INVALID)
		*type = SLOT_MISC;
}

/* Offsets are within the stack, and slots exist for them. */
int stack_write(struct verifier *v, u32 regno, s32 off, u32 size, int value_regno);
int stack_read(struct verifier *v, u32 regno, s32 off, u32 size, int dst);
int stack_check_initialised(struct verifier *v, u32 regno, s32 min, s32 max, s32 size, bool clobber);
int stack_check_var(struct verifier *v, u32 regno, const struct reg *r);

#endif
