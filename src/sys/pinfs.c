/* The files of pinned objects. The user floor has no bpffs: what lies below /sys/fs/bpf (or
 * $SKEP_BPFFS) is a tree of this process's own, and of nobody else's. bpf(2) puts objects in, and
 * the calls on paths that libbpf makes on the way (shim) come here; they answer as on a bpffs of
 * the kernel, whose names have no dots. Paths that lead elsewhere are the system's.
 *
 * A file is a user of its object (obj.h), as a descriptor is. */
#include "sys.h"
#include "door.h"
#include "pin.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/vfs.h>

#define ROOT	     "/sys/fs/bpf"
#define BPFFS_MAGIC  0xcafe4a11
#define FS_FLAGS     0x1020 /* ST_VALID | ST_RELATIME */
#define PATH_ROOM    4096u
#define NAME_LONGEST 255u

struct node {
	struct node *parent, *next; /* next in the same folder */
	struct node *first;	    /* in this folder */
	struct obj *obj;	    /* NULL: a folder */
	char name[];
};

/* Where a path leads. */
struct place {
	struct node *node;   /* what is there; or NULL and then */
	struct node *folder; /* the folder that it would be in */
	const char *name;
	u32 len;
	bool slash; /* the path ends in one */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over the tree; before sys_lock() */
static struct node root;
static char root_path[PATH_ROOM];

/* ---- paths */

static void find_root(void)
{
	const char *want = getenv("SKEP_BPFFS");
	size_t len = want ? strlen(want) : 0;

	while (len && want[len - 1] == '/')
		len--;
	if (!len || *want != '/' || len >= sizeof(root_path)) {
		strcpy(root_path, ROOT);
		return;
	}
	memcpy(root_path, want, len);
}

/* The path from / on: a relative one behind the folder's own. -errno. */
static int absolute(char out[PATH_ROOM], int dir, const char *path)
{
	size_t len = strlen(path), at = 0;
	char link[48];
	long n;

	if (!len)
		return -ENOENT;
	if (len >= PATH_ROOM)
		return -ENAMETOOLONG;
	if (*path != '/') {
		snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", dir);
		n = raw(SYS_readlinkat, AT_FDCWD,
			raw_arg(dir == AT_FDCWD ? "/proc/thread-self/cwd" : link), raw_arg(out),
			PATH_ROOM - 1);
		if (n < 0)
			return n == -ENOENT ? -EBADF : n;
		at = n;
		out[at++] = '/';
	}
	if (at + len >= PATH_ROOM)
		return -ENAMETOOLONG;
	memcpy(out + at, path, len + 1);
	return 0;
}

static struct node *child(const struct node *folder, const char *name, u32 len)
{
	struct node *n;

	for (n = folder->first; n; n = n->next)
		if (!strncmp(n->name, name, len) && !n->name[len])
			return n;
	return NULL;
}

/* A way that has not come to the root yet: its folders, one after the other. */
struct outside {
	char path[PATH_ROOM];
	size_t len;
};

static void go_outside(struct outside *o, const char *name, u32 len)
{
	if (len == 2 && !memcmp(name, "..", 2)) {
		while (o->len && o->path[--o->len] != '/')
			;
	} else if (o->len + len + 1 < PATH_ROOM) {
		o->path[o->len] = '/';
		memcpy(o->path + o->len + 1, name, len);
		o->len += len + 1;
	}
	o->path[o->len] = 0;
}

/* One step from a place inside the tree; p->node NULL afterwards: out of it, or (with p->name)
 * there is nothing. */
static int step_inside(struct place *p, const char *name, u32 len)
{
	if (!p->node)
		return -ENOENT;
	if (p->node->obj)
		return -ENOTDIR;
	if (len == 2 && !memcmp(name, "..", 2)) {
		p->node = p->node->parent;
		return 0;
	}
	if (len > NAME_LONGEST)
		return -ENAMETOOLONG;
	if (memchr(name, '.', len))
		return -EPERM;
	p->folder = p->node;
	p->node = child(p->folder, name, len);
	p->name = name;
	p->len = len;
	return 0;
}

/* Under the lock. SYS_PINS_NOT_HERE: the path leads out of the tree. */
static int walk(struct place *p, const char *path)
{
	struct outside o = {.len = 0};
	bool inside = false;
	int err = 0;

	*p = (struct place){0};
	while (!err) {
		u32 len;

		p->slash = *path == '/' && (path[strspn(path, "/")] == 0);
		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (!len)
			break;
		if (len == 1 && *path == '.') {
			err = inside && !p->node ? -ENOENT : inside && p->node->obj ? -ENOTDIR : 0;
		} else if (inside) {
			bool up = p->node == &root && len == 2 && !memcmp(path, "..", 2);

			err = step_inside(p, path, len);
			if (!err && up) {
				inside = false;
				strcpy(o.path, root_path);
				o.len = strlen(o.path);
				go_outside(&o, "..", 2);
			}
		} else {
			go_outside(&o, path, len);
			inside = !strcmp(o.path, root_path);
			p->node = inside ? &root : NULL;
		}
		path += len;
	}
	if (err)
		return err;
	if (!inside)
		return SYS_PINS_NOT_HERE;
	return p->slash && p->node && p->node->obj ? -ENOTDIR : 0;
}

/* With the lock taken, for the caller to drop, whatever the answer is. */
static int walk_locked(struct place *p, int dir, const char *path, char buf[PATH_ROOM])
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int err;

