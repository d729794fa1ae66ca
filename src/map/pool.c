/* The elements of a hash table, made as they are first needed.
 *
 * A preallocated map has one area for all; freed elements wait on a list per CPU. Another map has
 * chunks; its lists per CPU are short, what is freed beyond goes back to its chunk, and a chunk
 * that is all free to the system, once no reader can be on its elements. Before a map counts as
 * full an element is taken from wherever one is.
 *
 * Values per CPU lie in areas of their own beside the elements of a chunk, one for each CPU.
 * Locks: a list's, then the pool's. */
#include "htab.h"

#define CHUNK_BYTES (256u << 10)
#define LIST_LONG   64u /* elements kept per CPU, or as many as a chunk has */

/* The beginning of its own area, which is aligned so that an element finds it. */
struct pool_chunk {
	struct env_deferred gone;
	struct pool_chunk *next, **link; /* all chunks */
	struct pool_chunk *next_free,
	    **free_link; /* those with free elements; link NULL: not there */
	struct elem *free;
	u32 n_free, carved; /* carved: elements made of it */
	u64 size;
	u8 *elems, *values;
};
#define HEAD ROUND_UP(sizeof(struct pool_chunk), (size_t)CACHE_LINE)

/* ---- chunks; under the pool's lock */

static u64 elems_size(const struct pool *p)
{
	return ROUND_UP(HEAD + (u64)p->per_chunk * p->elem_size, 4096ull);
}

static u64 chunk_size(const struct pool *p)
{
	u64 size = elems_size(p);

	return p->cpu_value_size ? size + p->cpu_stride * env_possible_cpus() : size;
}

static void *aligned_area(u64 size, u64 align)
{
	u8 *all = map_area_new(size + align), *at;

	if (!all)
		return NULL;
	at = ptr_of(ROUND_UP(addr_of(all), align));
	if (at > all)
		map_area_free(all, at - all);
	map_area_free(at + size, all + align - at);
	return at;
}

static int add_chunk(struct pool *p)
{
	struct pool_chunk *c;

	if (p->chunk_align)
		c = aligned_area(chunk_size(p), p->chunk_align);
	else
		c = map_area_new(chunk_size(p));
	if (!c)
		return -ENOMEM;
	c->size = chunk_size(p);
	c->elems = (u8 *)c + HEAD;
	c->values = (u8 *)c + elems_size(p);
	c->next = p->chunks;
	c->link = &p->chunks;
	if (c->next)
		c->next->link = &c->next;
	p->chunks = c;
	return 0;
}

static struct pool_chunk *chunk_of(const struct pool *p, const struct elem *e)
{
	return ptr_of(addr_of(e) & ~(p->chunk_align - 1));
}

static void list_free(struct pool *p, struct pool_chunk *c)
{
	c->next_free = p->with_free;
	c->free_link = &p->with_free;
	if (c->next_free)
		c->next_free->free_link = &c->next_free;
	p->with_free = c;
}

static void unlist_free(struct pool_chunk *c)
{
	*c->free_link = c->next_free;
	if (c->next_free)
		c->next_free->free_link = c->free_link;
	c->free_link = NULL;
}

static void unlink_chunk(struct pool *p, struct pool_chunk *c)
{
	unlist_free(c);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	p->made -= c->carved;
}

static void chunk_gone(struct env_deferred *d)
{
	struct pool_chunk *c = container_of(d, struct pool_chunk, gone);

	map_area_free(c, c->size);
}

/* An element back to its chunk. The chunk, when that was the last one out: unlinked, for the caller
 * to let go. The newest stays: elements are made of it. */
static struct pool_chunk *give_back(struct pool *p, struct elem *e)
{
	struct pool_chunk *c = chunk_of(p, e);

	e->free_next = c->free;
	c->free = e;
	c->n_free++;
	if (!c->free_link)
		list_free(p, c);
	if (c->n_free < c->carved || c == p->chunks)
		return NULL;
	unlink_chunk(p, c);
	return c;
}

static struct elem *take_back(struct pool *p)
{
	struct pool_chunk *c = p->with_free;
	struct elem *e;

	if (!c)
		return NULL;
	e = c->free;
	c->free = e->free_next;
	if (!--c->n_free)
		unlist_free(c);
	return e;
}

static struct elem *make(struct pool *p, int *err)
{
	struct pool_chunk *c = p->chunks;
	struct elem *e;

