/* The calls of bpf(2) on maps, on skep's maps or, when the test is started with the argument "kernel", on the running kernel.
 * The tables in these tests were checked that way: every expected errno is one that kernel 6.18 gave. */
#ifndef FLOOR_H
#define FLOOR_H
#include "map/map.h"
#include "tap.h"
#include <sys/syscall.h>

static bool on_kernel;

struct fmap { /* one map on either floor */
	struct map *m;
	int fd;
};

static inline int kernel_bpf(int cmd, union abi_attr *attr)
{
	int r = syscall(SYS_bpf, cmd, attr, sizeof(*attr) > 152 ? 152 : sizeof(*attr));

	return r < 0 ? -errno : r;
}

static inline int f_create(struct fmap *f, const struct map_attr *a)
{
	union abi_attr attr = { .map_create = { .map_type = a->type, .key_size = a->key_size, .value_size = a->value_size,
		.max_entries = a->max_entries, .map_flags = a->flags, .numa_node = a->numa_node, .map_extra = a->extra } };

	*f = (struct fmap){ .fd = -1 };
	if (!on_kernel)
		return map_new(&f->m, a);
	memcpy(attr.map_create.map_name, a->name, 16);
	f->fd = kernel_bpf(BPF_MAP_CREATE, &attr);
	return f->fd < 0 ? f->fd : 0;
}

static inline void f_done(struct fmap *f)
{
	if (f->m)
		map_put(f->m);
	if (f->fd >= 0)
		close(f->fd);
}

static inline int f_elem(struct fmap *f, int cmd, const void *key, const void *value, u64 flags)
{
	union abi_attr attr = { .elem = { .map_fd = f->fd, .key = addr_of(key), .value = addr_of(value), .flags = flags } };

	return kernel_bpf(cmd, &attr);
}
static inline int f_lookup(struct fmap *f, const void *key, void *value, u64 flags)
{
	return on_kernel ? f_elem(f, BPF_MAP_LOOKUP_ELEM, key, value, flags) : map_copy_out(f->m, key, value, flags);
}
static inline int f_update(struct fmap *f, const void *key, const void *value, u64 flags)
{
	return on_kernel ? f_elem(f, BPF_MAP_UPDATE_ELEM, key, value, flags) : map_copy_in(f->m, key, value, flags);
}
static inline int f_delete(struct fmap *f, const void *key)
{
	return on_kernel ? f_elem(f, BPF_MAP_DELETE_ELEM, key, NULL, 0) : map_delete(f->m, key);
}
static inline int f_next(struct fmap *f, const void *key, void *next)
{
	return on_kernel ? f_elem(f, BPF_MAP_GET_NEXT_KEY, key, next, 0) : map_next_key(f->m, key, next);
}
static inline int f_take(struct fmap *f, void *key, void *value, u64 flags)
{
	return on_kernel ? f_elem(f, BPF_MAP_LOOKUP_AND_DELETE_ELEM, key, value, flags) :
			   map_lookup_delete(f->m, key, value, flags);
}
static inline int f_freeze(struct fmap *f)
{
	union abi_attr attr = { .elem = { .map_fd = f->fd } };
	int r;

	if (!on_kernel)
		return map_freeze(f->m);
	r = syscall(SYS_bpf, BPF_MAP_FREEZE, &attr, 4);
	return r < 0 ? -errno : r;
}

static inline struct fmap f_make(u32 type, u32 key, u32 value, u32 max, u32 flags)
{
	struct map_attr a = { .type = type, .key_size = key, .value_size = value, .max_entries = max, .flags = flags };
	struct fmap f;

	if (f_create(&f, &a)) {
		printf("Bail out! can't create %s\n", map_kind_name(type));
		exit(1);
	}
	return f;
}

static inline void f_start(int argc, char **argv)
{
	on_kernel = argc > 1 && !strcmp(argv[1], "kernel");
}

#endif
