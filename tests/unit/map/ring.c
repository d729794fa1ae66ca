/* Ring buffer: the layout and the rules of the kernel's, and that a hostile reader of the shared
 * pages can do no harm. The reader here is libbpf's loop: consumer position, record heads and data
 * through a mapping of the memfd. */
#include "floor.h"
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#define SIZE 4096u

struct reader {
	_Atomic u64 *cons, *prod;
	u8 *data;
	void *cons_page, *prod_pages;
	size_t size;
};

/* As libbpf maps it: page 0 for writing, the rest for reading. */
static struct reader reader_of(struct map *m)
{
	struct reader r = {.size = m->max_entries};

	r.cons_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, m->memfd, 0);
	r.prod_pages = mmap(NULL, 4096 + 2 * r.size, PROT_READ, MAP_SHARED, m->memfd, 4096);
	OK(r.cons_page != MAP_FAILED && r.prod_pages != MAP_FAILED);
	r.cons = r.cons_page;
	r.prod = r.prod_pages;
	r.data = (u8 *)r.prod_pages + 4096;
	return r;
}

static void reader_done(struct reader *r)
{
	munmap(r->cons_page, 4096);
	munmap(r->prod_pages, 4096 + 2 * r->size);
}

/* The next committed sample or NULL; discarded ones are passed over. *after: the position to go on
 * at when it was read. */
static void *peek_one(struct reader *r, u32 *len, u64 *after)
{
	u64 cons = *r->cons;

	while (cons < *r->prod) {
		u32 head = atomic_load_explicit((_Atomic u32 *)(r->data + (cons & (r->size - 1))),
						memory_order_acquire);
		void *sample = r->data + (cons & (r->size - 1)) + 8;

		if (head & BPF_RINGBUF_BUSY_BIT)
			return NULL;
		*len = head & ~BPF_RINGBUF_DISCARD_BIT;
		cons += ROUND_UP((u64)*len + 8, 8);
		*after = cons;
		if (!(head & BPF_RINGBUF_DISCARD_BIT))
			return sample;
		atomic_store_explicit(r->cons, cons, memory_order_release);
	}
	return NULL;
}

/* For tests in which nobody writes meanwhile. */
static void *read_one(struct reader *r, u32 *len)
{
	u64 after;
	void *sample = peek_one(r, len, &after);

	if (sample)
		atomic_store_explicit(r->cons, after, memory_order_release);
	return sample;
}

static int wakes;
static void on_wake(void *arg)
{
	++*(int *)arg;
}

static struct map *ring_new(u32 size)
{
	struct map_attr a = {.type = BPF_MAP_TYPE_RINGBUF, .max_entries = size};
	struct map *m = NULL;

	EQ(map_new(&m, &a), 0);
	return m;
}

static void records(void)
{
	struct map *m = ring_new(SIZE);
	struct reader r = reader_of(m);
	char *a, *b, *got;
	u32 len = 0;

	OK(!map_ring_reserve(m, SIZE)); /* with its head it would not fit */
	OK(!map_ring_reserve(m, SIZE - 7));
	OK(!map_ring_reserve(m, UINT32_MAX));
	OK(!map_ring_reserve(m, UINT64_MAX));
	OK(!map_ring_readable(m));
	a = map_ring_reserve(m, 5);
	b = map_ring_reserve(m, 100);
	OK(a && b && b - a == 16 && !((uintptr_t)a & 7));
	EQ(*(u32 *)(a - 4), 3); /* page offset, as the kernel's records have it */
	OK(map_ring_readable(m));
	OK(!read_one(&r, &len));
	memcpy(b, "second", 7);
	map_ring_commit(b, 0, false);
	OK(!read_one(&r, &len)); /* the first is still written */
	memcpy(a, "abcd", 5);
	map_ring_commit(a, 0, false);
	got = read_one(&r, &len);
	OK(got && !strcmp(got, "abcd") && len == 5);
	got = read_one(&r, &len);
	OK(got && !strcmp(got, "second") && len == 100);
	OK(!read_one(&r, &len) && !map_ring_readable(m));
	a = map_ring_reserve(m, 8);
	map_ring_commit(a, 0, true);
	EQ(map_ring_output(m, "out", 4, 0), 0);
	got = read_one(&r, &len);
	OK(got && !strcmp(got, "out"));
	EQ(map_ring_output(m, "out", 4, 4), -EINVAL);
	EQ(map_ring_output(m, "out", SIZE, 0), -EAGAIN);
	EQ(map_ring_query(m, BPF_RB_AVAIL_DATA), 0);
	EQ(map_ring_query(m, BPF_RB_RING_SIZE), SIZE);
	EQ(map_ring_query(m, BPF_RB_CONS_POS), *r.cons);
	EQ(map_ring_query(m, BPF_RB_PROD_POS), *r.prod);
	EQ(map_ring_query(m, 4), 0);
	reader_done(&r);
	map_put(m);
}

