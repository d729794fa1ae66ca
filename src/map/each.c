/* Every element of a map in turn, for bpf_for_each_map_elem(): what is put in or taken out meanwhile, also by the visitor, may
 * be met or not. Returns how many were visited; a visitor that returns true is the last. */
#include "htab.h"

s64 map_array_each(struct map *m, u32 cpu, bool (*visit)(void *arg, const void *key, void *value), void *arg)
{
	u32 i = 0;

	while (i < m->max_entries) {
		u32 key = i++;

		if (visit(arg, &key, m->ops->lookup(m, &key, cpu)))
			break;
	}
	return i;
}

static void *value_of(struct htab *h, struct elem *e, u32 cpu)
{
	return h->pool.cpu_value_size ? elem_cpu_value(h, e, cpu) : elem_value(h, e);
}

s64 map_htab_each(struct map *m, u32 cpu, bool (*visit)(void *arg, const void *key, void *value), void *arg)
{
	struct htab *h = container_of(m, struct htab, m);
	s64 n = 0;

	for (u64 b = 0; b <= h->mask; b++) {
		uintptr_t p = atomic_load_explicit(&h->buckets[b].head, memory_order_acquire);

		while (!is_end(p)) {
			struct elem *e = (struct elem *)p;

			/* first, because the visitor may delete the element */
			p = atomic_load_explicit(&e->next, memory_order_acquire);
			n++;
			if (visit(arg, e->key, value_of(h, e, cpu)))
				return n;
		}
	}
	return n;
}
