/* PROG_LOAD and PROG_BIND_MAP. Everything is copied out of the caller's memory once and only the
 * copies are looked at; prog_load() judges them. */
#include "sys.h"
#include "door.h"
#include "base/cleanup.h"
#include "btf/btf.h"
#include "map/map.h"
#include "prog/prog.h"
#include <fcntl.h>

#define MAX_RECORD     252u	   /* MAX_FUNCINFO_REC_SIZE and MAX_LINEINFO_REC_SIZE */
#define MAX_CORE_RELOS (16u << 20) /* bytes */

static __thread struct refusal last_refusal __attribute__((tls_model("initial-exec")));
static __thread bool refused __attribute__((tls_model("initial-exec")));

const struct refusal *sys_last_refusal(void)
{
	return refused ? &last_refusal : NULL;
}

/* One load: the copies, owned. */
struct load {
	struct sys_call *call;
	struct prog_attr attr;
	void *insns, *func_info, *line_info, *core_relos;
	s32 *fd_array;	       /* fd_array_cnt of them, when the caller says how many there are */
	struct btf_types *btf; /* a reference */
	char license[128];
	struct sys_vlog vlog;
};

static void load_done(struct load *l)
{
	free(l->insns);
	free(l->func_info);
	free(l->line_info);
	free(l->core_relos);
	free(l->fd_array);
	btf_put(l->btf);
	log_done(&l->vlog.log);
}

/* ---- maps by descriptor */

static int map_of_fd(s32 fd, struct map **map)
{
	autounpin struct sys_handle *h = NULL;
	u32 mode;
	int err;
	struct map *m = sys_get_map(fd, &h, &mode, &err);

	if (!m)
		return err;
	obj_get(&m->obj);
	*map = m;
	return 0;
}

static int map_by_fd(void *ctx, s32 fd, bool fd_is_index, struct map **map)
{
	struct load *l = ctx;
	const union abi_attr *a = &l->call->attr;

	if (!fd_is_index)
		return map_of_fd(fd, map);
	if (!a->prog_load.fd_array)
		return -EPROTO;
	if (fd < 0)
		return -EFAULT;
	if (l->fd_array && (u32)fd < a->prog_load.fd_array_cnt)
		return map_of_fd(l->fd_array[fd], map);
	if (sys_read_mem(l->call, &fd, a->prog_load.fd_array + (u64)fd * sizeof(fd), sizeof(fd)))
		return -EFAULT;
	return map_of_fd(fd, map);
}

/* fd_array_cnt: every entry is a map or BTF, checked before anything else. */
static int read_fd_array(struct load *l)
{
	const union abi_attr *a = &l->call->attr;
	u32 n = a->prog_load.fd_array_cnt, mode;
	int err;

	if (!n)
		return 0;
	if (n >= UINT32_MAX / sizeof(s32)) {
		log_printf(&l->vlog.log, "fd_array_cnt is too big (%u)\n", n);
		return -EINVAL;
	}
	if (n > 65536) /* more than a process could well have open */
		return -ENOMEM;
	err = sys_read_all(l->call, (void **)&l->fd_array, a->prog_load.fd_array, n * sizeof(s32));
	for (u32 i = 0; !err && i < n; i++) {
		autounpin struct sys_handle *h = sys_fd_get(l->fd_array[i], &mode, &err);

		if (h)
			err = h->obj->type == OBJ_MAP || h->obj->type == OBJ_BTF ? 0 : -EINVAL;
	}
	return err;
}

/* The maps that only fd_array names are held by the program, too. */
static int bind_fd_array(struct load *l, struct prog *p)
{
	int err = 0;

	for (u32 i = 0; l->fd_array && !err && i < l->call->attr.prog_load.fd_array_cnt; i++) {
		struct map *m;

		if (map_of_fd(l->fd_array[i], &m))
			continue;
		err = prog_add_map(p, m);
		map_put(m);
	}
	return err;
}

/* ---- attributes */

/* The token of a delegated bpffs; skep hands none out, so no descriptor can be one. */
static int check_token(const union abi_attr *a)
{
	u32 mode;
	int err;
	struct sys_handle *h;

	if (!(a->prog_load.prog_flags & ABI_F_TOKEN_FD))
		return 0;
	h = sys_fd_get(a->prog_load.prog_token_fd, &mode, &err);
	if (h)
		sys_unpin(h);
	return h ? -EINVAL : err;
}

/* Records of func_info or line_info lie in ascending order below insn_cnt: more of them than that
 * are wrong whatever they hold, so one more than can be right is copied and prog_load() finds it. A
 * record size that is wrong is its to refuse, too. */
static int read_records(struct load *l, void **out, u64 from, u32 rec_size, u32 *count)
{
	if (!*count || rec_size > MAX_RECORD)
		return 0;
	*count = MIN(*count, l->attr.n_insns + 1);
	return sys_read_all(l->call, out, from, (size_t)rec_size * *count);
}

static int read_btf(struct load *l, s32 fd)
{
	autounpin struct sys_handle *h = NULL;
	int err;
	struct btf_types *btf = sys_get_btf(fd, &h, &err);

	if (!btf)
		return err;
	if (h->forever)
		return -EACCES;
	obj_get(h->obj);
	l->btf = btf;
	return 0;
}

