/* Loads, stores and memory given to helpers: which bytes may be touched, by the type of the pointer.
 *
 * mem_access() is the heart: alignment, then the rules of the pointer's type, then what a load leaves in its register. The
 * stack, packets and the context have files of their own. */
#include "access.h"

/* Alignment. */

static int misaligned_packet(struct verifier *v, u32 regno, const struct reg *r, s32 off, u32 size)
{
	/* as if the Ethernet header stood 2 bytes before a multiple of 4 (NET_IP_ALIGN) */
	const int ip_align = 2;

	if (tnum_is_aligned(tnum_add(r->v.bits, TNUM_CONST((u64)(s64)(ip_align + r->off + off))), size))
		return 0;
	return verify_refuse(v, -EACCES, "misaligned", regno,
			     "misaligned packet access off %d+%s+%d+%d size %u", ip_align,
			     access_tnum(r->v.bits).s, r->off, off, size);
}

static const char *pointee(const struct reg *r)
{
	switch ((enum reg_type)r->type) {
	case REG_FLOW_KEYS:
		return "flow keys ";
	case REG_MAP_KEY:
		return "key ";
	case REG_MAP_VALUE:
		return r->flags & REGF_NULL ? "" : "value ";
	case REG_CTX:
		return "context ";
	case REG_STACK:
		return "stack ";
	default:
		return "";
	}
}

int mem_aligned(struct verifier *v, u32 regno, s32 off, u32 size, bool strict_once)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	/* following spills relies on aligned stack accesses */
	bool strict = v->strict_alignment || strict_once || r->type == REG_STACK;
	struct tnum at;

	if (!strict || size == 1 || r->type == REG_ARENA)
		return 0;
	if (reg_is_packet(r))
		return misaligned_packet(v, regno, r, off, size);
	at = tnum_add(r->v.bits, TNUM_CONST((u64)(s64)(r->off + off)));
	if (tnum_is_aligned(at, size))
		return 0;
	return verify_refuse(v, -EACCES, "misaligned", regno, "misaligned %saccess off %s+%d+%d size %u",
			     pointee(r), access_tnum(r->v.bits).s, r->off, off, size);
}

int mem_unmoved(struct verifier *v, const struct reg *r, u32 regno, bool fixed_ok)
{
	char type[64];

	print_reg_type(r, type);
	if (r->off < 0)
		return verify_refuse(v, -EACCES, "ctx-modified", regno,
				     "negative offset %s ptr R%u off=%d disallowed", type, regno, r->off);
	if (r->off && !fixed_ok)
		return verify_refuse(v, -EACCES, "ctx-modified", regno,
				     "dereference of modified %s ptr R%u off=%d disallowed", type, regno, r->off);
	if (!value_is_const(&r->v) || r->v.bits.value)
		return verify_refuse(v, -EACCES, "ctx-modified", regno,
				     "variable %s access var_off=%s disallowed", type,
				     access_tnum(r->v.bits).s);
	return 0;
}

/* Regions of a known size: map values and keys, memory that a helper returned. */

/* Writes the first of two lines when the bytes [off, off + size) are not within the region. */
static const char *check_part(struct verifier *v, const struct reg *r, s64 off, s32 size, u32 mem_size,
			      bool zero_ok)
{
	bool size_ok = size > 0 || (size == 0 && zero_ok);

	if (off >= 0 && size_ok && (u64)off + (u32)size <= mem_size)
		return NULL;
	switch ((enum reg_type)r->type) {
	case REG_MAP_KEY:
		verify_line(v, "invalid access to map key, key_size=%u off=%d size=%d", mem_size, (s32)off, size);
		return "map-key-bounds";
	case REG_MAP_VALUE:
		verify_line(v, "invalid access to map value, value_size=%u off=%d size=%d", mem_size, (s32)off,
			    size);
		return "map-value-bounds";
	default:
		verify_line(v, "invalid access to memory, mem_size=%u off=%d size=%d", mem_size, (s32)off, size);
		return "mem-bounds";
	}
}

int mem_region(struct verifier *v, u32 regno, s32 off, s32 size, u32 mem_size, bool zero_ok)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	s64 smin = r->v.smin, lowest = (s64)((u64)smin + (u64)(s64)off);
	const char *rule;

	if (smin < 0 && (smin == INT64_MIN || lowest != (s32)lowest || lowest < 0))
		return verify_refuse(v, -EACCES, "access-negative", regno,
				     "R%u min value is negative, either use unsigned index or do a "
				     "if (index >=0) check.",
				     regno);
	rule = check_part(v, r, lowest, size, mem_size, zero_ok);
	if (rule)
		return verify_refuse(v, -EACCES, rule, regno,
				     "R%u min value is outside of the allowed memory range", regno);
	if (r->v.umax >= VERIFY_MAX_VAR_OFF)
		return verify_refuse(v, -EACCES, "access-unbounded", regno,
				     "R%u unbounded memory access, make sure to bounds check any such access",
				     regno);
	rule = check_part(v, r, (s64)r->v.umax + off, size, mem_size, zero_ok);
	if (rule)
		return verify_refuse(v, -EACCES, rule, regno,
				     "R%u max value is outside of the allowed memory range", regno);
	return 0;
}

