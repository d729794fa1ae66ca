/* Batches: many elements in one call. What the kernel's bpf_map_do_batch(), generic_map_*_batch()
 * and
 * __htab_map_lookup_and_delete_batch() answer; map.def says which kind has which.
 *
 * Hash kinds are read bucket by bucket, whole buckets only, and a batch goes on at a bucket's
 * number; all others go on at the last key. Elements pass through buffers of a few pages, so that
 * the caller's memory is touched seldom. */
#include "sys.h"
#include "door.h"
#include "base/cleanup.h"
#include "map/map.h"

#define BUFFER 65536u

/* Some keys and values on the way between map and caller. */
struct buffer {
	struct sys_call *c;
	u32 key_size, value_size;
	u32 room, n; /* elements */
	u32 done;    /* elements that the caller has, or that were taken from it */
	u8 *keys, *values;
};

static void buffer_done(struct buffer *b)
{
	free(b->keys);
	free(b->values);
}
#define autobuffer CLEANUP(buffer_done)

static int buffer_room(struct buffer *b, u32 room)
{
	u8 *keys = realloc(b->keys, (size_t)room * b->key_size), *values;

	if (!keys)
		return -ENOMEM;
	b->keys = keys;
	values = realloc(b->values, (size_t)room * b->value_size);
	if (!values)
		return -ENOMEM;
	b->values = values;
	b->room = room;
	return 0;
}

static int buffer_init(struct buffer *b, struct sys_call *c, const struct map *m)
{
	u64 each;

	b->c = c;
	b->key_size = m->key_size;
	b->value_size = map_user_value_size(m);
	each = (u64)b->key_size + b->value_size;
	return buffer_room(b, MIN(c->attr.batch.count, (u32)MAX(BUFFER / each, 1ull)));
}

static u8 *buffer_key(const struct buffer *b, u32 i)
{
	return b->keys + (size_t)i * b->key_size;
}

static u8 *buffer_value(const struct buffer *b, u32 i)
{
	return b->values + (size_t)i * b->value_size;
}

static u64 user_keys(const struct buffer *b)
{
	return b->c->attr.batch.keys + (u64)b->done * b->key_size;
}

static u64 user_values(const struct buffer *b)
{
	return b->c->attr.batch.values + (u64)b->done * b->value_size;
}

/* Give the caller what there is. */
static int buffer_flush(struct buffer *b)
{
	if (sys_write_mem(b->c, user_keys(b), b->keys, (size_t)b->n * b->key_size) ||
	    sys_write_mem(b->c, user_values(b), b->values, (size_t)b->n * b->value_size))
		return -EFAULT;
	b->done += b->n;
	b->n = 0;
	return 0;
}

/* Take the next elements of the caller's; values too if `values`. One by one when not all can be
 * read: those before the bad one count. */
static int buffer_load(struct buffer *b, bool values)
{
	u32 n = MIN(b->room, b->c->attr.batch.count - b->done);

	for (;; n = 1) {
		int err = sys_read_mem(b->c, b->keys, user_keys(b), (size_t)n * b->key_size);

		if (!err && values)
			err = sys_read_mem(b->c, b->values, user_values(b),
					   (size_t)n * b->value_size);
		if (!err)
			b->n = n;
		if (!err || n == 1)
			return err;
	}
}

/* What the caller reads of how far it went. On EFAULT of an element it reads 0. */
static int set_count(struct sys_call *c, u32 n)
{
	c->attr.batch.count = n;
	return SYS_PUT(c, batch.count);
}

/* ---- look up (and delete), bucket by bucket */

static int add_bucket(struct buffer *b, struct map *m, u32 bucket, u32 max, bool remove)
{
	struct map_batch part = {.remove = remove};
	int err;

	for (;;) {
		u32 left = max - b->done - b->n;

		part.keys = buffer_key(b, b->n);
		part.values = buffer_value(b, b->n);
		part.room = MIN(b->room - b->n, left);
		err = map_batch_bucket(m, bucket, &part);
		if (!err)
			b->n += part.n;
		if (err != -ENOSPC || part.n > left)
			return err;
		err = buffer_flush(b);
		if (!err && part.n > b->room)
			err = buffer_room(b, part.n);
		if (err)
			return err;
	}
}

static int by_bucket(struct buffer *b, struct map *m, u32 max, bool remove)
{
	struct sys_call *c = b->c;
	u32 bucket = 0, end = map_buckets(m);
	int err = 0;

	if (c->attr.batch.in_batch &&
	    sys_read_mem(c, &bucket, c->attr.batch.in_batch, sizeof(bucket)))
		return -EFAULT;
	if (bucket >= end)
		return -ENOENT;
	for (; !err && bucket < end; bucket += !err)
		err = add_bucket(b, m, bucket, max, remove);
	if (err == -ENOSPC && b->done + b->n)
		err = 0; /* it is the next call's */
	else if (!err)
		err = -ENOENT;
	if (err == -EFAULT || err == -ENOMEM || buffer_flush(b))
		return err == -ENOMEM ? err : -EFAULT;
	if (sys_write_mem(c, c->attr.batch.out_batch, &bucket, sizeof(bucket)) ||
	    set_count(c, b->done))
		return -EFAULT;
	return err;
}

