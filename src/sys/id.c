/* Ids: one space each for maps, programs, BTF and links, counting up as the kernel's. BTF 1 is the
 * running kernel's own, where the machine lets it be read. */
#include "sys.h"
#include "door.h"
#include "btf/btf.h"
#include <fcntl.h>
#include <pthread.h>

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"
#define KERNEL_ID  1u

/* ---- the kernel's BTF */

static pthread_once_t ids_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t kernel_lock = PTHREAD_MUTEX_INITIALIZER;
static bool kernel_readable, kernel_published;

static void look_for_kernel(void)
{
	kernel_readable = raw(SYS_faccessat, AT_FDCWD, raw_arg(KERNEL_BTF), R_OK) == 0;
	sys_first_id(OBJ_BTF, kernel_readable ? KERNEL_ID + 1 : KERNEL_ID);
}

void sys_ids_start(void)
{
	pthread_once(&ids_once, look_for_kernel);
}

/* It is read when someone wants to see it. A descriptor, or -ENOENT. */
static int publish_kernel(void)
{
	struct btf_types *btf = (struct btf_types *)btf_kernel();
	int fd;

	if (!btf)
		return -ENOENT;
	obj_get(btf_obj(btf));
	fd = sys_publish_btf(btf, KERNEL_ID);
	if (fd < 0)
		obj_put(btf_obj(btf));
	return fd;
}

static int open_kernel(void)
{
	int fd;

	pthread_mutex_lock(&kernel_lock);
	if (kernel_published) {
		fd = sys_open_id(OBJ_BTF, KERNEL_ID, O_RDONLY);
	} else {
		fd = publish_kernel();
		kernel_published = fd >= 0;
	}
	pthread_mutex_unlock(&kernel_lock);
	return fd;
}

/* ---- GET_NEXT_ID */

static long next(struct sys_call *c, enum obj_type type)
{
	u32 after = c->attr.id.start_id;
	int err;

	if (after >= INT32_MAX)
		return -EINVAL;
	sys_ids_start();
	if (type == OBJ_BTF && after < KERNEL_ID && kernel_readable) {
		c->attr.id.next_id = KERNEL_ID;
		err = 0;
	} else {
		err = sys_next_id(type, after, &c->attr.id.next_id);
	}
	return err ? err : SYS_PUT(c, id.next_id);
}

long sys_next_map(struct sys_call *c)
{
	return next(c, OBJ_MAP);
}

long sys_next_prog(struct sys_call *c)
{
	return next(c, OBJ_PROG);
}

long sys_next_btf(struct sys_call *c)
{
	return next(c, OBJ_BTF);
}

long sys_next_link(struct sys_call *c)
{
	return next(c, OBJ_LINK);
}

/* ---- GET_FD_BY_ID */

long sys_map_by_id(struct sys_call *c)
{
	u32 flags = c->attr.id.open_flags;
	int mode = sys_open_mode(flags);

	if (flags & ~(BPF_F_RDONLY | BPF_F_WRONLY) || mode < 0)
		return -EINVAL;
	return sys_open_id(OBJ_MAP, c->attr.id.start_id, mode);
}

long sys_prog_by_id(struct sys_call *c)
{
	return sys_open_id(OBJ_PROG, c->attr.id.start_id, O_RDWR);
}

long sys_btf_by_id(struct sys_call *c)
{
	u32 mode;
	int err;

	if (c->attr.id.open_flags & ~ABI_F_TOKEN_FD)
		return -EINVAL;
	if (c->attr.id.open_flags & ABI_F_TOKEN_FD) { /* no descriptor of skep's is a token */
		struct sys_handle *h = sys_fd_get(c->attr.id.token_fd, &mode, &err);

		if (h)
			sys_unpin(h);
		return h ? -EINVAL : err;
	}
	sys_ids_start();
	if (c->attr.id.start_id == KERNEL_ID && kernel_readable)
		return open_kernel();
	return sys_open_id(OBJ_BTF, c->attr.id.start_id, O_RDONLY);
}

long sys_link_by_id(struct sys_call *c)
{
	return sys_open_id(OBJ_LINK, c->attr.id.start_id, O_RDWR);
}
