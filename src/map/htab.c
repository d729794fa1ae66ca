/* What the hash kinds share: creation and limits, hashing of long keys, taking an element out, the
 * order of keys. */
#include "htab.h"
#include "lru.h"
#include <sys/random.h>

#define HTAB_FLAGS                                                                                 \
	(BPF_F_NO_PREALLOC | BPF_F_NO_COMMON_LRU | BPF_F_NUMA_NODE | ACCESS_FLAGS | BPF_F_ZERO_SEED)
#define ELEM_HEAD_KERNEL                                                                           \
	48 /* sizeof(struct htab_elem) of the kernel, for its limit on key plus value */
#define BUCKETS_MAX (UINT32_MAX / 16) /* the kernel's limit: 16 bytes a bucket, all below 4 GiB */

struct htab *map_htab_of(struct map *m)
{
	return container_of(m, struct htab, m);
}

/* htab_map_alloc_check() of kernel/bpf/hashtab.c */
int map_htab_check(const struct map_attr *attr)
{
	bool percpu = attr->type == BPF_MAP_TYPE_PERCPU_HASH;
	bool lru = attr->type == BPF_MAP_TYPE_LRU_HASH;
	bool lru_per_cpu = attr->flags & BPF_F_NO_COMMON_LRU;

	if (attr->flags & ~HTAB_FLAGS || !access_ok(attr->flags))
		return -EINVAL;
	if (!lru && lru_per_cpu)
		return -EINVAL;
	if (lru && attr->flags & BPF_F_NO_PREALLOC)
		return -ENOTSUPP_;
	if (wants_node(attr) && (percpu || lru_per_cpu))
		return -EINVAL;
	if (!attr->max_entries || !attr->key_size || !attr->value_size)
		return -EINVAL;
	if ((u64)attr->key_size + attr->value_size >= KMALLOC_MAX - ELEM_HEAD_KERNEL)
		return -E2BIG;
	if (percpu && ROUND_UP(attr->value_size, 8u) > PERCPU_VALUE_MAX)
		return -E2BIG;
	return 0;
}

/* An LRU list per CPU means as many elements for each (htab_map_alloc). */
static u32 round_entries(u32 n, u32 cpus)
{
	return (u64)n + cpus - 1 <= UINT32_MAX ? ROUND_UP(n, cpus) : n / cpus * cpus;
}

static void seed(struct htab *h)
{
	if (!(h->m.flags & BPF_F_ZERO_SEED) &&
	    getrandom(h->seed, sizeof(h->seed), GRND_NONBLOCK) != sizeof(h->seed))
		h->seed[0] = addr_of(h); /* no entropy yet: address randomisation has to do */
	h->seed[0] ^= 0xa0761d6478bd642full;
	h->seed[1] = (h->seed[1] ^ 0xe7037ed1a0b428dbull) | 1;
}

static int new_spares(struct htab *h)
{
	h->n_spares = env_possible_cpus() + 1;
	h->spares = aligned_alloc(CACHE_LINE, h->n_spares * sizeof(*h->spares));
	if (!h->spares)
		return -ENOMEM;
	memset(h->spares, 0, h->n_spares * sizeof(*h->spares));
	return 0;
}

/* Spares are made before all others, so that a CPU never lacks its own. */
static int fill_spares(struct htab *h)
{
	int err = 0;

	for (u32 i = 0; !err && i < h->n_spares; i++)
		h->spares[i].e = map_pool_make(&h->pool, &err);
	return err;
}

static int init(struct htab *h, u32 value_size, bool spares)
{
	bool percpu = h->m.type == BPF_MAP_TYPE_PERCPU_HASH;
	u32 n_buckets = h->mask + 1;
	int err = spares ? new_spares(h) : 0;

	if (err)
		return err;
	h->value_off = sizeof(struct elem) + ROUND_UP(h->m.key_size, 8u);
	h->pool.value_off = h->value_off;
	h->pool.cpu_value_size = percpu ? ROUND_UP(h->m.value_size, 8u) : 0;
	h->pool.elem_size = h->value_off + (percpu ? sizeof(void *) : ROUND_UP(value_size, 8u));
	h->pool.max = h->m.max_entries + h->n_spares;
	h->buckets = map_area_new((u64)n_buckets * sizeof(struct bucket));
	if (!h->buckets)
		return -ENOMEM;
	err = map_pool_init(&h->pool, !(h->m.flags & BPF_F_NO_PREALLOC));
	return err ? err : fill_spares(h);
}

int map_htab_new(struct htab **out, const struct map_attr *attr, const struct map_ops *ops,
		 u32 value_size, bool spares)
{
	u64 n_buckets = round_up_pow2(attr->max_entries);
	struct htab *h;
	int err;

	if (n_buckets > BUCKETS_MAX)
		return -E2BIG;
	h = map_alloc(sizeof(*h), attr, ops);
	if (!h)
		return -ENOMEM;
	if (attr->flags & BPF_F_NO_COMMON_LRU)
		h->m.max_entries = round_entries(attr->max_entries, env_possible_cpus());
	h->mask = round_up_pow2(h->m.max_entries) - 1;
	pthread_mutex_init(&h->user_lock, NULL);
	seed(h);
	err = init(h, value_size, spares);
	if (err) {
		map_put(&h->m);
		return err;
	}
	*out = h;
	return 0;
}

void map_htab_free(struct map *m)
{
	struct htab *h = map_htab_of(m);

	map_lru_done(h);
	map_pool_done(&h->pool);
	map_area_free(h->buckets, ((u64)h->mask + 1) * sizeof(struct bucket));
	free(h->spares);
	pthread_mutex_destroy(&h->user_lock);
	free(h);
}