/* ---- look up, key by key */

/* The element after `key` (NULL: the first) into the buffer; *key is that one then. Holes are
 * passed over. */
static int add_next(struct buffer *b, struct map *m, u8 *key, bool *have_key)
{
	u64 flags = b->c->attr.batch.elem_flags;
	int err;

	do {
		err = map_next_key(m, *have_key ? key : NULL, buffer_key(b, b->n));
		if (err)
			return err;
		memcpy(key, buffer_key(b, b->n), b->key_size);
		*have_key = true;
		err = map_copy_out(m, key, buffer_value(b, b->n), flags);
	} while (err == -ENOENT);
	b->n += !err;
	return err;
}

static int by_key(struct buffer *b, struct map *m, u32 max)
{
	struct sys_call *c = b->c;
	autofree u8 *key = malloc(m->key_size);
	bool have_key = c->attr.batch.in_batch;
	int err = 0;

	if (!key)
		return -ENOMEM;
	if (have_key && sys_read_mem(c, key, c->attr.batch.in_batch, m->key_size))
		return -EFAULT;
	while (!err && b->done + b->n < max) {
		err = b->n == b->room ? buffer_flush(b) : 0;
		if (!err)
			err = add_next(b, m, key, &have_key);
	}
	if (err && err != -ENOENT)
		return err;
	if (buffer_flush(b) || set_count(c, b->done) ||
	    (b->done && sys_write_mem(c, c->attr.batch.out_batch, key, m->key_size)))
		return -EFAULT;
	return err;
}

/* ---- update, delete */

static int change(struct map *m, const struct buffer *b, u32 i, bool update)
{
	u64 flags = b->c->attr.batch.elem_flags;

	if (!update)
		return map_delete(m, buffer_key(b, i));
	if (map_kind(m->type)->values_are_fds)
		return sys_slot_update(m, buffer_key(b, i), buffer_value(b, i), flags);
	return map_copy_in(m, buffer_key(b, i), buffer_value(b, i), flags);
}

static int change_all(struct buffer *b, struct map *m, u32 max, bool update)
{
	u32 done = 0;
	int err = 0;

	while (!err && b->done < max) {
		err = buffer_load(b, update);
		for (u32 i = 0; !err && i < b->n; i++) {
			err = change(m, b, i, update);
			done += !err;
		}
		b->done += b->n;
		b->n = 0;
	}
	return set_count(b->c, done) ? -EFAULT : err;
}

/* ---- the commands */

static int run(struct sys_call *c, struct map *m, u32 cmd)
{
	autobuffer struct buffer b = {0};
	u32 max = c->attr.batch.count;
	int err;

	if (c->attr.batch.elem_flags & ~(u64)BPF_F_LOCK || !map_flags_lock_ok(m, c->attr.batch.elem_flags) ||
	    (cmd & (MAP_BATCH_LOOKUP | MAP_BATCH_TAKE) && map_buckets(m) && c->attr.batch.flags))
		return -EINVAL;
	if (!max)
		return 0;
	err = buffer_init(&b, c, m);
	if (err)
		return err;
	if (set_count(c, 0))
		return -EFAULT;
	c->attr.batch.count = max;
	if (cmd & (MAP_BATCH_UPDATE | MAP_BATCH_DELETE))
		return change_all(&b, m, max, cmd & MAP_BATCH_UPDATE);
	return map_buckets(m) ? by_bucket(&b, m, max, cmd & MAP_BATCH_TAKE) : by_key(&b, m, max);
}

static long batch(struct sys_call *c, u32 cmd)
{
	autounpin struct sys_handle *h = NULL;
	struct map *m;
	u32 mode;
	int err;

	m = sys_get_map(c->attr.batch.map_fd, &h, &mode, &err);
	if (!m)
		return err;
	if (cmd & (MAP_BATCH_LOOKUP | MAP_BATCH_TAKE) && !(mode & SYS_READ))
		return -EPERM;
	if (cmd != MAP_BATCH_LOOKUP && (!(mode & SYS_WRITE) || atomic_load(&m->frozen)))
		return -EPERM;
	if (!(map_kind(m->type)->batch & cmd))
		return -ENOTSUPP_;
	return run(c, m, cmd);
}

long sys_batch_lookup(struct sys_call *c)
{
	return batch(c, MAP_BATCH_LOOKUP);
}

long sys_batch_take(struct sys_call *c)
{
	return batch(c, MAP_BATCH_TAKE);
}

long sys_batch_update(struct sys_call *c)
{
	return batch(c, MAP_BATCH_UPDATE);
}

long sys_batch_delete(struct sys_call *c)
{
	return batch(c, MAP_BATCH_DELETE);
}
