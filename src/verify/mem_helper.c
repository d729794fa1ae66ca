/* Memory handed to helpers: a pointer and a number of bytes that must lie within what it points at. */
#include "access.h"

static int refuse_type(struct verifier *v, u32 regno, const struct reg *r)
{
	char type[64];

	return verify_refuse(v, -EACCES, r->flags & REGF_NULL ? "helper-arg-null" : "helper-arg-type", regno,
			     "R%u type=%s expected=fp", regno, print_reg_type(r, type));
}

static int refuse_write(struct verifier *v, u32 regno, const struct reg *r)
{
	char type[64];

	return verify_refuse(v, -EACCES, "mem-readonly", regno, "R%u cannot write into %s", regno,
			     print_reg_type(r, type));
}

int mem_helper_access(struct verifier *v, u32 regno, s32 size, bool write, bool zero_ok, struct mem_raw *raw)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	int err;

	switch ((enum reg_type)r->type) {
	case REG_PACKET:
	case REG_PACKET_META:
		return packet_access(v, regno, r->off, size, zero_ok);
	case REG_MAP_KEY:
		if (write)
			return refuse_write(v, regno, r);
		return mem_region(v, regno, r->off, size, r->map->key_size, false);
	case REG_MAP_VALUE:
		if (r->flags & REGF_NULL)
			return refuse_type(v, regno, r);
		err = mem_map_flags(v, regno, r->off, size, write);
		return err ? err : mem_map_value(v, regno, r->off, size, zero_ok, false);
	case REG_MEM:
		if (r->flags & REGF_NULL)
			return refuse_type(v, regno, r);
		if (write && r->flags & REGF_RDONLY)
			return refuse_write(v, regno, r);
		return mem_region(v, regno, r->off, size, r->mem_size, zero_ok);
	case REG_STACK:
		return stack_helper(v, regno, r->off, size, zero_ok, write, raw);
	default:
		if (zero_ok && !size && reg_is_const_zero(r))
			return 0;
		return refuse_type(v, regno, r);
	}
}

int mem_helper_sized(struct verifier *v, u32 regno, bool write, bool zero_ok, struct mem_raw *raw)
{
	const u32 n = regno + 1;
	const struct value *size = &state_regs(v->cur)[n].v;
	int err;

	/* a size that varies may leave bytes unwritten, so they must have been initialised */
	if (!value_is_const(size))
		raw = NULL;
	if (size->smin < 0)
		return verify_refuse(v, -EACCES, "size-negative", n,
				     "R%u min value is negative, either use unsigned or 'var &= const'", n);
	if (!size->umin && !zero_ok)
		return verify_refuse(v, -EACCES, "zero-size", n, "R%u invalid zero-sized read: u64=[%lld,%lld]", n,
				     (long long)size->umin, (long long)size->umax);
	if (size->umax >= VERIFY_MAX_VAR_OFF)
		return verify_refuse(v, -EACCES, "size-unbounded", n,
				     "R%u unbounded memory access, use 'var &= const' or 'if (var < const)'", n);
	err = mem_helper_access(v, regno, (s32)size->umax, write, zero_ok, raw);
	return err ? err : precise_mark(v, n);
}

int mem_raw_write(struct verifier *v, const struct mem_raw *raw)
{
	int err = 0;

	for (u32 b = 0; raw->regno && b < raw->size && !err; b++)
		err = mem_access(v, v->insn_idx, raw->regno, (s32)b, 1, true, -1, false, false);
	return err;
}
