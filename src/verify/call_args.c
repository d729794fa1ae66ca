/* Arguments of helpers: the type of each register against what the prototype asks for, then the memory behind it. */
#include "call.h"
#include <stdio.h>

/* A type of register that an argument may be, with the flags that must be set. */
struct accepts {
	u8 type;
	u16 flags;
	const char *name;
};
enum { MAX_TYPES = 9 };

static const struct accepts mem_types[MAX_TYPES] = {
	{ REG_STACK, 0, "fp" },
	{ REG_PACKET, 0, "pkt" },
	{ REG_PACKET_META, 0, "pkt_meta" },
	{ REG_MAP_KEY, 0, "map_key" },
	{ REG_MAP_VALUE, 0, "map_value" },
	{ REG_MEM, 0, "mem" },
	{ REG_MEM, REGF_RINGBUF, "ringbuf_mem" },
	{ REG_BUF, 0, "buf" },
	{ REG_BTF_ID, REGF_TRUSTED, "trusted_ptr_" },
};
static const struct accepts scalar_types[MAX_TYPES] = { { REG_SCALAR, 0, "scalar" } };
static const struct accepts map_types[MAX_TYPES] = { { REG_CONST_MAP, 0, "map_ptr" } };
static const struct accepts ctx_types[MAX_TYPES] = { { REG_CTX, 0, "ctx" } };
static const struct accepts ringbuf_types[MAX_TYPES] = { { REG_MEM, REGF_RINGBUF, "ringbuf_mem" } };
static const struct accepts func_types[MAX_TYPES] = { { REG_FUNC, 0, "func" } };
static const struct accepts stack_types[MAX_TYPES] = { { REG_STACK, 0, "fp" } };
static const struct accepts str_types[MAX_TYPES] = { { REG_MAP_VALUE, 0, "map_value" } };

static const struct accepts dynptr_types[MAX_TYPES] = { { REG_STACK, 0, "fp" }, { REG_DYNPTR, 0, "dynptr_ptr" } };
static const struct accepts lock_types[MAX_TYPES] = { { REG_MAP_VALUE, 0, "map_value" } };

static const struct accepts *const accepted[HARG_BASE_MASK] = {
	[HARG_CONST_MAP_PTR] = map_types,
	[HARG_MAP_KEY] = mem_types,
	[HARG_MAP_VALUE] = mem_types,
	[HARG_MEM] = mem_types,
	[HARG_LONG_OUT] = mem_types,
	[HARG_INT_OUT] = mem_types,
	[HARG_SIZE] = scalar_types,
	[HARG_SIZE_OR_ZERO] = scalar_types,
	[HARG_CONST_ALLOC_SIZE_OR_ZERO] = scalar_types,
	[HARG_CTX] = ctx_types,
	[HARG_RINGBUF_MEM] = ringbuf_types,
	[HARG_FUNC] = func_types,
	[HARG_STACK] = stack_types,
	[HARG_CONST_STR] = str_types,
	[HARG_SPIN_LOCK] = lock_types,
	[HARG_DYNPTR] = dynptr_types,
};

static u32 base_of(u32 arg)
{
	return arg & HARG_BASE_MASK;
}

static int refuse_type(struct verifier *v, u32 regno, const struct reg *r, const struct accepts *a)
{
	char type[64], expected[160];
	size_t n = 0;

	for (u32 i = 0; i < MAX_TYPES && a[i].name; i++)
		n += (size_t)snprintf(expected + n, sizeof(expected) - n, "%s%s", i ? ", " : "", a[i].name);
	return verify_refuse(v, -EACCES, r->flags & REGF_NULL ? "helper-arg-null" : "helper-arg-type", regno,
			     "R%u type=%s expected=%s", regno, print_reg_type(r, type), expected);
}

/* An argument that may be read-only (or NULL) takes registers with and without that flag; the others only without. */
static int check_type(struct verifier *v, const struct call *c, u32 regno, u32 arg)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	const struct accepts *a = accepted[base_of(arg)];
	u16 flags = r->flags;

	if (!a)
		return verify_refuse(v, -EINVAL, "not-built", regno,
				     "argument %u of bpf_%s is of a type that is not built yet", regno,
				     helper_name(c->id));
	if (arg & HARG_RDONLY)
		flags &= (u16)~REGF_RDONLY;
	if (arg & HARG_NULL_OK)
		flags &= (u16)~REGF_NULL;
	for (u32 i = 0; i < MAX_TYPES && a[i].name; i++)
		if (a[i].type == r->type && a[i].flags == flags)
			return 0;
	return refuse_type(v, regno, r, a);
}

