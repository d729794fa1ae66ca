/* See slots.h. */
#include "slots.h"

/* fd_array_map_alloc_check() of kernel/bpf/arraymap.c */
int map_slots_check(const struct map_attr *attr)
{
	if (attr->value_size != sizeof(u32) ||
	    attr->flags & (BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG))
		return -EINVAL;
	return map_array_check(attr);
}

static u64 slots_size(const struct map *m)
{
	return (u64)m->max_entries * sizeof(struct slot);
}

int map_slots_new(struct map **out, const struct map_attr *attr, const struct map_ops *ops)
{
	struct slots *s = map_alloc(sizeof(*s), attr, ops);

	if (!s)
		return -ENOMEM;
	pthread_mutex_init(&s->lock, NULL);
	s->v = map_area_new(slots_size(&s->m));
	if (!s->v) {
		map_put(&s->m);
		return -ENOMEM;
	}
	*out = &s->m;
	return 0;
}

/* What was in the slot goes once nobody can be on the way into it. True: something was. */
static bool swap(struct slots *s, u32 index, struct held *held, void *ptr)
{
	struct held *was;

	pthread_mutex_lock(&s->lock);
	was = s->v[index].held;
	s->v[index].held = held;
	atomic_store_explicit(&s->v[index].ptr, ptr, memory_order_release);
	if (held)
		s->used_end = MAX(s->used_end, index + 1);
	pthread_mutex_unlock(&s->lock);
	map_held_drop(was);
	return was;
}

void map_slots_empty(struct map *m)
{
	struct slots *s = slots_of(m);

	for (u32 i = 0; i < s->used_end; i++)
		swap(s, i, NULL, NULL);
}

void map_slots_free(struct map *m)
{
	struct slots *s = slots_of(m);

	if (s->v)
		map_slots_empty(m);
	map_area_free(s->v, slots_size(m));
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int map_slot_check(const struct map *m, u32 index, u64 flags)
{
	if (atomic_load(&m->frozen))
		return -EPERM;
	if (flags != BPF_ANY)
		return -EINVAL;
	return index < m->max_entries ? 0 : -E2BIG;
}

int map_slots_set(struct map *m, u32 index, struct obj *owner, void *ptr)
{
	struct held *held = map_held_new(owner);
	int err;

	assert(ptr);
	if (!held)
		return -ENOMEM;
	atomic_fetch_add(&m->write_users, 1);
	err = map_slot_check(m, index, BPF_ANY);
	if (err)
		map_held_free(held);
	else
		swap(slots_of(m), index, held, ptr);
	atomic_fetch_sub(&m->write_users, 1);
	return err;
}

int map_slots_delete(struct map *m, const void *key)
{
	u32 i = LOAD(u32, key);

	if (i >= m->max_entries)
		return -E2BIG;
	return swap(slots_of(m), i, NULL, NULL) ? 0 : -ENOENT;
}

int map_slots_copy_out(struct map *m, const void *key, void *value, u64 flags)
{
	struct slots *s = slots_of(m);
	u32 i = LOAD(u32, key), id = 0;
	struct held *held;

	if (i >= m->max_entries)
		return -ENOENT;
	pthread_mutex_lock(&s->lock);
	held = s->v[i].held;
	if (held)
		id = held->obj->id;
	pthread_mutex_unlock(&s->lock);
	if (!held)
		return -ENOENT;
	STORE(u32, value, id);
	return 0;
}

int map_slots_no_update(struct map *m, const void *key, const void *value, u64 flags, u32 cpu)
{
	return -EINVAL; /* slots take objects: map_slot_set() and the like */
}

u64 map_slots_memory(const struct map *m)
{
	return sizeof(struct slots) + slots_size(m);
}
