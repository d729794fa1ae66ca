/* HASH_OF_MAPS: a hash table whose values are maps. A program's look-up gives the map itself, user
 * space's its id. Only user space changes it. The pointer in an element that is taken out becomes
 * NULL at once; the map goes once nobody inside can have found it. */
#include "htab.h"
#include "inner.h"

/* What an element keeps as its value. */
struct entry {
	struct map *_Atomic map;
	struct held *held; /* under the bucket's lock */
};

static struct entry *entry_of(const struct htab *h, struct elem *e)
{
	return elem_value(h, e);
}

/* fd_htab_map_alloc_check() of kernel/bpf/hashtab.c */
static int hash_of_maps_check(const struct map_attr *attr)
{
	return attr->value_size == sizeof(u32) ? map_htab_check(attr) : -EINVAL;
}

static int hash_of_maps_new(struct map **out, const struct map_attr *attr)
{
	struct map *template = NULL;
	struct htab *h;
	int err = map_inner_new(&template, attr);

	if (!err)
		err = map_htab_new(&h, attr, &map_hash_of_maps_ops, sizeof(struct entry), false);
	if (err) {
		map_inner_free(template);
		return err;
	}
	h->m.inner = template;
	*out = &h->m;
	return 0;
}

/* The element is unlinked: only readers are on it. */
static void drop(struct htab *h, struct elem *e)
{
	struct entry *n = entry_of(h, e);

	atomic_store_explicit(&n->map, NULL, memory_order_relaxed);
	map_held_drop(n->held);
	n->held = NULL;
}

static void drop_each(struct elem *e, void *arg)
{
	drop(arg, e);
}

static void hash_of_maps_free(struct map *m)
{
	struct htab *h = map_htab_of(m);

	map_pool_each(&h->pool, drop_each, h);
	map_inner_free(m->inner);
	map_htab_free(m);
}

static void *hash_of_maps_lookup(struct map *m, const void *key, u32 cpu)
{
	struct htab *h = container_of(m, struct htab, m);
	struct elem *e = htab_find(h, key, htab_hash(h, key));

	return e ? atomic_load_explicit(&entry_of(h, e)->map, memory_order_acquire) : NULL;
}

static int hash_of_maps_update(struct map *m, const void *key, const void *value, u64 flags,
			       u32 cpu)
{
	return -EINVAL; /* programs can't: the verifier refuses it */
}

/* With the bucket locked. *held becomes what the new map replaces. */
static int put_in(struct htab *h, struct bucket *b, const void *key, u32 hash, struct map *inner,
		  u64 flags, struct held **held)
{
	_Atomic uintptr_t *link;
	struct elem *old = htab_find_locked(h, b, key, hash, &link), *e = old;
	int err = htab_check_flags(old, flags);
	struct held *was = NULL;

	if (err)
		return err;
	if (!old) {
		err = -E2BIG;
		e = map_pool_get(&h->pool, env_cpu_hint(), &err);
		if (!e)
			return err;
		htab_set_key(h, e, key, hash);
	} else {
		was = entry_of(h, old)->held;
	}
	entry_of(h, e)->held = *held;
	atomic_store_explicit(&entry_of(h, e)->map, inner, memory_order_release);
	if (!old)
		htab_link(h, b, e);
	*held = was;
	return 0;
}

int map_hash_of_maps_set(struct map *m, const void *key, struct map *inner, u64 flags)
{
	struct htab *h = map_htab_of(m);
	u32 hash = htab_hash(h, key);
	struct bucket *b = htab_bucket(h, hash);
	struct held *held;
	int err = 0;

	if (flags > BPF_EXIST)
		return -EINVAL;
	held = map_held_new(&inner->obj);
	if (!held)
		return -ENOMEM;
	atomic_fetch_add(&m->write_users, 1);
	if (atomic_load(&m->frozen))
		err = -EPERM;
	if (!err) {
		spin_lock(&b->lock);
		err = put_in(h, b, key, hash, inner, flags, &held);
		spin_unlock(&b->lock);
	}
	atomic_fetch_sub(&m->write_users, 1);
	if (err)
		map_held_free(held);
	else
		map_held_drop(held);
	return err;
}

static void let_go(struct htab *h, struct elem *e)
{
	drop(h, e);
	map_htab_let_go(h, e);
}

static int hash_of_maps_delete(struct map *m, const void *key)
{
	struct htab *h = map_htab_of(m);
	struct elem *e = map_htab_take(h, key);

	if (!e)
		return -ENOENT;
	let_go(h, e);
	return 0;
}

static int hash_of_maps_copy_out(struct map *m, const void *key, void *value, u64 flags)
{
	struct map *inner = hash_of_maps_lookup(m, key, 0);

	if (!inner)
		return -ENOENT;
	STORE(u32, value, inner->obj.id);
	return 0;
}

static void id_out(struct htab *h, struct elem *e, void *to)
{
	STORE(u32, to, entry_of(h, e)->held->obj->id);
}

static int hash_of_maps_batch(struct map *m, u32 bucket, struct map_batch *b)
{
	return map_htab_batch(map_htab_of(m), bucket, b, id_out, let_go);
}

const struct map_ops map_hash_of_maps_ops = {
    .check = hash_of_maps_check,
    .new = hash_of_maps_new,
    .free = hash_of_maps_free,
    .lookup = hash_of_maps_lookup,
    .update = hash_of_maps_update,
    .delete = hash_of_maps_delete,
    .copy_out = hash_of_maps_copy_out,
    .next_key = map_htab_next_key,
    .batch = hash_of_maps_batch,
    .memory = map_htab_memory,
    .steps = map_htab_steps,
};
