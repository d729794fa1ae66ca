/* ARRAY: values side by side, all there from the start, updated in place; key is the index. With
 * BPF_F_MMAPABLE they lie in a memfd that user space maps. The layout is known to inlined look-ups
 * through map->values and map->stride. */
#include "array.h"
#include <sys/mman.h>

#define ARRAY_FLAGS                                                                                \
	(BPF_F_NUMA_NODE | BPF_F_MMAPABLE | ACCESS_FLAGS | BPF_F_PRESERVE_ELEMS | BPF_F_INNER_MAP)

/* array_map_alloc_check() of kernel/bpf/arraymap.c */
int map_array_check(const struct map_attr *attr)
{
	bool percpu = attr->type == BPF_MAP_TYPE_PERCPU_ARRAY;

	if (!attr->max_entries || attr->key_size != 4 || !attr->value_size ||
	    attr->flags & ~ARRAY_FLAGS || !access_ok(attr->flags) || (percpu && wants_node(attr)))
		return -EINVAL;
	if (attr->type != BPF_MAP_TYPE_ARRAY && attr->flags & (BPF_F_MMAPABLE | BPF_F_INNER_MAP))
		return -EINVAL;
	if (attr->flags & BPF_F_PRESERVE_ELEMS) /* for perf event arrays */
		return -EINVAL;
	if (attr->value_size > INT32_MAX)
		return -E2BIG;
	if (percpu && ROUND_UP(attr->value_size, 8u) > PERCPU_VALUE_MAX)
		return -E2BIG;
	return 0;
}

int map_array_next_key(struct map *m, const void *key, void *next)
{
	u32 i = key ? LOAD(u32, key) : UINT32_MAX;

	if (i == m->max_entries - 1)
		return -ENOENT;
	STORE(u32, next, i < m->max_entries ? i + 1 : 0);
	return 0;
}

int map_array_no_delete(struct map *m, const void *key)
{
	return -EINVAL;
}

/* In the kernel's order: flags, index, then that all elements exist already. */
int map_array_check_update(const struct map *m, const void *key, u64 flags)
{
	if ((flags & ~(u64)BPF_F_LOCK) > BPF_EXIST)
		return -EINVAL;
	if (LOAD(u32, key) >= m->max_entries)
		return -E2BIG;
	if (flags & BPF_NOEXIST)
		return -EEXIST;
	return map_flags_lock_ok(m, flags) ? 0 : -EINVAL;
}

struct array {
	struct map m;
	u64 size; /* of the area at m.values */
};

static int array_new(struct map **out, const struct map_attr *attr)
{
	u32 stride = ROUND_UP(attr->value_size, 8u);
	u64 size = ROUND_UP((u64)stride * attr->max_entries, 4096ull);
	struct array *a;

	if (!map_area_fits(size))
		return -ENOMEM;
	a = map_alloc(sizeof(*a), attr, &map_array_ops);
	if (!a)
		return -ENOMEM;
	a->size = size;
	a->m.stride = stride;
	if (attr->flags & BPF_F_MMAPABLE) {
		void *p = MAP_FAILED;

		a->m.memfd = map_memfd_new("bpf-map", size);
		if (a->m.memfd >= 0)
			p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
				 a->m.memfd, 0);
		a->m.values = p == MAP_FAILED ? NULL : p;
	} else {
		a->m.values = map_area_new(size);
	}
	if (!a->m.values) {
		map_put(&a->m);
		return -ENOMEM;
	}
	*out = &a->m;
	return 0;
}

static void array_free(struct map *m)
{
	struct array *a = container_of(m, struct array, m);

	map_area_free(m->values, a->size);
	free(a);
}

static void *array_lookup(struct map *m, const void *key, u32 cpu)
{
	u32 i = LOAD(u32, key);

	return likely(i < m->max_entries) ? m->values + (u64)i * m->stride : NULL;
}

static int array_update(struct map *m, const void *key, const void *value, u64 flags, u32 cpu)
{
	u32 i = LOAD(u32, key);
	int err = map_array_check_update(m, key, flags);

	if (unlikely(err))
		return err;
	if (unlikely(flags & BPF_F_LOCK))
		map_value_set_locked(m, m->values + (u64)i * m->stride, value);
	else
		map_value_set(m, m->values + (u64)i * m->stride, value);
	return 0;
}

static int array_copy_out(struct map *m, const void *key, void *value, u64 flags)
{
	const void *from = array_lookup(m, key, 0);

	if (!from)
		return -ENOENT;
	map_value_get(m, value, from, flags);
	return 0;
}

static int array_copy_in(struct map *m, const void *key, const void *value, u64 flags)
{
	return array_update(m, key, value, flags, 0);
}

static int array_direct_value(struct map *m, u32 off, u64 *addr)
{
	if (m->max_entries != 1)
		return -ENOTSUPP_;
	if (off >= m->value_size)
		return -EINVAL;
	*addr = addr_of(m->values) + off;
	return 0;
}

/* Without BPF_F_INNER_MAP programs may have indices checked against the template's size
 * (array_map_meta_equal). */
static bool array_meta_equal(const struct map *template, const struct map *m)
{
	return map_meta_equal(template, m) &&
	       (template->flags & BPF_F_INNER_MAP || template->max_entries == m->max_entries);
}

static u64 array_memory(const struct map *m)
{
	return sizeof(struct array) + container_of(m, struct array, m)->size;
}

const struct map_ops map_array_ops = {
    .check = map_array_check,
    .new = array_new,
    .free = array_free,
    .lookup = array_lookup,
    .update = array_update,
    .delete = map_array_no_delete,
    .copy_out = array_copy_out,
    .copy_in = array_copy_in,
    .next_key = map_array_next_key,
    .direct_value = array_direct_value,
    .each = map_array_each,
    .meta_equal = array_meta_equal,
    .memory = array_memory,
};
