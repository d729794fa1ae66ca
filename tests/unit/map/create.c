/* Creation of maps: every limit and flag of every kind, with the errno that kernel 6.18 gives (see floor.h). */
#include "floor.h"

static const struct {
	const char *what;
	struct map_attr a;
	int err;
} cases[] = {
#define C(what, type_, key, value, max, flags_, err) { what, { .type = BPF_MAP_TYPE_##type_, .key_size = key, \
	.value_size = value, .max_entries = max, .flags = flags_ }, err },
#define BAD(type, what, key, value, max, flags) C(#type " " what, type, key, value, max, flags, -EINVAL)
#define GOOD(type, what, key, value, max, flags) C(#type " " what, type, key, value, max, flags, 0)
#define LARGE(type, what, key, value, max, flags) C(#type " " what, type, key, value, max, flags, -E2BIG)
	GOOD(ARRAY, "plain", 4, 1, 1, 0)
	BAD(ARRAY, "key 0", 0, 4, 1, 0) BAD(ARRAY, "key 3", 3, 4, 1, 0) BAD(ARRAY, "key 8", 8, 4, 1, 0)
	BAD(ARRAY, "value 0", 4, 0, 1, 0) BAD(ARRAY, "no entries", 4, 4, 0, 0)
	LARGE(ARRAY, "value 1<<31", 4, 1u << 31, 1, 0) LARGE(ARRAY, "value max", 4, UINT32_MAX, 1, 0)
	GOOD(ARRAY, "value 1M", 4, 1 << 20, 1, 0)
	C("ARRAY of more than all memory", ARRAY, 4, 1000, 1u << 31, 0, -ENOMEM)
	GOOD(ARRAY, "NUMA_NODE", 4, 4, 1, BPF_F_NUMA_NODE) GOOD(ARRAY, "RDONLY", 4, 4, 1, BPF_F_RDONLY)
	GOOD(ARRAY, "WRONLY", 4, 4, 1, BPF_F_WRONLY) GOOD(ARRAY, "RDONLY_PROG", 4, 4, 1, BPF_F_RDONLY_PROG)
	GOOD(ARRAY, "WRONLY_PROG", 4, 4, 1, BPF_F_WRONLY_PROG) GOOD(ARRAY, "MMAPABLE", 4, 4, 1, BPF_F_MMAPABLE)
	GOOD(ARRAY, "INNER_MAP", 4, 4, 1, BPF_F_INNER_MAP) BAD(ARRAY, "PRESERVE_ELEMS", 4, 4, 1, BPF_F_PRESERVE_ELEMS)
	BAD(ARRAY, "NO_PREALLOC", 4, 4, 1, BPF_F_NO_PREALLOC) BAD(ARRAY, "NO_COMMON_LRU", 4, 4, 1, BPF_F_NO_COMMON_LRU)
	BAD(ARRAY, "ZERO_SEED", 4, 4, 1, BPF_F_ZERO_SEED) BAD(ARRAY, "STACK_BUILD_ID", 4, 4, 1, BPF_F_STACK_BUILD_ID)
	BAD(ARRAY, "CLONE", 4, 4, 1, BPF_F_CLONE) BAD(ARRAY, "LINK", 4, 4, 1, 1 << 13)
	BAD(ARRAY, "RDONLY and WRONLY", 4, 4, 1, BPF_F_RDONLY | BPF_F_WRONLY)
	BAD(ARRAY, "RDONLY_PROG and WRONLY_PROG", 4, 4, 1, BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG)
	BAD(ARRAY, "flag 1<<30", 4, 4, 1, 1u << 30)

	GOOD(PERCPU_ARRAY, "plain", 4, 1, 1, 0)
	BAD(PERCPU_ARRAY, "key 8", 8, 4, 1, 0) BAD(PERCPU_ARRAY, "value 0", 4, 0, 1, 0) BAD(PERCPU_ARRAY, "no entries", 4, 4, 0, 0)
	GOOD(PERCPU_ARRAY, "value 32768", 4, 32768, 2, 0) LARGE(PERCPU_ARRAY, "value 32769", 4, 32769, 1, 0)
	BAD(PERCPU_ARRAY, "NUMA_NODE", 4, 4, 1, BPF_F_NUMA_NODE) BAD(PERCPU_ARRAY, "MMAPABLE", 4, 4, 1, BPF_F_MMAPABLE)
	BAD(PERCPU_ARRAY, "INNER_MAP", 4, 4, 1, BPF_F_INNER_MAP) GOOD(PERCPU_ARRAY, "RDONLY_PROG", 4, 4, 1, BPF_F_RDONLY_PROG)

	GOOD(PROG_ARRAY, "plain", 4, 4, 1, 0) BAD(PROG_ARRAY, "value 8", 4, 8, 1, 0) BAD(PROG_ARRAY, "key 8", 8, 4, 1, 0)
	BAD(PROG_ARRAY, "value 1<<31", 4, 1u << 31, 1, 0) BAD(PROG_ARRAY, "RDONLY_PROG", 4, 4, 1, BPF_F_RDONLY_PROG)
	BAD(PROG_ARRAY, "WRONLY_PROG", 4, 4, 1, BPF_F_WRONLY_PROG) GOOD(PROG_ARRAY, "RDONLY", 4, 4, 1, BPF_F_RDONLY)
	GOOD(PROG_ARRAY, "NUMA_NODE", 4, 4, 1, BPF_F_NUMA_NODE) BAD(PROG_ARRAY, "MMAPABLE", 4, 4, 1, BPF_F_MMAPABLE)

	GOOD(HASH, "plain", 1, 1, 1, 0) GOOD(HASH, "key 513", 513, 4, 10, 0)
	BAD(HASH, "key 0", 0, 4, 1, 0) BAD(HASH, "value 0", 4, 0, 1, 0) BAD(HASH, "no entries", 4, 4, 0, 0)
	GOOD(HASH, "value 4M-60", 4, (4 << 20) - 60, 1, 0) LARGE(HASH, "value 4M", 4, 4 << 20, 1, 0)
	GOOD(HASH, "key and value just below the limit", 8, (4 << 20) - 48 - 8 - 1, 1, BPF_F_NO_PREALLOC)
	LARGE(HASH, "key and value at the limit", 8, (4 << 20) - 48 - 8, 1, BPF_F_NO_PREALLOC)
	LARGE(HASH, "value 1<<31", 4, 1u << 31, 1, 0) LARGE(HASH, "both max", UINT32_MAX, UINT32_MAX, 1, 0)
	LARGE(HASH, "entries 1<<28", 4, 4, 1 << 28, BPF_F_NO_PREALLOC) LARGE(HASH, "entries 1<<31", 4, 4, 1u << 31, 0)
	LARGE(HASH, "entries (1<<27)+1", 4, 4, (1 << 27) + 1, BPF_F_NO_PREALLOC)
	LARGE(HASH, "entries max", 4, 4, UINT32_MAX, BPF_F_NO_PREALLOC)
	GOOD(HASH, "NO_PREALLOC", 4, 4, 1, BPF_F_NO_PREALLOC) BAD(HASH, "NO_COMMON_LRU", 4, 4, 1, BPF_F_NO_COMMON_LRU)
	GOOD(HASH, "NUMA_NODE", 4, 4, 1, BPF_F_NUMA_NODE) GOOD(HASH, "RDONLY", 4, 4, 1, BPF_F_RDONLY)
	GOOD(HASH, "ZERO_SEED", 4, 4, 1, BPF_F_ZERO_SEED) GOOD(HASH, "RDONLY_PROG", 4, 4, 1, BPF_F_RDONLY_PROG)
	GOOD(HASH, "WRONLY_PROG", 4, 4, 1, BPF_F_WRONLY_PROG) BAD(HASH, "MMAPABLE", 4, 4, 1, BPF_F_MMAPABLE)
	BAD(HASH, "INNER_MAP", 4, 4, 1, BPF_F_INNER_MAP) BAD(HASH, "flag 1<<30", 4, 4, 1, 1u << 30)
	BAD(HASH, "RDONLY_PROG and WRONLY_PROG", 4, 4, 1, BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG)

	GOOD(PERCPU_HASH, "plain", 4, 4, 1, 0) GOOD(PERCPU_HASH, "value 32768", 4, 32768, 2, 0)
	LARGE(PERCPU_HASH, "value 32769", 4, 32769, 1, 0) GOOD(PERCPU_HASH, "NO_PREALLOC", 4, 4, 1, BPF_F_NO_PREALLOC)
	BAD(PERCPU_HASH, "NUMA_NODE", 4, 4, 1, BPF_F_NUMA_NODE) BAD(PERCPU_HASH, "value 0", 4, 0, 1, 0)
	GOOD(PERCPU_HASH, "ZERO_SEED", 4, 4, 1, BPF_F_ZERO_SEED)

	GOOD(LRU_HASH, "plain", 4, 4, 1, 0) C("LRU_HASH NO_PREALLOC", LRU_HASH, 4, 4, 1, BPF_F_NO_PREALLOC, -ENOTSUPP_)
	GOOD(LRU_HASH, "NO_COMMON_LRU", 4, 4, 1, BPF_F_NO_COMMON_LRU) GOOD(LRU_HASH, "NUMA_NODE", 4, 4, 1, BPF_F_NUMA_NODE)
	BAD(LRU_HASH, "NO_COMMON_LRU and NUMA_NODE", 4, 4, 1, BPF_F_NO_COMMON_LRU | BPF_F_NUMA_NODE)
	C("LRU_HASH NO_PREALLOC, no entries", LRU_HASH, 4, 4, 0, BPF_F_NO_PREALLOC, -ENOTSUPP_)
	GOOD(LRU_HASH, "ZERO_SEED", 4, 4, 1, BPF_F_ZERO_SEED) LARGE(LRU_HASH, "entries 1<<28", 4, 4, 1 << 28, 0)
	LARGE(LRU_HASH, "value 4M", 4, 4 << 20, 1, 0) BAD(LRU_HASH, "value 0", 4, 0, 1, 0)

	GOOD(LPM_TRIE, "plain", 8, 4, 1, BPF_F_NO_PREALLOC) BAD(LPM_TRIE, "preallocated", 8, 4, 1, 0)
	BAD(LPM_TRIE, "key 4", 4, 4, 1, BPF_F_NO_PREALLOC) GOOD(LPM_TRIE, "key 5", 5, 4, 1, BPF_F_NO_PREALLOC)
	GOOD(LPM_TRIE, "key 260", 260, 4, 1, BPF_F_NO_PREALLOC) BAD(LPM_TRIE, "key 261", 261, 4, 1, BPF_F_NO_PREALLOC)
	BAD(LPM_TRIE, "value 0", 8, 0, 1, BPF_F_NO_PREALLOC) BAD(LPM_TRIE, "value 4M", 8, 4 << 20, 1, BPF_F_NO_PREALLOC)
	GOOD(LPM_TRIE, "value at the limit", 8, (4 << 20) - 280, 1, BPF_F_NO_PREALLOC)
	BAD(LPM_TRIE, "value above the limit", 8, (4 << 20) - 279, 1, BPF_F_NO_PREALLOC)
	BAD(LPM_TRIE, "no entries", 8, 4, 0, BPF_F_NO_PREALLOC) GOOD(LPM_TRIE, "entries max", 8, 4, UINT32_MAX, BPF_F_NO_PREALLOC)
	GOOD(LPM_TRIE, "NUMA_NODE", 8, 4, 1, BPF_F_NO_PREALLOC | BPF_F_NUMA_NODE)
	GOOD(LPM_TRIE, "RDONLY_PROG", 8, 4, 1, BPF_F_NO_PREALLOC | BPF_F_RDONLY_PROG)
	BAD(LPM_TRIE, "ZERO_SEED", 8, 4, 1, BPF_F_NO_PREALLOC | BPF_F_ZERO_SEED)

	GOOD(RINGBUF, "one page", 0, 0, 4096, 0) BAD(RINGBUF, "key 4", 4, 0, 4096, 0) BAD(RINGBUF, "value 4", 0, 4, 4096, 0)
	BAD(RINGBUF, "5000", 0, 0, 5000, 0) BAD(RINGBUF, "3 pages", 0, 0, 12288, 0) BAD(RINGBUF, "2048", 0, 0, 2048, 0)
	BAD(RINGBUF, "0", 0, 0, 0, 0) GOOD(RINGBUF, "NUMA_NODE", 0, 0, 4096, BPF_F_NUMA_NODE)
	BAD(RINGBUF, "RDONLY", 0, 0, 4096, BPF_F_RDONLY) BAD(RINGBUF, "MMAPABLE", 0, 0, 4096, BPF_F_MMAPABLE)
	GOOD(RINGBUF, "4 MiB", 0, 0, 4 << 20, 0)

	GOOD(QUEUE, "plain", 0, 4, 1, 0) BAD(QUEUE, "key 4", 4, 4, 1, 0) BAD(QUEUE, "value 0", 0, 0, 1, 0)
	BAD(QUEUE, "no entries", 0, 4, 0, 0) BAD(QUEUE, "NO_PREALLOC", 0, 4, 1, BPF_F_NO_PREALLOC)
	GOOD(QUEUE, "NUMA_NODE", 0, 4, 1, BPF_F_NUMA_NODE) GOOD(QUEUE, "WRONLY_PROG", 0, 4, 1, BPF_F_WRONLY_PROG)
	GOOD(QUEUE, "value 4M", 0, 4 << 20, 1, 0) LARGE(QUEUE, "value above 4M", 0, (4 << 20) + 1, 1, 0)
	C("QUEUE of more than all memory", QUEUE, 0, 1 << 20, 1 << 30, 0, -ENOMEM)
	GOOD(STACK, "plain", 0, 4, 1, 0) BAD(STACK, "key 4", 4, 4, 1, 0) BAD(STACK, "value 0", 0, 0, 1, 0)
	LARGE(STACK, "value above 4M", 0, (4 << 20) + 1, 1, 0) BAD(STACK, "MMAPABLE", 0, 4, 1, BPF_F_MMAPABLE)

	GOOD(PERF_EVENT_ARRAY, "plain", 4, 4, 1, 0) BAD(PERF_EVENT_ARRAY, "value 8", 4, 8, 1, 0)
	GOOD(PERF_EVENT_ARRAY, "PRESERVE_ELEMS", 4, 4, 1, BPF_F_PRESERVE_ELEMS)
	BAD(PERF_EVENT_ARRAY, "RDONLY_PROG", 4, 4, 1, BPF_F_RDONLY_PROG) BAD(PERF_EVENT_ARRAY, "no entries", 4, 4, 0, 0)

	BAD(UNSPEC, "kind 0", 4, 4, 1, 0)
	{ "kind 77", { .type = 77, .key_size = 4, .value_size = 4, .max_entries = 1 }, -EINVAL },
	{ "node 1 of 1", { .type = BPF_MAP_TYPE_HASH, .key_size = 4, .value_size = 4, .max_entries = 1,
		.flags = BPF_F_NUMA_NODE, .numa_node = 9999 }, -EINVAL },
	{ "node -1", { .type = BPF_MAP_TYPE_PERCPU_HASH, .key_size = 4, .value_size = 4, .max_entries = 1,
		.flags = BPF_F_NUMA_NODE, .numa_node = UINT32_MAX }, 0 },
	{ "a node without the flag", { .type = BPF_MAP_TYPE_HASH, .key_size = 4, .value_size = 4, .max_entries = 1,
		.numa_node = 9999 }, 0 },
	{ "map_extra", { .type = BPF_MAP_TYPE_HASH, .key_size = 4, .value_size = 4, .max_entries = 1, .extra = 1 }, -EINVAL },
	{ "name", { .type = BPF_MAP_TYPE_HASH, .key_size = 4, .value_size = 4, .max_entries = 1, .name = "a.b_C9" }, 0 },
	{ "name with a space", { .type = BPF_MAP_TYPE_HASH, .key_size = 4, .value_size = 4, .max_entries = 1,
		.name = "a b" }, -EINVAL },
	{ "name without an end", { .type = BPF_MAP_TYPE_HASH, .key_size = 4, .value_size = 4, .max_entries = 1,
		.name = "aaaaaaaaaaaaaaaa" }, -EINVAL },
};

