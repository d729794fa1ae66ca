/* The element commands: look up, update, delete, next key, look up and delete.
 *
 * In process, keys and values are used where they lie (a bad pointer is caught as far as
 * sys_plausible() can); for every other caller they pass through a copy. */
#include "sys.h"
#include "door.h"
#include "base/cleanup.h"
#include "map/map.h"

/* A key or value: the caller's own memory, or a copy of it. */
struct part {
	void *mem;
	void *copy; /* owned */
	u64 user;
	u32 size;
};

static void part_done(struct part *p)
{
	free(p->copy);
}
#define autopart CLEANUP(part_done)

static int part_room(struct sys_call *c, struct part *p, u64 user, u32 size)
{
	p->user = user;
	p->size = size;
	if (c->by->in_process && sys_plausible(user, size)) {
		p->mem = ptr_of(user);
		return 0;
	}
	p->mem = p->copy = malloc(size ? size : 1);
	return p->mem ? 0 : -ENOMEM;
}

static int part_in(struct sys_call *c, struct part *p, u64 user, u32 size)
{
	int err;

	if (c->by->in_process && !sys_plausible(user, size))
		return size ? -EFAULT : 0;
	err = part_room(c, p, user, size);
	return err || !p->copy ? err : sys_read_mem(c, p->mem, user, size);
}

/* What lies in process was written in place; an implausible address is found out only now, after
 * the look-up, as on the kernel. */
static int part_out(struct sys_call *c, struct part *p)
{
	if (!p->copy)
		return 0;
	return c->by->in_process ? -EFAULT : sys_write_mem(c, p->user, p->mem, p->size);
}

/* Maps without keys (queues, ring buffers) want a NULL pointer. */
static int key_in(struct sys_call *c, struct part *p, const struct map *m, u64 user)
{
	if (m->key_size)
		return part_in(c, p, user, m->key_size);
	return user ? -EINVAL : 0;
}

static bool may_write(const struct map *m, u32 mode)
{
	return mode & SYS_WRITE && !atomic_load_explicit(&m->frozen, memory_order_relaxed);
}

long sys_elem_lookup(struct sys_call *c)
{
	autounpin struct sys_handle *h = NULL;
	autopart struct part key = {0}, value = {0};
	struct map *m;
	u32 mode;
	int err;

	if (c->attr.elem.flags & ~(u64)BPF_F_LOCK)
		return -EINVAL;
	m = sys_get_map(c->attr.elem.map_fd, &h, &mode, &err);
	if (!m)
		return err;
	if (!(mode & SYS_READ))
		return -EPERM;
	err = map_check_read(m, c->attr.elem.flags);
	if (!err)
		err = key_in(c, &key, m, c->attr.elem.key);
	if (!err)
		err = part_room(c, &value, c->attr.elem.value, map_user_value_size(m));
	if (!err)
		err = map_copy_out(m, key.mem, value.mem, c->attr.elem.flags);
	return err ? err : part_out(c, &value);
}

long sys_elem_update(struct sys_call *c)
{
	autounpin struct sys_handle *h = NULL;
	autopart struct part key = {0}, value = {0};
	struct map *m;
	u32 mode;
	int err;

	m = sys_get_map(c->attr.elem.map_fd, &h, &mode, &err);
	if (!m)
		return err;
	if (!may_write(m, mode))
		return -EPERM;
	err = map_check_write(m, c->attr.elem.flags);
	if (!err)
		err = key_in(c, &key, m, c->attr.elem.key);
	if (!err)
		err = part_in(c, &value, c->attr.elem.value, map_user_value_size(m));
	if (err)
		return err;
	if (map_kind(m->type)->values_are_fds)
		return sys_slot_update(m, key.mem, value.mem, c->attr.elem.flags);
	return map_copy_in(m, key.mem, value.mem, c->attr.elem.flags);
}

long sys_elem_delete(struct sys_call *c)
{
	autounpin struct sys_handle *h = NULL;
	autopart struct part key = {0};
	struct map *m;
	u32 mode;
	int err;

	m = sys_get_map(c->attr.elem.map_fd, &h, &mode, &err);
	if (!m)
		return err;
	if (!may_write(m, mode))
		return -EPERM;
	err = key_in(c, &key, m, c->attr.elem.key);
	return err ? err : map_delete(m, key.mem);
}

long sys_elem_next(struct sys_call *c)
{
	autounpin struct sys_handle *h = NULL;
	autopart struct part key = {0}, next = {0};
	struct map *m;
	u32 mode;
	int err;

	m = sys_get_map(c->attr.elem.map_fd, &h, &mode, &err);
	if (!m)
		return err;
	if (!(mode & SYS_READ))
		return -EPERM;
	err = c->attr.elem.key ? key_in(c, &key, m, c->attr.elem.key) : 0;
	if (!err)
		err = part_room(c, &next, c->attr.elem.value, m->key_size);
	if (!err)
		err = map_next_key(m, key.mem, next.mem);
	return err ? err : part_out(c, &next);
}

long sys_elem_lookup_delete(struct sys_call *c)
{
	autounpin struct sys_handle *h = NULL;
	autopart struct part key = {0}, value = {0};
	struct map *m;
	u32 mode;
	int err;

	if (c->attr.elem.flags & ~(u64)BPF_F_LOCK)
		return -EINVAL;
	m = sys_get_map(c->attr.elem.map_fd, &h, &mode, &err);
	if (!m)
		return err;
	if (!(mode & SYS_READ) || !may_write(m, mode))
		return -EPERM;
	err = key_in(c, &key, m, c->attr.elem.key);
	if (!err)
		err = part_room(c, &value, c->attr.elem.value, map_user_value_size(m));
	if (!err)
		err = map_lookup_delete(m, key.mem, value.mem, c->attr.elem.flags);
	return err ? err : part_out(c, &value);
}
