/* MAP_CREATE and MAP_FREEZE. What a kind of map allows is map's business; here is what the
 * descriptor side adds: names, BTF by descriptor, modes of the descriptor, what skep has no
 * counterpart for (devices, tokens, signatures). */
#include "sys.h"
#include "door.h"
#include "base/cleanup.h"
#include "btf/btf.h"
#include "map/map.h"
#include <fcntl.h>
#include <stdio.h>

#define NO_NODE (-1)

static void map_put_ptr(struct map **m)
{
	map_put(*m);
}

static bool node_exists(u32 node)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u", node);
	return node == 0 || raw(SYS_faccessat, AT_FDCWD, raw_arg(path), F_OK) == 0;
}

/* What every kind refuses, in the kernel's order: it decides which errno a call with two faults
 * gets. */
static int check_common(const union abi_attr *a)
{
	const __auto_type m = &a->map_create;

	if (m->btf_vmlinux_value_type_id) {
		if (m->map_type != BPF_MAP_TYPE_STRUCT_OPS || m->btf_key_type_id ||
		    m->btf_value_type_id)
			return -EINVAL;
	} else if (m->btf_key_type_id && !m->btf_value_type_id) {
		return -EINVAL;
	}
	if (m->map_type != BPF_MAP_TYPE_BLOOM_FILTER && m->map_type != ABI_MAP_ARENA &&
	    m->map_extra)
		return -EINVAL;
	if (sys_open_mode(m->map_flags) < 0)
		return -EINVAL;
	if (m->map_flags & BPF_F_NUMA_NODE && (s32)m->numa_node != NO_NODE &&
	    !node_exists(m->numa_node))
		return -EINVAL;
	return 0;
}

/* The token of a delegated bpffs; skep hands none out, so no descriptor can be one. */
static int check_token(const union abi_attr *a)
{
	u32 mode;
	int err;
	struct sys_handle *h;

	if (!(a->map_create.map_flags & ABI_F_TOKEN_FD))
		return 0;
	h = sys_fd_get(a->map_create.map_token_fd, &mode, &err);
	if (h)
		sys_unpin(h);
	return h ? -EINVAL : err;
}

static int get_btf(const union abi_attr *a, struct btf_types **btf)
{
	autounpin struct sys_handle *h = NULL;
	int err;

	*btf = NULL;
	if (!a->map_create.btf_key_type_id && !a->map_create.btf_value_type_id)
		return 0;
	*btf = sys_get_btf(a->map_create.btf_fd, &h, &err);
	if (!*btf)
		return err;
	if (h->forever) {
		*btf = NULL;
		return -EACCES;
	}
	obj_get(h->obj);
	return 0;
}

/* For a map of maps: one like those to be put in. Whether that is needed is the kind's to say. */
static void get_inner(const union abi_attr *a, struct map_attr *attr, struct sys_handle **h)
{
	u32 mode;

	if (a->map_create.map_type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
	    a->map_create.map_type == BPF_MAP_TYPE_HASH_OF_MAPS)
		attr->inner = sys_get_map(a->map_create.inner_map_fd, h, &mode, &attr->inner_err);
}

static void btf_put_ptr(struct btf_types **b)
{
	btf_put(*b);
}

static int create(struct map **out, const union abi_attr *a)
{
	CLEANUP(btf_put_ptr) struct btf_types *btf = NULL;
	autounpin struct sys_handle *inner = NULL;
	struct map_attr attr = {
	    .type = a->map_create.map_type,
	    .key_size = a->map_create.key_size,
	    .value_size = a->map_create.value_size,
	    .max_entries = a->map_create.max_entries,
	    .flags = a->map_create.map_flags & ~ABI_F_TOKEN_FD,
	    .extra = a->map_create.map_extra,
	    .numa_node = a->map_create.numa_node,
	};
	int name_err = sys_copy_name(attr.name, a->map_create.map_name), btf_err = get_btf(a, &btf),
	    err;

	get_inner(a, &attr, &inner);
	/* the kernel makes the map first and looks at name and BTF after; a map that can't be made
	 * says so first */
	if (!name_err && !btf_err && btf) {
		attr.btf = btf;
		attr.btf_key_id = a->map_create.btf_key_type_id;
		attr.btf_value_id = a->map_create.btf_value_type_id;
	}
	err = map_new(out, &attr);
	if (!err && (name_err || btf_err)) {
		map_put(*out);
		*out = NULL;
		err = name_err ? name_err : btf_err;
	}
	return err;
}

long sys_map_create(struct sys_call *c)
{
	const union abi_attr *a = &c->attr;
	CLEANUP(map_put_ptr) struct map *m = NULL;
	int err = check_common(a), fd;

	if (!err && a->map_create.map_ifindex)
		err = -EINVAL; /* maps of a device */
	if (!err)
		err = check_token(a);
	if (!err)
		err = create(&m, a);
	if (err)
		return err;
	if (a->map_create.excl_prog_hash || a->map_create.excl_prog_hash_size)
		return -EINVAL; /* exclusive maps: see docs/abi.md */
	m->flags &= ~(BPF_F_RDONLY | BPF_F_WRONLY);
	fd = sys_publish(&m->obj, "bpf-map", sys_open_mode(a->map_create.map_flags));
	if (fd >= 0)
		m = NULL;
	return fd;
}

/* ---- freeze */

/* Is the file mapped writable by anything but the map itself, which has one such mapping? As far as
 * this process's list of mappings tells. */
static bool mapped_writable(const struct sys_handle *h)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512], perm[5];
	unsigned long ino;
	unsigned major, minor;
	u32 n = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*x-%*x %4s %*x %x:%x %lu", perm, &major, &minor, &ino) == 4 &&
		    ino == h->ino && ((u64)major << 32 | minor) == h->dev && perm[1] == 'w' &&
		    perm[3] == 's')
			n++;
	if (f)
		fclose(f);
	return n > 1;
}

long sys_map_freeze(struct sys_call *c)
{
	autounpin struct sys_handle *h = NULL;
	struct map *m;
	u32 mode;
	int err;

	m = sys_get_map(c->attr.elem.map_fd, &h, &mode, &err);
	if (!m)
		return err;
	if (!(mode & SYS_WRITE) || atomic_load(&m->frozen))
		return -EPERM;
	if (m->memfd >= 0 && mapped_writable(h))
		return -EBUSY;
	return map_freeze(m);
}
