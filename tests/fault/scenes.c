/* What is done while calls fail. */
#include "fault.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/epoll.h>
#include <unistd.h>

static inline u64 addr(const void *p)
{
	return (uintptr_t)p;
}

/* ---- short forms */

struct form {
	u32 type, key, value, max, flags, inner;
};

static int create(const struct form *m)
{
	union abi_attr a = { .map_create = { .map_type = m->type, .key_size = m->key, .value_size = m->value, .max_entries = m->max,
					     .map_flags = m->flags, .inner_map_fd = m->inner, .map_name = "fault" } };

	return own(bpf(BPF_MAP_CREATE, &a));
}

static long elem(int cmd, int fd, const void *key, const void *value, u64 flags)
{
	union abi_attr a = { .elem = { .map_fd = fd, .key = addr(key), .value = addr(value), .flags = flags } };

	return bpf(cmd, &a);
}

static long batch(int cmd, int fd, void *keys, void *values, u32 n)
{
	u64 out = 0;
	union abi_attr a = { .batch = { .out_batch = addr(&out), .keys = addr(keys), .values = addr(values), .count = n, .map_fd = fd } };

	return bpf(cmd, &a);
}

/* A batch that took all says so. */
static long at_end(long r)
{
	return r == -ENOENT ? 0 : r;
}

static long info(int fd, void *to, u32 size)
{
	union abi_attr a = { .info = { .bpf_fd = fd, .info_len = size, .info = addr(to) } };

	return bpf(BPF_OBJ_GET_INFO_BY_FD, &a);
}

static int by_id(int cmd, u32 id)
{
	union abi_attr a = { .id = { .start_id = id } };

	return own(bpf(cmd, &a));
}

/* r0 = 2; exit */
static int small_program(void)
{
	static const struct bpf_insn insns[] = { { .code = BPF_ALU64 | BPF_MOV, .imm = 2 }, { .code = BPF_JMP | BPF_EXIT } };
	union abi_attr a = { .prog_load = { .prog_type = BPF_PROG_TYPE_XDP, .insn_cnt = 2, .insns = addr(insns),
					    .license = addr("GPL"), .prog_name = "small" } };

	return own(bpf(BPF_PROG_LOAD, &a));
}

static long test_run(int fd, u32 *verdict)
{
	u8 packet[64] = { [12] = 8, [13] = 0, [14] = 0x45, [17] = 50, [23] = 17, [26] = 10 }, out[128];
	union abi_attr a = { .test = { .prog_fd = fd, .data_in = addr(packet), .data_size_in = sizeof(packet),
				       .data_out = addr(out), .data_size_out = sizeof(out), .repeat = 2 } };
	long r = bpf(BPF_PROG_TEST_RUN, &a);

	*verdict = a.test.retval;
	return r;
}

/* ---- maps with keys. Entry i has the value 3i before and 5i after it was updated again. */

static u32 cpus(void)
{
	return sysconf(_SC_NPROCESSORS_CONF);
}

enum { ENTRIES = 6, LARGEST = 64 * 64 };
static int map_fd;
static struct form map_form;

static void make_key(u64 *key, u32 i)
{
	*key = map_form.type == BPF_MAP_TYPE_LPM_TRIE ? (u64)(i * 0x01010101u) << 32 | 32 : i;
}

static void make_value(u64 *value, u64 v)
{
	for (u32 i = 0; i < LARGEST / 8; i++)
		value[i] = v;
}

static long put(u32 i, u64 v)
{
	u64 key, value[LARGEST / 8];

	make_key(&key, i);
	make_value(value, v);
	return elem(BPF_MAP_UPDATE_ELEM, map_fd, &key, value, 0);
}

