/* Perf events that programs write samples to (PERF_COUNT_SW_BPF_OUTPUT), in a memfd that their
 * reader maps as it maps the kernel's: a page with positions, then the data area, whose size the
 * mapping decides.
 *
 * The file is as large as the largest ring and sparse. Nobody tells us when it is mapped, so the
 * process's list of mappings is asked, until there is one. What the reader can write, its position,
 * is only ever used modulo the size: it decides what is overwritten in its own ring and nothing
 * else. (kernel/events/core.c, ring_buffer.c) */
#include "private.h"
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define PAGE	  4096u
#define RING_MAX  (64u << 20)
#define FILE_SIZE ((u64)RING_MAX + PAGE)
#define LOST_SIZE 24u /* header, id, count */

#define SAMPLE_KNOWN                                                                               \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_RAW |          \
	 PERF_SAMPLE_IDENTIFIER)

struct event {
	struct map_event e;
	struct map_event_attr attr;
	u64 dev, ino;	      /* of the file */
	u8 *pages;	      /* our mapping of all of it */
	struct spinlock lock; /* writers; over the following */
	u64 size;	      /* of the data area as it is mapped; 0: not mapped yet */
	bool overwrite;	      /* mapped read-only: the oldest samples make room */
	u64 head,
	    woken_at; /* bytes written, and how many when the reader was last woken for them */
	u32 lost, since_wake;	 /* samples */
	void (*wake)(void *arg); /* under the lock */
	void *wake_arg;
};

static struct event *of(struct map_event *e)
{
	return container_of(e, struct event, e);
}

static struct perf_event_mmap_page *page_of(const struct event *e)
{
	return (struct perf_event_mmap_page *)e->pages;
}

/* ---- life */

static void event_done(struct event *e)
{
	if (e->pages)
		munmap(e->pages, FILE_SIZE);
	if (e->e.memfd >= 0)
		close(e->e.memfd);
	free(e);
}

static void event_gone(struct env_deferred *d)
{
	event_done(of(container_of(d, struct map_event, gone)));
}

/* A program may be writing to it. */
static void event_free(struct obj *o)
{
	env_defer_node(&container_of(o, struct map_event, obj)->gone, event_gone);
}

static int map_file(struct event *e)
{
	struct stat st;
	void *p;

	e->e.memfd = map_memfd_new("[perf_event]", FILE_SIZE);
	if (e->e.memfd < 0)
		return e->e.memfd;
	if (fstat(e->e.memfd, &st))
		return -errno;
	e->dev = st.st_dev;
	e->ino = st.st_ino;
	p = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, e->e.memfd,
		 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	e->pages = p;
	page_of(e)->size = offsetof(struct perf_event_mmap_page, __reserved);
	page_of(e)->cap_bit0_is_deprecated = 1;
	page_of(e)->data_offset = PAGE;
	return 0;
}

int map_event_new(struct map_event **out, const struct map_event_attr *attr)
{
	static const struct obj_ops ops = {.free = event_free};
	struct event *e;
	int err;

	if (attr->sample_type & ~(u64)SAMPLE_KNOWN)
		return -EOPNOTSUPP;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	obj_init(&e->e.obj, OBJ_EVENT, &ops);
	e->e.memfd = -1;
	e->attr = *attr;
	atomic_init(&e->e.enabled, !attr->disabled);
	err = map_file(e);
	if (err) {
		event_done(e);
		return err;
	}
	*out = &e->e;
	return 0;
}

u64 map_event_id(const struct map_event *me)
{
	return container_of(me, struct event, e)->attr.id;
}

void map_event_on_wake(struct map_event *me, void (*fn)(void *arg), void *arg)
{
	struct event *e = of(me);

	spin_lock(&e->lock);
	e->wake = fn;
	e->wake_arg = arg;
	spin_unlock(&e->lock);
}

/* ---- the reader's mapping */

struct found {
	u64 size;
	bool writable;
};

/* One line of /proc/self/maps: "from-to perm offset dev inode". Ours is left out. */
static void look_at_line(const struct event *e, const char *line, struct found *f)
{
	unsigned long from, to, off, ino;
	unsigned int major, minor;
	char perm[5];

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &from, &to, perm, &off, &major, &minor,
		   &ino) != 7 ||
	    ino != e->ino || major != gnu_dev_major(e->dev) || minor != gnu_dev_minor(e->dev) ||
	    from == addr_of(e->pages) || off)
		return;
	f->size = to - from;
	f->writable = perm[1] == 'w';
}

static void find_mapping(const struct event *e, struct found *f)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char buf[4096], *line, *end;
	size_t have = 0;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, buf + have, sizeof(buf) - 1 - have)) > 0) {
		have += n;
		buf[have] = 0;
		for (line = buf; (end = strchr(line, '\n')); line = end + 1) {
			*end = 0;
			look_at_line(e, line, f);
		}
		have -= line - buf;
		memmove(buf, line, have);
		if (have == sizeof(buf) - 1)
			have = 0; /* a path longer than the buffer: not ours */
	}
	if (fd >= 0)
		close(fd);
}

/* Under the lock. */
static void take_mapping(struct event *e)
{
	struct found f = {0};
	u64 size;

	find_mapping(e, &f);
	size = f.size > PAGE ? f.size - PAGE : 0;
	if (!size || size > RING_MAX || !is_pow2(size) || size == e->size)
		return;
	e->size = size;
	e->overwrite = !f.writable;
	e->head = e->woken_at = 0;
	e->lost = e->since_wake = 0;
	page_of(e)->data_size = size;
	page_of(e)->data_head = 0;
}

