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