static void keyed(void)
{
	bool array = map_form.type == BPF_MAP_TYPE_ARRAY || map_form.type == BPF_MAP_TYPE_PERCPU_ARRAY;
	u64 key, next = 0, value[LARGEST / 8], keys[ENTRIES];
	struct abi_map_info mi = { 0 };
	u32 n = ENTRIES;

	map_fd = -1;
	map_fd = TRY(create(&map_form));
	for (u32 i = 0; i < n; i++)
		TRY(put(i, 3 * i));
	for (u32 i = 0; i < n; i++)
		TRY(put(i, 5 * i));
	for (u32 i = 0; i < n; i++) {
		make_key(&key, i);
		TRY(elem(BPF_MAP_LOOKUP_ELEM, map_fd, &key, value, 0));
		MUST(value[0] == 5 * i);
	}
	TRY(elem(BPF_MAP_GET_NEXT_KEY, map_fd, NULL, &next, 0));
	while (n--) {
		key = next;
		TRY_FOR(n ? 0 : -ENOENT, elem(BPF_MAP_GET_NEXT_KEY, map_fd, &key, &next, 0));
	}
	TRY(info(map_fd, &mi, sizeof(mi)));
	MUST(mi.type == map_form.type && mi.max_entries == map_form.max);
	MUST(TRY(by_id(BPF_MAP_GET_FD_BY_ID, mi.id)) >= 0);
	if (map_form.type != BPF_MAP_TYPE_LPM_TRIE && map_form.value <= 64) {
		TRY(at_end(batch(BPF_MAP_LOOKUP_BATCH, map_fd, keys, value, ENTRIES)));
		TRY(batch(BPF_MAP_UPDATE_BATCH, map_fd, keys, value, ENTRIES));
	}
	if (!array) {
		make_key(&key, 1);
		TRY(elem(BPF_MAP_DELETE_ELEM, map_fd, &key, NULL, 0));
		TRY_FOR(-ENOENT, elem(BPF_MAP_LOOKUP_ELEM, map_fd, &key, value, 0));
		TRY(put(1, 5));
	}
	TRY(elem(BPF_MAP_FREEZE, map_fd, NULL, NULL, 0));
	TRY_FOR(-EPERM, put(1, 7));
}

/* Whatever failed, the map is whole: each entry has one of the values it was given, and it can be filled and emptied. */
static void keyed_after(void)
{
	u64 key, value[LARGEST / 8];

	if (map_fd < 0)
		return;
	for (u32 i = 0; i < ENTRIES; i++) {
		make_key(&key, i);
		if (!elem(BPF_MAP_LOOKUP_ELEM, map_fd, &key, value, 0))
			MUST(value[0] == 3 * i || value[0] == 5 * i);
	}
	if (put(0, 0) == -EPERM)
		return;
	for (u32 i = 0; i < ENTRIES; i++) {
		make_key(&key, i);
		MUST(put(i, 3 * i) == 0);
		MUST(!elem(BPF_MAP_LOOKUP_ELEM, map_fd, &key, value, 0) && value[0] == 3 * i);
	}
}

#define KEYED(name, ...) static void name(void) { map_form = (struct form){ __VA_ARGS__ }; keyed(); }
KEYED(hash, BPF_MAP_TYPE_HASH, 8, 64, 16, 0)
KEYED(hash_lazy, BPF_MAP_TYPE_HASH, 8, 64, 16, BPF_F_NO_PREALLOC)
KEYED(percpu_hash, BPF_MAP_TYPE_PERCPU_HASH, 8, 8, 16, 0)
KEYED(percpu_hash_lazy, BPF_MAP_TYPE_PERCPU_HASH, 8, 8, 16, BPF_F_NO_PREALLOC)
KEYED(lru_hash, BPF_MAP_TYPE_LRU_HASH, 8, 64, 64, 0)
KEYED(lpm_trie, BPF_MAP_TYPE_LPM_TRIE, 8, 64, 16, BPF_F_NO_PREALLOC)
KEYED(array, BPF_MAP_TYPE_ARRAY, 4, 64, ENTRIES, 0)
KEYED(array_mappable, BPF_MAP_TYPE_ARRAY, 4, 64, ENTRIES, BPF_F_MMAPABLE)
KEYED(percpu_array, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, ENTRIES, 0)

static void queue_and_stack(void)
{
	static const u32 types[] = { BPF_MAP_TYPE_QUEUE, BPF_MAP_TYPE_STACK };

	for (u32 i = 0; i < ARRAY_SIZE(types); i++) {
		int m = TRY(create(&(struct form){ types[i], 0, 8, 4 }));
		u64 v = 7, got = 0;

		TRY(elem(BPF_MAP_UPDATE_ELEM, m, NULL, &v, 0));
		TRY(elem(BPF_MAP_LOOKUP_ELEM, m, NULL, &got, 0));
		MUST(got == 7);
		TRY(elem(BPF_MAP_LOOKUP_AND_DELETE_ELEM, m, NULL, &got, 0));
		TRY_FOR(-ENOENT, elem(BPF_MAP_LOOKUP_ELEM, m, NULL, &got, 0));
	}
}

/* ---- maps of descriptors */

