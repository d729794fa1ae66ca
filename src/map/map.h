/* Storage that programs and user space share. One file per kind behind `struct map_ops`; map.def
 * lists the kinds.
 *
 * Two faces: what a program calls (lookup gives a pointer into the map; per-CPU kinds give the
 * caller's CPU's part) and what user space calls through sys (copies in and out; per-CPU values of
 * all CPUs, each rounded up to 8 bytes). Errors are the kernel's (docs: ../shared/notes/abi.md 8a).
 * Look-ups take no lock; freed memory waits for env epochs. */
#ifndef MAP_MAP_H
#define MAP_MAP_H
#include "base/obj.h"
#include "base/abi.h"
#include "env/env.h"
#include <pthread.h>

struct map;
struct map_record;
struct btf_types;
struct log;

struct map_attr {
	u32 type, key_size, value_size, max_entries, flags;
	u64 extra;
	u32 numa_node;
	struct map *inner; /* maps of maps: one like those to be put in; borrowed. NULL: inner_err
			      says why */
	int inner_err;
	char name[16];
	u32 btf_key_id, btf_value_id;
	struct btf_types *btf; /* may be NULL; map_new takes a reference */
};

/* Elements on their way out in a batch. */
struct map_batch {
	u8 *keys, *values; /* key_size and map_user_value_size() apart */
	u32 room;	   /* elements that they can take */
	u32 n;		   /* elements taken; on -ENOSPC: those in the bucket */
	bool remove;	   /* and take them out of the map */
};

struct map_ops {
	/* Check what is special to the kind; the order of checks decides the errno, as in the
	 * kernel's map_alloc_check. */
	int (*check)(const struct map_attr *attr);
	int (*new)(struct map **out, const struct map_attr *attr);
	void (*free)(struct map *m);
	void (*unused)(struct map *m); /* last user gone (prog_array empties); may be NULL */

	/* program side: on `cpu` */
	void *(*lookup)(struct map *m, const void *key, u32 cpu);
	int (*update)(struct map *m, const void *key, const void *value, u64 flags, u32 cpu);
	int (*delete)(struct map *m, const void *key);
	/* kinds without keys (queue, stack), else NULL: helpers map_push_elem, map_pop_elem,
	 * map_peek_elem. Pop and peek zero the value when they answer -ENOENT. */
	int (*push)(struct map *m, const void *value, u64 flags);
	int (*pop)(struct map *m, void *value);
	int (*peek)(struct map *m, void *value);

	/* user side; NULL: the kind does not support it and sys answers as the kernel does for it
	 */
	int (*copy_out)(struct map *m, const void *key, void *value, u64 flags);
	int (*copy_in)(struct map *m, const void *key, const void *value, u64 flags);
	int (*next_key)(struct map *m, const void *key,
			void *next); /* key NULL or unknown: first; -ENOENT at the end */
	int (*lookup_delete)(struct map *m, void *key, void *value, u64 flags);
	/* batches bucket by bucket; NULL: by next_key. See map_batch_bucket(). */
	int (*batch)(struct map *m, u32 bucket, struct map_batch *b);

	/* every element, for bpf_for_each_map_elem(); NULL: the kind has none. See each.c */
	s64 (*each)(struct map *m, u32 cpu, bool (*visit)(void *arg, const void *key, void *value),
		    void *arg);

	/* may m stand in a map of maps made for maps like this template? NULL: this kind can't be
	 * an inner map */
	bool (*meta_equal)(const struct map *template, const struct map *m);

	/* values addressed directly (BPF_PSEUDO_MAP_VALUE); offset is checked. -ENOTSUPP_ via NULL
	 */
	int (*direct_value)(struct map *m, u32 off, u64 *addr);
	u64 (*memory)(const struct map *m); /* bytes, for fdinfo's and info's accounting */
	u64 (*steps)(struct map *m,
		     const void *key); /* see map_lookup_steps; NULL: constant cost */
};

