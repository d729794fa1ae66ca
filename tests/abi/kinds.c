/* Maps of maps, queues and stacks, perf event arrays: creation and elements. */
#include "abi.h"
#include "base/types.h"
#include "sys/sys.h"
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static long create(struct floor *f, u32 type, u32 key, u32 value, u32 max, u32 flags, int inner)
{
	union abi_attr a = {.map_create = {.map_type = type,
					   .key_size = key,
					   .value_size = value,
					   .max_entries = max,
					   .map_flags = flags,
					   .inner_map_fd = inner}};

	return call(f, BPF_MAP_CREATE, &a);
}
#define CREATE(...) fd_or_error(f, create(f, __VA_ARGS__))

/* ---- maps of maps */

#define AOM BPF_MAP_TYPE_ARRAY_OF_MAPS
#define HOM BPF_MAP_TYPE_HASH_OF_MAPS

static void inner_kinds(struct floor *f)
{
	static const struct {
		const char *what;
		u32 type, key, value, max, flags;
		long want;
	} rows[] = {
	    {"array inside", BPF_MAP_TYPE_ARRAY, 4, 8, 4, 0, FD},
	    {"array with INNER_MAP inside", BPF_MAP_TYPE_ARRAY, 4, 8, 4, BPF_F_INNER_MAP, FD},
	    {"hash inside", BPF_MAP_TYPE_HASH, 4, 8, 4, 0, FD},
	    {"prog array inside", BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4, 0, -ENOTSUPP_},
	    {"perf event array inside", BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 4, 0, FD},
	    {"percpu array inside", BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 4, 0, FD},
	    {"percpu hash inside", BPF_MAP_TYPE_PERCPU_HASH, 4, 8, 4, 0, FD},
	    {"LRU hash inside", BPF_MAP_TYPE_LRU_HASH, 4, 8, 4, 0, FD},
	    {"LPM inside", BPF_MAP_TYPE_LPM_TRIE, 8, 8, 4, BPF_F_NO_PREALLOC, FD},
	    {"queue inside", BPF_MAP_TYPE_QUEUE, 0, 8, 4, 0, FD},
	    {"stack inside", BPF_MAP_TYPE_STACK, 0, 8, 4, 0, FD},
	    {"ring buffer inside", BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0, FD},
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		int m = new_map(f, rows[i].type, rows[i].key, rows[i].value, rows[i].max,
				rows[i].flags);

		SAME(rows[i].what, rows[i].want, CREATE(AOM, 4, 4, 4, 0, m));
		f->close(m);
	}
}

static void create_maps_of_maps(struct floor *f)
{
	int in = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 4, 0), prog = new_prog(f);
	int aom = create(f, AOM, 4, 4, 4, 0, in), hom = create(f, HOM, 4, 4, 4, 0, in);

	inner_kinds(f);
	SAME("map of maps inside", -EINVAL, CREATE(AOM, 4, 4, 4, 0, aom));
	SAME("hash of maps inside", -EINVAL, CREATE(HOM, 4, 4, 4, 0, hom));
	SAME("inner: closed", -EBADF, CREATE(AOM, 4, 4, 4, 0, 900));
	SAME("inner: closed, value of 8", -EINVAL, CREATE(AOM, 4, 8, 4, 0, 900));
	SAME("inner: a program", -EINVAL, CREATE(AOM, 4, 4, 4, 0, prog));
	SAME("inner: no BPF object", -EINVAL, CREATE(HOM, 4, 4, 4, 0, 0));
	SAME("array of maps: key of 8", -EINVAL, CREATE(AOM, 8, 4, 4, 0, in));
	SAME("array of maps: no entries", -EINVAL, CREATE(AOM, 4, 4, 0, 0, in));
	SAME("array of maps: RDONLY_PROG", -EINVAL, CREATE(AOM, 4, 4, 4, BPF_F_RDONLY_PROG, in));
	SAME("array of maps: INNER_MAP", -EINVAL, CREATE(AOM, 4, 4, 4, BPF_F_INNER_MAP, in));
	SAME("array of maps: MMAPABLE", -EINVAL, CREATE(AOM, 4, 4, 4, BPF_F_MMAPABLE, in));
	SAME("array of maps: NUMA_NODE", FD, CREATE(AOM, 4, 4, 4, BPF_F_NUMA_NODE, in));
	SAME("hash of maps: value of 8", -EINVAL, CREATE(HOM, 4, 8, 4, 0, in));
	SAME("hash of maps: key of 77", FD, CREATE(HOM, 77, 4, 4, 0, in));
	SAME("hash of maps: NO_PREALLOC", FD, CREATE(HOM, 4, 4, 4, BPF_F_NO_PREALLOC, in));
	SAME("hash of maps: RDONLY_PROG", FD, CREATE(HOM, 4, 4, 4, BPF_F_RDONLY_PROG, in));
	SAME("hash of maps: RDONLY_PROG, inner closed", -EBADF,
	     CREATE(HOM, 4, 4, 4, BPF_F_RDONLY_PROG, 900));
	SAME("hash of maps: NO_COMMON_LRU", -EINVAL, CREATE(HOM, 4, 4, 4, BPF_F_NO_COMMON_LRU, in));
	SAME("a hash looks at no inner map", FD, CREATE(BPF_MAP_TYPE_HASH, 4, 4, 4, 0, 900));
	f->close(aom);
	f->close(hom);
	f->close(in);
	f->close(prog);
}