static void prog_array(void)
{
	int m = TRY(create(&(struct form){ BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4 })), p = TRY(small_program());
	u32 key = 1, id = 0;

	TRY(elem(BPF_MAP_UPDATE_ELEM, m, &key, &p, 0));
	TRY(elem(BPF_MAP_UPDATE_ELEM, m, &key, &p, 0));
	TRY(elem(BPF_MAP_LOOKUP_ELEM, m, &key, &id, 0));
	MUST(id);
	TRY(elem(BPF_MAP_DELETE_ELEM, m, &key, NULL, 0));
	TRY(elem(BPF_MAP_UPDATE_ELEM, m, &key, &p, 0));
}

static void maps_of_maps(void)
{
	static const struct form inner = { BPF_MAP_TYPE_HASH, 4, 8, 4 };
	static const u32 types[] = { BPF_MAP_TYPE_ARRAY_OF_MAPS, BPF_MAP_TYPE_HASH_OF_MAPS };
	int a = TRY(create(&inner)), b = TRY(create(&inner));

	for (u32 i = 0; i < ARRAY_SIZE(types); i++) {
		int m = TRY(create(&(struct form){ types[i], 4, 4, 4, 0, a }));
		u32 key = 1, id = 0;

		TRY(elem(BPF_MAP_UPDATE_ELEM, m, &key, &a, 0));
		TRY(elem(BPF_MAP_UPDATE_ELEM, m, &key, &b, 0));
		TRY(elem(BPF_MAP_LOOKUP_ELEM, m, &key, &id, 0));
		MUST(id);
		TRY(elem(BPF_MAP_DELETE_ELEM, m, &key, NULL, 0));
		TRY(elem(BPF_MAP_UPDATE_ELEM, m, &key, &b, 0));
	}
}

static void perf_events(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_BPF_OUTPUT,
					.sample_type = PERF_SAMPLE_RAW, .sample_period = 1, .wakeup_events = 1 };
	int m = TRY(create(&(struct form){ BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 1 }));
	int e = TRY(own(sys_perf_event_open(addr(&attr), -1, 0, -1, PERF_FLAG_FD_CLOEXEC)));
	u32 key = 0;

	TRY(elem(BPF_MAP_UPDATE_ELEM, m, &key, &e, 0));
	TRY(elem(BPF_MAP_DELETE_ELEM, m, &key, NULL, 0));
	TRY(elem(BPF_MAP_UPDATE_ELEM, m, &key, &e, 0));
}

static void ring_polled(void)
{
	int m = TRY(create(&(struct form){ BPF_MAP_TYPE_RINGBUF, 0, 0, 4096 })), ep = own(epoll_create1(EPOLL_CLOEXEC));
	struct epoll_event ev = { .events = EPOLLIN };

	TRY(sys_epoll_ctl(ep, EPOLL_CTL_ADD, m, &ev));
	TRY(sys_epoll_pwait(ep, &ev, 1, 0, NULL, 8));
	TRY(sys_epoll_ctl(ep, EPOLL_CTL_DEL, m, NULL));
}

/* ---- BTF, programs, pins */

static void btf(void)
{
	struct abi_btf_info bi = { 0 };
	int fd = TRY(own(bpf(BPF_BTF_LOAD, &program_btf_attr)));

	TRY(info(fd, &bi, sizeof(bi)));
	MUST(bi.btf_size == program_btf_attr.btf_load.btf_size);
	MUST(TRY(by_id(BPF_BTF_GET_FD_BY_ID, bi.id)) >= 0);
}

static void btf_for_map(void)
{
	union abi_attr a = { .map_create = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1 } };
	int b = TRY(own(bpf(BPF_BTF_LOAD, &program_btf_attr)));
	struct abi_map_info mi = { 0 };

	a.map_create.btf_fd = b;
	a.map_create.btf_value_type_id = a.map_create.btf_key_type_id = 0;
	b = TRY(own(bpf(BPF_MAP_CREATE, &a)));
	TRY(info(b, &mi, sizeof(mi)));
}

static char said[1 << 16];

static int load(bool good, bool log)
{
	union abi_attr a = good ? program_attr : program_bad_attr;

	if (log) {
		a.prog_load.log_level = 1;
		a.prog_load.log_buf = addr(said);
		a.prog_load.log_size = sizeof(said);
	}
	return own(bpf(BPF_PROG_LOAD, &a));
}

