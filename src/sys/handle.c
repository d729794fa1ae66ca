/* The tables of what is published: by id for each type, by inode for all. One lock guards them; it
 * is never held while references are dropped, because the last one comes back here (gone()). */
#include "handle.h"
#include "btf/btf.h"
#include "map/map.h"
#include <fcntl.h>
#include <linux/memfd.h>
#include <linux/stat.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

#define BUCKETS 1024

struct by_id { /* sorted by id: ids only grow */
	struct sys_handle **v;
	u32 n, cap, next;
};

_Atomic u32 sys_live;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct by_id ids[OBJ_EVENT + 1] = {[0 ... OBJ_EVENT] = {.next = 1}};
static struct sys_handle *buckets[BUCKETS];
static struct sys_handle *spare;

void sys_lock(void)
{
	pthread_mutex_lock(&lock);
}

bool sys_trylock(void)
{
	return pthread_mutex_trylock(&lock) == 0;
}

void sys_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void sys_first_id(enum obj_type type, u32 id)
{
	if (ids[type].next < id)
		ids[type].next = id;
}

/* ---- pins */

bool sys_pin(struct sys_handle *h)
{
	u32 n = atomic_load(&h->pins);

	while (n)
		if (atomic_compare_exchange_weak(&h->pins, &n, n + 1))
			return true;
	return false;
}

void sys_unpin(struct sys_handle *h)
{
	struct obj *obj = h->obj; /* ours to touch: until the last pin goes the object has a user */

	if (atomic_fetch_sub(&h->pins, 1) == 1)
		obj_put_user(obj);
}

/* ---- tables; all under the lock */