int mem_map_flags(struct verifier *v, u32 regno, s32 off, s32 size, bool write)
{
	const struct map *m = state_regs(v->cur)[regno].map;

	if (write && m->flags & BPF_F_RDONLY_PROG)
		return verify_refuse(v, -EACCES, "map-readonly", regno,
				     "write into map forbidden, value_size=%u off=%d size=%d", m->value_size, off,
				     size);
	if (!write && m->flags & BPF_F_WRONLY_PROG)
		return verify_refuse(v, -EACCES, "map-writeonly", regno,
				     "read from map forbidden, value_size=%u off=%d size=%d", m->value_size, off,
				     size);
	return 0;
}

int mem_map_value(struct verifier *v, u32 regno, s32 off, s32 size, bool zero_ok, bool direct)
{
	int err = mem_region(v, regno, off, size, state_regs(v->cur)[regno].map->value_size, zero_ok);

	return err ? err : special_check(v, regno, off, size, direct);
}

/* Access by type. */

/* What one access is, for the functions below. */
struct access {
	u32 insn, regno;
	s32 off; /* with the register's fixed offset */
	u32 size;
	bool write, sign_extend;
	int value_regno; /* -1: none */
};

static void load_unknown(struct verifier *v, const struct access *a)
{
	if (!a->write && a->value_regno >= 0)
		access_unknown(v, &state_regs(v->cur)[a->value_regno]);
}

static int check_leak(struct verifier *v, const struct access *a, const char *into)
{
	if (!a->write || a->value_regno < 0 || !ptr_leaks(v, &state_regs(v->cur)[a->value_regno]))
		return 0;
	return verify_refuse(v, -EACCES, "ptr-leak", a->value_regno, "R%d leaks addr into %s", a->value_regno,
			     into);
}

/* Will the contents never change? */
bool mem_is_constant(const struct map *m)
{
	return m->flags & BPF_F_RDONLY_PROG && atomic_load(&m->frozen) && !atomic_load(&m->write_users);
}

static int load_constant(struct verifier *v, const struct access *a, struct map *m, u32 off)
{
	struct reg *d = &state_regs(v->cur)[a->value_regno];
	u64 addr, raw = 0;
	int err = m->ops->direct_value(m, off, &addr);

	if (err)
		return verify_refuse(v, err, "map-value-addr", a->regno, "map value cannot be addressed");
	memcpy(&raw, ptr_of(addr), a->size);
	if (a->sign_extend && a->size < 8) {
		u32 shift = 64 - 8 * a->size;

		raw = (u64)((s64)(raw << shift) >> shift);
	}
	reg_mark_const(d, raw);
	return 0;
}

static int access_map_value(struct verifier *v, const struct access *a)
{
	const struct reg *r = &state_regs(v->cur)[a->regno];
	struct map *m = r->map;
	int err = check_leak(v, a, "map");

	if (!err)
		err = mem_map_flags(v, a->regno, a->off, (s32)a->size, a->write);
	if (!err)
		err = mem_map_value(v, a->regno, a->off, (s32)a->size, false, true);
	if (!err)
		err = special_access(v, a->regno, a->off, a->value_regno);
	if (err)
		return err;
	if (!a->write && a->value_regno >= 0 && value_is_const(&r->v) && m->ops->direct_value &&
	    mem_is_constant(m))
		return load_constant(v, a, m, (u32)(a->off + (s64)r->v.bits.value));
	load_unknown(v, a);
	return 0;
}

static int access_map_key(struct verifier *v, const struct access *a)
{
	int err;

	if (a->write)
		return verify_refuse(v, -EACCES, "map-key-write", a->regno,
				     "write to change key R%u not allowed", a->regno);
	err = mem_region(v, a->regno, a->off, (s32)a->size, state_regs(v->cur)[a->regno].map->key_size, false);
	if (!err)
		load_unknown(v, a);
	return err;
}

static int access_mem(struct verifier *v, const struct access *a)
{
	const struct reg *r = &state_regs(v->cur)[a->regno];
	char type[64];
	int err;

	if (a->write && r->flags & REGF_RDONLY)
		return verify_refuse(v, -EACCES, "mem-readonly", a->regno, "R%u cannot write into %s", a->regno,
				     print_reg_type(r, type));
	err = check_leak(v, a, "mem");
	if (!err)
		err = mem_region(v, a->regno, a->off, (s32)a->size, r->mem_size, false);
	if (!err)
		load_unknown(v, a);
	return err;
}

