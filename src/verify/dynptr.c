/* Dynptrs: 16 bytes of stack that stand for memory whose size is known only at run time, reached by helpers alone.
 *
 * A dynptr takes two slots of SLOT_DYNPTR bytes; the one at the lower address (the higher slot number) is its first. Both carry
 * its id, which slices got from it carry as dynptr_id, and its reference, if it must be given back. Overwriting any of its
 * bytes ends it and its slices. */
#include "call.h"

enum { BYTES = 16 };

static const char *const type_names[] = {
	[DYNPTR_INVALID] = "<invalid>", [DYNPTR_LOCAL] = "local", [DYNPTR_RINGBUF] = "ringbuf",
	[DYNPTR_SKB] = "skb", [DYNPTR_XDP] = "xdp", [DYNPTR_SKB_META] = "skb_meta",
};

const char *dynptr_type_name(u32 type)
{
	return type_names[type];
}

static bool is_counted(u32 type)
{
	return type == DYNPTR_RINGBUF;
}

/* The first slot of a dynptr at a stack pointer; -EINVAL: it can't be one, -ERANGE: not in the part of the stack used so far.
 * The log is told; the caller refuses. */
static int first_slot(struct verifier *v, const struct reg *r)
{
	s64 off = (s64)r->v.bits.value + r->off;
	s64 n;

	if (!value_is_const(&r->v)) {
		verify_line(v, "dynptr has to be at a constant offset");
		return -EINVAL;
	}
	n = (-off - 1) / 8;
	if (off % 8 || off >= 0 || n < 1) {
		verify_line(v, "cannot pass in dynptr at an offset=%d", (s32)off);
		return -EINVAL;
	}
	return n < access_frame(v, r)->n_slots ? (int)n : -ERANGE;
}

static bool is_dynptr_slot(const struct slot *s)
{
	return s->type[7] == SLOT_DYNPTR;
}

static void forget_slots(struct verifier *v, struct frame *f, u32 first)
{
	for (u32 i = first - 1; i <= first; i++) {
		memset(f->slots[i].type, SLOT_INVALID, sizeof(f->slots[i].type));
		reg_mark_not_init(&f->slots[i].spilled);
		ptr_slot_scratched(v, i);
	}
	live_stack_write(v, f->frameno, 3ull << (first - 1));
}

struct slices {
	struct verifier *v;
	u32 id;
};

static void invalidate_slice(struct reg *r, void *arg)
{
	const struct slices *s = arg;

	if (r->type == REG_MEM && r->dynptr_id == s->id)
		ptr_invalidate(s->v, r);
}

int dynptr_overwrite(struct verifier *v, struct frame *f, u32 n)
{
	struct slices s = { .v = v };

	if (n >= f->n_slots || !is_dynptr_slot(&f->slots[n]))
		return 0;
	if (!f->slots[n].spilled.dynptr_first)
		n++;
	if (is_counted(f->slots[n].spilled.dynptr_type))
		return verify_refuse(v, -EINVAL, "dynptr", -1, "cannot overwrite referenced dynptr");
	s.id = f->slots[n].spilled.id;
	forget_slots(v, f, n);
	state_each_reg(v->cur, invalidate_slice, &s);
	return 0;
}

void dynptr_mark_reg(struct verifier *v, struct reg *r, u32 type)
{
	reg_mark_pointer(r, REG_DYNPTR);
	r->id = ++v->next_id;
	r->dynptr_type = (u8)type;
	r->dynptr_first = true;
}

/* A new one at regs[regno]; ref 0: with a reference of its own, if it needs one. */
static int make(struct verifier *v, u32 regno, u32 type, u32 ref)
{
	struct reg *r = &state_regs(v->cur)[regno];
	struct frame *f;
	int n, err = 0;

	if (r->type == REG_DYNPTR)
		return verify_refuse(v, -EINVAL, "dynptr", regno, "Dynptr has to be an uninitialized dynptr");
	n = first_slot(v, r);
	if (n < 0 && n != -ERANGE)
		return verify_refuse(v, -EINVAL, "dynptr", regno, "Dynptr has to be an uninitialized dynptr");
	for (s32 i = 0; i < BYTES && !err; i += 8)
		err = mem_access(v, v->insn_idx, regno, i, 8, true, -1, false, false);
	if (err)
		return err;
	n = first_slot(v, r);
	if (n < 0)
		return n;
	f = access_frame(v, r);
	dynptr_mark_reg(v, &f->slots[n].spilled, type);
	f->slots[n - 1].spilled = f->slots[n].spilled;
	f->slots[n - 1].spilled.dynptr_first = false;
	for (s32 i = n - 1; i <= n; i++) {
		memset(f->slots[i].type, SLOT_DYNPTR, sizeof(f->slots[i].type));
		ptr_slot_scratched(v, (u32)i);
	}
	live_stack_write(v, f->frameno, 3ull << (n - 1));
	if (!is_counted(type))
		return 0;
	if (!ref)
		ref = call_acquire_ref(v, v->insn_idx);
	if (!ref)
		return verify_refuse(v, -ENOMEM, "memory", -1, "no memory for references");
	f->slots[n].spilled.ref_id = f->slots[n - 1].spilled.ref_id = ref;
	return 0;
}

