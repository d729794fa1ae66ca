/* OBJ_GET_INFO_BY_FD: structures that may be shorter or longer on the caller's side than here, and
 * the caller's buffers that they point at: each has a count that says how much room there is and
 * then how much there would be. */
#include "sys.h"
#include "door.h"
#include "base/cleanup.h"
#include "btf/btf.h"
#include "map/map.h"
#include "prog/prog.h"

/* Fill the caller's array with what fits of `have` records; *count becomes `have`. */
static int fill(struct sys_call *c, u64 user, u32 *count, const void *from, u32 have, u32 rec_size)
{
	u32 n = MIN(*count, have);

	*count = have;
	return sys_write_mem(c, user, from, (size_t)n * rec_size);
}

/* The caller's structure: its pointers and counts. *size becomes the part that both sides know. */
static int info_in(struct sys_call *c, void *info, u32 *size)
{
	u32 theirs = c->attr.info.info_len;
	int err = sys_tail_zero(c, c->attr.info.info, *size, theirs);

	if (err)
		return err;
	*size = MIN(*size, theirs);
	return sys_read_mem(c, info, c->attr.info.info, *size);
}

static int info_out(struct sys_call *c, const void *info, u32 size)
{
	if (sys_write_mem(c, c->attr.info.info, info, size))
		return -EFAULT;
	c->attr.info.info_len = size;
	return SYS_PUT(c, info.info_len);
}

/* ---- maps */

static int map_info(struct sys_call *c, const struct map *m)
{
	struct abi_map_info info = {0};
	u32 size = sizeof(info);
	int err = info_in(c, &info, &size);

	if (err)
		return err;
	if (info.hash || info.hash_size) /* hashes of exclusive maps, which are not built */
		return -EINVAL;
	info = (struct abi_map_info){
	    .type = m->type,
	    .id = m->obj.id,
	    .key_size = m->key_size,
	    .value_size = m->value_size,
	    .max_entries = m->max_entries,
	    .map_flags = m->flags,
	    .map_extra = m->extra,
	};
	memcpy(info.name, m->name, sizeof(info.name));
	if (m->btf) {
		info.btf_id = btf_obj(m->btf)->id;
		info.btf_key_type_id = m->btf_key_id;
		info.btf_value_type_id = m->btf_value_id;
	}
	return info_out(c, &info, size);
}

/* ---- programs */

/* A record size is given with a count or left 0 with it. */
static int rec_size(u32 count, u32 *size, u32 want)
{
	if ((count || *size) && *size != want)
		return -EINVAL;
	*size = want;
	return 0;
}