static void program(void)
{
	static u8 xlated[65536], lines[65536], functions[4096], maps[64];
	struct abi_prog_info pi = { 0 };
	u32 verdict = 0;
	int p = TRY(load(true, false));

	TRY(test_run(p, &verdict));
	MUST(verdict == 2);
	TRY(info(p, &pi, sizeof(pi)));
	MUST(pi.xlated_prog_len && pi.nr_map_ids && pi.nr_line_info && pi.nr_func_info);
	pi = (struct abi_prog_info){
		.xlated_prog_insns = addr(xlated), .xlated_prog_len = pi.xlated_prog_len,
		.line_info = addr(lines), .nr_line_info = pi.nr_line_info, .line_info_rec_size = pi.line_info_rec_size,
		.func_info = addr(functions), .nr_func_info = pi.nr_func_info, .func_info_rec_size = pi.func_info_rec_size,
		.map_ids = addr(maps), .nr_map_ids = pi.nr_map_ids,
	};
	TRY(info(p, &pi, sizeof(pi)));
	MUST(TRY(by_id(BPF_PROG_GET_FD_BY_ID, pi.id)) >= 0);
}

static void program_log(void)
{
	TRY(load(true, true));
}

/* Whatever fails, a program that must be refused is. */
static void refused(void)
{
	TRY_FOR(-EACCES, load(false, false));
}

static void refused_log(void)
{
	TRY_FOR(-EACCES, load(false, true));
}

static void bound_map(void)
{
	int p = TRY(small_program()), m = TRY(create(&(struct form){ BPF_MAP_TYPE_ARRAY, 4, 8, 1 }));
	union abi_attr a = { .bind_map = { .prog_fd = p, .map_fd = m } };

	TRY(bpf(BPF_PROG_BIND_MAP, &a));
	TRY(bpf(BPF_PROG_BIND_MAP, &a));
}

static void pins(void)
{
	static const char path[] = "/sys/fs/bpf/fault/map";
	union abi_attr a = { .obj = { .pathname = addr(path) } };
	int m = TRY(create(&(struct form){ BPF_MAP_TYPE_HASH, 4, 8, 4 }));

	TRY(sys_mkdirat(AT_FDCWD, "/sys/fs/bpf/fault", 0700));
	a.obj.bpf_fd = m;
	TRY(bpf(BPF_OBJ_PIN, &a));
	a.obj.bpf_fd = 0;
	TRY(own(bpf(BPF_OBJ_GET, &a)));
}

static void pins_after(void)
{
	sys_unlinkat(AT_FDCWD, "/sys/fs/bpf/fault/map", 0);
	sys_unlinkat(AT_FDCWD, "/sys/fs/bpf/fault", AT_REMOVEDIR);
}

/* The application's own call, which fails like any other. */
static int duplicate(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 200);

	return high < 0 ? -errno : high;
}

static void descriptors(void)
{
	int m = TRY(create(&(struct form){ BPF_MAP_TYPE_HASH, 4, 8, 4 })), high = TRY(own(duplicate(m)));
	u32 key = 1, n = cpus();
	u64 value = 1;

	TRY(elem(BPF_MAP_UPDATE_ELEM, high, &key, &value, 0));
	TRY(sys_dup2(m, 300));
	own(300);
	TRY(elem(BPF_MAP_LOOKUP_ELEM, 300, &key, &value, 0));
	MUST(value == 1 && n);
}

const struct scene scenes[] = {
	{ "hash", hash, keyed_after },
	{ "hash, lazy", hash_lazy, keyed_after },
	{ "percpu_hash", percpu_hash, keyed_after },
	{ "percpu_hash, lazy", percpu_hash_lazy, keyed_after },
	{ "lru_hash", lru_hash, keyed_after },
	{ "lpm_trie", lpm_trie, keyed_after },
	{ "array", array, keyed_after },
	{ "array, mappable", array_mappable, keyed_after },
	{ "percpu_array", percpu_array, keyed_after },
	{ "queue and stack", queue_and_stack, NULL },
	{ "prog_array", prog_array, NULL },
	{ "maps of maps", maps_of_maps, NULL },
	{ "perf events", perf_events, NULL },
	{ "ringbuf, polled", ring_polled, NULL },
	{ "BTF", btf, NULL },
	{ "map beside BTF", btf_for_map, NULL },
	{ "program", program, NULL },
	{ "program with log", program_log, NULL },
	{ "refused program", refused, NULL },
	{ "refused program with log", refused_log, NULL },
	{ "bound map", bound_map, NULL },
	{ "pins", pins, pins_after },
	{ "descriptors", descriptors, NULL },
	{ 0 },
};
