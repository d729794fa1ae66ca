/* XSKMAP: AF_XDP sockets that bpf_redirect_map() sends frames to. Frames reach no socket from here,
 * so putting one in is refused by name (docs/abi.md: xsk-sockets) and the map stays empty; everything
 * else that user space may ask it is answered as by an empty one of the kernel's. */
#include "redirect.h"
#include "array.h"
#include <sys/socket.h>

/* xsk_map_alloc() of net/xdp/xskmap.c */
static int xskmap_check(const struct map_attr *attr)
{
	if (!attr->max_entries || attr->key_size != 4 || attr->value_size != 4 ||
	    attr->flags & ~(BPF_F_NUMA_NODE | BPF_F_RDONLY | BPF_F_WRONLY))
		return -EINVAL;
	return map_area_fits((u64)attr->max_entries * sizeof(void *)) ? 0 : -ENOMEM;
}

static int xskmap_new(struct map **out, const struct map_attr *attr)
{
	struct map *m = map_alloc(sizeof(*m), attr, &map_xskmap_ops);

	if (!m)
		return -ENOMEM;
	*out = m;
	return 0;
}

static void xskmap_free(struct map *m)
{
	free(m);
}

static void *xskmap_lookup(struct map *m, const void *key, u32 cpu)
{
	return NULL;
}

static int xskmap_copy_out(struct map *m, const void *key, void *value, u64 flags)
{
	return -EOPNOTSUPP;
}

static int xskmap_copy_in(struct map *m, const void *key, const void *value, u64 flags)
{
	int domain;

	if (flags > BPF_EXIST)
		return -EINVAL;
	if (LOAD(u32, key) >= m->max_entries)
		return -E2BIG;
	if (getsockopt(LOAD(s32, value), SOL_SOCKET, SO_DOMAIN, &domain,
		       &(socklen_t){sizeof(domain)}))
		return errno == ENOTSOCK ? -ENOTSOCK : -EBADF;
	return -EOPNOTSUPP; /* of another family: the kernel's answer; AF_XDP: ours */
}

static int xskmap_delete(struct map *m, const void *key)
{
	return LOAD(u32, key) < m->max_entries ? 0 : -EINVAL;
}

/* xsk_map_meta_equal() */
static bool xskmap_equal(const struct map *template, const struct map *m)
{
	return template->max_entries == m->max_entries && map_meta_equal(template, m);
}

static u64 xskmap_memory(const struct map *m)
{
	return sizeof(*m);
}

const struct map_ops map_xskmap_ops = {
    .check = xskmap_check,
    .new = xskmap_new,
    .free = xskmap_free,
    .lookup = xskmap_lookup,
    .update = redirect_no_update,
    .delete = xskmap_delete,
    .copy_out = xskmap_copy_out,
    .copy_in = xskmap_copy_in,
    .next_key = map_array_next_key,
    .meta_equal = xskmap_equal,
    .memory = xskmap_memory,
};