static int map_ids(struct sys_call *c, const struct prog *p, struct abi_prog_info *info)
{
	autofree u32 *ids = calloc(p->n_maps + 1, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	for (u32 i = 0; i < p->n_maps; i++)
		ids[i] = p->maps[i]->obj.id;
	return fill(c, info->map_ids, &info->nr_map_ids, ids, p->n_maps, sizeof(*ids));
}

/* One tag a function; with a single function it is the program's. */
static int prog_tags(struct sys_call *c, const struct prog *p, struct abi_prog_info *info)
{
	u32 n = MAX(p->proof.n_funcs, 1u);
	autofree u8(*tags)[8] = calloc(n, sizeof(*tags));

	if (!tags)
		return -ENOMEM;
	memcpy(tags[0], p->tag, sizeof(p->tag));
	for (u32 i = 0; n > 1 && i < n; i++) {
		const struct proof_func *f = &p->proof.func[i];

		prog_make_tag(tags[i], p->loaded + f->start, f->end - f->start);
	}
	return fill(c, info->prog_tags, &info->nr_prog_tags, tags, n, sizeof(*tags));
}

static int prog_arrays(struct sys_call *c, const struct prog *p, struct abi_prog_info *info)
{
	int err = map_ids(c, p, info);

	if (!err)
		err =
		    rec_size(info->nr_func_info, &info->func_info_rec_size, sizeof(*p->func_info));
	if (!err)
		err =
		    rec_size(info->nr_line_info, &info->line_info_rec_size, sizeof(*p->line_info));
	if (!err)
		err = rec_size(info->nr_jited_line_info, &info->jited_line_info_rec_size,
			       sizeof(u64));
	if (err)
		return err;
	info->xlated_prog_len /= sizeof(*p->xlated); /* whole instructions fit or not */
	err = fill(c, info->xlated_prog_insns, &info->xlated_prog_len, p->xlated, p->n_xlated,
		   sizeof(*p->xlated));
	info->xlated_prog_len *= sizeof(*p->xlated);
	if (!err)
		err = fill(c, info->func_info, &info->nr_func_info, p->func_info, p->n_func_info,
			   sizeof(*p->func_info));
	if (!err)
		err = fill(c, info->line_info, &info->nr_line_info, p->line_info, p->n_line_info,
			   sizeof(*p->line_info));
	return err ? err : prog_tags(c, p, info);
}

static int prog_info(struct sys_call *c, struct prog *p)
{
	struct abi_prog_info info = {0};
	u32 size = sizeof(info);
	int err = info_in(c, &info, &size);

	if (!err)
		err = prog_arrays(c, p, &info);
	if (err)
		return err;
	info.type = p->kind->prog_type;
	info.id = p->obj.id;
	memcpy(info.tag, p->tag, sizeof(info.tag));
	memcpy(info.name, p->name, sizeof(info.name));
	info.load_time = p->load_time;
	info.created_by_uid = p->uid;
	info.gpl_compatible = p->gpl;
	info.ifindex = 0;
	info.netns_dev = info.netns_ino = 0;
	info.btf_id = p->btf ? btf_obj(p->btf)->id : 0;
	info.run_time_ns = atomic_load(&p->run_time_ns);
	info.run_cnt = atomic_load(&p->run_cnt);
	info.recursion_misses = 0;
	info.verified_insns = p->verified_insns;
	info.attach_btf_obj_id = info.attach_btf_id = 0;
	/* there is no machine code yet whose place or size could be told */
	info.jited_prog_len = info.nr_jited_ksyms = info.nr_jited_func_lens =
	    info.nr_jited_line_info = 0;
	return info_out(c, &info, size);
}

/* ---- BTF */

static int name_out(struct sys_call *c, struct abi_btf_info *info, const char *name)
{
	u32 len = strlen(name), room = info->name_len;
	u64 user = info->name;

	if (!user != !room)
		return -EINVAL;
	info->name_len = len;
	if (!user)
		return 0;
	if (sys_write_mem(c, user, name, MIN(len, room - 1)) ||
	    sys_write_mem(c, user + MIN(len, room - 1), "", 1))
		return -EFAULT;
	return room > len ? 0 : -ENOSPC;
}

static int btf_info(struct sys_call *c, const struct sys_handle *h)
{
	struct abi_btf_info info = {0};
	u32 size = sizeof(info), raw_size;
	const void *bytes = btf_raw(h->btf, &raw_size);
	int err = info_in(c, &info, &size), name_err;

	if (err)
		return err;
	info.id = h->obj->id;
	info.kernel_btf = h->forever;
	err = fill(c, info.btf, &info.btf_size, bytes, raw_size, 1);
	if (err)
		return err;
	name_err = name_out(c, &info, h->forever ? "vmlinux" : "");
	if (name_err && name_err != -ENOSPC)
		return name_err;
	err = info_out(c, &info, size);
	return err ? err : name_err;
}

/* ---- the command */

long sys_info(struct sys_call *c)
{
	autounpin struct sys_handle *h = NULL;
	u32 mode;
	int err;

	h = sys_fd_get(c->attr.info.bpf_fd, &mode, &err);
	if (!h)
		return err == -EBADF ? -EBADFD : err;
	switch (h->obj->type) {
	case OBJ_MAP:
		return map_info(c, container_of(h->obj, struct map, obj));
	case OBJ_PROG:
		return prog_info(c, container_of(h->obj, struct prog, obj));
	case OBJ_BTF:
		return btf_info(c, h);
	default:
		return -EINVAL;
	}
}