void map_event_look(struct map_event *me)
{
	struct event *e = of(me);

	spin_lock(&e->lock);
	take_mapping(e);
	spin_unlock(&e->lock);
}

/* ---- writing; under the lock */

static void put(struct event *e, const void *from, u32 n)
{
	u8 *data = e->pages + PAGE;
	u64 at = e->head & (e->size - 1);
	u32 first = MIN((u64)n, e->size - at);

	memcpy(data + at, from, first);
	memcpy(data, (const u8 *)from + first, n - first);
	e->head += n;
}

static void put_u64(struct event *e, u64 v)
{
	put(e, &v, sizeof(v));
}

static void put_header(struct event *e, u32 type, u16 misc, u16 size)
{
	struct perf_event_header h = {type, misc, size};

	put(e, &h, sizeof(h));
}

static u32 fields_size(u64 sample_type)
{
	return 8 * __builtin_popcountll(sample_type & ~(u64)PERF_SAMPLE_RAW);
}

/* In the order of perf_output_sample(). There is no kernel address to tell: IP and ADDR are 0. */
static void put_fields(struct event *e, struct env *env)
{
	u64 st = e->attr.sample_type, tid = env->world->ops->pid_tgid(env->world);

	if (st & PERF_SAMPLE_IDENTIFIER)
		put_u64(e, e->attr.id);
	if (st & PERF_SAMPLE_IP)
		put_u64(e, 0);
	if (st & PERF_SAMPLE_TID)
		put_u64(e, tid << 32 | tid >> 32);
	if (st & PERF_SAMPLE_TIME)
		put_u64(e, env->world->ops->ktime(env->world, CLOCK_MONOTONIC));
	if (st & PERF_SAMPLE_ADDR)
		put_u64(e, 0);
	if (st & PERF_SAMPLE_ID)
		put_u64(e, e->attr.id);
	if (st & PERF_SAMPLE_STREAM_ID)
		put_u64(e, e->attr.id);
	if (st & PERF_SAMPLE_CPU)
		put_u64(e, env->cpu);
	if (st & PERF_SAMPLE_PERIOD)
		put_u64(e, 0);
}

static void put_raw(struct event *e, const struct map_perf_part *part, u32 n, u32 raw)
{
	static const u8 zero[8];
	u32 sum = sizeof(raw);

	put(e, &raw, sizeof(raw));
	for (u32 i = 0; i < n; i++) {
		put(e, part[i].data, part[i].size);
		sum += part[i].size;
	}
	put(e, zero, raw + sizeof(raw) - sum);
}

static void put_lost(struct event *e)
{
	put_header(e, PERF_RECORD_LOST, 0, LOST_SIZE);
	put_u64(e, e->attr.id);
	put_u64(e, e->lost);
	e->lost = 0;
}

/* CIRC_SPACE() between our position and what the reader says is its own. */
static bool fits(const struct event *e, u32 need)
{
	u64 tail = __atomic_load_n(&page_of(e)->data_tail, __ATOMIC_ACQUIRE);

	if (e->overwrite)
		return need <= e->size;
	return ((tail - e->head - 1) & (e->size - 1)) >= need;
}

/* After a sample: is it time to wake the reader? (perf_output_end and __perf_output_begin) */
static bool wake_is_due(struct event *e)
{
	u64 watermark = e->attr.watermark ? MIN((u64)e->attr.wakeup, e->size) : 0;
	bool due = false;

	if (!watermark)
		watermark = e->size / 2;
	if (e->head - e->woken_at > watermark) {
		e->woken_at += watermark;
		due = true;
	}
	if (!e->attr.watermark && e->attr.wakeup && ++e->since_wake >= e->attr.wakeup) {
		e->since_wake -= e->attr.wakeup;
		due = true;
	}
	return due;
}

static int write_sample(struct event *e, struct env *env, const struct map_perf_part *part, u32 n)
{
	u64 sum = sizeof(u32),
	    total = sizeof(struct perf_event_header) + fields_size(e->attr.sample_type);
	bool raw = e->attr.sample_type & PERF_SAMPLE_RAW;

	for (u32 i = 0; i < n; i++)
		sum += part[i].size;
	sum = ROUND_UP(sum, 8ull);
	if (raw)
		total += sum;
	if (total > UINT16_MAX)
		return -E2BIG;
	if (!e->size)
		take_mapping(e);
	if (!e->size)
		return -ENOSPC;
	if (atomic_load(&e->e.paused) || !fits(e, total + (e->lost ? LOST_SIZE : 0))) {
		e->lost++;
		return -ENOSPC;
	}
	if (e->lost)
		put_lost(e);
	put_header(e, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, total);
	put_fields(e, env);
	if (raw)
		put_raw(e, part, n, sum - sizeof(u32));
	__atomic_store_n(&page_of(e)->data_head, e->head, __ATOMIC_RELEASE);
	if (wake_is_due(e) && e->wake)
		e->wake(e->wake_arg);
	return 0;
}

static bool runs_here(const struct event *e, struct env *env)
{
	if (!atomic_load_explicit(&e->e.enabled, memory_order_relaxed))
		return false;
	if (e->attr.cpu >= 0 && (u32)e->attr.cpu != env->cpu)
		return false;
	return e->attr.tid < 0 || (u32)e->attr.tid == (u32)env->world->ops->pid_tgid(env->world);
}

int map_event_output(struct map_event *me, struct env *env, const struct map_perf_part *part, u32 n)
{
	struct event *e = of(me);
	int err;

	if (!runs_here(e, env))
		return -EOPNOTSUPP;
	spin_lock(&e->lock);
	err = write_sample(e, env, part, n);
	spin_unlock(&e->lock);
	return err;
}
