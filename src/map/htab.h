/* The table under HASH, PERCPU_HASH and LRU_HASH: chains of elements per bucket, look-ups without
 * locks, one lock a bucket for writers. Private to map.
 *
 * Elements are type-stable: a freed one is used again at once for another key, as in the kernel,
 * but its memory stays an element until the map is gone. A reader that stands on an element while
 * it moves to another chain ends at that chain's end marker, sees a foreign bucket number there,
 * and starts over. */
#ifndef MAP_HTAB_H
#define MAP_HTAB_H
#include "private.h"

struct lru;
struct lru_node;

struct elem {
	_Atomic uintptr_t next; /* element, or end marker: bucket number * 2 + 1. Kept when freed,
				   for readers on it */
	union {
		struct elem *free_next; /* while free */
		struct lru_node *node;	/* LRU: its place in the order, also while free */
	};
	_Atomic u32 hash;
	_Atomic u32 ref; /* LRU: a program looked it up since it was last considered for eviction */
	u8 key[];	 /* then, 8-aligned, the value; or the pointer to the values per CPU */
};

struct bucket {
	_Atomic uintptr_t head; /* 0: never used, like an end marker of this bucket */
	struct spinlock lock;
};

/* Elements: made one after the other as they are first needed, freed to a list per CPU, from there
 * to the chunks they were made of: pool.c */
struct pool_list {
	struct spinlock lock;
	u32 n;
	struct elem *first;
} __attribute__((aligned(CACHE_LINE)));

struct pool_chunk;
struct pool {
	struct spinlock lock; /* over the chunks */
	u32 elem_size, per_chunk, list_long, max, made;
	u32 cpu_value_size; /* 0, or bytes of one CPU's value */
	u32 value_off;
	u64 cpu_stride;	 /* from an element's value on one CPU to the next CPU's */
	u64 chunk_align; /* of chunks that come and go; 0: preallocated, one that stays */
	struct pool_chunk *chunks, *with_free;
	u32 n_lists;
	struct pool_list *lists;
};

int map_pool_init(struct pool *p, bool prealloc); /* sizes and max are set */
void map_pool_done(struct pool *p);
struct elem *map_pool_make(struct pool *p,
			   int *err); /* not a CPU's free one; NULL: -E2BIG all made, -ENOMEM */
struct elem *map_pool_get(struct pool *p, u32 cpu, int *err);
void map_pool_put(struct pool *p, struct elem *e, u32 cpu);
u64 map_pool_memory(struct pool *p);
void map_pool_each(struct pool *p, void (*fn)(struct elem *e, void *arg),
		   void *arg); /* all ever made; nobody uses the map */

struct htab {
	struct map m;
	struct bucket *buckets;
	u32 mask;      /* buckets - 1 */
	u32 value_off; /* from the element */
	u64 seed[2];
	struct pool pool;
	u32 n_spares;
	struct spare {
		struct elem *e;
	} __attribute__((aligned(CACHE_LINE))) *
	    spares; /* per CPU, then one for the user side under user_lock */
	pthread_mutex_t user_lock;
	struct lru *lru; /* LRU: one, or one per CPU */
	u32 n_lru;
};

struct htab *map_htab_of(struct map *m);
int map_htab_check(const struct map_attr *attr);
/* value_size: of what an element keeps as its value; spares: elements besides those of the map's,
 * for replacing */
int map_htab_new(struct htab **out, const struct map_attr *attr, const struct map_ops *ops,
		 u32 value_size, bool spares);
void map_htab_free(struct map *m);
int map_htab_next_key(struct map *m, const void *key, void *next);
u64 map_htab_steps(struct map *m, const void *key);
u64 map_htab_memory(const struct map *m);
int map_htab_delete(struct map *m, const void *key);
/* map_ops.batch with the kind's way of copying a value out (whole, as user space sees it) and, for
 * removal, of letting go of an element that was just unlinked; both with the bucket locked. */
int map_htab_batch(struct htab *h, u32 bucket, struct map_batch *b,
		   void (*value_out)(struct htab *h, struct elem *e, void *to),
		   void (*let_go)(struct htab *h, struct elem *e));
void map_htab_let_go(struct htab *h, struct elem *e); /* into the pool */
/* Unlink the element of key for lookup_delete and delete: returned out of the table, still unfreed,
 * bucket unlocked. */
struct elem *map_htab_take(struct htab *h, const void *key);

/* ---- hashing: multiply and fold (the mixing step of wyhash, public domain), secret per map */

static inline u64 fold(u64 a, u64 b)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	return (u64)p ^ (u64)(p >> 64);
}

