/* The stack, byte by byte: spilled registers, zeroes, numbers nobody follows, and bytes never written.
 *
 * A register stored to the start of an aligned slot is kept whole (a spill), so that a later load gives back what was known
 * of it. Anything else only leaves a type in each byte it touched. Where the offset is not constant, every byte that may have
 * been touched is treated so.
 *
 * `off` counts from the frame pointer and is negative; byte off lies in slot (-off - 1) / 8. */
#include "access.h"

static u32 slot_of(s32 off)
{
	return (u32)(-off - 1) / 8;
}

static u8 *byte_of(struct frame *f, s32 off)
{
	u32 b = (u32)(-off - 1);

	return &f->slots[b / 8].type[b % 8];
}

/* The slots that the bytes [min, max) lie in. */
static u64 slot_set(s32 min, s32 max)
{
	u64 set = 0;

	for (s32 off = min; off < max; off++)
		set |= 1ull << slot_of(off);
	return set;
}

static bool is_spilled(const struct slot *s)
{
	return s->type[7] == SLOT_SPILL;
}

static bool is_spilled_scalar(const struct slot *s)
{
	return is_spilled(s) && s->spilled.type == REG_SCALAR;
}

static bool is_special(u8 type)
{
	return type == SLOT_SPILL || type == SLOT_DYNPTR || type == SLOT_ITER || type == SLOT_IRQ_FLAG;
}

/* Number of bits that the value can take. */
static u32 width(const struct reg *r)
{
	return r->v.umax ? 64 - (u32)__builtin_clzll(r->v.umax) : 0;
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

/* The byte loses its place in a spilled register, but not that it was (or was not) written. */
static void scrub_byte(u8 *type)
{
	if (*type != SLOT_INVALID)
		*type = SLOT_MISC;
}

/* The slot is overwritten in part by plain bytes: what was spilled there is no more. */
static void scrub_slot(struct slot *s)
{
	u8 kind = s->type[7];

	reg_mark_not_init(&s->spilled);
	if (is_special(kind))
		for (u32 b = 0; b < 8; b++)
			scrub_byte(&s->type[b]);
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

/* Bounds. */

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

/* Writing. */

static bool writes_zero(const struct bpf_insn *i, const struct reg *value)
{
	return value ? reg_is_const_zero(value) : stores_imm(i) && !i->imm;
}

/* Plain bytes at a constant offset. */
static int write_bytes(struct verifier *v, struct frame *f, s32 off, u32 size, int value_regno,
		       const struct reg *value)
{
	u8 type = SLOT_MISC;

	scrub_slot(&f->slots[slot_of(off)]);
	if (writes_zero(&v->insns[v->insn_idx], value)) {
		/* later states rely on the zero without following it to its register */
		int err = value ? precise_mark(v, (u32)value_regno) : 0;

		if (err)
			return err;
		type = SLOT_ZERO;
	}
	for (u32 b = 0; b < size; b++)
		*byte_of(f, off + (s32)b) = type;
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
	spill(&f->slots[slot_of(off)], value, size);
	return 0;
}

static void spill_scalar(struct verifier *v, struct slot *s, struct reg *value, u32 size)
{
	bool fits = width(value) <= 8 * size;

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
	u32 n = slot_of(off);
	struct slot *s = &f->slots[n];
	bool aligned = off % 8 == 0;

	if (!v->allow_ptr_leaks && is_spilled(s) && !is_spilled_scalar(s) && size != 8)
		return verify_refuse(v, -EACCES, "stack-corrupt", -1,
				     "attempt to corrupt spilled pointer on stack");
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
		int err = spill_pointer(v, f, off, size, value, value_regno);

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
	struct slot *s = &f->slots[slot_of(off)];
	u8 *type = byte_of(f, off);
	bool keep_zero;

	ptr_slot_scratched(v, slot_of(off));
	if (!v->allow_ptr_leaks && *type != SLOT_MISC && *type != SLOT_ZERO)
		return verify_refuse(v, -EINVAL, "stack-corrupt", -1,
				     "spilled ptr in range of var-offset stack write; insn %u, ptr off: %d",
				     v->insn_idx, off);
	if (zero && *type == SLOT_SPILL && is_spilled_scalar(s) && reg_is_const_zero(&s->spilled)) {
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
		int err = maybe_write_byte(v, f, o, zero, &zero_used);

		if (err)
			return err;
	}
	return zero_used && value ? precise_mark(v, (u32)value_regno) : 0;
}

/* Reading. */

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
		ptr_slot_scratched(v, slot_of(off));
		zero = *byte_of(f, off) == SLOT_ZERO;
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
		u8 type = *byte_of(f, off + (s32)b);

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
	struct slot *s = &f->slots[slot_of(off)];
	struct reg *d = &state_regs(v->cur)[dst];
	s32 subreg_def = d->subreg_def;
	struct byte_count n;
	int err;

	*restored = true;
	if (size <= spill_size && off % 8 == 0) {
		*d = s->spilled;
		d->subreg_def = subreg_def;
		if (width(&s->spilled) > 8 * size)
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
	u32 n = slot_of(off), spill_size = 0;
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
	u32 n = slot_of(off);
	struct byte_count count;
	int err;

	ptr_slot_scratched(v, n);
	if (is_spilled(&f->slots[n]))
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
		scrub_byte(&s->type[b]);
}

/* Every byte of [min, max) must be readable; `clobber`: and may have been written. Bounds were checked. */
static int check_initialised(struct verifier *v, u32 regno, s32 min, s32 max, s32 size, bool clobber)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	struct frame *f = access_frame(v, r);

	for (s32 off = min; off < max; off++) {
		struct slot *s = &f->slots[slot_of(off)];
		u8 *type = byte_of(f, off);

		if (*type == SLOT_MISC)
			continue;
		if (*type == SLOT_ZERO || (*type == SLOT_INVALID && v->allow_uninit_stack)) {
			if (clobber)
				*type = SLOT_MISC;
		} else if (is_spilled(s) && (is_spilled_scalar(s) || v->allow_ptr_leaks)) {
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

static int check_var_allowed(struct verifier *v, u32 regno, const struct reg *r)
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
	err = check_var_allowed(v, regno, r);
	if (!err)
		err = check_initialised(v, regno, min, max, (s32)size, false);
	if (err)
		return err;
	load_bytes(v, f, min, max, (u32)dst);
	return 0;
}

/* Load or store of size bytes (1, 2, 4, 8; aligned) at regs[regno] + off. */
int stack_access(struct verifier *v, u32 regno, s32 off, u32 size, bool write, int value_regno)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	struct frame *f = access_frame(v, r);
	int err = check_bounds(v, regno, off, (s32)size, write);

	if (err)
		return err;
	if (!value_is_const(&r->v))
		return write ? write_var(v, regno, f, off, size, value_regno) :
			       read_var(v, regno, f, off, size, value_regno);
	off += (s32)r->v.bits.value;
	return write ? write_fixed(v, f, off, size, value_regno) : read_fixed(v, f, off, size, value_regno);
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
		err = check_var_allowed(v, regno, r);
	if (err)
		return err;
	if (fixed && raw) {
		*raw = (struct mem_raw){ .regno = regno, .size = (u32)size };
		return 0;
	}
	min = fixed ? (s32)r->v.bits.value + off : (s32)r->v.smin + off;
	max = fixed ? min + size : (s32)r->v.smax + off + size;
	return check_initialised(v, regno, min, max, size, write);
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
	n = slot_of(off);
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
	if (!is_spilled_scalar(s))
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
