/* Fields within map values that belong to the kernel: locks, timers, lists, pointers to kernel objects. Loads and stores of
 * programs may not touch them, but whole pointers. */
#include "access.h"

static const struct map_field *overlap(const struct map *m, s64 min, u64 max)
{
	for (u32 i = 0; m->record && i < m->record->n; i++) {
		const struct map_field *f = &m->record->field[i];

		if (min < (s64)f->off + f->size && f->off < max)
			return f;
	}
	return NULL;
}

static int check_pointer(struct verifier *v, u32 regno, s32 off, s32 size, const struct map_field *f, bool direct)
{
	const struct value *var = &state_regs(v->cur)[regno].v;
	const char *name = map_field_name(f->type);
	u64 at = var->bits.value + (u64)(s64)off;

	if (!direct)
		return verify_refuse(v, -EACCES, "special-field", regno, "%s cannot be accessed indirectly by helper", name);
	if (!value_is_const(var))
		return verify_refuse(v, -EACCES, "special-field", regno, "%s access cannot have variable offset", name);
	if (f->off != at)
		return verify_refuse(v, -EACCES, "special-field", regno, "%s access misaligned expected=%u off=%llu", name,
				     f->off, (unsigned long long)at);
	if (size != 8)
		return verify_refuse(v, -EACCES, "special-field", regno, "%s access size must be BPF_DW", name);
	return 0;
}

int special_check(struct verifier *v, u32 regno, s32 off, s32 size, bool direct)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	const struct map_field *f = overlap(r->map, r->v.smin + off, r->v.umax + (u64)(s64)off + (u64)(s64)size);

	if (!f)
		return 0;
	if (f->type >= MAP_FIELD_KPTR_UNREF)
		return check_pointer(v, regno, off, size, f, direct);
	return verify_refuse(v, -EACCES, "special-field", regno, "%s cannot be accessed directly by load/store",
			     map_field_name(f->type));
}

/* A store to a pointer that the kernel follows, or a load of one; special_check() saw that it is the whole pointer.
 * Pointers to kernel objects in registers are not built, so all that can be stored is NULL. */
static int access_pointer(struct verifier *v, u32 regno, int value_regno, const struct map_field *f)
{
	const struct bpf_insn *i = &v->insns[v->insn_idx];
	const struct reg *val = value_regno >= 0 ? &state_regs(v->cur)[value_regno] : NULL;
	char type[64];

	if (BPF_MODE(i->code) != BPF_MEM)
		return verify_refuse(v, -EACCES, "special-field", regno,
				     "kptr in map can only be accessed using BPF_MEM instruction mode");
	if (BPF_CLASS(i->code) == BPF_LDX)
		return verify_refuse(v, -EACCES, "not-built", regno, "loading a %s from a map value is not built yet",
				     map_field_name(f->type));
	if (f->type == MAP_FIELD_KPTR_REF || f->type == MAP_FIELD_KPTR_PERCPU)
		return verify_refuse(v, -EACCES, "special-field", regno, "store to referenced kptr disallowed");
	if (f->type == MAP_FIELD_UPTR)
		return verify_refuse(v, -EACCES, "special-field", regno, "store to uptr disallowed");
	if (BPF_CLASS(i->code) == BPF_ST) {
		if (!i->imm)
			return 0;
		return verify_refuse(v, -EACCES, "special-field", regno,
				     "BPF_ST imm must be 0 when storing to kptr at off=%u", f->off);
	}
	if (val && reg_is_const_zero(val))
		return 0;
	return verify_refuse(v, -EACCES, "special-field", value_regno, "invalid kptr access, R%d type=%s", value_regno,
			     val ? print_reg_type(val, type) : "?");
}

int special_access(struct verifier *v, u32 regno, s32 off, int value_regno)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	const struct map_field *f;

	if (!value_is_const(&r->v))
		return 0;
	f = overlap(r->map, (s64)(r->v.bits.value + (u64)(s64)off), r->v.bits.value + (u64)(s64)off + 1);
	return f && f->type >= MAP_FIELD_KPTR_UNREF ? access_pointer(v, regno, value_regno, f) : 0;
}
