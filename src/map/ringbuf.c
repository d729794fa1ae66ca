/* RINGBUF: a multi-producer ring in a memfd that its reader maps as it maps the kernel's.
 *
 * Page 0 holds the consumer's position, page 1 the producer's, then the data area, twice: a record
 * is written in one piece at (position & mask) and may run into the second half, where a reader
 * that expects the kernel's double mapping looks for it.
 *
 * What the reader can write is never believed: the producer's position and the lengths of records
 * are kept privately and only published, and a consumer position out of range makes the ring look
 * full. */
#include "private.h"
#include <sys/mman.h>

#define PAGE	    4096u
#define RECORD_HEAD 8u /* u32 length with the bits below, u32 page offset */
#define RECORD_MAX  (UINT32_MAX / 4)
#define BUSY	    BPF_RINGBUF_BUSY_BIT
#define DISCARD	    BPF_RINGBUF_DISCARD_BIT
#define KERNEL_META_PAGES                                                                          \
	3 /* pages before the data in the kernel's struct bpf_ringbuf; seen in page offsets */

struct record {
	_Atomic u32 len;
	u32 page_off;
};

struct ring {
	struct map m;
	struct ring *next; /* all rings, under rings_lock */
	u64 size, mask;	   /* of the data area */
	u8 *shared;	   /* the memfd: 2 pages and twice the data */
	u8 *data;
	_Atomic u64 *consumer, *producer; /* the shared positions */
	_Atomic u32 *lens;    /* length and bits of the record at each 8 bytes: the private truth */
	struct spinlock lock; /* producers; over the next two */
	u64 prod_pos;
	u64 pending_pos; /* oldest record that may not be committed yet */
	struct spinlock wake_lock;
	void (*wake)(void *arg);
	void *wake_arg;
} __attribute__((aligned(CACHE_LINE)));

static pthread_mutex_t rings_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ring *rings;
static _Atomic u64 rings_gone = 1; /* counts ends of rings: what threads remember is then void */

static struct ring *of(const struct map *m)
{
	return container_of(m, struct ring, m);
}

/* ringbuf_map_alloc() of kernel/bpf/ringbuf.c */
static int ringbuf_check(const struct map_attr *attr)
{
	if (attr->flags & ~BPF_F_NUMA_NODE || attr->key_size || attr->value_size ||
	    !is_pow2(attr->max_entries) || attr->max_entries % PAGE)
		return -EINVAL;
	return 0;
}

static u64 shared_size(const struct ring *r)
{
	return 2 * PAGE + 2 * r->size;
}

static u64 lens_size(const struct ring *r)
{
	return r->size / 8 * sizeof(*r->lens);
}

