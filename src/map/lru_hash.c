/* LRU_HASH: a hash table that is never full: a new key takes the place of the one that was not used
 * for longest (lru.h). */
#include "lru.h"

static int lru_hash_new(struct map **out, const struct map_attr *attr)
{
	struct htab *h;
	int err = map_htab_new(&h, attr, &map_lru_hash_ops, attr->value_size, true);

	if (err)
		return err;
	err = map_lru_init(h);
	if (err) {
		map_put(&h->m);
		return err;
	}
	*out = &h->m;
	return 0;
}

static struct elem *find(const struct htab *h, const void *key)
{
	return htab_find(h, key, htab_hash(h, key));
}

/* The mark is written only when it is missing, so that look-ups of hot keys share the cache line.
 */
static void *lru_hash_lookup(struct map *m, const void *key, u32 cpu)
{
	struct htab *h = container_of(m, struct htab, m);
	struct elem *e = find(h, key);

	if (!e)
		return NULL;
	if (!atomic_load_explicit(&e->ref, memory_order_relaxed))
		atomic_store_explicit(&e->ref, 1, memory_order_relaxed);
	return elem_value(h, e);
}

static void fill(const struct htab *h, struct elem *e, const void *key, u32 hash, const void *value,
		 u32 ref)
{
	htab_set_key(h, e, key, hash);
	map_value_set(&h->m, elem_value(h, e), value);
	atomic_store_explicit(&e->ref, ref, memory_order_relaxed);
}

/* With the bucket locked. An updated key counts as used. */
static void replace(struct htab *h, _Atomic uintptr_t *link, struct elem *old, const void *key,
		    const void *value, struct spare *spare)
{
	struct elem *e = spare->e;

	fill(h, e, key, atomic_load_explicit(&old->hash, memory_order_relaxed), value, 1);
	e->node = old->node;
	atomic_store_explicit(&e->node->elem, e, memory_order_relaxed);
	htab_replace(link, old, e);
	spare->e = old;
}

/* True: the key is there and was replaced, or the flags forbid it; then *err is the answer. */
static bool update_present(struct htab *h, struct bucket *b, u32 hash, const void *key,
			   const void *value, u64 flags, struct spare *spare, int *err)
{
	_Atomic uintptr_t *link;
	struct elem *old = htab_find_locked(h, b, key, hash, &link);

	*err = htab_check_flags(old, flags);
	if (*err)
		return true;
	if (old)
		replace(h, link, old, key, value, spare);
	return old;
}

static int update(struct htab *h, const void *key, const void *value, u64 flags,
		  struct spare *spare, u32 cpu)
{
	u32 hash = htab_hash(h, key);
	struct bucket *b = htab_bucket(h, hash);
	struct lru_node *n;
	bool done;
	int err;

	if (unlikely(flags > BPF_EXIST))
		return -EINVAL;
	if (htab_find(h, key, hash) || flags == BPF_EXIST) {
		spin_lock(&b->lock);
		done = update_present(h, b, hash, key, value, flags, spare, &err);
		spin_unlock(&b->lock);
		if (done)
			return err;
	}
	n = map_lru_get(h, cpu); /* evicts: not with a bucket locked */
	if (!n)
		return -ENOMEM;
	spin_lock(&b->lock);
	done = update_present(h, b, hash, key, value, flags, spare, &err);
	if (!done) {
		struct elem *e = atomic_load_explicit(&n->elem, memory_order_relaxed);

		fill(h, e, key, hash, value, 0);
		e->node = n;
		n->hash = hash;
		htab_link(h, b, e);
		map_lru_add(n);
	}
	spin_unlock(&b->lock);
	if (done)
		map_lru_put(n);
	return err;
}

static int lru_hash_update(struct map *m, const void *key, const void *value, u64 flags, u32 cpu)
{
	struct htab *h = container_of(m, struct htab, m);

	return update(h, key, value, flags, &h->spares[cpu], cpu);
}

/* value NULL: plain delete. It is read before the element is free for another key. */
static int take_out(struct htab *h, const void *key, void *value)
{
	u32 hash = htab_hash(h, key);
	struct bucket *b = htab_bucket(h, hash);
	_Atomic uintptr_t *link;
	struct elem *e;

	spin_lock(&b->lock);
	e = htab_find_locked(h, b, key, hash, &link);
	if (e) {
		if (value)
			map_value_get(&h->m, value, elem_value(h, e), 0);
		htab_unlink(link, e);
		map_lru_remove(e->node);
	}
	spin_unlock(&b->lock);
	return e ? 0 : -ENOENT;
}

static int lru_hash_delete(struct map *m, const void *key)
{
	return take_out(map_htab_of(m), key, NULL);
}

static int lru_hash_lookup_delete(struct map *m, void *key, void *value, u64 flags)
{
	return take_out(map_htab_of(m), key, value);
}

/* User space looking (bpftool map dump) does not make a key count as used. */
static int lru_hash_copy_out(struct map *m, const void *key, void *value, u64 flags)
{
	struct htab *h = map_htab_of(m);
	struct elem *e = find(h, key);

	if (!e)
		return -ENOENT;
	map_value_get(m, value, elem_value(h, e), 0);
	return 0;
}

static int lru_hash_copy_in(struct map *m, const void *key, const void *value, u64 flags)
{
	struct htab *h = map_htab_of(m);
	int err;

	pthread_mutex_lock(&h->user_lock);
	err = update(h, key, value, flags, &h->spares[env_possible_cpus()], env_cpu_hint());
	pthread_mutex_unlock(&h->user_lock);
	return err;
}

static void value_out(struct htab *h, struct elem *e, void *to)
{
	map_value_get(&h->m, to, elem_value(h, e), 0);
}

static void let_go(struct htab *h, struct elem *e)
{
	map_lru_remove(e->node);
}

static int lru_hash_batch(struct map *m, u32 bucket, struct map_batch *b)
{
	return map_htab_batch(map_htab_of(m), bucket, b, value_out, let_go);
}

const struct map_ops map_lru_hash_ops = {
    .check = map_htab_check,
    .new = lru_hash_new,
    .free = map_htab_free,
    .lookup = lru_hash_lookup,
    .update = lru_hash_update,
    .delete = lru_hash_delete,
    .copy_out = lru_hash_copy_out,
    .copy_in = lru_hash_copy_in,
    .next_key = map_htab_next_key,
    .lookup_delete = lru_hash_lookup_delete,
    .each = map_htab_each,
    .meta_equal = map_meta_equal,
    .batch = lru_hash_batch,
    .memory = map_htab_memory,
    .steps = map_htab_steps,
};
