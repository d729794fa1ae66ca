/* QUEUE and STACK: values without keys, in a ring. Both are pushed at the head; a queue gives the
 * oldest, a stack the newest. A map of n entries has n + 1 places, so that a full ring differs from
 * an empty one. */
#include "private.h"

struct queue {
	struct map m;
	struct spinlock lock;
	u32 head, tail; /* next place to push to; the oldest value */
	u32 places;
	u8 *values;
};

static struct queue *of(const struct map *m)
{
	return container_of(m, struct queue, m);
}

/* queue_stack_map_alloc_check() of kernel/bpf/queue_stack_maps.c */
static int queue_check(const struct map_attr *attr)
{
	if (!attr->max_entries || attr->key_size || !attr->value_size ||
	    attr->flags & ~(BPF_F_NUMA_NODE | ACCESS_FLAGS) || !access_ok(attr->flags))
		return -EINVAL;
	return attr->value_size > KMALLOC_MAX ? -E2BIG : 0;
}

static u64 values_size(const struct map *m)
{
	return ((u64)m->max_entries + 1) * m->value_size;
}

static int new (struct map **out, const struct map_attr *attr, const struct map_ops *ops)
{
	struct queue *q;

	if (attr->max_entries == UINT32_MAX)
		return -ENOMEM; /* no number for its last place; the kernel would need 4 GiB and
				   more */
	q = map_alloc(sizeof(*q), attr, ops);
	if (!q)
		return -ENOMEM;
	q->places = attr->max_entries + 1;
	q->values = map_area_new(values_size(&q->m));
	if (!q->values) {
		map_put(&q->m);
		return -ENOMEM;
	}
	*out = &q->m;
	return 0;
}

static int queue_new(struct map **out, const struct map_attr *attr)
{
	return new (out, attr, &map_queue_ops);
}

static int stack_new(struct map **out, const struct map_attr *attr)
{
	return new (out, attr, &map_stack_ops);
}

static void queue_free(struct map *m)
{
	map_area_free(of(m)->values, values_size(m));
	free(of(m));
}

static u8 *at(const struct queue *q, u32 place)
{
	return q->values + (u64)place * q->m.value_size;
}

static u32 after(const struct queue *q, u32 place)
{
	return place + 1 == q->places ? 0 : place + 1;
}

static u32 before(const struct queue *q, u32 place)
{
	return place ? place - 1 : q->places - 1;
}

/* ---- what programs call */

static int push(struct map *m, const void *value, u64 flags)
{
	struct queue *q = of(m);
	int err = 0;

	if (unlikely(flags & BPF_NOEXIST || flags > BPF_EXIST))
		return -EINVAL;
	spin_lock(&q->lock);
	if (after(q, q->head) == q->tail) {
		if (flags & BPF_EXIST)
			q->tail = after(q, q->tail); /* the oldest makes room */
		else
			err = -E2BIG;
	}
	if (!err) {
		copy_value(at(q, q->head), value, m->value_size);
		q->head = after(q, q->head);
	}
	spin_unlock(&q->lock);
	return err;
}

/* -ENOENT leaves value as it was */
static int get(struct map *m, void *value, bool newest, bool remove)
{
	struct queue *q = of(m);
	u32 place;
	int err = -ENOENT;

	spin_lock(&q->lock);
	if (q->head != q->tail) {
		place = newest ? before(q, q->head) : q->tail;
		copy_value(value, at(q, place), m->value_size);
		if (remove && newest)
			q->head = place;
		else if (remove)
			q->tail = after(q, place);
		err = 0;
	}
	spin_unlock(&q->lock);
	return err;
}

/* A program finds zeros when there was nothing: it may read what it asked for. */
static int get_or_zero(struct map *m, void *value, bool newest, bool remove)
{
	int err = get(m, value, newest, remove);

	if (err)
		memset(value, 0, m->value_size);
	return err;
}

static int queue_pop(struct map *m, void *value)
{
	return get_or_zero(m, value, false, true);
}

static int queue_peek(struct map *m, void *value)
{
	return get_or_zero(m, value, false, false);
}

static int stack_pop(struct map *m, void *value)
{
	return get_or_zero(m, value, true, true);
}

static int stack_peek(struct map *m, void *value)
{
	return get_or_zero(m, value, true, false);
}

/* ---- user space: update pushes, look-up peeks, look up and delete pops; there are no keys */

static int copy_in(struct map *m, const void *key, const void *value, u64 flags)
{
	return push(m, value, flags);
}

static int queue_copy_out(struct map *m, const void *key, void *value, u64 flags)
{
	return get(m, value, false, false);
}

static int stack_copy_out(struct map *m, const void *key, void *value, u64 flags)
{
	return get(m, value, true, false);
}

static int queue_lookup_delete(struct map *m, void *key, void *value, u64 flags)
{
	return get(m, value, false, true);
}

static int stack_lookup_delete(struct map *m, void *key, void *value, u64 flags)
{
	return get(m, value, true, true);
}

static void *no_lookup(struct map *m, const void *key, u32 cpu)
{
	return NULL;
}

static int no_update(struct map *m, const void *key, const void *value, u64 flags, u32 cpu)
{
	return -EINVAL;
}

static int no_delete(struct map *m, const void *key)
{
	return -EINVAL;
}

static int no_next_key(struct map *m, const void *key, void *next)
{
	return -EINVAL;
}

static u64 memory(const struct map *m)
{
	return sizeof(struct queue) + values_size(m);
}

const struct map_ops map_queue_ops = {
    .check = queue_check,
    .new = queue_new,
    .free = queue_free,
    .lookup = no_lookup,
    .update = no_update,
    .delete = no_delete,
    .push = push,
    .pop = queue_pop,
    .peek = queue_peek,
    .copy_out = queue_copy_out,
    .copy_in = copy_in,
    .next_key = no_next_key,
    .lookup_delete = queue_lookup_delete,
    .meta_equal = map_meta_equal,
    .memory = memory,
};

const struct map_ops map_stack_ops = {
    .check = queue_check,
    .new = stack_new,
    .free = queue_free,
    .lookup = no_lookup,
    .update = no_update,
    .delete = no_delete,
    .push = push,
    .pop = stack_pop,
    .peek = stack_peek,
    .copy_out = stack_copy_out,
    .copy_in = copy_in,
    .next_key = no_next_key,
    .lookup_delete = stack_lookup_delete,
    .meta_equal = map_meta_equal,
    .memory = memory,
};
