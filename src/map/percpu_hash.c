/* PERCPU_HASH: an element holds a pointer to one value per possible CPU; updates of a key that is
 * there write in place. */
#include "htab.h"

static int percpu_hash_new(struct map **out, const struct map_attr *attr)
{
	struct htab *h;
	int err = map_htab_new(&h, attr, &map_percpu_hash_ops, attr->value_size, false);

	if (!err)
		*out = &h->m;
	return err;
}

static void *percpu_hash_lookup(struct map *m, const void *key, u32 cpu)
{
	struct htab *h = container_of(m, struct htab, m);
	struct elem *e = htab_find(h, key, htab_hash(h, key));

	return e ? elem_cpu_value(h, e, cpu) : NULL;
}

#define ALL_CPUS UINT32_MAX

static void zero_value(void *value, u32 step)
{
	for (u32 i = 0; i < step; i += 8)
		__atomic_store_n((u64 *)((u8 *)value + i), 0, __ATOMIC_RELAXED);
}

/* A program writes its own CPU's value, and zero for the others when the key is new; user space
 * writes all of them, with their padding. */
static void set_values(struct htab *h, struct elem *e, const void *value, u32 cpu, bool new)
{
	u32 size = h->m.value_size, step = ROUND_UP(size, 8u), n = env_possible_cpus();

	if (cpu != ALL_CPUS && !new) {
		copy_value(elem_cpu_value(h, e, cpu), value, size);
		return;
	}
	for (u32 i = 0; i < n; i++) {
		if (cpu == ALL_CPUS)
			copy_value(elem_cpu_value(h, e, i), (const u8 *)value + (size_t)i * step,
				   step);
		else if (i == cpu)
			copy_value(elem_cpu_value(h, e, i), value, size);
		else
			zero_value(elem_cpu_value(h, e, i), step);
	}
}

static int update(struct htab *h, const void *key, const void *value, u64 flags, u32 cpu, u32 list)
{
	u32 hash = htab_hash(h, key);
	struct bucket *b = htab_bucket(h, hash);
	_Atomic uintptr_t *link;
	struct elem *old, *e;
	int err;

	if (unlikely(flags > BPF_EXIST))
		return -EINVAL;
	spin_lock(&b->lock);
	old = htab_find_locked(h, b, key, hash, &link);
	err = htab_check_flags(old, flags);
	if (!err && old) {
		set_values(h, old, value, cpu, false);
	} else if (!err) {
		err = -E2BIG;
		e = map_pool_get(&h->pool, list, &err);
		if (e) {
			htab_set_key(h, e, key, hash);
			set_values(h, e, value, cpu, true);
			htab_link(h, b, e);
			err = 0;
		}
	}
	spin_unlock(&b->lock);
	return err;
}

static int percpu_hash_update(struct map *m, const void *key, const void *value, u64 flags, u32 cpu)
{
	return update(container_of(m, struct htab, m), key, value, flags, cpu, cpu);
}

static int percpu_hash_copy_in(struct map *m, const void *key, const void *value, u64 flags)
{
	return update(map_htab_of(m), key, value, flags, ALL_CPUS, env_cpu_hint());
}

static void values_out(struct htab *h, struct elem *e, void *value)
{
	u32 step = ROUND_UP(h->m.value_size, 8u), n = env_possible_cpus();

	for (u32 i = 0; i < n; i++)
		memcpy((u8 *)value + (size_t)i * step, elem_cpu_value(h, e, i), step);
}

static int percpu_hash_copy_out(struct map *m, const void *key, void *value, u64 flags)
{
	struct htab *h = map_htab_of(m);
	struct elem *e = htab_find(h, key, htab_hash(h, key));

	if (!e)
		return -ENOENT;
	values_out(h, e, value);
	return 0;
}

static int percpu_hash_lookup_delete(struct map *m, void *key, void *value, u64 flags)
{
	struct htab *h = map_htab_of(m);
	struct elem *e = map_htab_take(h, key);

	if (!e)
		return -ENOENT;
	values_out(h, e, value);
	map_pool_put(&h->pool, e, env_cpu_hint());
	return 0;
}

static int percpu_hash_batch(struct map *m, u32 bucket, struct map_batch *b)
{
	return map_htab_batch(map_htab_of(m), bucket, b, values_out, map_htab_let_go);
}

const struct map_ops map_percpu_hash_ops = {
    .check = map_htab_check,
    .new = percpu_hash_new,
    .free = map_htab_free,
    .lookup = percpu_hash_lookup,
    .update = percpu_hash_update,
    .delete = map_htab_delete,
    .copy_out = percpu_hash_copy_out,
    .copy_in = percpu_hash_copy_in,
    .next_key = map_htab_next_key,
    .lookup_delete = percpu_hash_lookup_delete,
    .each = map_htab_each,
    .meta_equal = map_meta_equal,
    .batch = percpu_hash_batch,
    .memory = map_htab_memory,
    .steps = map_htab_steps,
};