static void kinds(void)
{
	STR(map_kind_name(BPF_MAP_TYPE_LRU_HASH), "lru_hash");
	STR(map_kind_name(BPF_MAP_TYPE_DEVMAP), "devmap");
	STR(map_kind_name(ABI_MAP_ARENA), "arena");
	STR(map_kind_name(0), "unknown");
	STR(map_kind_name(1000), "unknown");
	OK(!map_kind(BPF_MAP_TYPE_STACK_TRACE) && !map_kind(0) && !map_kind(1000));
	OK(map_kind(BPF_MAP_TYPE_RINGBUF)->mappable && map_kind(BPF_MAP_TYPE_PROG_ARRAY)->values_are_fds);
	for (u32 t = 1; t < ABI_MAP_MAX; t++)
		if (!strcmp(map_kind_name(t), "unknown"))
			EQ(t, 0);
}

static long resident_pages(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long n = -1;

	if (f && fscanf(f, "%*d %ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

/* Half of all memory, legal, and not to be touched. */
static void huge_costs_nothing(void)
{
	u64 ram = (u64)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	struct map_attr a = { .type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 1 << 20,
		.max_entries = MAX(ram >> 21, 1ull) };
	struct map_attr h = { .type = BPF_MAP_TYPE_HASH, .key_size = 4, .value_size = 1 << 20,
		.max_entries = MAX(ram >> 21, 1ull) };
	long before = resident_pages();
	struct map *m[2];

	EQ(map_new(&m[0], &a), 0);
	EQ(map_new(&m[1], &h), 0);
	OK(map_memory(m[0]) >= ram / 2 - (1 << 21));
	OK(before > 0 && resident_pages() - before < 1000);
	map_put(m[0]);
	map_put(m[1]);
}

int main(int argc, char **argv)
{
	f_start(argc, argv);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fmap f;
		int err = f_create(&f, &cases[i].a);

		if (!tap_ok(err == cases[i].err, __FILE__, __LINE__, cases[i].what))
			printf("# got %d, want %d\n", err, cases[i].err);
		f_done(&f);
	}
	kinds();
	if (!on_kernel)
		huge_costs_nothing();
	return tap_done();
}
