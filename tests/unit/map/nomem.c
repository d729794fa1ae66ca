/* Every allocation that maps make fails once in turn: the call answers -ENOMEM, and nothing is left
 * behind. And maps that are made, filled and dropped a thousand times leave the process as large as
 * it was.
 *
 * The functions are wrapped by the linker (meson.build); what is allocated is counted. */
#include "floor.h"
#include <fcntl.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__ /* keeps what is freed for a while */
#define KEEPS_FREED 1
#else
#define KEEPS_FREED 0
#endif

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t each);
void *__real_aligned_alloc(size_t align, size_t n);
void __real_free(void *p);
void *__real_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t off);
int __real_munmap(void *at, size_t n);
int __real_memfd_create(const char *name, unsigned flags);
int __real_ftruncate64(int fd, off_t size);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t each);
void *__wrap_aligned_alloc(size_t align, size_t n);
void __wrap_free(void *p);
void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t off);
int __wrap_munmap(void *at, size_t n);
int __wrap_memfd_create(const char *name, unsigned flags);
int __wrap_ftruncate64(int fd, off_t size);

static bool armed;
static int countdown; /* calls until one fails */
static bool failed;
static long blocks, areas; /* areas: bytes mapped */

static bool fails(void)
{
	if (!armed || countdown-- != 0)
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}

static void *count(void *p)
{
	blocks += p != NULL;
	return p;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : count(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t each)
{
	return fails() ? NULL : count(__real_calloc(n, each));
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
	return fails() ? NULL : count(__real_aligned_alloc(align, n));
}

void __wrap_free(void *p)
{
	blocks -= p != NULL;
	__real_free(p);
}

void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
	void *p = fails() ? MAP_FAILED : __real_mmap64(at, n, prot, flags, fd, off);

	areas += p != MAP_FAILED ? n : 0;
	return p;
}

int __wrap_munmap(void *at, size_t n)
{
	areas -= n;
	return __real_munmap(at, n);
}

int __wrap_memfd_create(const char *name, unsigned flags)
{
	return fails() ? -1 : __real_memfd_create(name, flags);
}

int __wrap_ftruncate64(int fd, off_t size)
{
	return fails() ? -1 : __real_ftruncate64(fd, size);
}

/* ---- what is done with a map of each kind; the first error ends it */

static const struct map_attr kinds[] = {
#define K(type_, key, value, max, flags_)                                                          \
	{.type = BPF_MAP_TYPE_##type_,                                                             \
	 .key_size = key,                                                                          \
	 .value_size = value,                                                                      \
	 .max_entries = max,                                                                       \
	 .flags = flags_},
    K(ARRAY, 4, 8, 64, 0) K(ARRAY, 4, 8, 64, BPF_F_MMAPABLE) K(PERCPU_ARRAY, 4, 8, 64, 0)
	K(HASH, 4, 8, 64, 0) K(HASH, 4, 8, 64, BPF_F_NO_PREALLOC) K(PERCPU_HASH, 4, 8, 64, 0)
	    K(PERCPU_HASH, 4, 8, 64, BPF_F_NO_PREALLOC) K(LRU_HASH, 4, 8, 64, 0)
		K(LRU_HASH, 4, 8, 6400, BPF_F_NO_COMMON_LRU)
		    K(LPM_TRIE, 8, 8, 64, BPF_F_NO_PREALLOC) K(PROG_ARRAY, 4, 4, 64, 0)
			K(PERF_EVENT_ARRAY, 4, 4, 64, 0) K(ARRAY_OF_MAPS, 4, 4, 64, 0)
			    K(HASH_OF_MAPS, 4, 4, 64, 0)
				K(HASH_OF_MAPS, 4, 4, 64, BPF_F_NO_PREALLOC) K(QUEUE, 0, 8, 64, 0)
				    K(STACK, 0, 8, 64, 0) K(RINGBUF, 0, 0, 4096, 0)};

static struct map *like;
static struct obj owner;
static u64 value[1024];

static int put(struct map *m, u32 i)
{
	u32 key[2] = {i, i * 2654435761u};
	struct map_event *e;
	int err;

	switch (m->type) {
	case BPF_MAP_TYPE_LPM_TRIE:
		key[0] = 32;
		return map_copy_in(m, key, value, 0);
	case BPF_MAP_TYPE_PROG_ARRAY:
		return map_slot_set(m, i, &owner, value);
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_HASH_OF_MAPS:
		return map_inner_set(m, key, like, 0);
	case BPF_MAP_TYPE_PERF_EVENT_ARRAY:
		if (i > 2)
			return 0;
		err = map_event_new(&e, &(struct map_event_attr){.tid = -1});
		if (err)
			return err;
		err = map_perf_set(m, i, e);
		obj_put(&e->obj);
		return err;
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
		return map_copy_in(m, NULL, value, 0);
	case BPF_MAP_TYPE_RINGBUF:
		return map_ring_output(m, value, 8, 0);
	default:
		return map_copy_in(m, key, value, 0);
	}
}

