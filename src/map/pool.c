/* The elements of a hash table: made as they are first needed, from one area when the map is
 * preallocated and from chunks when it is not; freed ones wait on a list per CPU and are taken back
 * from any list before a map counts as full.
 *
 * Values per CPU lie in areas of their own beside the elements of a chunk, one for each CPU. */
#include "htab.h"

#define CHUNK_BYTES (256u << 10)

struct pool_chunk {
	struct pool_chunk *next;
	u64 size;
	u8 *elems, *values;
};

static u64 chunk_size(const struct pool *p)
{
	u64 size = ROUND_UP((u64)p->per_chunk * p->elem_size, 4096ull);

	return p->cpu_value_size ? size + p->cpu_stride * env_possible_cpus() : size;
}

static int add_chunk(struct pool *p)
{
	struct pool_chunk *c = malloc(sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->size = chunk_size(p);
	c->elems = map_area_new(c->size);
	if (!c->elems) {
		free(c);
		return -ENOMEM;
	}
	c->values = c->elems + ROUND_UP((u64)p->per_chunk * p->elem_size, 4096ull);
	c->next = p->chunks;
	p->chunks = c;
	p->chunk_at = 0;
	return 0;
}

int map_pool_init(struct pool *p, bool prealloc)
{
	u64 unit = p->elem_size + (u64)p->cpu_value_size * env_possible_cpus();

	p->per_chunk = prealloc ? p->max : MIN(p->max, (u32)MAX(CHUNK_BYTES / unit, 1ull));
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
		map_area_free(c->elems, c->size);
		free(c);
	}
	free(p->lists);
}

/* Under the pool's lock. */
static struct elem *make(struct pool *p, int *err)
{
	struct elem *e;

	if (p->made == p->max) {
		*err = -E2BIG;
		return NULL;
	}
	if (!p->chunks || p->chunk_at == p->per_chunk) {
		*err = add_chunk(p);
		if (*err)
			return NULL;
	}
	e = (struct elem *)(p->chunks->elems + (u64)p->chunk_at * p->elem_size);
	if (p->cpu_value_size)
		*(u8 **)((u8 *)e + p->value_off) =
		    p->chunks->values + (u64)p->chunk_at * p->cpu_value_size;
	p->chunk_at++;
	p->made++;
	return e;
}

struct elem *map_pool_make(struct pool *p, int *err)
{
	struct elem *e;

	spin_lock(&p->lock);
	e = make(p, err);
	spin_unlock(&p->lock);
	return e;
}

static struct elem *pop(struct pool_list *l)
{
	struct elem *e;

	spin_lock(&l->lock);
	e = l->first;
	if (e)
		l->first = e->free_next;
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

void map_pool_put(struct pool *p, struct elem *e, u32 cpu)
{
	struct pool_list *l = &p->lists[cpu];

	spin_lock(&l->lock);
	e->free_next = l->first;
	l->first = e;
	spin_unlock(&l->lock);
}

void map_pool_each(struct pool *p, void (*fn)(struct elem *e, void *arg), void *arg)
{
	u32 n = p->chunk_at; /* in the newest chunk; the others are full */

	for (struct pool_chunk *c = p->chunks; c; c = c->next, n = p->per_chunk)
		for (u32 i = 0; i < n; i++)
			fn((struct elem *)(c->elems + (u64)i * p->elem_size), arg);
}

u64 map_pool_memory(const struct pool *p)
{
	u64 size = sizeof(*p) + p->n_lists * sizeof(*p->lists);

	for (const struct pool_chunk *c = p->chunks; c; c = c->next)
		size += sizeof(*c) + c->size;
	return size;
}
