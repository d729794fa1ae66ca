/* Perf events: what is written to their rings, seen as a reader maps them. */
#include "floor.h"
#include "base/bits.h"
#include <linux/perf_event.h>
#include <sys/mman.h>

#define PAGE 4096

static struct map *array;
static struct map_event *event;
static struct perf_event_mmap_page *page;
static u32 woken;

static void on_wake(void *arg)
{
	woken++;
}

static void start(struct map_event_attr a, u32 data_pages, int prot)
{
	u32 zero = 0;
	struct map_attr ma = {.type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
			      .key_size = 4,
			      .value_size = 4,
			      .max_entries = 4};

	a.id = 77;
	EQ(map_new(&array, &ma), 0);
	EQ(map_event_new(&event, &a), 0);
	page = NULL;
	if (data_pages)
		page = mmap(NULL, (1 + data_pages) * PAGE, prot, MAP_SHARED, event->memfd, 0);
	woken = 0;
	map_event_on_wake(event, on_wake, NULL);
	EQ(map_perf_set(array, zero, event), 0);
}

static void finish(u32 data_pages)
{
	if (page)
		munmap(page, (1 + data_pages) * PAGE);
	map_put(array);
	obj_put(&event->obj);
	env_synchronize();
}

static int send(u64 index, const void *data, u32 size)
{
	struct map_perf_part part[2] = {{data, size / 2},
					{(const u8 *)data + size / 2, size - size / 2}};
	struct env env;
	int err;

	env_init(&env, NULL);
	env_enter(&env);
	err = map_perf_output(array, index, &env, part, 2);
	env_leave(&env);
	return err;
}

static u8 buf[70000];

/* The record at the reader's position, in one piece. */
static struct perf_event_header *next(void)
{
	static u8 copy[70000] __attribute__((aligned(8)));
	u8 *data = (u8 *)page + PAGE;
	struct perf_event_header *h = (void *)copy;

	if (page->data_tail == page->data_head)
		return NULL;
	for (u32 i = 0; i < sizeof(*h); i++)
		copy[i] = data[(page->data_tail + i) % page->data_size];
	for (u32 i = sizeof(*h); i < h->size; i++)
		copy[i] = data[(page->data_tail + i) % page->data_size];
	page->data_tail += h->size;
	return h;
}

static void plain(void)
{
	struct perf_event_header *h;

	start((struct map_event_attr){.tid = -1, .sample_type = PERF_SAMPLE_RAW, .wakeup = 1}, 1,
	      PROT_READ | PROT_WRITE);
	EQ(page->data_size, PAGE);
	EQ(page->data_offset, PAGE);
	memcpy(buf, "abcdefghij", 10);
	EQ(send(0, buf, 10), 0);
	EQ(woken, 1);
	h = next();
	EQ(h->type, PERF_RECORD_SAMPLE);
	EQ(h->misc, PERF_RECORD_MISC_KERNEL);
	EQ(h->size, 24);
	EQ(LOAD(u32, h + 1), 12);
	OK(!memcmp((u8 *)(h + 1) + 4, "abcdefghij\0\0", 12));
	OK(!next());
	for (u32 i = 0; i < 5000; i++) { /* over the end, many times */
		memset(buf, i, 200);
		if (send(0, buf, i % 200 + 1) || !(h = next()) ||
		    h->size != ROUND_UP(i % 200 + 1 + 12, 8u) ||
		    memcmp((u8 *)(h + 1) + 4, buf, i % 200 + 1))
			EQ(i, ~0u);
	}
	EQ(woken, 5001);
	EQ(send(0, buf, 65535 - 12), -E2BIG);
	EQ(send(4, buf, 8), -E2BIG);
	EQ(send(1, buf, 8), -ENOENT);
	event->enabled = false;
	EQ(send(0, buf, 8), -EOPNOTSUPP);
	event->enabled = true;
	event->paused = true;
	EQ(send(0, buf, 8), -ENOSPC);
	event->paused = false;
	finish(1);
}

/* Samples that found no room are counted and told before the next. */
static void losing(void)
{
	struct perf_event_header *h;
	u32 n = 0;

	start((struct map_event_attr){.tid = -1, .sample_type = PERF_SAMPLE_RAW, .wakeup = 1}, 1,
	      PROT_READ | PROT_WRITE);
	while (!send(0, buf, 12))
		n++;
	EQ(n, 170);
	EQ(send(0, buf, 12), -ENOSPC);
	EQ(send(0, buf, 12), -ENOSPC);
	page->data_tail = page->data_head;
	EQ(send(0, buf, 12), 0);
	h = next();
	EQ(h->type, PERF_RECORD_LOST);
	EQ(h->size, 24);
	EQ(LOAD(u64, h + 1), 77);
	EQ(LOAD(u64, (u8 *)(h + 1) + 8), 3);
	EQ(next()->type, PERF_RECORD_SAMPLE);
	OK(!next());
	for (u32 i = 0; i < 200; i++) { /* whatever the reader says of its position */
		page->data_tail = 0x9e3779b97f4a7c15ull * i;
		send(0, buf, 12);
	}
	page->data_size = 1ull << 50;
	page->data_head = 12345;
	page->data_tail = ~0ull;
	send(0, buf, 3000);
	finish(1);
}