static u32 slot_of(const struct by_id *t,
		   u32 id) /* index of the first entry with an id >= this one */
{
	u32 lo = 0, hi = t->n;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (t->v[mid]->obj->id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool room_for_one(struct by_id *t)
{
	u32 cap = t->cap ? t->cap * 2 : 64;
	struct sys_handle **v;

	if (t->n < t->cap)
		return true;
	v = realloc(t->v, cap * sizeof(*v));
	if (!v)
		return false;
	t->v = v;
	t->cap = cap;
	return true;
}

static void insert(struct sys_handle *h)
{
	struct by_id *t = &ids[h->obj->type];
	u32 at = slot_of(t, h->obj->id);

	memmove(t->v + at + 1, t->v + at, (t->n - at) * sizeof(*t->v));
	t->v[at] = h;
	t->n++;
	h->next_ino = buckets[h->ino % BUCKETS];
	buckets[h->ino % BUCKETS] = h;
	atomic_fetch_add(&sys_live, 1);
}

static void remove_handle(struct sys_handle *h)
{
	struct by_id *t = &ids[h->obj->type];
	u32 at = slot_of(t, h->obj->id);
	struct sys_handle **p = &buckets[h->ino % BUCKETS];

	assert(at < t->n && t->v[at] == h);
	memmove(t->v + at, t->v + at + 1, (t->n - at - 1) * sizeof(*t->v));
	t->n--;
	while (*p != h)
		p = &(*p)->next_ino;
	*p = h->next_ino;
	atomic_fetch_sub(&sys_live, 1);
}

static struct sys_handle *find(enum obj_type type, u32 id)
{
	struct by_id *t = &ids[type];
	u32 at = slot_of(t, id);

	return at < t->n && t->v[at]->obj->id == id ? t->v[at] : NULL;
}

void sys_each_handle(void (*fn)(struct sys_handle *h, void *arg), void *arg)
{
	for (u32 type = 0; type < ARRAY_SIZE(ids); type++)
		for (u32 i = 0; i < ids[type].n; i++)
			fn(ids[type].v[i], arg);
}

/* ---- the end: obj->ops->free of a published object */

static struct sys_handle *handle_of_ops(const struct obj_ops *ops)
{
	return container_of(ops, struct sys_handle, ops);
}

static void gone(struct obj *obj)
{
	struct sys_handle *h = handle_of_ops(obj->ops);
	const struct obj_ops *own = h->own;
	int hidden = h->hidden;

	sys_lock();
	remove_handle(h);
	sys_suspect_drop(h);
	sys_poll_gone(h);
	sys_fd_forget_handle(h);
	sys_fd_unhide(hidden);
	if (!h->hidden_is_objs)
		raw(SYS_close, hidden);
	obj->ops = own;
	obj->id = 0;
	h->obj = NULL;
	h->next_ino = spare;
	spare = h;
	sys_unlock();
	own->free(obj);
}

/* Where an object keeps the descriptor of its own storage; NULL: it has none. */
static int *storage_of(struct obj *obj)
{
	struct map *m = obj->type == OBJ_MAP ? container_of(obj, struct map, obj) : NULL;

	if (obj->type == OBJ_EVENT)
		return &container_of(obj, struct map_event, obj)->memfd;
	return m && m->memfd >= 0 ? &m->memfd : NULL;
}

void sys_handle_moved(struct sys_handle *h, int from, int to)
{
	if (h->hidden == from) {
		h->hidden = to;
		if (h->hidden_is_objs)
			*storage_of(h->obj) = to;
	} else {
		h->poll_fd = to;
	}
	sys_fd_unhide(from);
	sys_fd_hide(to, h);
}

struct sys_handle *sys_handle_of(const struct obj *obj)
{
	return obj->ops->free == gone ? handle_of_ops(obj->ops) : NULL;
}

/* ---- making */

static struct sys_handle *new_handle(void)
{
	struct sys_handle *h = spare;

	if (h) {
		spare = h->next_ino;
		/* not pins: a stale pointer may be looking at it this moment, and finds 0 */
		memset((char *)h + sizeof(h->pins), 0, sizeof(*h) - sizeof(h->pins));
	} else {
		h = calloc(1, sizeof(*h));
	}
	if (h)
		h->hidden = h->poll_fd = -1;
	return h;
}

static int open_again(int fd, int flags)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", fd);
	return raw(SYS_openat, AT_FDCWD, raw_arg(path), flags | O_CLOEXEC);
}

static int inode_of(int fd, u64 *dev, u64 *ino)
{
	struct statx st;
	long err = raw(SYS_statx, fd, raw_arg(""), AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO,
		       raw_arg(&st));

	if (err)
		return err;
	*dev = (u64)st.stx_dev_major << 32 | st.stx_dev_minor;
	*ino = st.stx_ino;
	return 0;
}

/* The file of an object without data: nothing can be put into it. */
static int empty_file(const char *name)
{
	int fd = raw(SYS_memfd_create, raw_arg(name), MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0)
		raw(SYS_fcntl, fd, F_ADD_SEALS,
		    F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	return fd;
}

/* A file straight from memfd_create is not counted by leases, one opened by its path is: keep the
 * latter, out of the way. Takes `file` over on success. */
static int counted_and_hidden(int file)
{
	int again, high;

	raw(SYS_fchmod, file, 0600);
	again = open_again(file, O_RDWR);
	if (again < 0)
		return again;
	high = sys_move_high(again);
	if (high < 0)
		raw(SYS_close, again);
	else
		raw(SYS_close, file);
	return high;
}

static int attach_file(struct sys_handle *h, struct obj *obj, const char *name)
{
	int *storage = storage_of(obj);
	int file = storage ? *storage : empty_file(name), fd;

	if (file < 0)
		return file;
	fd = counted_and_hidden(file);
	if (fd < 0) {
		if (!storage)
			raw(SYS_close, file);
		return fd;
	}
	if (storage)
		*storage = fd;
	h->hidden = fd;
	h->hidden_is_objs = storage;
	return inode_of(fd, &h->dev, &h->ino);
}

static void drop_file(struct sys_handle *h)
{
	if (h->hidden >= 0 && !h->hidden_is_objs)
		raw(SYS_close, h->hidden);
}

static u32 mode_of(int open_flags)
{
	int acc = open_flags & O_ACCMODE;

	return acc == O_RDONLY ? SYS_READ : acc == O_WRONLY ? SYS_WRITE : SYS_READ | SYS_WRITE;
}

/* Under the lock; the object is in the tables or about to be. The new descriptor is checked to be
 * the object's: someone may have closed the hidden one behind our back. */
static int open_handle(struct sys_handle *h, int open_flags)
{
	u64 dev, ino;
	int fd = open_again(h->hidden, open_flags), err;

	if (fd < 0)
		return fd;
	err = inode_of(fd, &dev, &ino);
	if (!err && (dev != h->dev || ino != h->ino))
		err = -ENOENT;
	if (err) {
		raw(SYS_close, fd);
		return err;
	}
	sys_fd_note(fd, h, mode_of(open_flags));
	return fd;
}

static int publish_locked(struct obj *obj, struct btf_types *btf, const char *name, int open_flags,
			  u32 id)
{
	struct by_id *t = &ids[obj->type];
	struct sys_handle *h = room_for_one(t) ? new_handle() : NULL;
	int fd;

	if (!h)
		return -ENOMEM;
	fd = attach_file(h, obj, name);
	if (fd == 0)
		fd = open_handle(h, open_flags);
	if (fd < 0) {
		drop_file(h);
		h->next_ino = spare;
		spare = h;
		return fd;
	}
	h->obj = obj;
	h->btf = btf;
	h->forever = btf && id; /* a chosen id: the kernel's BTF */
	h->own = obj->ops;
	h->ops = (struct obj_ops){.unused = h->own->unused, .free = gone};
	obj->ops = &h->ops;
	obj->id = id ? id : t->next++;
	h->held = true;
	sys_fd_hide(h->hidden, h);
	obj_get_user(obj);
	insert(h);
	atomic_store(&h->pins, 1);
	return fd;
}

static int publish(struct obj *obj, struct btf_types *btf, const char *name, int open_flags, u32 id)
{
	int fd;

	sys_own_process();
	sys_lock();
	fd = publish_locked(obj, btf, name, open_flags, id);
	sys_unlock();
	if (fd >= 0)
		obj_put(obj); /* the caller's; the descriptor's user holds it now */
	return fd;
}

int sys_publish(struct obj *obj, const char *name, int open_flags)
{
	return publish(obj, NULL, name, open_flags, 0);
}

int sys_publish_btf(struct btf_types *btf, u32 id)
{
	return publish(btf_obj(btf), btf, "btf", O_RDONLY, id);
}

/* ---- by id */

static bool get_unless_gone(struct obj *obj)
{
	u32 n = atomic_load(&obj->refs);

	while (n)
		if (atomic_compare_exchange_weak(&obj->refs, &n, n + 1))
			return true;
	return false;
}

/* Only references held it; now a descriptor does. */
static void hold_again(struct sys_handle *h)
{
	if (h->held)
		return;
	h->held = true;
	obj_get_user(h->obj);
	if (atomic_fetch_add(
		&h->pins,
		1)) /* a call is still using it and has a user of its own: one is enough */
		obj_put_user(h->obj);
}

/* Found unheld although the caller has a descriptor of it (opened through /proc by someone): it is
 * held again. */
struct sys_handle *sys_by_inode(u64 dev, u64 ino)
{
	struct sys_handle *h;
	struct obj *obj = NULL;

	sys_lock();
	for (h = buckets[ino % BUCKETS]; h; h = h->next_ino)
		if (h->ino == ino && h->dev == dev)
			break;
	if (h && !sys_pin(h)) {
		if (get_unless_gone(h->obj)) {
			obj = h->obj;
			hold_again(h);
			sys_pin(h);
		} else {
			h = NULL;
		}
	}
	sys_unlock();
	obj_put(obj);
	return h;
}

/* Is the object with this id there, after a look at who holds it? Where only references do, their
 * holders may have gone unseen. */
static bool still_there(enum obj_type type, u32 id)
{
	struct sys_handle *h;
	bool held = false;

	sys_lock();
	h = find(type, id);
	sys_unlock();
	if (!h)
		return false;
	sys_test_hold(h);
	sys_lock();
	h = find(type, id);
	held = h && h->held;
	sys_unlock();
	if (!h || held)
		return h;
	sys_test_all();
	sys_lock();
	h = find(type, id);
	sys_unlock();
	return h;
}

int sys_open_id(enum obj_type type, u32 id, int open_flags)
{
	struct sys_handle *h;
	struct obj *obj = NULL;
	int fd = -ENOENT;

	if (!still_there(type, id))
		return -ENOENT;
	sys_lock();
	h = find(type, id);
	if (h && get_unless_gone(h->obj)) {
		obj = h->obj;
		fd = open_handle(h, open_flags);
		if (fd >= 0)
			hold_again(h);
	}
	sys_unlock();
	obj_put(obj);
	return fd;
}

int sys_next_id(enum obj_type type, u32 after, u32 *id)
{
	struct by_id *t = &ids[type];
	u32 found, at;

	do {
		sys_lock();
		at = after == UINT32_MAX ? t->n : slot_of(t, after + 1);
		found = at < t->n ? t->v[at]->obj->id : 0;
		sys_unlock();
		if (!found)
			return -ENOENT;
		after = found;
	} while (!still_there(type, found));
	*id = found;
	return 0;
}