static void full_and_wrap(void)
{
	struct map *m = ring_new(SIZE);
	struct reader r = reader_of(m);
	char text[SIZE] = "", *got;
	u32 len = 0, wrong = 0, n = 0;

	/* 4096 bytes hold 15 records of 264 bytes and never all 4096: one byte less at most */
	while (!map_ring_output(m, text, 256, BPF_RB_NO_WAKEUP))
		n++;
	EQ(n, 15);
	while (read_one(&r, &len))
		n--;
	EQ(n, 0);
	EQ(map_ring_output(m, text, SIZE - 16, 0), 0);
	EQ(map_ring_output(m, text, 0, 0), -EAGAIN);
	OK(read_one(&r, &len) && len == SIZE - 16);
	for (u32 i = 0; i < 2000; i++) { /* records run over the end into the second half */
		memset(text, i, sizeof(text));
		wrong += map_ring_output(m, text, 201 + i % 90, 0) != 0;
		got = read_one(&r, &len);
		wrong += !got || len != 201 + i % 90 || memcmp(got, text, len);
	}
	EQ(wrong, 0);
	/* a record that is still written is not overwritten, however far the reader claims to be */
	got = map_ring_reserve(m, 64);
	*r.cons = *r.prod;
	n = 0;
	while (!map_ring_output(m, text, 200, 0)) {
		*r.cons = *r.prod;
		if (++n > 100)
			break;
	}
	OK(n < SIZE / 208 + 1);
	map_ring_commit(got, 0, true);
	EQ(map_ring_output(m, text, 200, 0), 0);
	reader_done(&r);
	map_put(m);
}

static void wake_rules(void)
{
	struct map *m = ring_new(SIZE);
	struct reader r = reader_of(m);
	void *a, *b;
	u32 len;

	wakes = 0;
	map_ring_on_wake(m, on_wake, &wakes);
	map_ring_output(m, "a", 1, 0);
	EQ(wakes, 1); /* the reader had caught up */
	map_ring_output(m, "b", 1, 0);
	EQ(wakes, 1); /* it has not read "a" yet */
	map_ring_output(m, "c", 1, BPF_RB_FORCE_WAKEUP);
	EQ(wakes, 2);
	while (read_one(&r, &len))
		;
	map_ring_output(m, "d", 1, BPF_RB_NO_WAKEUP);
	EQ(wakes, 2);
	while (read_one(&r, &len))
		;
	a = map_ring_reserve(m, 8);
	b = map_ring_reserve(m, 8);
	map_ring_commit(b, 0, false);
	EQ(wakes, 2); /* the reader waits for a */
	map_ring_commit(a, 0, true);
	EQ(wakes, 3); /* a discarded record wakes, too */
	map_ring_on_wake(m, NULL, NULL);
	map_ring_output(m, "e", 1, BPF_RB_FORCE_WAKEUP);
	EQ(wakes, 3);
	reader_done(&r);
	map_put(m);
}