	pthread_once(&once, find_root);
	err = absolute(buf, dir, path);
	pthread_mutex_lock(&lock);
	return err ? SYS_PINS_NOT_HERE
		   : walk(p, buf); /* what can't be a path is the system's to refuse */
}

void sys_pins_lock(void)
{
	pthread_mutex_lock(&lock);
}

void sys_pins_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static int add(const struct place *p, struct obj *obj)
{
	struct node *n = calloc(1, sizeof(*n) + p->len + 1);

	if (!n)
		return -ENOMEM;
	memcpy(n->name, p->name, p->len);
	n->obj = obj;
	n->parent = p->folder;
	n->next = p->folder->first;
	p->folder->first = n;
	return 0;
}

static void remove_node(struct node *n)
{
	struct node **at = &n->parent->first;

	while (*at != n)
		at = &(*at)->next;
	*at = n->next;
	free(n);
}

/* ---- bpf(2) */

int sys_pins_add(int dir, const char *path, struct obj *obj)
{
	char buf[PATH_ROOM];
	struct place p;
	int err = walk_locked(&p, dir, path, buf);

	if (!err && p.node)
		err = -EEXIST;
	if (!err && p.slash)
		err = -ENOENT;
	if (!err)
		err = add(&p, obj);
	if (!err)
		obj_get_user(obj);
	pthread_mutex_unlock(&lock);
	return err;
}

int sys_pins_open(int dir, const char *path, int open_flags)
{
	char buf[PATH_ROOM];
	struct place p;
	int err = walk_locked(&p, dir, path, buf);

	if (!err && !p.node)
		err = -ENOENT;
	if (!err && !p.node->obj)
		err = -EACCES;
	/* the file is a user, so the object is there */
	if (!err)
		err = sys_open_id(p.node->obj->type, p.node->obj->id,
				  p.node->obj->type == OBJ_MAP ? open_flags : O_RDWR);
	pthread_mutex_unlock(&lock);
	return err;
}

/* ---- calls on paths */

int sys_mkdirat(int dir, const char *path, u32 mode)
{
	char buf[PATH_ROOM];
	struct place p;
	int err;

	if (sys_floor() != SYS_FLOOR_USER || !path)
		return raw(SYS_mkdirat, dir, raw_arg(path), mode);
	err = walk_locked(&p, dir, path, buf);
	if (!err)
		err = p.node ? -EEXIST : add(&p, NULL);
	pthread_mutex_unlock(&lock);
	return err == SYS_PINS_NOT_HERE ? raw(SYS_mkdirat, dir, raw_arg(path), mode) : err;
}

static int check_remove(const struct place *p, bool folder)
{
	if (!p->node)
		return -ENOENT;
	if (!folder)
		return p->node->obj ? 0 : -EISDIR;
	if (p->node->obj)
		return -ENOTDIR;
	if (p->node == &root)
		return -EBUSY;
	return p->node->first ? -ENOTEMPTY : 0;
}

int sys_unlinkat(int dir, const char *path, int flags)
{
	char buf[PATH_ROOM];
	struct obj *obj = NULL;
	struct place p;
	int err;

	if (sys_floor() != SYS_FLOOR_USER || !path || flags & ~AT_REMOVEDIR)
		return raw(SYS_unlinkat, dir, raw_arg(path), flags);
	err = walk_locked(&p, dir, path, buf);
	if (!err)
		err = check_remove(&p, flags & AT_REMOVEDIR);
	if (!err) {
		obj = p.node->obj;
		remove_node(p.node);
	}
	pthread_mutex_unlock(&lock);
	if (obj)
		obj_put_user(obj);
	return err == SYS_PINS_NOT_HERE ? raw(SYS_unlinkat, dir, raw_arg(path), flags) : err;
}

int sys_faccessat(int dir, const char *path, int mode, int flags)
{
	char buf[PATH_ROOM];
	struct place p;
	int err = SYS_PINS_NOT_HERE;

	if (sys_floor() == SYS_FLOOR_USER && path && !(mode & ~(R_OK | W_OK | X_OK))) {
		err = walk_locked(&p, dir, path, buf);
		if (!err && !p.node)
			err = -ENOENT;
		if (!err && p.node->obj && mode & X_OK)
			err = -EACCES;
		pthread_mutex_unlock(&lock);
	}
	if (err != SYS_PINS_NOT_HERE)
		return err;
	return flags ? raw(SYS_faccessat2, dir, raw_arg(path), mode, flags)
		     : raw(SYS_faccessat, dir, raw_arg(path), mode);
}

int sys_statfs(const char *path, struct statfs *out)
{
	char buf[PATH_ROOM];
	struct place p;
	int err;

	if (sys_floor() != SYS_FLOOR_USER || !path || !out)
		return raw(SYS_statfs, raw_arg(path), raw_arg(out));
	err = walk_locked(&p, AT_FDCWD, path, buf);
	if (!err && !p.node)
		err = -ENOENT;
	pthread_mutex_unlock(&lock);
	if (err == SYS_PINS_NOT_HERE)
		return raw(SYS_statfs, raw_arg(path), raw_arg(out));
	if (!err)
		*out = (struct statfs){.f_type = BPFFS_MAGIC,
				       .f_bsize = SYS_PAGE,
				       .f_frsize = SYS_PAGE,
				       .f_namelen = NAME_LONGEST,
				       .f_flags = FS_FLAGS};
	return err;
}