static bool has_delete(u32 type)
{
	return map_kind(type)->batch & MAP_BATCH_DELETE || type == BPF_MAP_TYPE_PROG_ARRAY ||
	       type == BPF_MAP_TYPE_ARRAY_OF_MAPS;
}

static int use(const struct map_attr *attr)
{
	struct map_attr a = *attr;
	struct map *m = NULL;
	int err;

	a.inner = like;
	err = map_new(&m, &a);
	for (u32 i = 0; !err && i < 50; i++)
		err = put(m, i);
	for (u32 i = 0; !err && has_delete(a.type) && i < 50; i += 3)
		err = map_delete(
		    m, (u32[]){a.type == BPF_MAP_TYPE_LPM_TRIE ? 32 : i, i * 2654435761u});
	map_put(m);
	return err;
}

static int open_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void each_fails(const struct map_attr *a)
{
	long b = blocks, ar = areas;
	int fds = open_fds(), n = 0, err, wrong = 0;

	for (failed = true; failed && n < 1000; n++) {
		failed = false;
		countdown = n;
		armed = true;
		err = use(a);
		armed = false;
		env_synchronize();
		wrong += err != (failed ? -ENOMEM : 0);
		if (blocks != b || areas != ar || open_fds() != fds) {
			printf("# %s: call %d left %ld blocks, %ld bytes mapped, %d descriptors\n",
			       map_kind_name(a->type), n, blocks - b, areas - ar, open_fds() - fds);
			wrong++;
			b = blocks;
			ar = areas;
		}
		if (err != (failed ? -ENOMEM : 0))
			printf("# %s: call %d: %d\n", map_kind_name(a->type), n, err);
	}
	EQ(wrong, 0);
	OK(n > 2);
}

/* ---- the process stays as large */

static long resident(void)
{
	long n = -1;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%*d %ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

static void thousand(void)
{
	long before = 0, b = 0, ar = 0;
	u32 rounds = 300, n = ARRAY_SIZE(kinds);

	for (u32 i = 0; i < n * rounds; i++) {
		if (i == n * 20) {
			env_synchronize();
			before = resident();
			b = blocks;
			ar = areas;
		}
		if (use(&kinds[i % n]))
			EQ(i, ~0u);
	}
	env_synchronize();
	EQ(blocks, b);
	EQ(areas, ar);
	if (!OK(KEEPS_FREED || resident() - before < 200))
		printf("# %ld pages more\n", resident() - before);
}

/* What is deleted from a map that is not preallocated goes back to the system, and can be made
 * again. */
static void gives_back(u32 type, u32 value_size, u32 n)
{
	struct map_attr a = {.type = type,
			     .key_size = 4,
			     .value_size = value_size,
			     .max_entries = n,
			     .flags = BPF_F_NO_PREALLOC};
	long empty, full;
	struct map *m;
	u32 wrong = 0;
	u64 memory;

	EQ(map_new(&m, &a), 0);
	empty = areas;
	memory = map_memory(m);
	for (int round = 0; round < 3; round++) {
		for (u32 i = 0; i < n; i++)
			wrong += map_copy_in(m, &i, value, 0) != 0;
		full = areas;
		OK(full - empty >= (long)n * value_size);
		EQ(map_copy_in(m, &n, value, 0), -E2BIG);
		for (u32 i = 0; i < n; i += 2) /* half of each chunk: nothing goes */
			wrong += map_delete(m, &i) != 0;
		env_synchronize();
		if (value_size < 1000)
			EQ(areas, full);
		for (u32 i = 1; i < n; i += 2)
			wrong += map_delete(m, &i) != 0;
		env_synchronize();
		if (!OK(areas - empty < (full - empty) / 10 + (1 << 20)))
			printf("# %ld of %ld bytes stay\n", areas - empty, full - empty);
		OK(map_memory(m) - memory < (u64)(full - empty) / 10 + (1 << 20));
	}
	EQ(wrong, 0);
	map_put(m);
	env_synchronize();
}

static void owner_free(struct obj *o)
{
}

int main(void)
{
	static const struct obj_ops ops = {.free = owner_free};
	struct map_attr a = {
	    .type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1};

	obj_init(&owner, OBJ_PROG, &ops);
	EQ(map_new(&like, &a), 0);
	use(&kinds[3]); /* what threads and tables keep for good */
	env_synchronize();
	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++)
		each_fails(&kinds[i]);
	EQ(owner.refs, 1);
	EQ(like->obj.refs, 1);
	thousand();
	gives_back(BPF_MAP_TYPE_HASH, 8, 100000);
	gives_back(BPF_MAP_TYPE_HASH, 7000, 2000);
	gives_back(BPF_MAP_TYPE_PERCPU_HASH, 64, 20000);
	map_put(like);
	return tap_done();
}
