/* OBJ_PIN and OBJ_GET. Where the files are: pinfs.c. What lies elsewhere is refused as the kernel
 * refuses what is on no bpffs. */
#include "sys.h"
#include "door.h"
#include "pin.h"
#include "base/cleanup.h"
#include <fcntl.h>

#define F_PATH_FD (1u << 14) /* BPF_F_PATH_FD */
#define PATH_ROOM 4096u

static int path_in(struct sys_call *c, char path[PATH_ROOM])
{
	int err = c->by->ops->str(c->by, path, c->attr.obj.pathname, PATH_ROOM);

	if (err)
		return err;
	return strlen(path) == PATH_ROOM - 1 ? -ENAMETOOLONG : path[0] ? 0 : -ENOENT;
}

static int base_of(const struct sys_call *c)
{
	return c->attr.obj.file_flags & F_PATH_FD ? c->attr.obj.path_fd : AT_FDCWD;
}

static int check_obj(const union abi_attr *a, bool pin)
{
	u32 allowed = F_PATH_FD | (pin ? 0 : BPF_F_RDONLY | BPF_F_WRONLY);

	if (a->obj.file_flags & ~allowed || (!pin && a->obj.bpf_fd))
		return -EINVAL;
	return a->obj.path_fd && !(a->obj.file_flags & F_PATH_FD) ? -EINVAL : 0;
}

/* On some other file system: what comes before the kernel sees that it is no bpffs. */
static int pin_elsewhere(int dir, char path[PATH_ROOM])
{
	char *slash = strrchr(path, '/');
	long err;

	if (raw(SYS_faccessat, dir, raw_arg(path), F_OK) == 0)
		return -EEXIST;
	if (slash)
		slash[slash == path] = 0;
	err = raw(SYS_faccessat, dir, raw_arg(slash ? path : "."), F_OK);
	return err ? err : -EPERM;
}

static bool can_be_pinned(const struct sys_handle *h)
{
	return h->obj->type == OBJ_MAP || h->obj->type == OBJ_PROG || h->obj->type == OBJ_LINK;
}

long sys_obj_pin(struct sys_call *c)
{
	autounpin struct sys_handle *h = NULL;
	char path[PATH_ROOM];
	int err = check_obj(&c->attr, true);
	u32 mode;

	if (err)
		return err;
	h = sys_fd_get(c->attr.obj.bpf_fd, &mode, &err);
	if (!h || !can_be_pinned(h))
		return -EINVAL;
	err = path_in(c, path);
	if (err)
		return err;
	err = sys_pins_add(base_of(c), path, h->obj);
	return err == SYS_PINS_NOT_HERE ? pin_elsewhere(base_of(c), path) : err;
}

static int get_elsewhere(int dir, const char *path)
{
	long err = raw(SYS_faccessat, dir, raw_arg(path), F_OK);

	return err ? err : -EACCES;
}

long sys_obj_get(struct sys_call *c)
{
	char path[PATH_ROOM];
	int err = check_obj(&c->attr, false), fd;

	if (!err)
		err = MIN(sys_open_mode(c->attr.obj.file_flags & (BPF_F_RDONLY | BPF_F_WRONLY)), 0);
	if (!err)
		err = path_in(c, path);
	if (err)
		return err;
	fd = sys_pins_open(base_of(c), path, sys_open_mode(c->attr.obj.file_flags));
	return fd == SYS_PINS_NOT_HERE ? get_elsewhere(base_of(c), path) : fd;
}