/* Someone maps all pages for writing and writes nonsense into positions and heads. */
static void hostile(void)
{
	struct map *m = ring_new(SIZE);
	u8 *all = mmap(NULL, 8192 + 2 * SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, m->memfd, 0);
	_Atomic u64 *cons = (_Atomic u64 *)all, *prod = (_Atomic u64 *)(all + 4096);
	static const u64 odd[] = {0,	      1,	  7,	      4095,	     4096,
				  1ull << 32, 1ull << 63, UINT64_MAX, UINT64_MAX - 8};
	u32 bad = 0, got = 0, seed = 1;

	OK(all != MAP_FAILED);
	for (u32 i = 0; i < 200000; i++) {
		u8 *s;

		seed = seed * 1103515245 + 12345;
		*cons = i % 3 ? map_ring_query(m, BPF_RB_PROD_POS) : odd[seed >> 8 & 7];
		if (i % 5 == 0)
			*prod = odd[seed >> 12 & 7];
		if (i % 2)
			memset(all + 8192, seed, 2 * SIZE > 64 ? 64 : 0);
		s = map_ring_reserve(m, seed >> 16 & 1023);
		if (!s)
			continue;
		got++;
		memset(s, 0xff, seed >> 16 & 1023);
		memset(s - 8, seed, 8); /* head overwritten by the reader */
		map_ring_commit(s, i & 3, i & 4);
	}
	EQ(bad, 0);
	OK(got > 10);
	munmap(all, 8192 + 2 * SIZE);
	map_put(m);
}

/* Two rings and ends of rings: a sample always finds its own. */
static void two_rings(void)
{
	u32 wrong = 0;

	for (int round = 0; round < 20; round++) {
		struct map *m[6];
		void *s[6];

		for (int i = 0; i < 6; i++) {
			struct map_attr a = {.type = BPF_MAP_TYPE_RINGBUF,
					     .max_entries = SIZE << i % 3};

			wrong += map_new(&m[i], &a) != 0;
		}
		for (int k = 0; k < 30; k++) {
			for (int i = 0; i < 6; i++)
				wrong += !(s[i] = map_ring_reserve(m[i], 8));
			for (int i = 0; i < 6; i++)
				map_ring_commit(s[(i * 5) % 6], BPF_RB_NO_WAKEUP, false);
		}
		for (int i = 0; i < 6; i++)
			map_put(m[i]);
	}
	EQ(wrong, 0);
}

/* The thread sanitizer does not know that two mappings are one memory: with it the reader reads
 * through the map's own. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define ONE_MAPPING 1
#else
#define ONE_MAPPING 0
#endif

static void read_through_own(struct reader *r, struct map *m)
{
	u8 *first = map_ring_reserve(m, 8);

	map_ring_commit(first, BPF_RB_NO_WAKEUP, true);
	r->data = first - 8;
	r->prod = (void *)(r->data - 4096);
	r->cons = (void *)(r->data - 8192);
}

#define PRODUCERS 3
#define EACH	  30000
static _Atomic u64 sent;
static struct map *shared_ring;

static void *producer(void *arg)
{
	u64 id = (uintptr_t)arg;

	for (u64 i = 0; i < EACH;) {
		u64 *s = map_ring_reserve(shared_ring, 16 + i % 5 * 8);

		if (!s) {
			sched_yield();
			continue;
		}
		s[0] = id;
		s[1] = i++;
		map_ring_commit(s, BPF_RB_NO_WAKEUP, i % 7 == 0);
	}
	sent++;
	return NULL;
}

/* Nothing is lost, torn or out of order for its producer. */
static void many_producers(void)
{
	u64 want[PRODUCERS] = {0}, read = 0;
	pthread_t th[PRODUCERS];
	struct reader r;
	u32 len, wrong = 0;

	shared_ring = ring_new(SIZE);
	r = reader_of(shared_ring);
	if (ONE_MAPPING)
		read_through_own(&r, shared_ring);
	for (uintptr_t i = 0; i < PRODUCERS; i++)
		pthread_create(&th[i], NULL, producer, (void *)i);
	for (;;) {
		bool done = sent == PRODUCERS;
		u64 after, *s = peek_one(&r, &len, &after), id, n;

		if (!s && done && *r.cons == *r.prod)
			break;
		if (!s) {
			sched_yield();
			continue;
		}
		id = s[0];
		n = s[1];
		atomic_store_explicit(r.cons, after, memory_order_release);
		if (id >= PRODUCERS) {
			wrong++;
			continue;
		}
		while ((want[id] + 1) % 7 == 0) /* discarded by its producer */
			want[id]++;
		wrong += n != want[id];
		want[id] = n + 1;
		read++;
	}
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(th[i], NULL);
	EQ(wrong, 0);
	EQ(read, PRODUCERS * (EACH - EACH / 7));
	reader_done(&r);
	map_put(shared_ring);
}

int main(void)
{
	records();
	full_and_wrap();
	wake_rules();
	hostile();
	two_rings();
	many_producers();
	return tap_done();
}