/* May the argument carry an offset? Memory may; objects must be passed as they were given. */
static int check_offset(struct verifier *v, u32 regno, u32 arg)
{
	const struct reg *r = &state_regs(v->cur)[regno];

	if (arg & HARG_RELEASE) {
		if (base_of(arg) == HARG_DYNPTR && r->type == REG_STACK)
			return 0;
		if (r->off)
			return verify_refuse(v, -EINVAL, "ref-release-arg", regno,
					     "R%u must have zero offset when passed to release func or trusted arg "
					     "to kfunc",
					     regno);
		return mem_unmoved(v, r, regno, false);
	}
	switch ((enum reg_type)r->type) {
	case REG_STACK:
	case REG_PACKET:
	case REG_PACKET_META:
	case REG_MAP_KEY:
	case REG_MAP_VALUE:
	case REG_MEM:
	case REG_BUF:
	case REG_ARENA:
	case REG_SCALAR:
		return r->flags & REGF_NULL ? mem_unmoved(v, r, regno, false) : 0;
	case REG_BTF_ID:
		return mem_unmoved(v, r, regno, true);
	default:
		return mem_unmoved(v, r, regno, false);
	}
}

static int check_refs(struct verifier *v, struct call *c, u32 regno, u32 arg)
{
	const struct reg *r = &state_regs(v->cur)[regno];

	if (arg & HARG_RELEASE) {
		int err = base_of(arg) == HARG_DYNPTR ? dynptr_check_release(v, regno) : 0;

		if (err)
			return err;
		if (base_of(arg) != HARG_DYNPTR && !r->ref_id && !reg_is_const_zero(r))
			return verify_refuse(v, -EINVAL, "ref-not-held", regno,
					     "R%u must be referenced when passed to release function", regno);
		c->release_regno = regno;
	}
	if (!r->ref_id)
		return 0;
	if (c->ref_id)
		return verify_refuse(v, -EACCES, "helper-arg-type", regno,
				     "more than one arg with ref_obj_id R%u %u %u", regno, r->ref_id, c->ref_id);
	c->ref_id = r->ref_id;
	return 0;
}

static int arg_map(struct verifier *v, struct call *c, u32 regno)
{
	const struct reg *r = &state_regs(v->cur)[regno];

	if (c->map && (c->map != r->map || c->map_uid != r->map_uid))
		return verify_refuse(v, -EINVAL, "helper-arg-type", regno,
				     "timer pointer in R1 map_uid=%u doesn't match map pointer in R2 map_uid=%u",
				     c->map_uid, r->map_uid);
	c->map = r->map;
	c->map_uid = r->map_uid;
	return 0;
}

static int arg_key(struct verifier *v, struct call *c, u32 regno)
{
	int err;

	if (!c->map)
		return verify_refuse(v, -EACCES, "internal", regno, "invalid map_ptr to access map->key");
	err = mem_helper_access(v, regno, (s32)c->map->key_size, false, false, NULL);
	if (err || !call_map_null_elidable(c->map))
		return err;
	err = stack_constant(v, &state_regs(v->cur)[regno], c->map->key_size, &c->const_key,
			     &c->stored_key);
	if (err)
		c->const_key = -1;
	return err == -EOPNOTSUPP ? 0 : err;
}

static int arg_value(struct verifier *v, struct call *c, u32 regno, u32 arg)
{
	struct mem_raw *raw = arg & HARG_UNINIT ? &c->raw : NULL;

	if (arg & HARG_NULL_OK && reg_is_const_zero(&state_regs(v->cur)[regno]))
		return 0;
	if (!c->map)
		return verify_refuse(v, -EACCES, "internal", regno, "invalid map_ptr to access map->value");
	return mem_helper_access(v, regno, (s32)c->map->value_size, arg & HARG_WRITE, false, raw);
}

static int arg_fixed(struct verifier *v, struct call *c, u32 regno, u32 arg, u32 size)
{
	int err = mem_helper_access(v, regno, (s32)size, arg & HARG_WRITE, false, arg & HARG_UNINIT ? &c->raw : NULL);

	if (!err && arg & HARG_ALIGNED)
		err = mem_aligned(v, regno, 0, size, true);
	return err;
}

static int arg_size(struct verifier *v, struct call *c, u32 regno, bool zero_ok)
{
	c->max_size = state_regs(v->cur)[regno].v.umax;
	return mem_helper_sized(v, regno - 1, c->proto->arg[regno - 2] & HARG_WRITE, zero_ok,
				c->raw_ok ? &c->raw : NULL);
}

