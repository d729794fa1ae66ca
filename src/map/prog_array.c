/* PROG_ARRAY: slots that hold a program: the object, which the slot keeps alive, and the image that a tail call jumps to.
 * Only map_slot_set and delete change slots, under a lock; a tail call reads the image with one load. What leaves a slot
 * waits for the runs that may still be on their way into it. */
#include "array.h"

struct slot {
	void *_Atomic image;
	struct obj *owner;
};

struct prog_array {
	struct map m;
	pthread_mutex_t lock;
	struct slot *slots;
	u32 used_end; /* no slot at or above it was ever set: emptying a huge array must not touch it all */
};

static struct prog_array *of(const struct map *m)
{
	return container_of(m, struct prog_array, m);
}

/* fd_array_map_alloc_check() */
static int prog_array_check(const struct map_attr *attr)
{
	if (attr->value_size != sizeof(u32) || attr->flags & (BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG))
		return -EINVAL;
	return map_array_check(attr);
}

static u64 slots_size(const struct map *m)
{
	return (u64)m->max_entries * sizeof(struct slot);
}

static int prog_array_new(struct map **out, const struct map_attr *attr)
{
	struct prog_array *a;

	a = map_alloc(sizeof(*a), attr, &map_prog_array_ops);
	if (!a)
		return -ENOMEM;
	pthread_mutex_init(&a->lock, NULL);
	a->slots = map_area_new(slots_size(&a->m));
	if (!a->slots) {
		map_put(&a->m);
		return -ENOMEM;
	}
	*out = &a->m;
	return 0;
}

static void owner_gone(void *owner)
{
	obj_put(owner);
}

/* Under the lock. */
static struct obj *slot_swap(struct slot *s, struct obj *owner, void *image)
{
	struct obj *was = s->owner;

	s->owner = owner;
	atomic_store_explicit(&s->image, image, memory_order_release);
	return was;
}

/* The last descriptor is gone: empty it, since programs in it may hold the array itself. */
static void prog_array_unused(struct map *m)
{
	struct prog_array *a = of(m);

	for (u32 i = 0; i < a->used_end; i++) {
		struct obj *was;

		pthread_mutex_lock(&a->lock);
		was = slot_swap(&a->slots[i], NULL, NULL);
		pthread_mutex_unlock(&a->lock);
		if (was)
			env_defer(owner_gone, was);
	}
}

static void prog_array_free(struct map *m)
{
	struct prog_array *a = of(m);

	if (a->slots)
		prog_array_unused(m);
	map_area_free(a->slots, slots_size(m));
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static void *prog_array_lookup(struct map *m, const void *key, u32 cpu)
{
	return NULL; /* programs reach it through tail calls only; the verifier refuses the rest */
}

static int prog_array_update(struct map *m, const void *key, const void *value, u64 flags, u32 cpu)
{
	return -EINVAL; /* slots take objects: map_slot_set */
}

static int prog_array_delete(struct map *m, const void *key)
{
	struct prog_array *a = of(m);
	u32 i = LOAD(u32, key);
	struct obj *was;

	if (i >= m->max_entries)
		return -E2BIG;
	pthread_mutex_lock(&a->lock);
	was = slot_swap(&a->slots[i], NULL, NULL);
	pthread_mutex_unlock(&a->lock);
	if (!was)
		return -ENOENT;
	env_defer(owner_gone, was);
	return 0;
}

/* User space put in a descriptor and reads back the program's id. */
static int prog_array_copy_out(struct map *m, const void *key, void *value, u64 flags)
{
	struct prog_array *a = of(m);
	u32 i = LOAD(u32, key);
	struct obj *owner;

	if (i >= m->max_entries)
		return -ENOENT;
	pthread_mutex_lock(&a->lock);
	owner = a->slots[i].owner;
	if (owner)
		STORE(u32, value, owner->id);
	pthread_mutex_unlock(&a->lock);
	return owner ? 0 : -ENOENT;
}

int map_slot_check(const struct map *m, u32 index, u64 flags)
{
	if (atomic_load(&m->frozen))
		return -EPERM;
	if (flags != BPF_ANY)
		return -EINVAL;
	return index < m->max_entries ? 0 : -E2BIG;
}

int map_slot_set(struct map *m, u32 index, struct obj *owner, void *image)
{
	struct prog_array *a = of(m);
	struct obj *was;
	int err;

	assert(m->type == BPF_MAP_TYPE_PROG_ARRAY && owner && image);
	atomic_fetch_add(&m->write_users, 1);
	err = map_slot_check(m, index, BPF_ANY);
	if (!err) {
		obj_get(owner);
		pthread_mutex_lock(&a->lock);
		was = slot_swap(&a->slots[index], owner, image);
		a->used_end = MAX(a->used_end, index + 1);
		pthread_mutex_unlock(&a->lock);
		if (was)
			env_defer(owner_gone, was);
	}
	atomic_fetch_sub(&m->write_users, 1);
	return err;
}

void *map_slot_image(struct map *m, u32 index)
{
	if (index >= m->max_entries)
		return NULL;
	return atomic_load_explicit(&of(m)->slots[index].image, memory_order_acquire);
}

static u64 prog_array_memory(const struct map *m)
{
	return sizeof(struct prog_array) + slots_size(m);
}

const struct map_ops map_prog_array_ops = {
	.check = prog_array_check,
	.new = prog_array_new,
	.free = prog_array_free,
	.unused = prog_array_unused,
	.lookup = prog_array_lookup,
	.update = prog_array_update,
	.delete = prog_array_delete,
	.copy_out = prog_array_copy_out,
	.next_key = map_array_next_key,
	.memory = prog_array_memory,
};
