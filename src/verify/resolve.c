/* What 64-bit loads name: maps by descriptor, their values, functions. Nothing is rewritten here; info[].map and the used-map
 * index say what each load means. The first look at every opcode happens here too, as in resolve_pseudo_ldimm64(). */
#include "engine.h"
#include "access.h"

#define RULE "ld-imm64"

static bool names_value(const struct bpf_insn *i)
{
	return i->src_reg == BPF_PSEUDO_MAP_VALUE || i->src_reg == BPF_PSEUDO_MAP_IDX_VALUE;
}

static bool names_index(const struct bpf_insn *i)
{
	return i->src_reg == BPF_PSEUDO_MAP_IDX || i->src_reg == BPF_PSEUDO_MAP_IDX_VALUE;
}

/* Maps that some programs may not use (check_map_prog_compatibility). */
static int check_map(struct verifier *v, const struct map *m)
{
	int err = lock_check_map(v, m);

	if (err || !(v->in->prog_flags & ABI_F_SLEEPABLE))
		return err;
	switch (m->type) {
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_HASH_OF_MAPS:
	case BPF_MAP_TYPE_RINGBUF:
	case BPF_MAP_TYPE_USER_RINGBUF:
	case BPF_MAP_TYPE_INODE_STORAGE:
	case BPF_MAP_TYPE_SK_STORAGE:
	case BPF_MAP_TYPE_TASK_STORAGE:
	case ABI_MAP_CGRP_STORAGE:
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
	case ABI_MAP_ARENA:
		return 0;
	}
	return verify_refuse(v, -EINVAL, "kind-map", -1,
			     "Sleepable programs can only use array, hash, ringbuf and local storage maps");
}

static int use_map(struct verifier *v, const struct bpf_insn *i, u32 idx)
{
	struct insn_info *info = &v->info[idx];
	struct map *m = NULL;
	int n = v->in->use_map ? v->in->use_map(v->in->ctx, i->imm, names_index(i), &m) : -EBADF;

	if (n == -EPROTO)
		return verify_refuse(v, n, "map-fd", -1, "fd_idx without fd_array is invalid");
	if (n == -E2BIG || n >= VERIFY_MAX_MAPS)
		return verify_refuse(v, -E2BIG, "too-many", -1,
				     "The total number of maps per program has reached the limit of %u", VERIFY_MAX_MAPS);
	if (n < 0)
		return verify_refuse(v, n, "map-fd", -1, "fd %d is not pointing to valid bpf_map", i->imm);
	v->maps[n] = m;
	v->n_maps = MAX(v->n_maps, (u32)n + 1);
	info->map = m;
	info->map_index = n + 1;
	return check_map(v, m);
}

static int use_value(struct verifier *v, const struct bpf_insn *i, u32 idx)
{
	struct insn_info *info = &v->info[idx];
	const struct map *m = info->map;
	u32 off = i[1].imm;
	u64 addr;
	int err;

	if (off >= VERIFY_MAX_VAR_OFF)
		return verify_refuse(v, -EINVAL, RULE, -1, "direct value offset of %u is not allowed", off);
	if (!m->ops->direct_value)
		return verify_refuse(v, -EINVAL, "map-value-addr", -1, "no direct value access support for this map type");
	err = m->ops->direct_value(info->map, off, &addr);
	if (err)
		return verify_refuse(v, err, "map-value-addr", -1,
				     "invalid access to map value pointer, value_size=%u off=%u", m->value_size, off);
	info->map_off = off;
	return 0;
}

static int resolve(struct verifier *v, u32 idx)
{
	const struct bpf_insn *i = &v->insns[idx];
	int err;

	if (idx == v->n_insns - 1 || i[1].code || i[1].dst_reg || i[1].src_reg || i[1].off)
		return verify_refuse(v, -EINVAL, RULE, -1, "invalid bpf_ld_imm64 insn");
	switch (i->src_reg) {
	case 0:
	case BPF_PSEUDO_FUNC:
		return 0;
	case BPF_PSEUDO_BTF_ID:
		return verify_refuse(v, -EOPNOTSUPP, "not-built", -1,
				     "ld_imm64 of a kernel variable (btf_id %d) is not built yet", i->imm);
	case BPF_PSEUDO_MAP_VALUE:
	case BPF_PSEUDO_MAP_IDX_VALUE:
		break;
	case BPF_PSEUDO_MAP_FD:
	case BPF_PSEUDO_MAP_IDX:
		if (!i[1].imm)
			break;
		/* fallthrough */
	default:
		return verify_refuse(v, -EINVAL, RULE, -1, "unrecognized bpf_ld_imm64 insn");
	}
	err = use_map(v, i, idx);
	return !err && names_value(i) ? use_value(v, i, idx) : err;
}

static bool ldx_reserved(const struct bpf_insn *i)
{
	u8 mode = BPF_MODE(i->code);

	return BPF_CLASS(i->code) == BPF_LDX && ((mode != BPF_MEM && mode != BPF_MEMSX) || i->imm);
}

int resolve_imm64(struct verifier *v)
{
	int err = 0;

	for (u32 i = 0; i < v->n_insns && !err; i++) {
		const struct bpf_insn *in = &v->insns[i];

		v->insn_idx = i;
		if (ldx_reserved(in))
			return verify_refuse(v, -EINVAL, "insn-reserved", -1, "BPF_LDX uses reserved fields");
		if (isa_is_ld_imm64(in))
			err = resolve(v, i++);
		else if (!isa_known_opcode(in->code))
			return verify_refuse(v, -EINVAL, "insn-unknown", -1, "unknown opcode %02x", in->code);
	}
	return err;
}
