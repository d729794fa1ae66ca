/* CPUMAP: CPUs that bpf_redirect_map() sends frames to; the value is the length of the CPU's queue.
 * Here no frame travels to another CPU: an element says that one could, and its value comes back. An
 * element is one atomic word, queue length 0 meaning none, because the kernel's update with 0 deletes. */
#include "redirect.h"
#include "array.h"
#include <stdio.h>

enum { QUEUE_MAX = 16384 };

struct cpumap {
	struct map m;
	_Atomic u32 *queue; /* max_entries of them */
};

static struct cpumap *of(const struct map *m)
{
	return container_of(m, struct cpumap, m);
}

/* The kernel's NR_CPUS; without sysfs what it mostly is on small machines */
static u32 cpus_configured(void)
{
	FILE *f = fopen("/sys/devices/system/cpu/kernel_max", "re");
	u32 last = 255;

	if (f && fscanf(f, "%u", &last) != 1)
		last = 255;
	if (f)
		fclose(f);
	return last + 1;
}

/* cpu_map_alloc() of kernel/bpf/cpumap.c */
static int cpumap_check(const struct map_attr *attr)
{
	if (!attr->max_entries || attr->key_size != 4 ||
	    (attr->value_size != 4 && attr->value_size != 8) || attr->flags & ~BPF_F_NUMA_NODE)
		return -EINVAL;
	return attr->max_entries > cpus_configured() ? -E2BIG : 0;
}

static int cpumap_new(struct map **out, const struct map_attr *attr)
{
	struct cpumap *c = map_alloc(sizeof(*c), attr, &map_cpumap_ops);

	if (!c)
		return -ENOMEM;
	c->queue = calloc(attr->max_entries, sizeof(*c->queue));
	if (!c->queue) {
		map_put(&c->m);
		return -ENOMEM;
	}
	*out = &c->m;
	return 0;
}

static void cpumap_free(struct map *m)
{
	free(of(m)->queue);
	free(of(m));
}

/* For redirect_map only, which asks whether there is an element: the verifier lets no program look. */
static void *cpumap_lookup(struct map *m, const void *key, u32 cpu)
{
	u32 i = LOAD(u32, key);

	if (i >= m->max_entries || !atomic_load_explicit(&of(m)->queue[i], memory_order_relaxed))
		return NULL;
	return (void *)&of(m)->queue[i];
}

static int cpumap_copy_out(struct map *m, const void *key, void *value, u64 flags)
{
	struct bpf_cpumap_val v = {0}; /* program id 0: none */
	u32 i = LOAD(u32, key);

	if (i < m->max_entries)
		v.qsize = atomic_load(&of(m)->queue[i]);
	if (!v.qsize)
		return -ENOENT;
	memcpy(value, &v, m->value_size);
	return 0;
}

static int cpumap_copy_in(struct map *m, const void *key, const void *value, u64 flags)
{
	struct bpf_cpumap_val v = {.bpf_prog.fd = -1};
	u32 i = LOAD(u32, key);
	int err = redirect_check_update(m, i, flags);

	if (err)
		return err;
	memcpy(&v, value, m->value_size);
	if (v.qsize > QUEUE_MAX)
		return -EOVERFLOW;
	if (i >= env_possible_cpus())
		return -ENODEV;
	if (v.qsize && v.bpf_prog.fd > 0)
		return -EOPNOTSUPP; /* docs/abi.md: redirect-programs */
	atomic_store(&of(m)->queue[i], v.qsize);
	return 0;
}

static int cpumap_delete(struct map *m, const void *key)
{
	u32 i = LOAD(u32, key);

	if (i >= m->max_entries)
		return -EINVAL;
	atomic_store(&of(m)->queue[i], 0);
	return 0;
}

static u64 cpumap_memory(const struct map *m)
{
	return sizeof(struct cpumap) + (u64)m->max_entries * sizeof(u32);
}

const struct map_ops map_cpumap_ops = {
    .check = cpumap_check,
    .new = cpumap_new,
    .free = cpumap_free,
    .lookup = cpumap_lookup,
    .update = redirect_no_update,
    .delete = cpumap_delete,
    .copy_out = cpumap_copy_out,
    .copy_in = cpumap_copy_in,
    .next_key = map_array_next_key,
    .meta_equal = map_meta_equal,
    .memory = cpumap_memory,
};
