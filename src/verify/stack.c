/* The stack, byte by byte: spilled registers, zeroes, numbers nobody follows, and bytes never written.
 *
 * A register stored to the start of an aligned slot is kept whole (a spill), so that a later load gives back what was known
 * of it. Anything else only leaves a type in each byte it touched. Where the offset is not constant, every byte that may have
 * been touched is treated so.
 *
 * `off` counts from the frame pointer and is negative; byte off lies in slot (-off - 1) / 8. */
#include "stack.h"

static const char *direction(bool write)
{
	return write ? "write to" : "read from";
}

/* Are the size bytes at regs[regno] + off within the stack? Makes room for them if so. */
static int check_bounds(struct verifier *v, u32 regno, s32 off, s32 size, bool write)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	struct frame *f = access_frame(v, r);
	bool fixed = value_is_const(&r->v), small_ok = write || v->allow_uninit_stack;
	s64 min, max, lowest = small_ok ? -VERIFY_MAX_STACK : -8 * (s64)f->n_slots;
	int err = 0;

	if (fixed) {
		min = (s64)r->v.bits.value + off;
		max = min + size;
	} else {
		if (r->v.smax >= VERIFY_MAX_VAR_OFF || r->v.smin <= -VERIFY_MAX_VAR_OFF)
			return verify_refuse(v, -EACCES, "stack-var-off", regno,
					     "invalid unbounded variable-offset %s stack R%u",
					     direction(write), regno);
		min = r->v.smin + off;
		max = r->v.smax + off + size;
	}
	if (min < lowest || min > -1)
		err = -EACCES;
	else if (max > 0)
		err = -EINVAL;
	else if (size < 0)
		err = -EFAULT;
	if (err && fixed)
		return verify_refuse(v, err, "stack-bounds", regno,
				     "invalid %s stack R%u off=%d size=%d", direction(write), regno,
				     off, size);
	if (err)
		return verify_refuse(v, err, "stack-bounds", regno,
				     "invalid variable-offset %s stack R%u var_off=%s"
				     " off=%d size=%d",
				     direction(write), regno, access_tnum(r->v.bits).s, off, size);
	if (!state_stack_room(f, (u32)-min))
		return verify_refuse(v, -ENOMEM, "memory", -1, "no memory for the stack's state");
	if (v->subprog[f->subprog].stack_depth < ROUND_UP(-min, 8))
		v->subprog[f->subprog].stack_depth = (u16)ROUND_UP(-min, 8);
	return 0;
}

/* Load or store of size bytes (1, 2, 4, 8; aligned) at regs[regno] + off. */
int stack_access(struct verifier *v, u32 regno, s32 off, u32 size, bool write, int value_regno)
{
	int err = check_bounds(v, regno, off, (s32)size, write);

	if (err)
		return err;
	return write ? stack_write(v, regno, off, size, value_regno) : stack_read(v, regno, off, size, value_regno);
}

/* What a helper is about to fill must hold no dynptr, which it might use at the same time. */
static int check_no_dynptr(struct verifier *v, u32 regno, const struct frame *f, s32 min, s32 max)
{
	for (s32 off = min; off < max; off++)
		if (stack_slot_of(off) < f->n_slots && f->slots[stack_slot_of(off)].type[(u32)(-off - 1) % 8] == SLOT_DYNPTR)
			return verify_refuse(v, -EACCES, "dynptr", regno, "potential write to dynptr at off=%d disallowed", off);
	return 0;
}

int stack_helper(struct verifier *v, u32 regno, s32 off, s32 size, bool zero_ok, bool write,
		 struct mem_raw *raw)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	bool fixed = value_is_const(&r->v);
	s32 min, max;
	int err;

	if (!size && !zero_ok)
		return verify_refuse(v, -EACCES, "zero-size", regno, "invalid zero-sized read");
	err = check_bounds(v, regno, off, size, write);
	if (!err && !fixed)
		err = stack_check_var(v, regno, r);
	if (err)
		return err;
	min = fixed ? (s32)r->v.bits.value + off : (s32)r->v.smin + off;
	max = fixed ? min + size : (s32)r->v.smax + off + size;
	if (fixed && raw) {
		*raw = (struct mem_raw){ .regno = regno, .size = (u32)size };
		return check_no_dynptr(v, regno, access_frame(v, r), min, max);
	}
	return stack_check_initialised(v, regno, min, max, size, write);
}

int stack_constant(struct verifier *v, const struct reg *r, u32 size, s64 *value, u32 *stored)
{
	struct frame *f = access_frame(v, r);
	const struct slot *s;
	u32 n, first, len;
	s32 off;
	int err;

	if (!v->bpf_capable || r->type != REG_STACK || !value_is_const(&r->v))
		return -EOPNOTSUPP;
	off = r->off + (s32)r->v.bits.value;
	n = stack_slot_of(off);
	first = (u32)(-off - 1) % 8;
	if (n >= f->n_slots)
		return -EOPNOTSUPP;
	s = &f->slots[n];
	for (len = 0; len <= first && s->type[first - len] == SLOT_ZERO; len++)
		;
	if (len >= size) {
		*value = *stored = 0;
		return 0;
	}
	if (!stack_is_spilled_scalar(s))
		return -EOPNOTSUPP;
	for (len = 0; len <= first && s->type[first - len] == SLOT_SPILL; len++)
		;
	if (len != size || !value_is_const(&s->spilled.v))
		return -EOPNOTSUPP;
	err = precise_mark_slot(v, f->frameno, (s32)n);
	if (err)
		return err;
	*value = (s64)s->spilled.v.bits.value;
	*stored = (u32)(s->spilled.v.bits.value >> 8 * (7 - first));
	return 0;
}