/* Which maps are alike? */
static void alike(struct floor *f)
{
	int in = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 4, 0),
	    same = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 4, 0);
	int longer = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 5, 0),
	    wider = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 9, 4, 0);
	int open = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 4, BPF_F_INNER_MAP);
	int open9 = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 9, BPF_F_INNER_MAP);
	int hash = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 4, 0),
	    hash9 = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 9, 0);
	int m = create(f, AOM, 4, 4, 4, 0, in), o = create(f, HOM, 4, 4, 4, 0, open);
	int h = create(f, HOM, 4, 4, 4, 0, hash),
	    ro = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 4, BPF_F_RDONLY);
	u32 k = 1;

	SAME("put: the same", 0, update(f, m, &k, &in, 0));
	SAME("put: one like it", 0, update(f, m, &k, &same, 0));
	SAME("put: more entries", -EINVAL, update(f, m, &k, &longer, 0));
	SAME("put: larger values", -EINVAL, update(f, m, &k, &wider, 0));
	SAME("put: other flags", -EINVAL, update(f, m, &k, &open, 0));
	SAME("put: another kind", -EINVAL, update(f, m, &k, &hash, 0));
	SAME("put: RDONLY is of the descriptor", 0, update(f, m, &k, &ro, 0));
	SAME("put: more entries with INNER_MAP", 0, update(f, o, &k, &open9, 0));
	SAME("put: without INNER_MAP", -EINVAL, update(f, o, &k, &in, 0));
	SAME("put: a hash of more entries", 0, update(f, h, &k, &hash9, 0));
	int fds[] = {in, same, longer, wider, open, open9, hash, hash9, m, o, h, ro};
	for (u32 i = 0; i < ARRAY_SIZE(fds); i++)
		f->close(fds[i]);
}

static u32 id_of(struct floor *f, int fd)
{
	struct abi_map_info info = {0};
	union abi_attr a = {
	    .info = {.bpf_fd = fd, .info_len = sizeof(info), .info = addr_of(&info)}};

	return call(f, BPF_OBJ_GET_INFO_BY_FD, &a) ? 0 : info.id;
}

