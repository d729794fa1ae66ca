/* Commands that are not built: each answers what the kernel answers where it lacks the thing, after
 * the checks that come before that on the kernel. docs/abi.md has a row for each. */
#include "sys.h"
#include "door.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "map/map.h"
#include "prog/prog.h"
#include <fcntl.h>
#include <sys/vfs.h>

#define BPFFS_MAGIC 0xcafe4a11

/* Attaching, querying, statistics: as a kernel without the hook. */
long sys_not_attach(struct sys_call *c)
{
	return -EINVAL;
}

long sys_not_task_query(struct sys_call *c)
{
	return -ENOTSUPP_;
}

/* The program comes first; then there is no hook it could be linked to. */
long sys_not_link_create(struct sys_call *c)
{
	autounpin struct sys_handle *h = NULL;
	int err;

	return sys_get_prog(LOAD(s32, c->attr.raw), &h, &err) ? -EINVAL : err;
}

/* A descriptor of a link comes first in these; none is one. */
long sys_not_link(struct sys_call *c)
{
	autounpin struct sys_handle *h = NULL;
	u32 mode;
	int err;

	h = sys_fd_get(LOAD(s32, c->attr.raw), &mode, &err);
	return h ? -EINVAL : err;
}

/* A bpffs outside user namespaces gives no tokens. */
long sys_not_token(struct sys_call *c)
{
	struct statfs st;

	if (LOAD(u32, c->attr.raw)) /* flags */
		return -EINVAL;
	if (raw(SYS_fstatfs, LOAD(s32, c->attr.raw + 4), raw_arg(&st)))
		return -EBADF;
	return (u32)st.f_type == BPFFS_MAGIC ? -EOPNOTSUPP : -EINVAL;
}

/* Streams 1 and 2 of a program exist and are empty: nothing here writes to them yet. */
long sys_stream_read(struct sys_call *c)
{
	autounpin struct sys_handle *h = NULL;
	u32 stream = LOAD(u32, c->attr.raw + 12);
	int err;

	if (!sys_get_prog(LOAD(s32, c->attr.raw + 16), &h, &err))
		return err;
	return stream == 1 || stream == 2 ? 0 : -ENOENT;
}

/* ---- pins: skep has no bpffs of its own yet, and what lies elsewhere is refused as the kernel
 * does */

static int path_in(struct sys_call *c, char path[4096])
{
	int err = c->by->ops->str(c->by, path, c->attr.obj.pathname, 4096);

	return err ? err : strlen(path) == 4095 ? -ENAMETOOLONG : path[0] ? 0 : -ENOENT;
}

static int base_of(const struct sys_call *c)
{
	return c->attr.obj.file_flags & (1u << 14) /* BPF_F_PATH_FD */ ? c->attr.obj.path_fd
								       : AT_FDCWD;
}

static int check_obj(const union abi_attr *a, bool pin)
{
	u32 allowed = 1u << 14 | (pin ? 0 : BPF_F_RDONLY | BPF_F_WRONLY);

	if (a->obj.file_flags & ~allowed || (!pin && a->obj.bpf_fd))
		return -EINVAL;
	return a->obj.path_fd && !(a->obj.file_flags & 1u << 14) ? -EINVAL : 0;
}

long sys_obj_pin(struct sys_call *c)
{
	autounpin struct sys_handle *h = NULL;
	char path[4096];
	int err = check_obj(&c->attr, true), dir;
	char *slash;
	u32 mode;

	if (err)
		return err;
	h = sys_fd_get(c->attr.obj.bpf_fd, &mode, &err);
	if (!h)
		return -EINVAL;
	err = path_in(c, path);
	if (err)
		return err;
	if (raw(SYS_faccessat, base_of(c), raw_arg(path), F_OK) == 0)
		return -EEXIST;
	slash = strrchr(path, '/');
	if (slash)
		slash[slash == path] = 0;
	dir = raw(SYS_faccessat, base_of(c), raw_arg(slash ? path : "."), F_OK);
	return dir ? dir : -EPERM;
}

long sys_obj_get(struct sys_call *c)
{
	char path[4096];
	int err = check_obj(&c->attr, false);

	if (!err)
		err = path_in(c, path);
	if (!err)
		err = raw(SYS_faccessat, base_of(c), raw_arg(path), F_OK);
	return err ? err : -EACCES;
}