struct map {
	struct obj obj;
	const struct map_ops *ops;
	u32 type, key_size, value_size, max_entries, flags;
	u64 extra;
	char name[16];
	u32 btf_key_id, btf_value_id;
	struct btf_types *btf;
	struct map *inner; /* maps of maps: the template of what is in them, without storage, the
			      verifier's to look at; else NULL */
	struct map_record *record; /* special fields of the values; NULL: plain bytes. Owned */
	u8 *values; /* ARRAY: element i lies at values + i * stride (for inlined look-ups); else
		       NULL */
	u32 stride;
	struct { /* PROG_ARRAY: the first program fixes what may be in it or tail-call through it */
		pthread_mutex_t
		    lock; /* over the fields below, which are prog's and sys's to compare and set */
		bool set, jited, xdp_has_frags;
		u32 type, attach_type;
	} owner;
	struct env_deferred gone; /* the map's memory waits for readers, too */
	int memfd; /* storage of mappable arrays and ring buffers, else -1. Owned by the map */
	_Atomic bool frozen;	 /* user space may no longer write */
	_Atomic u32 write_users; /* user-side writes under way or writable mappings known */
};

/* Fields of values that belong to the kernel, found by their types in BTF: only helpers reach them,
 * and copies leave them alone. record.c */
enum map_field_type {
	MAP_FIELD_SPIN_LOCK,
	MAP_FIELD_RES_SPIN_LOCK,
	MAP_FIELD_TIMER,
	MAP_FIELD_WQ,
	MAP_FIELD_TASK_WORK,
	MAP_FIELD_LIST_HEAD,
	MAP_FIELD_RB_ROOT,
	MAP_FIELD_REFCOUNT,
	MAP_FIELD_KPTR_UNREF, /* from here on: pointers */
	MAP_FIELD_KPTR_REF,
	MAP_FIELD_KPTR_PERCPU,
	MAP_FIELD_UPTR,
	MAP_FIELD_COUNT,
};
enum { MAP_FIELDS_MAX = 11 }; /* the kernel's BTF_FIELDS_MAX */
struct map_field {
	u8 type; /* enum map_field_type */
	u32 off, size;
	u32 btf_id; /* pointers: the struct behind it, in the map's BTF */
};
struct map_record {
	u32 n, mask; /* mask: 1 << type of each */
	struct map_field field[MAP_FIELDS_MAX]; /* in order of offset */
};
const char *map_field_name(enum map_field_type type); /* as the kernel's log calls it */
const struct map_field *map_field(const struct map *m, enum map_field_type type); /* the first; NULL */
bool map_has_fields(const struct map *m, u32 mask);
/* bpf_spin_lock() and bpf_spin_unlock() on the 4 bytes of a value's lock. */
void map_value_lock(void *lock);
void map_value_unlock(void *lock);
bool map_flags_lock_ok(const struct map *m, u64 flags); /* BPF_F_LOCK needs a lock in the value */

/* Values that user space gives as descriptors: what sys turns them into before the update. */
enum map_fds {
	MAP_FDS_NO,
	MAP_FDS_PROGS,
	MAP_FDS_MAPS,
	MAP_FDS_EVENTS,
	MAP_FDS_OTHER /* kinds not built */
};

/* What bpf(2) has for a kind of the batch commands. */
#define MAP_BATCH_LOOKUP 1u
#define MAP_BATCH_UPDATE 2u
#define MAP_BATCH_DELETE 4u
#define MAP_BATCH_TAKE	 8u /* look up and delete */

/* Columns of map.def, one row a kind. */
struct map_kind {
	u32 type;
	const char *name; /* as bpftool spells it: "hash", "lru_hash" */
	const struct map_ops *ops;
	u8 values_are_fds; /* enum map_fds */
	bool per_cpu;	   /* user-side values are one per possible CPU */
	bool mappable;	   /* memfd can be mapped by user space */
	u8 batch;	   /* MAP_BATCH_* */
};
const struct map_kind *map_kind(u32 type); /* NULL: unknown or not built */
bool map_is_per_cpu(u32 type);		/* of any type known to the kernel: look-ups give a value for each possible CPU */
const char *map_kind_name(u32 type); /* name for any type known to the kernel, else "unknown" */

int map_new(
    struct map **out,
    const struct map_attr *attr); /* checks what all kinds share, then the kind's check and new */
static inline void map_put(struct map *m)
{
	if (m)
		obj_put(&m->obj);
}