static void array_of_maps(struct floor *f)
{
	int in = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 4, 0),
	    other = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 4, 0);
	int m = create(f, AOM, 4, 4, 4, 0, in);
	u32 k = 0, big = 9, closed = 900, got = 0;
	u64 v;

	SAME("array of maps: empty", -ENOENT, lookup(f, m, &k, &got, 0));
	SAME("array of maps: NOEXIST", -EINVAL, update(f, m, &k, &in, BPF_NOEXIST));
	SAME("array of maps: EXIST", -EINVAL, update(f, m, &k, &in, BPF_EXIST));
	SAME("array of maps: closed", -EBADF, update(f, m, &k, &closed, 0));
	SAME("array of maps: beyond the end, closed", -E2BIG, update(f, m, &big, &closed, 0));
	SAME("array of maps: flags, closed", -EINVAL, update(f, m, &big, &closed, 1));
	SAME("array of maps: F_LOCK", -EINVAL, update(f, m, &k, &in, BPF_F_LOCK));
	SAME("array of maps: put", 0, update(f, m, &k, &in, 0));
	SAME("array of maps: another kind", -EINVAL, update(f, m, &k, &other, 0));
	SAME("array of maps: look up", 0, lookup(f, m, &k, &got, 0));
	SAME("array of maps: the id", 1, got == id_of(f, in));
	SAME("array of maps: beyond the end", -ENOENT, lookup(f, m, &big, &got, 0));
	SAME("array of maps: next key", 0, next_key(f, m, NULL, &got));
	SAME("array of maps: look up and delete", -ENOTSUPP_, take(f, m, &k, &v, 0));
	SAME("array of maps: delete", 0, delete (f, m, &k));
	SAME("array of maps: delete again", -ENOENT, delete (f, m, &k));
	SAME("array of maps: delete beyond the end", -E2BIG, delete (f, m, &big));
	SAME("array of maps: freeze", 0, elem(f, BPF_MAP_FREEZE, m, NULL, NULL, 0));
	SAME("array of maps: put when frozen, closed", -EPERM, update(f, m, &k, &closed, 0));
	f->close(in);
	f->close(other);
	f->close(m);
}

static void hash_of_maps(struct floor *f)
{
	int in = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 4, 0),
	    other = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 4, 0);
	int m = create(f, HOM, 4, 4, 2, 0, in);
	u32 k = 0, k1 = 1, k2 = 2, closed = 900, got = 0;
	u64 v;

	SAME("hash of maps: empty", -ENOENT, lookup(f, m, &k, &got, 0));
	SAME("hash of maps: flags 9, closed", -EBADF, update(f, m, &k, &closed, 9));
	SAME("hash of maps: flags 9", -EINVAL, update(f, m, &k, &in, 9));
	SAME("hash of maps: flags 3", -EINVAL, update(f, m, &k, &in, 3));
	SAME("hash of maps: EXIST on a missing key", -ENOENT, update(f, m, &k, &in, BPF_EXIST));
	SAME("hash of maps: NOEXIST", 0, update(f, m, &k, &in, BPF_NOEXIST));
	SAME("hash of maps: NOEXIST on a present key", -EEXIST, update(f, m, &k, &in, BPF_NOEXIST));
	SAME("hash of maps: EXIST", 0, update(f, m, &k, &in, BPF_EXIST));
	SAME("hash of maps: another kind", -EINVAL, update(f, m, &k, &other, 0));
	SAME("hash of maps: F_LOCK", -EINVAL, update(f, m, &k, &in, BPF_F_LOCK));
	SAME("hash of maps: second", 0, update(f, m, &k1, &in, 0));
	SAME("hash of maps: full", -E2BIG, update(f, m, &k2, &in, 0));
	SAME("hash of maps: full, put over", 0, update(f, m, &k1, &in, 0));
	SAME("hash of maps: look up", 0, lookup(f, m, &k1, &got, 0));
	SAME("hash of maps: the id", 1, got == id_of(f, in));
	SAME("hash of maps: look up and delete", -ENOTSUPP_, take(f, m, &k, &v, 0));
	SAME("hash of maps: delete", 0, delete (f, m, &k));
	SAME("hash of maps: delete again", -ENOENT, delete (f, m, &k));
	SAME("hash of maps: next key", 0, next_key(f, m, NULL, &got));
	SAME("hash of maps: the one that is left", 1, got);
	f->close(in);
	f->close(other);
	f->close(m);
}

/* The outer map holds the inner one; the inner one goes when it is taken out. */
static void holding(struct floor *f, u32 type)
{
	int in = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 4, 0),
	    like = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 4, 0);
	int m = create(f, type, 4, 4, 2, 0, like), again;
	u32 k = 1, id = id_of(f, in), got = 0;
	union abi_attr a = {.id = {.start_id = id}};
	u64 v = 5;

	update(f, m, &k, &in, 0);
	update(f, in, &k, &v, 0);
	f->close(in);
	SAME("held: by id", 0, (again = call(f, BPF_MAP_GET_FD_BY_ID, &a)) < 0 ? again : 0);
	SAME("held: with its values", 0, (v = 0, lookup(f, again, &k, &v, 0)));
	SAME("held: the value", 5, v);
	f->close(again);
	SAME("held: the id", 1, !lookup(f, m, &k, &got, 0) && got == id);
	SAME("put over", 0, update(f, m, &k, &like, 0));
	SAME("gone", 0, map_goes(f, id));
	f->close(like);
	f->close(m);
}

