/* PERCPU_ARRAY: one array of values for each possible CPU, each an area of its own so that CPUs
 * share no cache line. */
#include "array.h"

struct percpu_array {
	struct map m;
	u32 elem;     /* bytes from one value to the next */
	u64 cpu_size; /* bytes from one CPU's values to the next CPU's: whole pages */
	u8 *values;
};

static struct percpu_array *of(const struct map *m)
{
	return container_of(m, struct percpu_array, m);
}

static int percpu_array_new(struct map **out, const struct map_attr *attr)
{
	u32 elem = ROUND_UP(attr->value_size, 8u);
	u64 cpu_size = ROUND_UP((u64)elem * attr->max_entries, 4096ull);
	struct percpu_array *a;

	if (!map_area_fits(cpu_size * env_possible_cpus()))
		return -ENOMEM;
	a = map_alloc(sizeof(*a), attr, &map_percpu_array_ops);
	if (!a)
		return -ENOMEM;
	a->elem = elem;
	a->cpu_size = cpu_size;
	a->values = map_area_new(cpu_size * env_possible_cpus());
	if (!a->values) {
		map_put(&a->m);
		return -ENOMEM;
	}
	*out = &a->m;
	return 0;
}

static void percpu_array_free(struct map *m)
{
	struct percpu_array *a = of(m);

	map_area_free(a->values, a->cpu_size * env_possible_cpus());
	free(a);
}

static inline u8 *value_at(const struct percpu_array *a, u32 i, u32 cpu)
{
	return a->values + cpu * a->cpu_size + (u64)i * a->elem;
}

static void *percpu_array_lookup(struct map *m, const void *key, u32 cpu)
{
	u32 i = LOAD(u32, key);

	return likely(i < m->max_entries) ? value_at(of(m), i, cpu) : NULL;
}

static int percpu_array_update(struct map *m, const void *key, const void *value, u64 flags,
			       u32 cpu)
{
	int err = map_array_check_update(m, key, flags);

	if (!err)
		map_value_set(m, value_at(of(m), LOAD(u32, key), cpu), value);
	return err;
}

static int percpu_array_copy_out(struct map *m, const void *key, void *value, u64 flags)
{
	struct percpu_array *a = of(m);
	u32 i = LOAD(u32, key), n = env_possible_cpus();

	if (i >= m->max_entries)
		return -ENOENT;
	for (u32 cpu = 0; cpu < n; cpu++)
		memcpy((u8 *)value + (size_t)cpu * a->elem, value_at(a, i, cpu), a->elem);
	return 0;
}

/* Padding is copied as well and reads back as it was written, as in the kernel. */
static int percpu_array_copy_in(struct map *m, const void *key, const void *value, u64 flags)
{
	struct percpu_array *a = of(m);
	u32 i = LOAD(u32, key), n = env_possible_cpus();
	int err = map_array_check_update(m, key, flags);

	for (u32 cpu = 0; !err && cpu < n; cpu++)
		copy_value(value_at(a, i, cpu), (const u8 *)value + (size_t)cpu * a->elem, a->elem);
	return err;
}

static u64 percpu_array_memory(const struct map *m)
{
	return sizeof(struct percpu_array) + of(m)->cpu_size * env_possible_cpus();
}

const struct map_ops map_percpu_array_ops = {
    .check = map_array_check,
    .new = percpu_array_new,
    .free = percpu_array_free,
    .lookup = percpu_array_lookup,
    .update = percpu_array_update,
    .delete = map_array_no_delete,
    .copy_out = percpu_array_copy_out,
    .copy_in = percpu_array_copy_in,
    .next_key = map_array_next_key,
    .each = map_array_each,
    .meta_equal = map_meta_equal,
    .memory = percpu_array_memory,
};
