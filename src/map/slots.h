/* Arrays whose elements are objects: PROG_ARRAY, PERF_EVENT_ARRAY, ARRAY_OF_MAPS. Private to map.
 *
 * A slot holds the object, which it keeps alive, and a pointer that running programs get with one
 * load: a program's image, an event, an inner map. Only user space changes slots, under a lock.
 * What leaves a slot waits for the runs that may still be on their way into it. */
#ifndef MAP_SLOTS_H
#define MAP_SLOTS_H
#include "array.h"

struct slot {
	void *_Atomic ptr;
	struct held *held;
};

struct slots {
	struct map m;
	pthread_mutex_t lock;
	struct slot *v;
	u32 used_end; /* no slot at or above it was ever set: emptying a huge array must not touch
			 it all */
};

int map_slots_check(const struct map_attr *attr);
int map_slots_new(struct map **out, const struct map_attr *attr, const struct map_ops *ops);
void map_slots_free(struct map *m);
void map_slots_empty(struct map *m);
int map_slots_set(struct map *m, u32 index, struct obj *owner, void *ptr);
int map_slots_delete(struct map *m, const void *key);
int map_slots_copy_out(struct map *m, const void *key, void *value,
		       u64 flags); /* the id of what is in the slot */
int map_slots_no_update(struct map *m, const void *key, const void *value, u64 flags, u32 cpu);
u64 map_slots_memory(const struct map *m);

static inline struct slots *slots_of(const struct map *m)
{
	return container_of(m, struct slots, m);
}

static inline void *slot_get(struct map *m, u32 index)
{
	if (unlikely(index >= m->max_entries))
		return NULL;
	return atomic_load_explicit(&slots_of(m)->v[index].ptr, memory_order_acquire);
}

#endif
