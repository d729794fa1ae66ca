/* Do the types that a map is created with fit its sizes and its kind? (map_check_btf() of
 * kernel/bpf/syscall.c) */
#include "private.h"
#include "btf/btf.h"

static bool size_is(const struct btf_types *b, u32 id, u32 size)
{
	const struct btf_type *t = btf_type(b, id);

	if (t && btf_kind_of(t) == BTF_KIND_DATASEC)
		return t->size == size;
	return t && btf_size(b, id) == size;
}

/* array_map_check_btf(): a u32 key; or none for the one element that is a program's data section */
static int check_array(const struct map_attr *attr)
{
	const struct btf_type *key;
	u32 bits;

	if (!attr->btf_key_id) {
		const struct btf_type *value = btf_type(attr->btf, attr->btf_value_id);

		if (attr->type != BPF_MAP_TYPE_ARRAY || attr->max_entries != 1)
			return -EINVAL;
		return btf_kind_of(value) == BTF_KIND_DATASEC ? 0 : -EINVAL;
	}
	key = btf_skip(attr->btf, attr->btf_key_id, NULL);
	if (!key || btf_kind_of(key) != BTF_KIND_INT)
		return -EINVAL;
	bits = LOAD(u32, key + 1);
	return BTF_INT_BITS(bits) == 32 && !BTF_INT_OFFSET(bits) ? 0 : -EINVAL;
}

static int check_kind(const struct map_attr *attr)
{
	const struct btf_type *key = btf_skip(attr->btf, attr->btf_key_id, NULL);

	switch (attr->type) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return check_array(attr);
	case BPF_MAP_TYPE_LPM_TRIE:
		return key && btf_kind_of(key) == BTF_KIND_STRUCT ? 0 : -EINVAL;
	case BPF_MAP_TYPE_RINGBUF:
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
	case BPF_MAP_TYPE_CPUMAP:
	case BPF_MAP_TYPE_XSKMAP:
		return -ENOTSUPP_;
	default:
		return attr->btf_key_id ? 0 : -EINVAL;
	}
}

int map_check_btf(const struct map_attr *attr)
{
	if (!attr->btf || !(attr->btf_key_id || attr->btf_value_id))
		return 0;
	if (attr->btf_key_id && !size_is(attr->btf, attr->btf_key_id, attr->key_size))
		return -EINVAL;
	if (!size_is(attr->btf, attr->btf_value_id, attr->value_size))
		return -EINVAL;
	return check_kind(attr);
}
