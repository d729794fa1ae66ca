/* BTF_LOAD. */
#include "sys.h"
#include "door.h"
#include "base/cleanup.h"
#include "btf/btf.h"

#define MAX_SIZE (16u << 20) /* BTF_MAX_SIZE */

/* The token of a delegated bpffs; skep hands none out. */
static int check_flags(const union abi_attr *a)
{
	u32 mode;
	int err;
	struct sys_handle *h;

	if (a->btf_load.flags & ~ABI_F_TOKEN_FD)
		return -EINVAL;
	if (!(a->btf_load.flags & ABI_F_TOKEN_FD))
		return 0;
	h = sys_fd_get(a->btf_load.token_fd, &mode, &err);
	if (h)
		sys_unpin(h);
	return h ? -EINVAL : err;
}

static int parse(struct sys_call *c, struct sys_vlog *vlog, struct btf_types **out)
{
	autofree void *data = NULL;
	u32 true_size;
	int err, log_err;

	err = sys_read_all(c, &data, c->attr.btf_load.btf, c->attr.btf_load.btf_size);
	if (!err)
		err = btf_parse(out, data ? data : "", c->attr.btf_load.btf_size, NULL,
				vlog->log.level ? &vlog->log : NULL);
	log_err = sys_vlog_finish(c, vlog, &true_size);
	if (c->size >= offsetof(union abi_attr, btf_load.log_true_size) + sizeof(true_size)) {
		c->attr.btf_load.log_true_size = true_size;
		if (SYS_PUT(c, btf_load.log_true_size))
			log_err = -EFAULT;
	}
	if (log_err && !err)
		btf_put(*out);
	return log_err ? log_err : err;
}

long sys_btf_load(struct sys_call *c)
{
	struct sys_vlog vlog = {.size = 0};
	struct btf_types *btf;
	int err = check_flags(&c->attr), fd;

	if (!err && c->attr.btf_load.btf_size > MAX_SIZE)
		err = -E2BIG;
	if (!err)
		err = sys_vlog_start(&vlog, c->attr.btf_load.log_level, c->attr.btf_load.log_size,
				     c->attr.btf_load.log_buf);
	if (err)
		return err;
	err = parse(c, &vlog, &btf);
	log_done(&vlog.log);
	if (err)
		return err;
	sys_ids_start();
	fd = sys_publish_btf(btf, 0);
	if (fd < 0)
		btf_put(btf);
	return fd;
}