/* 16 bytes a step; the last step overlaps the one before it. */
u32 map_hash_long(const u64 seed[2], const u8 *key, u32 size)
{
	u64 acc = seed[0] ^ size;
	u64 a, b;

	for (; size > 16; size -= 16, key += 16)
		acc = fold(LOAD(u64, key) ^ seed[1], LOAD(u64, key + 8) ^ acc);
	if (size >= 8) {
		a = LOAD(u64, key);
		b = LOAD(u64, key + size - 8);
	} else if (size >= 4) {
		a = LOAD(u32, key);
		b = LOAD(u32, key + size - 4);
	} else {
		a = (u64)key[0] << 16 | key[size / 2] << 8 | key[size - 1];
		b = 0;
	}
	acc = fold(a ^ seed[1], b ^ acc);
	return fold(acc ^ seed[0], seed[1]);
}

struct elem *map_htab_take(struct htab *h, const void *key)
{
	u32 hash = htab_hash(h, key);
	struct bucket *b = htab_bucket(h, hash);
	_Atomic uintptr_t *link;
	struct elem *e;

	spin_lock(&b->lock);
	e = htab_find_locked(h, b, key, hash, &link);
	if (e)
		htab_unlink(link, e);
	spin_unlock(&b->lock);
	return e;
}

int map_htab_delete(struct map *m, const void *key)
{
	struct htab *h = map_htab_of(m);
	struct elem *e = map_htab_take(h, key);

	if (!e)
		return -ENOENT;
	map_pool_put(&h->pool, e, env_cpu_hint());
	return 0;
}

/* The first key of bucket i or of a later one. A chain may change under the walk: then some key of
 * it comes out, or the next bucket's, which is what next_key promises. */
static int first_from(const struct htab *h, u64 i, void *next)
{
	for (; i <= h->mask; i++) {
		uintptr_t p = atomic_load_explicit(&h->buckets[i].head, memory_order_acquire);

		if (is_end(p))
			continue;
		copy_value(next, ((struct elem *)p)->key, h->m.key_size);
		return 0;
	}
	return -ENOENT;
}

int map_htab_next_key(struct map *m, const void *key, void *next)
{
	struct htab *h = map_htab_of(m);
	struct elem *e;
	uintptr_t p;
	u32 hash;

	if (!key)
		return first_from(h, 0, next);
	hash = htab_hash(h, key);
	e = htab_find(h, key, hash);
	if (!e)
		return first_from(h, 0, next);
	p = atomic_load_explicit(&e->next, memory_order_acquire);
	if (is_end(p))
		return first_from(h, (u64)(hash & h->mask) + 1, next);
	copy_value(next, ((struct elem *)p)->key, h->m.key_size);
	return 0;
}

/* ---- batches */

static u32 chain_length(struct bucket *b)
{
	uintptr_t p = atomic_load_explicit(&b->head, memory_order_relaxed);
	u32 n = 0;

	for (; !is_end(p); n++)
		p = atomic_load_explicit(&((struct elem *)p)->next, memory_order_relaxed);
	return n;
}

void map_htab_let_go(struct htab *h, struct elem *e)
{
	map_pool_put(&h->pool, e, env_cpu_hint());
}

int map_htab_batch(struct htab *h, u32 bucket, struct map_batch *out,
		   void (*value_out)(struct htab *h, struct elem *e, void *to),
		   void (*let_go)(struct htab *h, struct elem *e))
{
	u32 key_size = h->m.key_size, value_size = map_user_value_size(&h->m);
	struct bucket *b = &h->buckets[bucket];
	uintptr_t p, next;

	out->n = 0;
	if (is_end(atomic_load_explicit(&b->head, memory_order_relaxed)))
		return 0;
	spin_lock(&b->lock);
	out->n = chain_length(b);
	if (out->n > out->room) {
		spin_unlock(&b->lock);
		return -ENOSPC;
	}
	p = atomic_load_explicit(&b->head, memory_order_relaxed);
	for (u32 i = 0; !is_end(p); i++, p = next) {
		struct elem *e = (struct elem *)p;

		next = atomic_load_explicit(&e->next, memory_order_relaxed);
		copy_value(out->keys + (u64)i * key_size, e->key, key_size);
		value_out(h, e, out->values + (u64)i * value_size);
		if (out->remove) {
			htab_unlink(&b->head, e);
			let_go(h, e);
		}
	}
	spin_unlock(&b->lock);
	return 0;
}

u64 map_htab_steps(struct map *m, const void *key)
{
	struct htab *h = map_htab_of(m);
	u32 hash = htab_hash(h, key);
	u64 steps = 1;
	uintptr_t p;

	env_read_lock();
	p = atomic_load_explicit(&htab_bucket(h, hash)->head, memory_order_acquire);
	for (; !is_end(p); steps++) {
		struct elem *e = (struct elem *)p;

		if (atomic_load_explicit(&e->hash, memory_order_relaxed) == hash &&
		    key_equal(e->key, key, m->key_size))
			break;
		p = atomic_load_explicit(&e->next, memory_order_acquire);
	}
	env_read_unlock();
	return steps;
}

u64 map_htab_memory(const struct map *m)
{
	struct htab *h = map_htab_of((struct map *)m); /* its lock is taken */

	return sizeof(*h) + ((u64)h->mask + 1) * sizeof(struct bucket) + map_pool_memory(&h->pool) +
	       h->n_spares * sizeof(*h->spares) + map_lru_memory(h);
}