u32 map_hash_long(const u64 seed[2], const u8 *key, u32 size);

static inline u32 htab_hash(const struct htab *h, const void *key)
{
	switch (h->m.key_size) {
	case 4:
		return fold(LOAD(u32, key) ^ h->seed[0], h->seed[1]);
	case 8:
		return fold(LOAD(u64, key) ^ h->seed[0], h->seed[1]);
	default:
		return map_hash_long(h->seed, key, h->m.key_size);
	}
}

RACY static inline bool key_equal(const void *a, const void *b, u32 size)
{
	switch (size) {
	case 4:
		return LOAD(u32, a) == LOAD(u32, b);
	case 8:
		return LOAD(u64, a) == LOAD(u64, b);
	case 16:
		return ((LOAD(u64, a) ^ LOAD(u64, b)) |
			(LOAD(u64, (u8 *)a + 8) ^ LOAD(u64, (u8 *)b + 8))) == 0;
	default:
		return !memcmp(a, b, size);
	}
}

static inline uintptr_t end_marker(u32 bucket)
{
	return (uintptr_t)bucket << 1 | 1;
}

static inline bool is_end(uintptr_t p)
{
	return p & 1 || !p;
}

/* Look up without a lock. */
static inline struct elem *htab_find(const struct htab *h, const void *key, u32 hash)
{
	u32 i = hash & h->mask, size = h->m.key_size;
	uintptr_t p;

	do {
		p = atomic_load_explicit(&h->buckets[i].head, memory_order_acquire);
		while (!is_end(p)) {
			struct elem *e = (struct elem *)p;

			if (atomic_load_explicit(&e->hash, memory_order_relaxed) == hash &&
			    key_equal(e->key, key, size))
				return e;
			p = atomic_load_explicit(&e->next, memory_order_acquire);
		}
	} while (unlikely(p && p != end_marker(i)));
	return NULL;
}

/* With the bucket locked: the element and the link that points at it. */
static inline struct elem *htab_find_locked(struct htab *h, struct bucket *b, const void *key,
					    u32 hash, _Atomic uintptr_t **link)
{
	_Atomic uintptr_t *at = &b->head;
	uintptr_t p;

	while (!is_end(p = atomic_load_explicit(at, memory_order_relaxed))) {
		struct elem *e = (struct elem *)p;

		if (atomic_load_explicit(&e->hash, memory_order_relaxed) == hash &&
		    key_equal(e->key, key, h->m.key_size)) {
			*link = at;
			return e;
		}
		at = &e->next;
	}
	return NULL;
}

static inline struct bucket *htab_bucket(const struct htab *h, u32 hash)
{
	return &h->buckets[hash & h->mask];
}

static inline void htab_set_key(const struct htab *h, struct elem *e, const void *key, u32 hash)
{
	atomic_store_explicit(&e->hash, hash, memory_order_relaxed);
	copy_value(e->key, key, h->m.key_size);
}

/* The three changes of a chain, with the bucket locked. */
static inline void htab_link(const struct htab *h, struct bucket *b, struct elem *e)
{
	uintptr_t head = atomic_load_explicit(&b->head, memory_order_relaxed);

	atomic_store_explicit(&e->next, head ? head : end_marker(b - h->buckets),
			      memory_order_relaxed);
	atomic_store_explicit(&b->head, (uintptr_t)e, memory_order_release);
}

static inline void htab_unlink(_Atomic uintptr_t *link, struct elem *e)
{
	atomic_store_explicit(link, atomic_load_explicit(&e->next, memory_order_relaxed),
			      memory_order_release);
}

/* In the old one's place, so that a reader finds one of the two. */
static inline void htab_replace(_Atomic uintptr_t *link, struct elem *old, struct elem *e)
{
	atomic_store_explicit(&e->next, atomic_load_explicit(&old->next, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(link, (uintptr_t)e, memory_order_release);
}

static inline void *elem_value(const struct htab *h, struct elem *e)
{
	return (u8 *)e + h->value_off;
}

static inline void *elem_cpu_value(const struct htab *h, struct elem *e, u32 cpu)
{
	return *(u8 **)((u8 *)e + h->value_off) + cpu * h->pool.cpu_stride;
}

/* check_flags() of kernel/bpf/hashtab.c */
static inline int htab_check_flags(const struct elem *old, u64 flags)
{
	if (old && flags == BPF_NOEXIST)
		return -EEXIST;
	return !old && flags == BPF_EXIST ? -ENOENT : 0;
}

#endif