/* One more of the same memory, which shares the reference of the first. */
int dynptr_clone(struct verifier *v, u32 regno, u32 type, u32 ref)
{
	if (state_regs(v->cur)[regno].type != REG_STACK && state_regs(v->cur)[regno].type != REG_DYNPTR)
		return verify_refuse(v, -EINVAL, "dynptr", regno,
				     "arg#%u expected pointer to stack or const struct bpf_dynptr", regno - 1);
	return make(v, regno, type, ref);
}

/* The register that says what is known of the dynptr at regs[regno]; NULL: there is none. */
static const struct reg *known(struct verifier *v, u32 regno)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	struct frame *f;
	int n;

	if (r->type == REG_DYNPTR)
		return r;
	n = first_slot(v, r);
	if (n < 0)
		return NULL;
	f = access_frame(v, r);
	if (!is_dynptr_slot(&f->slots[n]) || !is_dynptr_slot(&f->slots[n - 1]) || !f->slots[n].spilled.dynptr_first)
		return NULL;
	return &f->slots[n].spilled;
}

static int use(struct verifier *v, u32 regno, u32 arg)
{
	const struct reg *r = &state_regs(v->cur)[regno], *d;
	u32 type = HARG_DYNPTR_TYPE(arg);
	int n;

	if (r->type == REG_DYNPTR && !(arg & HARG_RDONLY))
		return verify_refuse(v, -EINVAL, "dynptr", regno,
				     "cannot pass pointer to const bpf_dynptr, the helper mutates it");
	d = known(v, regno);
	if (!d)
		return verify_refuse(v, -EINVAL, "dynptr", regno, "Expected an initialized dynptr as arg #%u", regno - 1);
	if (type && d->dynptr_type != type)
		return verify_refuse(v, -EINVAL, "dynptr", regno, "Expected a dynptr of type %s as arg #%u",
				     dynptr_type_name(type), regno - 1);
	if (r->type == REG_DYNPTR)
		return 0;
	n = first_slot(v, r);
	live_stack_read(v, r->frameno, 3ull << (n - 1));
	return 0;
}

int dynptr_arg(struct verifier *v, u32 regno, u32 arg)
{
	const struct reg *r = &state_regs(v->cur)[regno];

	if (r->type != REG_STACK && r->type != REG_DYNPTR)
		return verify_refuse(v, -EINVAL, "dynptr", regno,
				     "arg#%u expected pointer to stack or const struct bpf_dynptr", regno - 1);
	return arg & HARG_UNINIT ? make(v, regno, HARG_DYNPTR_TYPE(arg), 0) : use(v, regno, arg);
}

const struct reg *dynptr_known(struct verifier *v, u32 regno)
{
	return known(v, regno);
}

/* Before the argument is looked at: may it be released? */
int dynptr_check_release(struct verifier *v, u32 regno)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	int n;

	if (r->type != REG_STACK)
		return verify_refuse(v, -EINVAL, "dynptr", regno, "cannot release unowned const bpf_dynptr");
	n = first_slot(v, r);
	if (n < 0 || !access_frame(v, r)->slots[n].spilled.ref_id)
		return verify_refuse(v, -EINVAL, "ref-not-held", regno, "arg %u is an unacquired reference", regno);
	return 0;
}

/* It, its clones and all slices are gone. */
int dynptr_release(struct verifier *v, u32 regno)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	int n = first_slot(v, r);
	struct frame *f = access_frame(v, r);
	u32 ref;

	if (n < 0)
		return n;
	ref = f->slots[n].spilled.ref_id;
	if (call_release_ref(v, ref))
		return -EINVAL;
	for (u32 i = 1; i < f->n_slots; i++) {
		struct slices s = { .v = v };

		if (!is_dynptr_slot(&f->slots[i]) || !f->slots[i].spilled.dynptr_first || f->slots[i].spilled.ref_id != ref)
			continue;
		s.id = f->slots[i].spilled.id;
		forget_slots(v, f, i);
		state_each_reg(v->cur, invalidate_slice, &s);
	}
	return 0;
}
