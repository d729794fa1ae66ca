/* Do the types that a map is created with fit its sizes and its kind? (map_check_btf() of
 * kernel/bpf/syscall.c) */
#include "private.h"
#include "btf/btf.h"

#define DEPTH_MAX 32 /* types nested in a value; BTF itself allows no more */

/* Structures that the kernel gives a meaning to inside a value. None is built: a map with one is
 * refused, and libbpf then makes it without types, so that a program that needs the field is
 * refused by name. */
static const char *const special_structs[] = {
    "bpf_spin_lock", "bpf_res_spin_lock", "bpf_timer",	   "bpf_wq",	  "bpf_task_work",
    "bpf_refcount",  "bpf_list_head",	  "bpf_list_node", "bpf_rb_root", "bpf_rb_node",
};
static const char *const special_tags[] = {"kptr", "kptr_untrusted", "percpu_kptr", "uptr"};

static bool in_list(const char *name, const char *const *list, u32 n)
{
	for (u32 i = 0; name && i < n; i++)
		if (!strcmp(name, list[i]))
			return true;
	return false;
}

static bool is_kptr(const struct btf_types *b, const struct btf_type *ptr)
{
	const struct btf_type *to = btf_type(b, ptr->type);

	return to && btf_kind_of(to) == BTF_KIND_TYPE_TAG &&
	       in_list(btf_str(b, to->name_off), special_tags, ARRAY_SIZE(special_tags));
}

static bool has_special(const struct btf_types *b, u32 id, u32 depth);

static bool members_special(const struct btf_types *b, const struct btf_type *t, u32 depth)
{
	const struct btf_member *members = (const struct btf_member *)(t + 1);

	for (u32 i = 0; i < btf_vlen_of(t); i++)
		if (has_special(b, members[i].type, depth))
			return true;
	return false;
}

static bool section_special(const struct btf_types *b, const struct btf_type *t, u32 depth)
{
	const struct btf_var_secinfo *vars = (const struct btf_var_secinfo *)(t + 1);

	for (u32 i = 0; i < btf_vlen_of(t); i++) {
		const struct btf_type *var = btf_type(b, vars[i].type);

		if (var && btf_kind_of(var) == BTF_KIND_VAR && has_special(b, var->type, depth))
			return true;
	}
	return false;
}

static bool has_special(const struct btf_types *b, u32 id, u32 depth)
{
	const struct btf_type *t = btf_skip(b, id, NULL);

	if (!t || depth == DEPTH_MAX)
		return false;
	switch (btf_kind_of(t)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return in_list(btf_str(b, t->name_off), special_structs,
			       ARRAY_SIZE(special_structs)) ||
		       members_special(b, t, depth + 1);
	case BTF_KIND_ARRAY:
		return has_special(b, ((const struct btf_array *)(t + 1))->type, depth + 1);
	case BTF_KIND_PTR:
		return is_kptr(b, t);
	case BTF_KIND_DATASEC:
		return section_special(b, t, depth + 1);
	default:
		return false;
	}
}

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
		return -ENOTSUPP_;
	default:
		return attr->btf_key_id ? 0 : -EINVAL;
	}
}

int map_check_btf(const struct map_attr *attr)
{
	int err;

	if (!attr->btf || !(attr->btf_key_id || attr->btf_value_id))
		return 0;
	if (attr->btf_key_id && !size_is(attr->btf, attr->btf_key_id, attr->key_size))
		return -EINVAL;
	if (!size_is(attr->btf, attr->btf_value_id, attr->value_size))
		return -EINVAL;
	err = check_kind(attr);
	if (err)
		return err;
	return has_special(attr->btf, attr->btf_value_id, 0) ? -EOPNOTSUPP : 0;
}
