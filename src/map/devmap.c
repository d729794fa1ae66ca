/* DEVMAP and DEVMAP_HASH: interfaces that bpf_redirect_map() sends frames to. An array of elements
 * that need not be there, or a hash table over u32 keys. The hash is the key itself and new elements
 * stand first in their bucket, because the kernel's order of keys shows that.
 *
 * Only user space changes these maps; programs read values in place, so an element is replaced, never
 * written, and waits for readers. Does the interface exist? The host says so when it is put in. */
#include "redirect.h"
#include "array.h"
#include <net/if.h>

struct entry {
	struct env_deferred gone;
	struct entry *_Atomic next; /* in the bucket */
	u32 key;
	struct bpf_devmap_val value;
};

struct devmap {
	struct map m;
	pthread_mutex_t lock; /* over changes */
	struct entry *_Atomic *bucket;
	u32 n_buckets; /* DEVMAP: max_entries, so that each key has its own */
	u32 n;
};

static struct devmap *of(const struct map *m)
{
	return container_of(m, struct devmap, m);
}

static bool hashed(const struct map *m)
{
	return m->type == BPF_MAP_TYPE_DEVMAP_HASH;
}

/* dev_map_alloc_check() of kernel/bpf/devmap.c */
static int devmap_check(const struct map_attr *attr)
{
	if (!attr->max_entries || attr->key_size != 4 ||
	    (attr->value_size != 4 && attr->value_size != 8) ||
	    attr->flags & ~(BPF_F_NUMA_NODE | BPF_F_RDONLY | BPF_F_WRONLY))
		return -EINVAL;
	if (attr->type == BPF_MAP_TYPE_DEVMAP_HASH && attr->max_entries > 1u << 31)
		return -EINVAL; /* no power of two for its buckets */
	return 0;
}

static u32 buckets_for(const struct map_attr *attr)
{
	u32 n = 1;

	if (attr->type == BPF_MAP_TYPE_DEVMAP)
		return attr->max_entries;
	while (n < attr->max_entries)
		n *= 2;
	return n;
}

static u64 table_size(const struct devmap *d)
{
	return (u64)d->n_buckets * sizeof(*d->bucket);
}

static int devmap_new(struct map **out, const struct map_attr *attr)
{
	struct devmap *d = map_alloc(sizeof(*d), attr, map_kind(attr->type)->ops);

	if (!d)
		return -ENOMEM;
	d->m.flags |= BPF_F_RDONLY_PROG; /* user space sees the flag, too */
	pthread_mutex_init(&d->lock, NULL);
	d->n_buckets = buckets_for(attr);
	d->bucket = map_area_new(table_size(d));
	if (!d->bucket) {
		map_put(&d->m);
		return -ENOMEM;
	}
	*out = &d->m;
	return 0;
}

