/* Loads from the stack, and what helpers read of it. */
#include "stack.h"

/* The slots that the bytes [min, max) lie in. */
static u64 slot_set(s32 min, s32 max)
{
	u64 set = 0;

	for (s32 off = min; off < max; off++)
		set |= 1ull << stack_slot_of(off);
	return set;
}

static int bad_read(struct verifier *v, s32 off, u32 at, u32 size)
{
	return verify_refuse(v, -EACCES, "stack-uninit", -1, "invalid read from stack off %d+%u size %u",
			     off, at, size);
}

/* The number read from the bytes [min, max) into dst: 0 if they are all known to be. */
static void load_bytes(struct verifier *v, struct frame *f, s32 min, s32 max, u32 dst)
{
	struct reg *d = &state_regs(v->cur)[dst];
	bool zero = true;

	for (s32 off = min; off < max && zero; off++) {
		ptr_slot_scratched(v, stack_slot_of(off));
		zero = *stack_byte_of(f, off) == SLOT_ZERO;
	}
	if (zero)
		reg_mark_const(d, 0);
	else
		access_unknown(v, d);
}

struct byte_count {
	u32 spill, zero;
};

/* Count the types of the bytes; each must be readable as a number. */
static int count_bytes(struct verifier *v, struct frame *f, s32 off, u32 size, bool spill_ok,
		       struct byte_count *n)
{
	*n = (struct byte_count){ 0 };
	for (u32 b = 0; b < size; b++) {
		u8 type = *stack_byte_of(f, off + (s32)b);

		if (type == SLOT_SPILL && spill_ok)
			n->spill++;
		else if (type == SLOT_ZERO)
			n->zero++;
		else if (type != SLOT_MISC && !(type == SLOT_INVALID && v->allow_uninit_stack))
			return bad_read(v, off, b, size);
	}
	return 0;
}

/* Part of a spilled number, or a spill of part of a number, into dst. *restored: the register's state came back. */
static int fill_part(struct verifier *v, struct frame *f, s32 off, u32 size, u32 spill_size, u32 dst,
		     bool *restored)
{
	struct slot *s = &f->slots[stack_slot_of(off)];
	struct reg *d = &state_regs(v->cur)[dst];
	s32 subreg_def = d->subreg_def;
	struct byte_count n;
	int err;

	*restored = true;
	if (size <= spill_size && off % 8 == 0) {
		*d = s->spilled;
		d->subreg_def = subreg_def;
		if (stack_width(&s->spilled) > 8 * size)
			d->id = 0;
		return 0;
	}
	err = count_bytes(v, f, off, size, true, &n);
	if (err)
		return err;
	if (n.spill == size && reg_is_const_zero(&s->spilled)) {
		reg_mark_const(d, 0);
		return 0;
	}
	*restored = false;
	if (n.zero == size)
		reg_mark_const(d, 0);
	else
		access_unknown(v, d);
	return 0;
}

static int read_spilled(struct verifier *v, struct frame *f, s32 off, u32 size, int dst)
{
	u32 n = stack_slot_of(off), spill_size = 0;
	struct slot *s = &f->slots[n];
	bool restored = true;
	int err;

	while (spill_size < 8 && s->type[7 - spill_size] == SLOT_SPILL)
		spill_size++;
	if (size != 8 || spill_size != 8) {
		if (s->spilled.type != REG_SCALAR) {
			print_source_line(v, v->insn_idx);
			return verify_refuse(v, -EACCES, "stack-spill-size", -1,
					     "invalid size of register fill");
		}
		live_stack_read(v, f->frameno, 1ull << n);
		if (dst < 0)
			return 0;
		err = fill_part(v, f, off, size, spill_size, (u32)dst, &restored);
		if (err)
			return err;
	} else if (dst >= 0) {
		state_regs(v->cur)[dst] = s->spilled;
	} else if (ptr_leaks(v, &s->spilled)) {
		return verify_refuse(v, -EACCES, "ptr-leak", -1, "leaking pointer from stack off %d", off);
	}
	live_stack_read(v, f->frameno, 1ull << n);
	if (restored)
		precise_note_stack(v, f->frameno, (s32)n);
	return 0;
}

static int read_fixed(struct verifier *v, struct frame *f, s32 off, u32 size, int dst)
{
	u32 n = stack_slot_of(off);
	struct byte_count count;
	int err;

	ptr_slot_scratched(v, n);
	if (stack_is_spilled(&f->slots[n]))
		return read_spilled(v, f, off, size, dst);
	err = count_bytes(v, f, off, size, false, &count);
	if (err)
		return err;
	live_stack_read(v, f->frameno, 1ull << n);
	if (dst >= 0)
		load_bytes(v, f, off, off + (s32)size, (u32)dst);
	return 0;
}

static void forget_spilled(struct verifier *v, struct slot *s)
{
	access_unknown(v, &s->spilled);
	for (u32 b = 0; b < 8; b++)
		stack_scrub_byte(&s->type[b]);
}

/* Every byte of [min, max) must be readable; `clobber`: and may have been written. Bounds were checked. */
int stack_check_initialised(struct verifier *v, u32 regno, s32 min, s32 max, s32 size, bool clobber)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	struct frame *f = access_frame(v, r);

	for (s32 off = min; off < max; off++) {
		struct slot *s = &f->slots[stack_slot_of(off)];
		u8 *type = stack_byte_of(f, off);

		if (*type == SLOT_MISC)
			continue;
		if (*type == SLOT_ZERO || (*type == SLOT_INVALID && v->allow_uninit_stack)) {
			if (clobber)
				*type = SLOT_MISC;
		} else if (stack_is_spilled(s) && (stack_is_spilled_scalar(s) || v->allow_ptr_leaks)) {
			if (clobber)
				forget_spilled(v, s);
		} else if (value_is_const(&r->v)) {
			return verify_refuse(v, -EACCES, "stack-uninit", regno,
					     "invalid read from stack R%u off %d+%d size %d", regno, min,
					     off - min, size);
		} else {
			return verify_refuse(v, -EACCES, "stack-uninit", regno,
					     "invalid read from stack R%u var_off %s+%d size %d",
					     regno, access_tnum(r->v.bits).s, off - min, size);
		}
	}
	live_stack_read(v, f->frameno, slot_set(min, max));
	return 0;
}

int stack_check_var(struct verifier *v, u32 regno, const struct reg *r)
{
	if (v->bypass_spec_v1)
		return 0;
	return verify_refuse(v, -EACCES, "unpriv-stack", regno,
			     "R%u variable offset stack access prohibited for !root, var_off=%s", regno,
			     access_tnum(r->v.bits).s);
}

static int read_var(struct verifier *v, u32 regno, struct frame *f, s32 off, u32 size, int dst)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	s32 min = (s32)r->v.smin + off, max = (s32)r->v.smax + off + (s32)size;
	int err;

	if (dst < 0)
		return verify_refuse(v, -EACCES, "stack-var-off", regno,
				     "variable offset stack pointer cannot be passed into helper function; "
				     "var_off=%s off=%d size=%u",
				     access_tnum(r->v.bits).s, off, size);
	err = stack_check_var(v, regno, r);
	if (!err)
		err = stack_check_initialised(v, regno, min, max, (s32)size, false);
	if (err)
		return err;
	load_bytes(v, f, min, max, (u32)dst);
	return 0;
}

int stack_read(struct verifier *v, u32 regno, s32 off, u32 size, int dst)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	struct frame *f = access_frame(v, r);

	if (value_is_const(&r->v))
		return read_fixed(v, f, off + (s32)r->v.bits.value, size, dst);
	return read_var(v, regno, f, off, size, dst);
}