/* ---- queues and stacks */

static void create_queues(struct floor *f, u32 type)
{
	SAME("queue", FD, CREATE(type, 0, 8, 4, 0, 0));
	SAME("queue: key of 4", -EINVAL, CREATE(type, 4, 8, 4, 0, 0));
	SAME("queue: value of 0", -EINVAL, CREATE(type, 0, 0, 4, 0, 0));
	SAME("queue: no entries", -EINVAL, CREATE(type, 0, 8, 0, 0, 0));
	SAME("queue: NO_PREALLOC", -EINVAL, CREATE(type, 0, 8, 4, BPF_F_NO_PREALLOC, 0));
	SAME("queue: NUMA_NODE", FD, CREATE(type, 0, 8, 4, BPF_F_NUMA_NODE, 0));
	SAME("queue: RDONLY_PROG", FD, CREATE(type, 0, 8, 4, BPF_F_RDONLY_PROG, 0));
	SAME("queue: RDONLY_PROG | WRONLY_PROG", -EINVAL,
	     CREATE(type, 0, 8, 4, BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG, 0));
	SAME("queue: MMAPABLE", -EINVAL, CREATE(type, 0, 8, 4, BPF_F_MMAPABLE, 0));
	SAME("queue: value of 4 MiB", FD, CREATE(type, 0, 4 << 20, 1, 0, 0));
	SAME("queue: value above 4 MiB", -E2BIG, CREATE(type, 0, (4 << 20) + 1, 1, 0, 0));
	SAME("queue: more than the machine has", -ENOMEM, CREATE(type, 0, 1 << 20, 1 << 30, 0, 0));
}

static void queue(struct floor *f, u32 type)
{
	int m = new_map(f, type, 0, 8, 2, 0), wo = new_map(f, type, 0, 8, 2, BPF_F_WRONLY);
	bool stack = type == BPF_MAP_TYPE_STACK;
	u64 v[4] = {10, 11, 12, 13}, got = 77;
	u32 k = 0;

	SAME("queue: peek, empty", -ENOENT, lookup(f, m, NULL, &got, 0));
	SAME("queue: pop, empty", -ENOENT, take(f, m, NULL, &got, 0));
	SAME("queue: nothing written", 77, got);
	SAME("queue: peek with a key", -EINVAL, lookup(f, m, &k, &got, 0));
	SAME("queue: push with a key", -EINVAL, update(f, m, &k, v, 0));
	SAME("queue: pop with a key", -EINVAL, take(f, m, &k, &got, 0));
	SAME("queue: push", 0, update(f, m, NULL, &v[0], 0));
	SAME("queue: NOEXIST", -EINVAL, update(f, m, NULL, &v[1], BPF_NOEXIST));
	SAME("queue: EXIST, room", 0, update(f, m, NULL, &v[1], BPF_EXIST));
	SAME("queue: full", -E2BIG, update(f, m, NULL, &v[2], 0));
	SAME("queue: EXIST, full", 0, update(f, m, NULL, &v[2], BPF_EXIST));
	SAME("queue: flags 3", -EINVAL, update(f, m, NULL, &v[2], 3));
	SAME("queue: F_LOCK", -EINVAL, update(f, m, NULL, &v[2], BPF_F_LOCK));
	SAME("queue: peek", 0, lookup(f, m, NULL, &got, 0));
	SAME("queue: what it gives", stack ? 12 : 11, got);
	SAME("queue: pop nowhere takes it", -EFAULT, take(f, m, NULL, NULL, 0));
	SAME("queue: peek nowhere", -EFAULT, lookup(f, m, NULL, NULL, 0));
	SAME("queue: pop", 0, take(f, m, NULL, &got, 0));
	SAME("queue: the other", stack ? 11 : 12, got);
	SAME("queue: pop, empty again", -ENOENT, take(f, m, NULL, &got, 0));
	SAME("queue: pop, F_LOCK", -EINVAL, take(f, m, NULL, &got, BPF_F_LOCK));
	SAME("queue: delete", -EINVAL, delete (f, m, NULL));
	SAME("queue: next key", -EINVAL, next_key(f, m, NULL, &k));
	SAME("queue: push nothing", -EFAULT, update(f, m, NULL, NULL, 0));
	SAME("queue: WRONLY: push", 0, update(f, wo, NULL, v, 0));
	SAME("queue: WRONLY: pop", -EPERM, take(f, wo, NULL, &got, 0));
	SAME("queue: freeze", 0, elem(f, BPF_MAP_FREEZE, m, NULL, NULL, 0));
	SAME("queue: push when frozen", -EPERM, update(f, m, NULL, v, 0));
	SAME("queue: pop when frozen", -EPERM, take(f, m, NULL, &got, 0));
	f->close(m);
	f->close(wo);
}