	if (p->made == p->max) {
		*err = -E2BIG;
		return NULL;
	}
	if (!c || c->carved == p->per_chunk) {
		*err = add_chunk(p);
		if (*err)
			return NULL;
		c = p->chunks;
	}
	e = (struct elem *)(c->elems + (u64)c->carved * p->elem_size);
	if (p->cpu_value_size)
		*(u8 **)((u8 *)e + p->value_off) = c->values + (u64)c->carved * p->cpu_value_size;
	c->carved++;
	p->made++;
	return e;
}

/* ---- the pool */

int map_pool_init(struct pool *p, bool prealloc)
{
	u64 unit = p->elem_size + (u64)p->cpu_value_size * env_possible_cpus();

	p->per_chunk = prealloc ? p->max : MIN(p->max, (u32)MAX((CHUNK_BYTES - HEAD) / unit, 1ull));
	p->list_long = MIN(p->per_chunk, LIST_LONG);
	p->chunk_align = prealloc ? 0 : round_up_pow2(elems_size(p));
	p->cpu_stride = ROUND_UP((u64)p->per_chunk * p->cpu_value_size, 4096ull);
	p->n_lists = env_possible_cpus();
	p->lists = aligned_alloc(CACHE_LINE, p->n_lists * sizeof(*p->lists));
	if (!p->lists)
		return -ENOMEM;
	memset(p->lists, 0, p->n_lists * sizeof(*p->lists));
	return prealloc ? add_chunk(p) : 0;
}

void map_pool_done(struct pool *p)
{
	struct pool_chunk *c, *next;

	for (c = p->chunks; c; c = next) {
		next = c->next;
		map_area_free(c, c->size);
	}
	free(p->lists);
}

struct elem *map_pool_make(struct pool *p, int *err)
{
	struct elem *e;

	spin_lock(&p->lock);
	e = take_back(p);
	if (!e)
		e = make(p, err);
	spin_unlock(&p->lock);
	return e;
}

static struct elem *pop(struct pool_list *l)
{
	struct elem *e;

	spin_lock(&l->lock);
	e = l->first;
	if (e) {
		l->first = e->free_next;
		l->n--;
	}
	spin_unlock(&l->lock);
	return e;
}

struct elem *map_pool_get(struct pool *p, u32 cpu, int *err)
{
	struct elem *e = pop(&p->lists[cpu]);

	if (e)
		return e;
	e = map_pool_make(p, err);
	if (e || *err != -E2BIG)
		return e;
	for (u32 i = 1; !e && i < p->n_lists; i++)
		e = pop(&p->lists[(cpu + i) % p->n_lists]);
	return e;
}

/* Some of the list's elements back to their chunks; its lock is held. Those chunks that are all
 * free then: a list by next_free. */
static struct pool_chunk *shorten(struct pool *p, struct pool_list *l)
{
	struct pool_chunk *all_free = NULL, *c;

	spin_lock(&p->lock);
	for (u32 i = 0; i < (p->list_long + 1) / 2; i++) {
		struct elem *e = l->first;

		l->first = e->free_next;
		l->n--;
		c = give_back(p, e);
		if (c) {
			c->next_free = all_free;
			all_free = c;
		}
	}
	spin_unlock(&p->lock);
	return all_free;
}

void map_pool_put(struct pool *p, struct elem *e, u32 cpu)
{
	struct pool_list *l = &p->lists[cpu];
	struct pool_chunk *c = NULL, *next;

	spin_lock(&l->lock);
	e->free_next = l->first;
	l->first = e;
	l->n++;
	if (unlikely(l->n > p->list_long) && p->chunk_align)
		c = shorten(p, l);
	spin_unlock(&l->lock);
	for (; c; c = next) {
		next = c->next_free;
		env_defer_node(&c->gone, chunk_gone);
	}
}

void map_pool_each(struct pool *p, void (*fn)(struct elem *e, void *arg), void *arg)
{
	for (struct pool_chunk *c = p->chunks; c; c = c->next)
		for (u32 i = 0; i < c->carved; i++)
			fn((struct elem *)(c->elems + (u64)i * p->elem_size), arg);
}

u64 map_pool_memory(struct pool *p)
{
	u64 size = sizeof(*p) + p->n_lists * sizeof(*p->lists);

	spin_lock(&p->lock);
	for (const struct pool_chunk *c = p->chunks; c; c = c->next)
		size += c->size;
	spin_unlock(&p->lock);
	return size;
}