/* User-side size of one value in bytes: value_size, or round_up(value_size, 8) * possible CPUs. */
u32 map_user_value_size(const struct map *m);
/* The program side, and the user side with the checks of bpf(2): flags, frozen. */
/* What bpf(2) checks before it looks at the key: flags, frozen. The calls below check it (again).
 */
int map_check_read(const struct map *m, u64 flags);
int map_check_write(const struct map *m, u64 flags);
int map_copy_out(struct map *m, const void *key, void *value, u64 flags);
int map_copy_in(struct map *m, const void *key, const void *value, u64 flags);
int map_delete(struct map *m, const void *key);
int map_next_key(struct map *m, const void *key, void *next);
int map_lookup_delete(struct map *m, void *key, void *value, u64 flags);
int map_freeze(struct map *m);
/* Hash kinds: their buckets, which batches walk by number; 0 for other kinds. All of a bucket at
 * once, or -ENOSPC. */
u32 map_buckets(const struct map *m);
int map_batch_bucket(struct map *m, u32 bucket, struct map_batch *b);
u64 map_memory(const struct map *m); /* fdinfo's "memlock" */

/* prog_array: slots hold opaque images. set/clear own a reference to `owner` while the slot holds
 * it. */
int map_slot_check(const struct map *m, u32 index,
		   u64 flags); /* what bpf(2) checks before it looks at the descriptor */
int map_slot_set(struct map *m, u32 index, struct obj *owner, void *image);
void *map_slot_image(struct map *m,
		     u32 index); /* NULL: empty or out of range; valid inside env_enter..leave */

/* Maps of maps: put a map in. What bpf(2) checks before it looks at the descriptor; then the
 * template, flags, room. */
int map_inner_check(const struct map *m, const void *key, u64 flags);
int map_inner_set(struct map *m, const void *key, struct map *inner, u64 flags);

/* Perf events that programs write samples to: objects with a descriptor (sys, shim) that stand in a
 * PERF_EVENT_ARRAY. */
struct map_event_attr {
	s32 tid, cpu; /* -1: any. Samples are taken from runs of that thread, on that CPU */
	u64 sample_type, id;
	u32 wakeup; /* wake the reader every so many samples, or bytes with watermark */
	bool watermark, disabled;
};
struct map_event {
	struct obj obj;
	int memfd; /* its ring, as the reader maps it; sys may move it */
	_Atomic bool enabled, paused;
	struct env_deferred gone;
};
int map_event_new(struct map_event **out,
		  const struct map_event_attr *attr); /* -EOPNOTSUPP: sample_type */
u64 map_event_id(const struct map_event *e);	      /* as samples carry it */
void map_event_look(struct map_event *e);	      /* has it been mapped, how large? */
void map_event_on_wake(struct map_event *e, void (*fn)(void *arg), void *arg);
int map_perf_set(struct map *m, u32 index, struct map_event *e); /* after map_slot_check() */
/* perf_event_output and xdp/skb_output: a sample of these parts, one after the other, to the event
 * at flags' index (or this CPU's). 0, -E2BIG, -ENOENT, -EOPNOTSUPP, -ENOSPC. */
struct map_perf_part {
	const void *data;
	u32 size;
};
int map_perf_output(struct map *m, u64 flags, struct env *env, const struct map_perf_part *part,
		    u32 n);

/* Ring buffer, producer side (helpers) and what polling needs (shim). Sizes in bytes. */
void *map_ring_reserve(struct map *m, u64 size);
void map_ring_commit(void *sample, u64 flags,
		     bool discard); /* BPF_RB_NO_WAKEUP, BPF_RB_FORCE_WAKEUP */
int map_ring_output(struct map *m, const void *data, u64 size, u64 flags);
u64 map_ring_query(struct map *m, u64 what);
bool map_ring_readable(struct map *m); /* consumer position != producer position */
/* Called (from any thread) when the ring wants its readers woken; one listener a map, set by shim.
 */
void map_ring_on_wake(struct map *m, void (*fn)(void *arg), void *arg);

/* Steps a look-up took (nodes or slots visited), for the structure tests; 0 where a kind has
 * constant cost. */
u64 map_lookup_steps(struct map *m, const void *key);

#endif
