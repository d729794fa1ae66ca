/* Order of eviction; see lru.h. */
#include "lru.h"
#include <sched.h>

static void list_init(struct lru_node *order)
{
	order->prev = order->next = order;
}

static void list_push(struct lru *l, struct lru_node *n)
{
	n->prev = &l->order;
	n->next = l->order.next;
	n->next->prev = n;
	l->order.next = n;
	n->listed = true;
}

static void list_remove(struct lru_node *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	n->listed = false;
}

static void push_free(struct lru *l, struct lru_node *n)
{
	n->next = l->free;
	l->free = n;
}

int map_lru_init(struct htab *h)
{
	u32 n = h->m.flags & BPF_F_NO_COMMON_LRU ? env_possible_cpus() : 1;
	u32 each = h->m.max_entries / n;
	struct lru_node *nodes;

	h->lru = aligned_alloc(CACHE_LINE, n * sizeof(*h->lru));
	if (!h->lru)
		return -ENOMEM;
	memset(h->lru, 0, n * sizeof(*h->lru));
	h->n_lru = n;
	nodes = map_area_new((u64)h->m.max_entries * sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	for (u32 i = 0; i < n; i++) {
		list_init(&h->lru[i].order);
		h->lru[i].max = each;
		h->lru[i].nodes = nodes + (u64)i * each;
	}
	return 0;
}

void map_lru_done(struct htab *h)
{
	if (!h->lru)
		return;
	map_area_free(h->lru[0].nodes, (u64)h->m.max_entries * sizeof(struct lru_node));
	free(h->lru);
}

u64 map_lru_memory(const struct htab *h)
{
	return h->lru
		   ? h->n_lru * sizeof(struct lru) + (u64)h->m.max_entries * sizeof(struct lru_node)
		   : 0;
}

/* With the list locked: the oldest that was not looked up; those that were lose their mark and
 * become the newest. */
static struct lru_node *victim(struct lru *l)
{
	while (l->order.prev != &l->order) {
		struct lru_node *n = l->order.prev;
		struct elem *e = atomic_load_explicit(&n->elem, memory_order_relaxed);

		list_remove(n);
		if (!atomic_load_explicit(&e->ref, memory_order_relaxed))
			return n;
		atomic_store_explicit(&e->ref, 0, memory_order_relaxed);
		list_push(l, n);
	}
	return NULL;
}

/* The victim is ours already: whoever deletes its key meanwhile finds it unlisted and leaves it
 * alone. */
static void evict(struct htab *h, struct lru_node *n)
{
	struct bucket *b = htab_bucket(h, n->hash);
	_Atomic uintptr_t *at = &b->head;
	uintptr_t p;

	spin_lock(&b->lock);
	if (n->in_table) {
		struct elem *e = atomic_load_explicit(&n->elem, memory_order_relaxed);

		while ((p = atomic_load_explicit(at, memory_order_relaxed)) != (uintptr_t)e)
			at = &((struct elem *)p)->next;
		htab_unlink(at, e);
		n->in_table = false;
	}
	spin_unlock(&b->lock);
}

static struct lru_node *take(struct lru *l, bool *evicted)
{
	struct lru_node *n;

	spin_lock(&l->lock);
	n = l->free;
	*evicted = false;
	if (n) {
		l->free = n->next;
	} else if (l->made < l->max) {
		n = &l->nodes[l->made++];
		n->lru = l;
	} else {
		n = victim(l);
		*evicted = true;
	}
	spin_unlock(&l->lock);
	return n;
}

struct lru_node *map_lru_get(struct htab *h, u32 cpu)
{
	struct lru *l = &h->lru[h->n_lru > 1 ? cpu : 0];
	struct lru_node *n;
	bool evicted;
	int err;

	/* all nodes of a tiny map may be on their way in or out by other threads */
	for (int i = 0; !(n = take(l, &evicted)); i++) {
		if (i == 1000)
			return NULL;
		sched_yield();
	}
	if (evicted)
		evict(h, n);
	if (!atomic_load_explicit(&n->elem, memory_order_relaxed)) {
		struct elem *e = map_pool_make(&h->pool, &err);

		if (!e) {
			map_lru_put(n);
			return NULL;
		}
		atomic_store_explicit(&n->elem, e, memory_order_relaxed);
	}
	return n;
}

void map_lru_put(struct lru_node *n)
{
	spin_lock(&n->lru->lock);
	push_free(n->lru, n);
	spin_unlock(&n->lru->lock);
}

void map_lru_add(struct lru_node *n)
{
	n->in_table = true;
	spin_lock(&n->lru->lock);
	list_push(n->lru, n);
	spin_unlock(&n->lru->lock);
}

void map_lru_remove(struct lru_node *n)
{
	n->in_table = false;
	spin_lock(&n->lru->lock);
	if (n->listed) {
		list_remove(n);
		push_free(n->lru, n);
	}
	spin_unlock(&n->lru->lock);
}