static void fields(void)
{
	struct perf_event_header *h;
	u64 *v;

	start((struct map_event_attr){.tid = -1,
				      .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
						     PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						     PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
						     PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
						     PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW},
	      1, PROT_READ | PROT_WRITE);
	EQ(send(0, buf, 12), 0);
	EQ(woken, 0);
	h = next();
	EQ(h->size, 96);
	v = (u64 *)(h + 1);
	EQ(v[0], 77);
	EQ(v[1], 0);
	EQ((u32)v[2], getpid());
	EQ(v[2] >> 32, syscall(SYS_gettid));
	OK(v[3]);
	EQ(v[5], 77);
	EQ(v[6], 77);
	EQ(v[7], 0);
	EQ((u32)v[9], 12);
	finish(1);
	EQ(map_event_new(&event, &(struct map_event_attr){.sample_type = PERF_SAMPLE_CALLCHAIN}),
	   -EOPNOTSUPP);
}

static void waking(void)
{
	start((struct map_event_attr){.tid = -1, .sample_type = PERF_SAMPLE_RAW, .wakeup = 10}, 8,
	      PROT_READ | PROT_WRITE);
	for (u32 i = 0; i < 25; i++)
		send(0, buf, 4);
	EQ(woken, 2);
	finish(8);
	start(
	    (struct map_event_attr){
		.tid = -1, .sample_type = PERF_SAMPLE_RAW, .wakeup = 1000, .watermark = true},
	    8, PROT_READ | PROT_WRITE);
	for (u32 i = 0; i < 25; i++)
		send(0, buf, 100); /* 112 each */
	EQ(woken, 2);
	finish(8);
}

static void targets(void)
{
	start((struct map_event_attr){.tid = -1, .cpu = 1, .sample_type = PERF_SAMPLE_RAW}, 1,
	      PROT_READ | PROT_WRITE);
	EQ(send(0, buf, 4), -EOPNOTSUPP);
	finish(1);
	start((struct map_event_attr){.tid = syscall(SYS_gettid),
				      .cpu = -1,
				      .sample_type = PERF_SAMPLE_RAW},
	      1, PROT_READ | PROT_WRITE);
	EQ(send(0, buf, 4), 0);
	finish(1);
	start((struct map_event_attr){.tid = 1, .cpu = -1, .sample_type = PERF_SAMPLE_RAW}, 1,
	      PROT_READ | PROT_WRITE);
	EQ(send(0, buf, 4), -EOPNOTSUPP);
	finish(1);
}

static void mappings(void)
{
	start((struct map_event_attr){.tid = -1, .sample_type = PERF_SAMPLE_RAW}, 0, 0);
	EQ(send(0, buf, 4), -ENOSPC);
	page = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, event->memfd, 0);
	EQ(send(0, buf, 4), -ENOSPC); /* three pages are no ring */
	munmap(page, 4 * PAGE);
	page = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, event->memfd, 0);
	EQ(send(0, buf, 4), 0);
	EQ(page->data_size, 2 * PAGE);
	finish(2);
	start((struct map_event_attr){.tid = -1, .sample_type = PERF_SAMPLE_RAW}, 1, PROT_READ);
	for (u32 i = 0; i < 200; i++)
		if (send(0, buf, 12))
			EQ(i, ~0u);
	EQ(page->data_head, 4800); /* the oldest are overwritten */
	finish(1);
}

/* The array lets its events go with its last user, unless it is to keep them. */
static void release(void)
{
	struct map_event *e;
	u32 zero = 0;

	for (u32 keep = 0; keep < 2; keep++) {
		struct map_attr a = {.type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
				     .key_size = 4,
				     .value_size = 4,
				     .max_entries = 4,
				     .flags = keep ? BPF_F_PRESERVE_ELEMS : 0};
		struct map *m;

		EQ(map_new(&m, &a), 0);
		EQ(map_event_new(
		       &e, &(struct map_event_attr){.tid = -1, .sample_type = PERF_SAMPLE_RAW}),
		   0);
		obj_get_user(&m->obj);
		EQ(map_perf_set(m, zero, e), 0);
		EQ(e->obj.refs, 2);
		obj_put_user(&m->obj);
		env_synchronize();
		EQ(e->obj.refs, 1 + keep);
		map_put(m);
		env_synchronize();
		EQ(e->obj.refs, 1);
		obj_put(&e->obj);
	}
}

int main(void)
{
	plain();
	losing();
	fields();
	waking();
	targets();
	mappings();
	release();
	return tap_done();
}