static int map_memory_of(struct ring *r)
{
	void *p;

	if (!map_area_fits(r->size))
		return -ENOMEM;
	r->m.memfd = map_memfd_new("bpf-map", shared_size(r));
	if (r->m.memfd < 0)
		return -ENOMEM;
	p = mmap(NULL, shared_size(r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		 r->m.memfd, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	r->shared = p;
	r->consumer = (_Atomic u64 *)r->shared;
	r->producer = (_Atomic u64 *)(r->shared + PAGE);
	r->data = r->shared + 2 * PAGE;
	r->lens = map_area_new(lens_size(r));
	return r->lens ? 0 : -ENOMEM;
}

static int ringbuf_new(struct map **out, const struct map_attr *attr)
{
	struct ring *r = map_alloc(sizeof(*r), attr, &map_ringbuf_ops);

	if (!r)
		return -ENOMEM;
	r->size = attr->max_entries;
	r->mask = r->size - 1;
	if (map_memory_of(r)) {
		map_put(&r->m);
		return -ENOMEM;
	}
	pthread_mutex_lock(&rings_lock);
	r->next = rings;
	rings = r;
	pthread_mutex_unlock(&rings_lock);
	*out = &r->m;
	return 0;
}

static void ringbuf_free(struct map *m)
{
	struct ring *r = of(m), **at;

	pthread_mutex_lock(&rings_lock);
	for (at = &rings; *at && *at != r; at = &(*at)->next)
		;
	if (*at)
		*at = r->next;
	atomic_fetch_add(&rings_gone, 1);
	pthread_mutex_unlock(&rings_lock);
	map_area_free(r->shared, shared_size(r));
	map_area_free(r->lens, lens_size(r));
	free(r);
}

/* ---- producer */

static u64 record_size(u32 len)
{
	return ROUND_UP((u64)(len & ~(BUSY | DISCARD)) + RECORD_HEAD, 8);
}

static _Atomic u32 *len_at(const struct ring *r, u64 pos)
{
	return &r->lens[(pos & r->mask) / 8];
}

/* Under the lock: skip what was committed, so that a new record never reaches one that is still
 * written. */
static u64 advance_pending(struct ring *r)
{
	u64 pos = r->pending_pos;

	while (pos < r->prod_pos) {
		u32 len = atomic_load_explicit(len_at(r, pos), memory_order_acquire);

		if (len & BUSY)
			break;
		pos += record_size(len);
	}
	return r->pending_pos = pos;
}

void *map_ring_reserve(struct map *m, u64 size)
{
	struct ring *r = of(m);
	struct record *rec;
	u64 pos, end, cons;

	if (unlikely(size > RECORD_MAX || record_size(size) > r->size))
		return NULL;
	cons = atomic_load_explicit(r->consumer, memory_order_acquire);
	spin_lock(&r->lock);
	pos = r->prod_pos;
	end = pos + record_size(size);
	if (end - cons > r->mask || end - advance_pending(r) > r->mask) {
		spin_unlock(&r->lock);
		return NULL;
	}
	rec = (struct record *)(r->data + (pos & r->mask));
	atomic_store_explicit(len_at(r, pos), size | BUSY, memory_order_relaxed);
	atomic_store_explicit(&rec->len, size | BUSY, memory_order_relaxed);
	rec->page_off = (pos & r->mask) / PAGE + KERNEL_META_PAGES;
	r->prod_pos = end;
	atomic_store_explicit(r->producer, end, memory_order_release);
	spin_unlock(&r->lock);
	return rec + 1;
}

/* The ring that a sample lies in. A thread remembers the rings it wrote to last. */
struct known {
	u64 gone; /* rings_gone when this was true */
	struct ring *ring;
};
static __thread struct known known[4] __attribute__((tls_model("initial-exec")));
static __thread u32 known_next __attribute__((tls_model("initial-exec")));

static bool lies_in(const struct ring *r, const void *p)
{
	return (u64)((const u8 *)p - r->data) < r->size;
}

static struct ring *ring_of_slow(const void *p)
{
	struct ring *r;

	pthread_mutex_lock(&rings_lock);
	for (r = rings; r && !lies_in(r, p); r = r->next)
		;
	if (r)
		known[known_next++ % ARRAY_SIZE(known)] = (struct known){rings_gone, r};
	pthread_mutex_unlock(&rings_lock);
	return r;
}

static inline struct ring *ring_of(const void *p)
{
	u64 gone = atomic_load_explicit(&rings_gone, memory_order_relaxed);

	for (u32 i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].gone == gone && lies_in(known[i].ring, p))
			return known[i].ring;
	return ring_of_slow(p);
}

static void wake(struct ring *r)
{
	void (*fn)(void *arg);
	void *arg;

	spin_lock(&r->wake_lock);
	fn = r->wake;
	arg = r->wake_arg;
	spin_unlock(&r->wake_lock);
	if (fn)
		fn(arg);
}

/* The exchange orders the record before the look at the consumer's position: either the reader sees
 * the record, or we see that it has come to it and wake it. */
static inline void commit(struct ring *r, struct record *rec, u64 flags, bool discard)
{
	u64 off = (u8 *)rec - r->data;
	u32 len = atomic_load_explicit(len_at(r, off), memory_order_relaxed);
	u64 cons;

	len &= ~BUSY;
	if (discard)
		len |= DISCARD;
	atomic_store_explicit(len_at(r, off), len, memory_order_release);
	atomic_exchange(&rec->len, len);
	cons = atomic_load_explicit(r->consumer, memory_order_acquire);
	if (flags & BPF_RB_FORCE_WAKEUP || ((cons & r->mask) == off && !(flags & BPF_RB_NO_WAKEUP)))
		wake(r);
}

void map_ring_commit(void *sample, u64 flags, bool discard)
{
	struct record *rec = (struct record *)sample - 1;
	struct ring *r = ring_of(rec);

	assert(r); /* the verifier lets only reserved samples come here */
	commit(r, rec, flags, discard);
}

int map_ring_output(struct map *m, const void *data, u64 size, u64 flags)
{
	void *sample;

	if (flags & ~(u64)(BPF_RB_NO_WAKEUP | BPF_RB_FORCE_WAKEUP))
		return -EINVAL;
	sample = map_ring_reserve(m, size);
	if (!sample)
		return -EAGAIN;
	memcpy(sample, data, size);
	commit(of(m), (struct record *)sample - 1, flags, false);
	return 0;
}

u64 map_ring_query(struct map *m, u64 what)
{
	struct ring *r = of(m);

	switch (what) {
	case BPF_RB_AVAIL_DATA:
		return atomic_load(r->producer) - atomic_load(r->consumer);
	case BPF_RB_RING_SIZE:
		return r->size;
	case BPF_RB_CONS_POS:
		return atomic_load(r->consumer);
	case BPF_RB_PROD_POS:
		return atomic_load(r->producer);
	default:
		return 0;
	}
}

bool map_ring_readable(struct map *m)
{
	return map_ring_query(m, BPF_RB_AVAIL_DATA) != 0;
}

void map_ring_on_wake(struct map *m, void (*fn)(void *arg), void *arg)
{
	struct ring *r = of(m);

	spin_lock(&r->wake_lock);
	r->wake = fn;
	r->wake_arg = arg;
	spin_unlock(&r->wake_lock);
}

/* ---- what an ordinary map answers: there are no elements (copies are missing: the user side gets
 * -ENOTSUPP for them) */

static void *ringbuf_lookup(struct map *m, const void *key, u32 cpu)
{
	return NULL;
}

static int ringbuf_update(struct map *m, const void *key, const void *value, u64 flags, u32 cpu)
{
	return -ENOTSUPP_;
}

static int ringbuf_delete(struct map *m, const void *key)
{
	return -ENOTSUPP_;
}

static u64 ringbuf_memory(const struct map *m)
{
	return sizeof(struct ring) + shared_size(of(m)) + lens_size(of(m));
}

const struct map_ops map_ringbuf_ops = {
    .check = ringbuf_check,
    .new = ringbuf_new,
    .free = ringbuf_free,
    .lookup = ringbuf_lookup,
    .update = ringbuf_update,
    .delete = ringbuf_delete,
    .meta_equal = map_meta_equal,
    .memory = ringbuf_memory,
};