/* ---- perf events */

static long event(struct floor *f, int cpu, int pid, u64 sample_type)
{
	struct perf_event_attr a = {.size = sizeof(a),
				    .type = PERF_TYPE_SOFTWARE,
				    .config = PERF_COUNT_SW_BPF_OUTPUT,
				    .sample_type = sample_type,
				    .sample_period = 1,
				    .wakeup_events = 1};

	return f->kernel ? raw(SYS_perf_event_open, raw_arg(&a), pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)
			 : sys_perf_event_open(addr_of(&a), pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static long ioctl_of(struct floor *f, int fd, unsigned long req, void *arg)
{
	return f->kernel ? raw(SYS_ioctl, fd, req, raw_arg(arg)) : sys_ioctl(fd, req, addr_of(arg));
}

#define PEA BPF_MAP_TYPE_PERF_EVENT_ARRAY

static void perf_array(struct floor *f)
{
	int m = new_map(f, PEA, 4, 4, 4, 0), e = event(f, 0, -1, PERF_SAMPLE_RAW);
	u32 k = 0, big = 9, closed = 900, null = open("/dev/null", O_RDONLY), got;
	u64 v;

	SAME("perf: value of 8", -EINVAL, CREATE(PEA, 4, 8, 4, 0, 0));
	SAME("perf: key of 8", -EINVAL, CREATE(PEA, 8, 4, 4, 0, 0));
	SAME("perf: no entries", -EINVAL, CREATE(PEA, 4, 4, 0, 0, 0));
	SAME("perf: PRESERVE_ELEMS", FD, CREATE(PEA, 4, 4, 4, BPF_F_PRESERVE_ELEMS, 0));
	SAME("perf: RDONLY_PROG", -EINVAL, CREATE(PEA, 4, 4, 4, BPF_F_RDONLY_PROG, 0));
	SAME("perf: NUMA_NODE", FD, CREATE(PEA, 4, 4, 4, BPF_F_NUMA_NODE, 0));
	SAME("perf: MMAPABLE", -EINVAL, CREATE(PEA, 4, 4, 4, BPF_F_MMAPABLE, 0));
	SAME("perf: look up", -ENOTSUPP_, lookup(f, m, &k, &v, 0));
	SAME("perf: look up beyond the end", -ENOTSUPP_, lookup(f, m, &big, &v, 0));
	SAME("perf: closed", -EBADF, update(f, m, &k, &closed, 0));
	SAME("perf: beyond the end, closed", -E2BIG, update(f, m, &big, &closed, 0));
	SAME("perf: flags, closed", -EINVAL, update(f, m, &k, &closed, 1));
	SAME("perf: a map", -EBADF, update(f, m, &k, &m, 0));
	SAME("perf: a file", -EBADF, update(f, m, &k, &null, 0));
	SAME("perf: put", 0, update(f, m, &k, &e, 0));
	SAME("perf: put over", 0, update(f, m, &k, &e, 0));
	SAME("perf: NOEXIST", -EINVAL, update(f, m, &k, &e, BPF_NOEXIST));
	SAME("perf: look up what is there", -ENOTSUPP_, lookup(f, m, &k, &v, 0));
	SAME("perf: look up and delete", -ENOTSUPP_, take(f, m, &k, &v, 0));
	SAME("perf: next key", 0, next_key(f, m, NULL, &got));
	SAME("perf: delete", 0, delete (f, m, &k));
	SAME("perf: delete again", -ENOENT, delete (f, m, &k));
	SAME("perf: delete beyond the end", -E2BIG, delete (f, m, &big));
	f->close(null);
	f->close(m);
	f->close(e);
}

static void perf_events(struct floor *f)
{
	int e = event(f, 0, -1, PERF_SAMPLE_RAW), prog = new_prog(f);
	struct perf_event_mmap_page *p;
	u64 id = 0;

	SAME("event: one CPU", FD, fd_or_error(f, event(f, 0, -1, PERF_SAMPLE_RAW)));
	SAME("event: this thread", FD, fd_or_error(f, event(f, -1, 0, PERF_SAMPLE_RAW)));
	SAME("event: this thread on a CPU", FD, fd_or_error(f, event(f, 0, 0, PERF_SAMPLE_RAW)));
	SAME("event: everything everywhere", -EINVAL, event(f, -1, -1, PERF_SAMPLE_RAW));
	SAME("event: CPU 99999", -EINVAL, event(f, 99999, -1, PERF_SAMPLE_RAW));
	SAME("event: unknown sample_type", -EINVAL, event(f, 0, -1, 1u << 30));
	SAME("event: process -2", -ESRCH, event(f, 0, -2, PERF_SAMPLE_RAW));
	SAME("event: all simple fields", FD,
	     fd_or_error(f, event(f, 0, -1,
				  PERF_SAMPLE_RAW | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				      PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
				      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
				      PERF_SAMPLE_IDENTIFIER)));
	DIFFERS("event: call chains", FD, -EOPNOTSUPP, "perf-events",
		fd_or_error(f, event(f, 0, -1, PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN)));
	p = mmap(NULL, 9 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, e, 0);
	SAME("event: mapped", 0, p == MAP_FAILED);
	SAME("event: ENABLE", 0, ioctl_of(f, e, PERF_EVENT_IOC_ENABLE, NULL));
	SAME("event: data_offset", 4096, p->data_offset);
	SAME("event: data_size", 8 * 4096, p->data_size);
	SAME("event: size", 96, p->size);
	SAME("event: head", 0, p->data_head);
	SAME("event: RESET", 0, ioctl_of(f, e, PERF_EVENT_IOC_RESET, NULL));
	SAME("event: DISABLE", 0, ioctl_of(f, e, PERF_EVENT_IOC_DISABLE, NULL));
	SAME("event: PAUSE_OUTPUT", 0, ioctl_of(f, e, PERF_EVENT_IOC_PAUSE_OUTPUT, NULL));
	SAME("event: ID", 0, ioctl_of(f, e, PERF_EVENT_IOC_ID, &id));
	SAME("event: its id", 1, id != 0);
	SAME("event: ID nowhere", -EFAULT, ioctl_of(f, e, PERF_EVENT_IOC_ID, NULL));
	SAME("event: SET_BPF of a closed descriptor", -EBADF,
	     ioctl_of(f, e, PERF_EVENT_IOC_SET_BPF, (void *)900));
	SAME("event: SET_BPF", -EINVAL, ioctl_of(f, e, PERF_EVENT_IOC_SET_BPF, (void *)(long)prog));
	SAME("event: an unknown ioctl", -ENOTTY, ioctl_of(f, e, _IO('$', 80), NULL));
	DIFFERS("event: PERIOD", 0, -EOPNOTSUPP, "perf-events",
		(id = 3, ioctl_of(f, e, PERF_EVENT_IOC_PERIOD, &id)));
	munmap(p, 9 * 4096);
	f->close(prog);
	f->close(e);
}

void area_kinds(struct floor *f)
{
	create_maps_of_maps(f);
	alike(f);
	array_of_maps(f);
	hash_of_maps(f);
	holding(f, AOM);
	holding(f, HOM);
	create_queues(f, BPF_MAP_TYPE_QUEUE);
	create_queues(f, BPF_MAP_TYPE_STACK);
	queue(f, BPF_MAP_TYPE_QUEUE);
	queue(f, BPF_MAP_TYPE_STACK);
	perf_array(f);
	perf_events(f);
}