/* Types and records are looked at only when there are records; without them any prog_btf_fd does.
 */
static int read_info(struct load *l)
{
	const __auto_type p = &l->call->attr.prog_load;
	struct prog_attr *a = &l->attr;
	int err;

	a->func_info_rec_size = p->func_info_rec_size;
	a->func_info_cnt = p->func_info_cnt;
	a->line_info_rec_size = p->line_info_rec_size;
	a->line_info_cnt = p->line_info_cnt;
	a->core_relo_rec_size = p->core_relo_rec_size;
	a->core_relo_cnt = p->core_relo_cnt;
	if (!p->func_info_cnt && !p->line_info_cnt)
		return 0;
	err = read_btf(l, p->prog_btf_fd);
	if (!err)
		err = read_records(l, &l->func_info, p->func_info, p->func_info_rec_size,
				   &a->func_info_cnt);
	if (!err)
		err = read_records(l, &l->line_info, p->line_info, p->line_info_rec_size,
				   &a->line_info_cnt);
	if (!err && p->core_relo_cnt && p->core_relo_rec_size <= MAX_RECORD) {
		u64 size = (u64)p->core_relo_cnt * p->core_relo_rec_size;

		err = size > MAX_CORE_RELOS
			  ? -ENOMEM
			  : sys_read_all(l->call, &l->core_relos, p->core_relos, size);
	}
	a->btf = l->btf;
	a->func_info = l->func_info;
	a->line_info = l->line_info;
	a->core_relos = l->core_relos;
	return err;
}

static int read_program(struct load *l)
{
	const __auto_type p = &l->call->attr.prog_load;
	int err;

	l->attr = (struct prog_attr){
	    .type = p->prog_type,
	    .attach_type = p->expected_attach_type,
	    .flags = p->prog_flags,
	    .caps = l->call->by->caps,
	    .ifindex = p->prog_ifindex,
	    .attach_btf_id = p->attach_btf_id,
	    .attach_to = p->attach_prog_fd != 0,
	    .n_insns = p->insn_cnt,
	    .license = l->license,
	    .map_by_fd = map_by_fd,
	    .ctx = l,
	    .log = &l->vlog.log,
	    .uid = l->call->by->in_process ? (u32)raw(SYS_getuid) : l->call->by->uid,
	};
	err = prog_check_attr(&l->attr);
	if (!err && p->prog_ifindex)
		err = -EINVAL; /* no program here belongs to a device: as for one that the kernel
				  does not find */
	if (err)
		return err;
	err = sys_read_all(l->call, &l->insns, p->insns,
			   (size_t)p->insn_cnt * sizeof(struct bpf_insn));
	if (err)
		return err;
	l->attr.insns = l->insns;
	if (l->call->by->ops->str(l->call->by, l->license, p->license, sizeof(l->license)))
		return -EFAULT;
	if (p->signature)
		return -EINVAL; /* signed programs: see docs/abi.md */
	return sys_copy_name(l->attr.name, p->prog_name);
}

/* ---- load */

/* From here on the log is open: whatever happens, the caller gets it, and its faults come before
 * the verdict. */
static int judge(struct load *l, struct prog **out)
{
	struct refusal why = {.reg = -1};
	u32 true_size;
	int err, log_err;

	err = read_fd_array(l);
	if (!err)
		err = read_info(l);
	if (!err) {
		err = prog_load(out, &l->attr, &why);
		if (err) {
			last_refusal = why;
			refused = true;
		}
	}
	log_err = sys_vlog_finish(l->call, &l->vlog, &true_size);
	if (l->call->size >=
	    offsetof(union abi_attr, prog_load.log_true_size) + sizeof(true_size)) {
		l->call->attr.prog_load.log_true_size = true_size;
		if (SYS_PUT(l->call, prog_load.log_true_size))
			return -EFAULT;
	}
	return log_err ? log_err : err;
}

static void prog_put_ptr(struct prog **p)
{
	prog_put(*p);
}

long sys_prog_load(struct sys_call *c)
{
	CLEANUP(load_done) struct load l = {.call = c};
	CLEANUP(prog_put_ptr) struct prog *p = NULL;
	int err, fd;

	refused = false;
	err = check_token(&c->attr);
	if (!err)
		err = read_program(&l);
	if (!err)
		err = sys_vlog_start(&l.vlog, c->attr.prog_load.log_level,
				     c->attr.prog_load.log_size, c->attr.prog_load.log_buf);
	if (!err)
		err = judge(&l, &p);
	if (!err)
		err = bind_fd_array(&l, p);
	if (err)
		return err;
	fd = sys_publish(&p->obj, "bpf-prog", O_RDWR);
	if (fd >= 0)
		p = NULL;
	return fd;
}

long sys_prog_bind_map(struct sys_call *c)
{
	autounpin struct sys_handle *hp = NULL, *hm = NULL;
	struct prog *p;
	struct map *m;
	u32 mode;
	int err;

	if (c->attr.bind_map.flags)
		return -EINVAL;
	p = sys_get_prog(c->attr.bind_map.prog_fd, &hp, &err);
	if (!p)
		return err;
	m = sys_get_map(c->attr.bind_map.map_fd, &hm, &mode, &err);
	return m ? prog_add_map(p, m) : err;
}
