/* The order in which an LRU map gives up its keys. Private to map.
 *
 * One list, newest first. A program's look-up only marks the element (no lock); the search for a
 * victim goes from the oldest on and gives marked ones a second chance at the front. Without
 * look-ups in between this is the exact order of insertion. With BPF_F_NO_COMMON_LRU each CPU has a
 * list of its own with an equal part of the elements.
 *
 * A key's place (node) and its data (element) are two things: an update swaps the element and
 * leaves the place, so that it needs no lock besides the bucket's. Locks: a bucket's, then a
 * list's; never a bucket's while holding a list's. */
#ifndef MAP_LRU_H
#define MAP_LRU_H
#include "htab.h"

struct lru_node {
	struct lru_node *prev, *next; /* while listed; next also on the free list */
	struct elem *_Atomic elem;    /* changed under the bucket's lock; NULL: not made yet */
	struct lru *lru;
	u32 hash;      /* of its key; constant while in the table */
	bool listed;   /* under the list's lock; false in the table: being evicted */
	bool in_table; /* under the bucket's lock */
};

struct lru {
	struct spinlock lock;
	u32 made, max;
	struct lru_node order; /* sentinel */
	struct lru_node *free;
	struct lru_node *nodes; /* `max` of them, in one area with those of the other lists */
} __attribute__((aligned(CACHE_LINE)));

int map_lru_init(struct htab *h);
void map_lru_done(struct htab *h); /* nothing for other kinds */
u64 map_lru_memory(const struct htab *h);

/* A node with an element that is in no table and on no list: a free one, or the victim of an
 * eviction. NULL: -ENOMEM. */
struct lru_node *map_lru_get(struct htab *h, u32 cpu);
void map_lru_put(struct lru_node *n);
/* With the bucket locked: node and element are now in the table; or out of it, the element unlinked
 * already. */
void map_lru_add(struct lru_node *n);
void map_lru_remove(struct lru_node *n);

#endif
