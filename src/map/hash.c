/* HASH: an update of a key that is there puts a new element in the old one's place, so that a
 * reader sees the old value or the new one. The new element is the CPU's spare, the old one becomes
 * the spare: no list is touched. */
#include "htab.h"

static int hash_new(struct map **out, const struct map_attr *attr)
{
	struct htab *h;
	int err = map_htab_new(&h, attr, &map_hash_ops, attr->value_size, true);

	if (!err)
		*out = &h->m;
	return err;
}

static void *hash_lookup(struct map *m, const void *key, u32 cpu)
{
	struct htab *h = container_of(m, struct htab, m);
	struct elem *e = htab_find(h, key, htab_hash(h, key));

	return e ? elem_value(h, e) : NULL;
}

static struct elem *replace(struct htab *h, _Atomic uintptr_t *link, struct elem *old,
			    const void *key, const void *value, struct elem *e)
{
	htab_set_key(h, e, key, atomic_load_explicit(&old->hash, memory_order_relaxed));
	map_value_set(&h->m, elem_value(h, e), value);
	htab_replace(link, old, e);
	return old;
}

static int insert(struct htab *h, struct bucket *b, u32 hash, const void *key, const void *value,
		  u32 list)
{
	int err = -E2BIG;
	struct elem *e = map_pool_get(&h->pool, list, &err);

	if (!e)
		return err;
	htab_set_key(h, e, key, hash);
	map_value_set(&h->m, elem_value(h, e), value);
	htab_link(h, b, e);
	return 0;
}

/* `spare` is exclusively the caller's: its leased CPU's, or the user side's under its lock. */
static int update(struct htab *h, const void *key, const void *value, u64 flags,
		  struct spare *spare, u32 list)
{
	u32 hash = htab_hash(h, key);
	struct bucket *b = htab_bucket(h, hash);
	_Atomic uintptr_t *link;
	struct elem *old;
	int err;

	if (unlikely((flags & ~(u64)BPF_F_LOCK) > BPF_EXIST || !map_flags_lock_ok(&h->m, flags)))
		return -EINVAL;
	spin_lock(&b->lock);
	old = htab_find_locked(h, b, key, hash, &link);
	err = htab_check_flags(old, flags & ~(u64)BPF_F_LOCK);
	if (!err && old && flags & BPF_F_LOCK) /* in place, so that holders of the lock see it change */
		map_value_set_locked(&h->m, elem_value(h, old), value);
	else if (!err && old)
		spare->e = replace(h, link, old, key, value, spare->e);
	else if (!err)
		err = insert(h, b, hash, key, value, list);
	spin_unlock(&b->lock);
	return err;
}

static int hash_update(struct map *m, const void *key, const void *value, u64 flags, u32 cpu)
{
	struct htab *h = container_of(m, struct htab, m);

	return update(h, key, value, flags, &h->spares[cpu], cpu);
}

static int hash_copy_out(struct map *m, const void *key, void *value, u64 flags)
{
	const void *from = hash_lookup(m, key, 0);

	if (!from)
		return -ENOENT;
	map_value_get(m, value, from, flags);
	return 0;
}

static int hash_copy_in(struct map *m, const void *key, const void *value, u64 flags)
{
	struct htab *h = map_htab_of(m);
	int err;

	pthread_mutex_lock(&h->user_lock);
	err = update(h, key, value, flags, &h->spares[env_possible_cpus()], env_cpu_hint());
	pthread_mutex_unlock(&h->user_lock);
	return err;
}

static int hash_lookup_delete(struct map *m, void *key, void *value, u64 flags)
{
	struct htab *h = map_htab_of(m);
	struct elem *e = map_htab_take(h, key);

	if (!e)
		return -ENOENT;
	map_value_get(m, value, elem_value(h, e), flags);
	map_pool_put(&h->pool, e, env_cpu_hint());
	return 0;
}

static void value_out(struct htab *h, struct elem *e, void *to)
{
	map_value_get(&h->m, to, elem_value(h, e), BPF_F_LOCK);
}

static int hash_batch(struct map *m, u32 bucket, struct map_batch *b)
{
	return map_htab_batch(map_htab_of(m), bucket, b, value_out, map_htab_let_go);
}

const struct map_ops map_hash_ops = {
    .check = map_htab_check,
    .new = hash_new,
    .free = map_htab_free,
    .lookup = hash_lookup,
    .update = hash_update,
    .delete = map_htab_delete,
    .copy_out = hash_copy_out,
    .copy_in = hash_copy_in,
    .next_key = map_htab_next_key,
    .lookup_delete = hash_lookup_delete,
    .each = map_htab_each,
    .meta_equal = map_meta_equal,
    .batch = hash_batch,
    .memory = map_htab_memory,
    .steps = map_htab_steps,
};