/* No reader is left. A huge table is looked at only as far as there are elements. */
static void devmap_free(struct map *m)
{
	struct devmap *d = of(m);

	for (u32 i = 0; d->n; i++) {
		struct entry *e = atomic_load(&d->bucket[i]);

		while (e) {
			struct entry *next = atomic_load(&e->next);

			free(e);
			d->n--;
			e = next;
		}
	}
	map_area_free(d->bucket, table_size(d));
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static struct entry *_Atomic *bucket_of(const struct devmap *d, u32 key)
{
	return &d->bucket[hashed(&d->m) ? key & (d->n_buckets - 1) : key];
}

static struct entry *find(const struct map *m, u32 key)
{
	struct entry *e;

	if (!hashed(m) && key >= m->max_entries)
		return NULL;
	e = atomic_load_explicit(bucket_of(of(m), key), memory_order_acquire);
	while (e && e->key != key)
		e = atomic_load_explicit(&e->next, memory_order_acquire);
	return e;
}

static void *devmap_lookup(struct map *m, const void *key, u32 cpu)
{
	struct entry *e = find(m, LOAD(u32, key));

	return e ? &e->value : NULL;
}

static int devmap_copy_out(struct map *m, const void *key, void *value, u64 flags)
{
	struct entry *e = find(m, LOAD(u32, key));

	if (!e)
		return -ENOENT;
	memcpy(value, &e->value, m->value_size);
	return 0;
}

/* ---- changes, with the lock held */

static void entry_gone(struct env_deferred *gone)
{
	free(container_of(gone, struct entry, gone));
}

/* Readers on e still find their way from it. */
static void unlink_entry(struct devmap *d, struct entry *e)
{
	struct entry *_Atomic *link = bucket_of(d, e->key), *at;

	while ((at = atomic_load(link)) != e)
		link = &at->next;
	atomic_store_explicit(link, atomic_load(&e->next), memory_order_release);
	d->n--;
	env_defer_node(&e->gone, entry_gone);
}

/* The new element is there before the old one goes, so that readers find one of them. */
static void link_entry(struct devmap *d, struct entry *e, struct entry *old)
{
	struct entry *_Atomic *first = bucket_of(d, e->key);

	atomic_store(&e->next, atomic_load(first));
	atomic_store_explicit(first, e, memory_order_release);
	d->n++;
	if (old)
		unlink_entry(d, old);
}

/* *out: an element of this value. The kernel's order of checks: interface, program. */
static int entry_new(struct entry **out, u32 key, struct bpf_devmap_val v)
{
	char name[IF_NAMESIZE];
	struct entry *e;

	/* 1: the loopback of the run's world, whether or not the host lets us ask */
	if (v.ifindex != 1 && !if_indextoname(v.ifindex, name))
		return -EINVAL;
	if (v.bpf_prog.fd > 0)
		return -EOPNOTSUPP; /* docs/abi.md: redirect-programs */
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->key = key;
	e->value.ifindex = v.ifindex; /* and program id 0: none */
	*out = e;
	return 0;
}

static struct bpf_devmap_val value_in(const struct map *m, const void *value)
{
	struct bpf_devmap_val v = {.bpf_prog.fd = -1};

	memcpy(&v, value, m->value_size);
	return v;
}

static int array_set(struct devmap *d, u32 key, struct bpf_devmap_val v)
{
	struct entry *e = NULL, *old = find(&d->m, key);
	int err;

	if (v.ifindex) {
		err = entry_new(&e, key, v);
		if (err)
			return err;
		link_entry(d, e, old);
	} else if (v.bpf_prog.fd > 0) {
		return -EINVAL;
	} else if (old) {
		unlink_entry(d, old); /* interface 0: empty it */
	}
	return 0;
}

static int array_copy_in(struct map *m, const void *key, const void *value, u64 flags)
{
	struct devmap *d = of(m);
	int err = redirect_check_update(m, LOAD(u32, key), flags);

	if (err)
		return err;
	pthread_mutex_lock(&d->lock);
	err = array_set(d, LOAD(u32, key), value_in(m, value));
	pthread_mutex_unlock(&d->lock);
	return err;
}

static int hash_set(struct devmap *d, u32 key, struct bpf_devmap_val v, u64 flags)
{
	struct entry *e, *old = find(&d->m, key);
	int err;

	if (old && flags & BPF_NOEXIST)
		return -EEXIST;
	err = entry_new(&e, key, v);
	if (err)
		return err;
	if (!old && d->n >= d->m.max_entries) {
		free(e);
		return -E2BIG;
	}
	link_entry(d, e, old);
	return 0;
}

/* __dev_map_hash_update_elem(): BPF_EXIST is as good as BPF_ANY */
static int hash_copy_in(struct map *m, const void *key, const void *value, u64 flags)
{
	struct bpf_devmap_val v = value_in(m, value);
	struct devmap *d = of(m);
	int err;

	if (flags > BPF_EXIST || !v.ifindex)
		return -EINVAL;
	pthread_mutex_lock(&d->lock);
	err = hash_set(d, LOAD(u32, key), v, flags);
	pthread_mutex_unlock(&d->lock);
	return err;
}

static int devmap_delete(struct map *m, const void *key)
{
	u32 k = LOAD(u32, key);
	struct devmap *d = of(m);
	struct entry *e;

	if (!hashed(m) && k >= m->max_entries)
		return -EINVAL;
	pthread_mutex_lock(&d->lock);
	e = find(m, k);
	if (e)
		unlink_entry(d, e);
	pthread_mutex_unlock(&d->lock);
	return e || !hashed(m) ? 0 : -ENOENT;
}

static int hash_next_key(struct map *m, const void *key, void *next)
{
	struct devmap *d = of(m);
	struct entry *e = key ? find(m, LOAD(u32, key)) : NULL, *after = NULL;
	u32 i = 0;

	if (e) {
		after = atomic_load_explicit(&e->next, memory_order_acquire);
		i = (e->key & (d->n_buckets - 1)) + 1;
	}
	for (; !after && i < d->n_buckets; i++)
		after = atomic_load_explicit(&d->bucket[i], memory_order_acquire);
	if (!after)
		return -ENOENT;
	STORE(u32, next, after->key);
	return 0;
}

static u64 devmap_memory(const struct map *m)
{
	return sizeof(struct devmap) + table_size(of(m)) + (u64)of(m)->n * sizeof(struct entry);
}

const struct map_ops map_devmap_ops = {
    .check = devmap_check,
    .new = devmap_new,
    .free = devmap_free,
    .lookup = devmap_lookup,
    .update = redirect_no_update,
    .delete = devmap_delete,
    .copy_out = devmap_copy_out,
    .copy_in = array_copy_in,
    .next_key = map_array_next_key,
    .meta_equal = map_meta_equal,
    .memory = devmap_memory,
};

const struct map_ops map_devmap_hash_ops = {
    .check = devmap_check,
    .new = devmap_new,
    .free = devmap_free,
    .lookup = devmap_lookup,
    .update = redirect_no_update,
    .delete = devmap_delete,
    .copy_out = devmap_copy_out,
    .copy_in = hash_copy_in,
    .next_key = hash_next_key,
    .meta_equal = map_meta_equal,
    .memory = devmap_memory,
};
