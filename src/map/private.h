/* What the kinds of maps share: their ops, large memory, locks, values. Private to map. */
#ifndef MAP_PRIVATE_H
#define MAP_PRIVATE_H
#include "base/bits.h"
#include "map.h"

extern const struct map_ops map_hash_ops, map_array_ops, map_prog_array_ops, map_percpu_hash_ops,
    map_percpu_array_ops, map_lru_hash_ops, map_lpm_trie_ops, map_ringbuf_ops,
    map_perf_event_array_ops, map_array_of_maps_ops, map_hash_of_maps_ops, map_queue_ops,
    map_stack_ops, map_devmap_ops, map_devmap_hash_ops, map_cpumap_ops, map_xskmap_ops;

#define ACCESS_FLAGS	 (BPF_F_RDONLY | BPF_F_WRONLY | BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG)
#define PERCPU_VALUE_MAX 32768	    /* the kernel's PCPU_MIN_UNIT_SIZE */
#define KMALLOC_MAX	 (4u << 20) /* the kernel's KMALLOC_MAX_SIZE on x86-64 */

/* bpf_map_flags_access_ok(): a program must be able to do one of reading and writing. */
static inline bool access_ok(u32 flags)
{
	return (flags & (BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG)) !=
	       (BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG);
}

static inline bool wants_node(const struct map_attr *attr)
{
	return attr->flags & BPF_F_NUMA_NODE && attr->numa_node != UINT32_MAX;
}

/* `size` zeroed bytes that start with a struct map, which is filled from attr. NULL without memory.
 */
void *map_alloc(size_t size, const struct map_attr *attr, const struct map_ops *ops);
bool map_meta_equal(const struct map *template, const struct map *m); /* meta_equal of most kinds */
int map_array_of_maps_set(struct map *m, u32 index, struct map *inner);
int map_hash_of_maps_set(struct map *m, const void *key, struct map *inner, u64 flags);
int map_event_output(struct map_event *e, struct env *env, const struct map_perf_part *part, u32 n);
int map_check_btf(
    const struct map_attr *attr); /* do the key and value types fit the sizes and the kind? */

s64 map_array_each(struct map *m, u32 cpu,
		   bool (*visit)(void *arg, const void *key, void *value), void *arg);
s64 map_htab_each(struct map *m, u32 cpu,
		  bool (*visit)(void *arg, const void *key, void *value), void *arg);
int map_record_new(struct map_record **out,
		   const struct map_attr *attr); /* *out NULL: values are plain bytes */

/* Large zeroed memory that costs nothing until it is touched. Refused, as the kernel refuses it,
 * when the machine does not have as much memory at all. */
bool map_area_fits(u64 size);
void *map_area_new(u64 size);
void map_area_free(void *area, u64 size);
int map_memfd_new(const char *name, u64 size); /* sealed against shrinking and growing; -errno */

/* A reference to an object that a map holds while running programs may find the object there. What
 * it takes to let go is allocated with it, so that taking an element out can't fail. */
struct held {
	struct env_deferred gone;
	struct obj *obj;
};
struct held *map_held_new(struct obj *o);
void map_held_drop(struct held *h); /* once nobody inside can have found it; NULL is fine */
void map_held_free(struct held *h); /* at once: it was never in a map */

/* Per-CPU parts and shared counters must not meet in a cache line. */
#define CACHE_LINE 64

struct spinlock {
	_Atomic u32 taken;
};
void map_spin_wait(struct spinlock *l);

static inline void spin_lock(struct spinlock *l)
{
	if (unlikely(atomic_exchange_explicit(&l->taken, 1, memory_order_acquire)))
		map_spin_wait(l);
}
static inline void spin_unlock(struct spinlock *l)
{
	atomic_store_explicit(&l->taken, 0, memory_order_release);
}

/* Values belong to programs, which write them without locks; keys are compared and copied while
 * another thread may be giving the element to a new key. Both as in the kernel; the thread
 * sanitizer is told. */
#define RACY __attribute__((no_sanitize("thread")))

/* memcpy(), which the thread sanitizer would look into even from a function that it leaves alone. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
RACY static inline void copy_racy(void *to, const void *from, u32 size)
{
#ifdef __SANITIZE_THREAD__
	for (u32 i = 0; i < size; i++)
		((volatile u8 *)to)[i] = ((const volatile u8 *)from)[i];
#else
	memcpy(to, from, size);
#endif
}

/* Values of 4 and 8 bytes are written whole, as programs on other CPUs expect it. */
RACY static inline void copy_value(void *to, const void *from, u32 size)
{
	switch (size) {
	case 4:
		memcpy(to, from, 4);
		break;
	case 8:
		memcpy(to, from, 8);
		break;
	case 16:
		memcpy(to, from, 16);
		break;
	default:
		copy_racy(to, from, size);
	}
}

/* Values with special fields: copied into an element around them; out of it with zeros instead of them,
 * under the value's lock with BPF_F_LOCK. value.c */
void map_value_set_around(const struct map *m, void *to, const void *from);
void map_value_hide_fields(const struct map *m, void *value);
void map_value_set_locked(const struct map *m, void *to, const void *from);
void map_value_get(const struct map *m, void *to, const void *from, u64 flags);

static inline void map_value_set(const struct map *m, void *to, const void *from)
{
	if (unlikely(m->record))
		map_value_set_around(m, to, from);
	else
		copy_value(to, from, m->value_size);
}

#endif
