/* Stores to the stack. */
#include "stack.h"

static bool is_special(u8 type)
{
	return type == SLOT_SPILL || type == SLOT_DYNPTR || type == SLOT_ITER || type == SLOT_IRQ_FLAG;
}

/* Everything but maybe pointers to test for NULL and the like may be stored and found again. */
static bool is_spillable(const struct reg *r)
{
	switch ((enum reg_type)r->type) {
	case REG_NOT_INIT:
	case REG_SCALAR:
	case REG_TP_BUFFER:
	case REG_DYNPTR:
		return false;
	default:
		return true;
	}
}

/* The slot is overwritten in part by plain bytes: what was spilled there is no more. */
static void scrub_slot(struct slot *s)
{
	u8 kind = s->type[7];

	reg_mark_not_init(&s->spilled);
	if (is_special(kind))
		for (u32 b = 0; b < 8; b++)
			stack_scrub_byte(&s->type[b]);
}

static void spill(struct slot *s, const struct reg *r, u32 size)
{
	s->spilled = *r;
	for (u32 b = 0; b < 8; b++) {
		u8 *type = &s->type[7 - b];

		if (b < size)
			*type = SLOT_SPILL;
		else if (*type != SLOT_ZERO && *type != SLOT_INVALID)
			*type = SLOT_MISC;
	}
}

static bool stores_imm(const struct bpf_insn *i)
{
	return BPF_CLASS(i->code) == BPF_ST && BPF_MODE(i->code) == BPF_MEM;
}

static bool writes_zero(const struct bpf_insn *i, const struct reg *value)
{
	return value ? reg_is_const_zero(value) : stores_imm(i) && !i->imm;
}

/* Plain bytes at a constant offset. */
static int write_bytes(struct verifier *v, struct frame *f, s32 off, u32 size, int value_regno,
		       const struct reg *value)
{
	u8 type = SLOT_MISC;

	scrub_slot(&f->slots[stack_slot_of(off)]);
	if (writes_zero(&v->insns[v->insn_idx], value)) {
		/* later states rely on the zero without following it to its register */
		int err = value ? precise_mark(v, (u32)value_regno) : 0;

		if (err)
			return err;
		type = SLOT_ZERO;
	}
	for (u32 b = 0; b < size; b++)
		*stack_byte_of(f, off + (s32)b) = type;
	return 0;
}

static int spill_pointer(struct verifier *v, struct frame *f, s32 off, u32 size, const struct reg *value,
			 int value_regno)
{
	if (size != 8) {
		print_source_line(v, v->insn_idx);
		return verify_refuse(v, -EACCES, "stack-spill-size", value_regno,
				     "invalid size of register spill");
	}
	if (f != state_frame(v->cur) && value->type == REG_STACK)
		return verify_refuse(v, -EINVAL, "stack-spill-frame", value_regno,
				     "cannot spill pointers to stack into stack frame of the caller");
	spill(&f->slots[stack_slot_of(off)], value, size);
	return 0;
}

static void spill_scalar(struct verifier *v, struct slot *s, struct reg *value, u32 size)
{
	bool fits = stack_width(value) <= 8 * size;

	if (fits)
		ptr_give_id(v, value);
	spill(s, value, size);
	if (!fits)
		s->spilled.id = 0; /* the slot holds less than the register */
}

static int write_fixed(struct verifier *v, struct frame *f, s32 off, u32 size, int value_regno)
{
	struct reg *value = value_regno >= 0 ? &state_regs(v->cur)[value_regno] : NULL;
	const struct bpf_insn *i = &v->insns[v->insn_idx];
	u32 n = stack_slot_of(off);
	struct slot *s = &f->slots[n];
	bool aligned = off % 8 == 0;
	int err;

	if (!v->allow_ptr_leaks && stack_is_spilled(s) && !stack_is_spilled_scalar(s) && size != 8)
		return verify_refuse(v, -EACCES, "stack-corrupt", -1,
				     "attempt to corrupt spilled pointer on stack");
	err = dynptr_overwrite(v, f, n);
	if (err)
		return err;
	ptr_slot_scratched(v, n);
	if (size == 8)
		live_stack_write(v, f->frameno, 1ull << n);

	if (aligned && value && value->type == REG_SCALAR && v->bpf_capable) {
		spill_scalar(v, s, value, size);
	} else if (aligned && !value && stores_imm(i) && v->bpf_capable) {
		struct reg imm = { 0 };

		reg_mark_const(&imm, (u64)(s64)i->imm);
		spill(s, &imm, size);
	} else if (value && is_spillable(value)) {
		err = spill_pointer(v, f, off, size, value, value_regno);
		if (err)
			return err;
	} else {
		return write_bytes(v, f, off, size, value_regno, value);
	}
	precise_note_stack(v, f->frameno, (s32)n);
	return 0;
}

/* One byte that a store through a variable offset may touch. *zero_used: that a zero is stored was made use of. */
static int maybe_write_byte(struct verifier *v, struct frame *f, s32 off, bool zero, bool *zero_used)
{
	struct slot *s = &f->slots[stack_slot_of(off)];
	u8 *type = stack_byte_of(f, off);
	bool keep_zero;

	ptr_slot_scratched(v, stack_slot_of(off));
	if (!v->allow_ptr_leaks && *type != SLOT_MISC && *type != SLOT_ZERO)
		return verify_refuse(v, -EINVAL, "stack-corrupt", -1,
				     "spilled ptr in range of var-offset stack write; insn %u, ptr off: %d",
				     v->insn_idx, off);
	if (zero && *type == SLOT_SPILL && stack_is_spilled_scalar(s) && reg_is_const_zero(&s->spilled)) {
		*zero_used = true;
		return 0;
	}
	scrub_slot(s);
	keep_zero = zero && *type == SLOT_ZERO;
	*zero_used |= keep_zero;
	if (*type == SLOT_INVALID && !v->allow_uninit_stack)
		return verify_refuse(v, -EINVAL, "stack-uninit", -1,
				     "uninit stack in range of var-offset write prohibited for !root; "
				     "insn %u, off: %d",
				     v->insn_idx, off);
	*type = keep_zero ? SLOT_ZERO : SLOT_MISC;
	return 0;
}

static int write_var(struct verifier *v, u32 regno, struct frame *f, s32 off, u32 size, int value_regno)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	const struct reg *value = value_regno >= 0 ? &state_regs(v->cur)[value_regno] : NULL;
	bool zero = writes_zero(&v->insns[v->insn_idx], value), zero_used = false;
	s32 min = (s32)r->v.smin + off, max = (s32)r->v.smax + off + (s32)size;

	for (s32 o = min; o < max; o++) {
		int err = dynptr_overwrite(v, f, stack_slot_of(o));

		if (err)
			return err;
	}
	for (s32 o = min; o < max; o++) {
		int err = maybe_write_byte(v, f, o, zero, &zero_used);

		if (err)
			return err;
	}
	return zero_used && value ? precise_mark(v, (u32)value_regno) : 0;
}

int stack_write(struct verifier *v, u32 regno, s32 off, u32 size, int value_regno)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	struct frame *f = access_frame(v, r);

	if (value_is_const(&r->v))
		return write_fixed(v, f, off + (s32)r->v.bits.value, size, value_regno);
	return write_var(v, regno, f, off, size, value_regno);
}