static int access_ctx(struct verifier *v, const struct access *a)
{
	int err = check_leak(v, a, "ctx");

	if (!err)
		err = mem_unmoved(v, &state_regs(v->cur)[a->regno], a->regno, false);
	if (err)
		return err;
	err = ctx_access(v, a->insn, a->off, a->size, a->write, a->value_regno, a->sign_extend);
	if (err)
		print_source_line(v, a->insn);
	return err;
}

static int access_packet(struct verifier *v, const struct access *a)
{
	int err;

	if (a->write && !v->in->kind->direct_packet_write)
		return verify_refuse(v, -EACCES, "packet-write", a->regno, "cannot write into packet");
	err = check_leak(v, a, "packet");
	if (!err)
		err = packet_access(v, a->regno, a->off, (s32)a->size, false);
	if (err)
		return err;
	v->seen_direct_write |= a->write;
	load_unknown(v, a);
	return 0;
}

/* The kernel lets the privileged read its own struct bpf_map here. Ours is laid out differently, so only the refusals that
 * both share are said in its words. */
static int access_map_ptr(struct verifier *v, const struct access *a)
{
	static const char *const name[] = {
		[BPF_MAP_TYPE_HASH] = "bpf_htab",	   [BPF_MAP_TYPE_ARRAY] = "bpf_array",
		[BPF_MAP_TYPE_PROG_ARRAY] = "bpf_array",   [BPF_MAP_TYPE_PERCPU_HASH] = "bpf_htab",
		[BPF_MAP_TYPE_PERCPU_ARRAY] = "bpf_array", [BPF_MAP_TYPE_LRU_HASH] = "bpf_htab",
		[BPF_MAP_TYPE_LPM_TRIE] = "lpm_trie",	   [BPF_MAP_TYPE_RINGBUF] = "bpf_ringbuf_map",
	};
	u32 type = state_regs(v->cur)[a->regno].map->type;
	const char *s = type < ARRAY_SIZE(name) && name[type] ? name[type] : "bpf_map";

	if (!v->allow_ptr_leaks)
		return verify_refuse(v, -EPERM, "map-ptr-access", a->regno,
				     "'struct %s' access is allowed only to CAP_PERFMON and CAP_SYS_ADMIN", s);
	if (a->off < 0)
		return verify_refuse(v, -EACCES, "map-ptr-access", a->regno,
				     "R%u is %s invalid negative access: off=%d", a->regno, s, a->off);
	if (a->write)
		return verify_refuse(v, -EACCES, "map-ptr-access", a->regno, "only read from %s is supported", s);
	return verify_refuse(v, -EACCES, "map-ptr-access", a->regno,
			     "reading struct %s through a map pointer is not built", s);
}

static int access_by_type(struct verifier *v, const struct access *a)
{
	const struct reg *r = &state_regs(v->cur)[a->regno];
	bool null = r->flags & REGF_NULL;
	char type[64];

	switch (null ? REG_NOT_INIT : (enum reg_type)r->type) {
	case REG_MAP_KEY:
		return access_map_key(v, a);
	case REG_MAP_VALUE:
		return access_map_value(v, a);
	case REG_MEM:
		return access_mem(v, a);
	case REG_CTX:
		return access_ctx(v, a);
	case REG_STACK:
		return stack_access(v, a->regno, a->off, a->size, a->write, a->value_regno);
	case REG_PACKET:
	case REG_PACKET_META:
		return access_packet(v, a);
	case REG_CONST_MAP:
		return access_map_ptr(v, a);
	default:
		return verify_refuse(v, -EACCES, null ? "deref-null" : "deref-type", a->regno,
				     "R%u invalid mem access '%s'", a->regno, print_reg_type(r, type));
	}
}

int mem_access(struct verifier *v, u32 insn, u32 regno, s32 off, u32 bytes, bool write, int value_regno,
	       bool strict_once, bool sign_extend)
{
	struct access a = { .insn = insn, .regno = regno, .size = bytes, .write = write,
			    .sign_extend = sign_extend, .value_regno = value_regno };
	struct reg *d;
	int err = mem_aligned(v, regno, off, bytes, strict_once);

	if (err)
		return err;
	a.off = off + state_regs(v->cur)[regno].off;
	err = access_by_type(v, &a);
	if (err || write || value_regno < 0 || bytes == 8)
		return err;
	d = &state_regs(v->cur)[value_regno];
	if (d->type != REG_SCALAR)
		return 0;
	if (sign_extend)
		value_sext(&d->v, (u8)bytes, true);
	else
		value_truncate(&d->v, (u8)bytes);
	return 0;
}