static int arg_alloc_size(struct verifier *v, struct call *c, u32 regno)
{
	const struct reg *r = &state_regs(v->cur)[regno];

	if (!value_is_const(&r->v))
		return verify_refuse(v, -EACCES, "helper-arg-const", regno, "R%u is not a known constant'", regno);
	c->alloc_size = r->v.bits.value;
	return precise_mark(v, regno);
}

/* A string whose bytes are known now and stay. */
static int arg_str(struct verifier *v, u32 regno)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	const struct map *m = r->map;
	u64 addr;
	u32 off;
	int err;

	if (!mem_is_constant(m))
		return verify_refuse(v, -EACCES, "helper-arg-str", regno, "R%u does not point to a readonly map'", regno);
	if (!value_is_const(&r->v))
		return verify_refuse(v, -EACCES, "helper-arg-str", regno, "R%u is not a constant address'", regno);
	if (!m->ops->direct_value)
		return verify_refuse(v, -EACCES, "helper-arg-str", regno,
				     "no direct value access support for this map type");
	err = mem_map_value(v, regno, r->off, (s32)m->value_size - r->off, false, false);
	if (err)
		return err;
	off = (u32)(r->off + (s64)r->v.bits.value);
	err = m->ops->direct_value(r->map, off, &addr);
	if (err)
		return verify_refuse(v, err, "helper-arg-str", regno, "direct value access on string failed");
	if (!memchr(ptr_of(addr), 0, m->value_size - off))
		return verify_refuse(v, -EINVAL, "helper-arg-str", regno, "string is not zero-terminated");
	return 0;
}

static int check_memory(struct verifier *v, struct call *c, u32 regno, u32 arg)
{
	switch (base_of(arg)) {
	case HARG_CONST_MAP_PTR:
		return arg_map(v, c, regno);
	case HARG_MAP_KEY:
		return arg_key(v, c, regno);
	case HARG_MAP_VALUE:
		return arg_value(v, c, regno, arg);
	case HARG_MEM:
		c->raw_ok = arg & HARG_UNINIT;
		return arg & HARG_FIXED ? arg_fixed(v, c, regno, arg, c->proto->size[regno - 1]) : 0;
	case HARG_LONG_OUT:
		return arg_fixed(v, c, regno, HARG_UNINIT | HARG_WRITE | HARG_ALIGNED, 8);
	case HARG_INT_OUT:
		return arg_fixed(v, c, regno, HARG_UNINIT | HARG_WRITE | HARG_ALIGNED, 4);
	case HARG_SIZE:
		return arg_size(v, c, regno, false);
	case HARG_SIZE_OR_ZERO:
		return arg_size(v, c, regno, true);
	case HARG_CONST_ALLOC_SIZE_OR_ZERO:
		return arg_alloc_size(v, c, regno);
	case HARG_FUNC:
		c->subprog = state_regs(v->cur)[regno].subprog;
		return 0;
	case HARG_CONST_STR:
		return arg_str(v, regno);
	case HARG_DYNPTR:
		c->dynptr_regno = regno;
		return dynptr_arg(v, regno, arg);
	case HARG_SPIN_LOCK:
		return lock_arg(v, regno, c->id == BPF_FUNC_spin_lock);
	default:
		return 0;
	}
}

static int check_arg(struct verifier *v, struct call *c, u32 regno)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	u32 arg = c->proto->arg[regno - 1];
	int err;

	if (base_of(arg) == HARG_NONE)
		return 0;
	err = ptr_check_reg_arg(v, regno, false);
	if (err)
		return err;
	if (base_of(arg) == HARG_ANYTHING) {
		if (ptr_leaks(v, r))
			return verify_refuse(v, -EACCES, "ptr-leak", regno, "R%u leaks addr into helper function",
					     regno);
		return 0;
	}
	if (reg_is_packet(r) && !packet_helper_ok(v, c->proto->pkt_access))
		return verify_refuse(v, -EACCES, "helper-packet", regno, "helper access to the packet is not allowed");
	if (!(arg & HARG_NULL_OK && reg_is_const_zero(r))) {
		err = check_type(v, c, regno, arg);
		if (!err)
			err = check_offset(v, regno, arg);
		if (err)
			return err;
	}
	err = check_refs(v, c, regno, arg);
	return err ? err : check_memory(v, c, regno, arg);
}

int call_check_args(struct verifier *v, struct call *c)
{
	int err = 0;

	for (u32 regno = BPF_REG_1; regno <= BPF_REG_5 && !err; regno++)
		err = check_arg(v, c, regno);
	return err;
}
