/* Objects made and dropped again and again, in one process and with children that do the same: memory and descriptors are back
 * where they were.
 *
 *	test-churn [OBJECTS ROUNDS]	default: 300 at a time, 20 times; the full size is 1000 1000 */
#include "tap.h"
#include "base/abi.h"
#include "env/env.h"
#include "sys/sys.h"
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>

__attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes(void);

static struct { u32 type, key, value, max, flags; } const forms[] = {
	{ BPF_MAP_TYPE_HASH, 8, 64, 16, 0 }, { BPF_MAP_TYPE_HASH, 8, 64, 16, BPF_F_NO_PREALLOC },
	{ BPF_MAP_TYPE_PERCPU_HASH, 8, 16, 16, 0 }, { BPF_MAP_TYPE_LRU_HASH, 8, 16, 64, 0 },
	{ BPF_MAP_TYPE_LPM_TRIE, 8, 8, 16, BPF_F_NO_PREALLOC }, { BPF_MAP_TYPE_ARRAY, 4, 64, 16, 0 },
	{ BPF_MAP_TYPE_ARRAY, 4, 64, 16, BPF_F_MMAPABLE }, { BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 16, 0 },
	{ BPF_MAP_TYPE_QUEUE, 0, 8, 16, 0 }, { BPF_MAP_TYPE_STACK, 0, 8, 16, 0 }, { BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 16, 0 },
	{ BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0 }, { BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, 16, 0 },
	{ BPF_MAP_TYPE_HASH_OF_MAPS, 4, 4, 16, 0 },
};
enum { N_FORMS = ARRAY_SIZE(forms), BTF = N_FORMS, PROGRAM, KINDS };

static u64 addr(const void *p)
{
	return (uintptr_t)p;
}

static long bpf(int cmd, union abi_attr *a)
{
	return sys_bpf(sys_self(), cmd, addr(a), sizeof(*a));
}

static long put(int map, u64 key, const void *value)
{
	union abi_attr a = { .elem = { .map_fd = map, .key = addr(&key), .value = addr(value) } };

	return bpf(BPF_MAP_UPDATE_ELEM, &a);
}

/* ---- one object of each kind in turn. What it refers to is among the last few made. */

static int new_btf(void)
{
	static const struct { struct btf_header h; struct btf_type t; u32 word; char strs[8]; } blob = {
		{ BTF_MAGIC, 1, 0, sizeof(struct btf_header), 0, sizeof(struct btf_type) + 4, sizeof(struct btf_type) + 4, 5 },
		{ 1, BTF_KIND_INT << 24, { 4 } }, BTF_INT_SIGNED << 24 | 32, "\0int",
	};
	union abi_attr a = { .btf_load = { .btf = addr(&blob), .btf_size = offsetof(__typeof__(blob), strs) + 5 } };

	return bpf(BPF_BTF_LOAD, &a);
}

/* Looks up in `map`, an array, and gives 2. */
static int new_program(int map)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map }, { 0 },
		{ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = 10, .off = -4, .imm = 1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 10 },
		{ .code = BPF_ALU64 | BPF_ADD, .dst_reg = 2, .imm = -4 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem },
		{ .code = BPF_ALU64 | BPF_MOV, .imm = 2 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union abi_attr a = { .prog_load = { .prog_type = BPF_PROG_TYPE_XDP, .insn_cnt = ARRAY_SIZE(insns), .insns = addr(insns),
					    .license = addr("GPL") } };

	return bpf(BPF_PROG_LOAD, &a);
}

static int new_map(u32 kind, int inner)
{
	u32 type = forms[kind].type;
	union abi_attr a = { .map_create = { .map_type = type, .key_size = forms[kind].key, .value_size = forms[kind].value,
					     .max_entries = forms[kind].max, .map_flags = forms[kind].flags } };
	bool holds_maps = type == BPF_MAP_TYPE_ARRAY_OF_MAPS || type == BPF_MAP_TYPE_HASH_OF_MAPS;
	u64 value[64] = { 1, 2, 3 };
	int fd;

	a.map_create.inner_map_fd = holds_maps ? inner : 0;
	fd = bpf(BPF_MAP_CREATE, &a);
	if (holds_maps)
		put(fd, 1, &inner);
	else if (type != BPF_MAP_TYPE_PROG_ARRAY && type != BPF_MAP_TYPE_RINGBUF)
		for (u64 i = 0; i < 4; i++)
			put(fd, i << 32 | i, value);
	return fd;
}

static int new_object(u32 kind, const int *fds, u32 at)
{
	int array = at >= KINDS ? fds[at - at % KINDS + 5 - KINDS] : fds[5]; /* the array of the round before */
	int fd;

	if (kind == BTF)
		return new_btf();
	if (kind == PROGRAM) {
		fd = new_program(array);
		put(fds[at - PROGRAM + 10], 1, &fd);
		return fd;
	}
	fd = new_map(kind, array);
	return fd;
}

/* ---- a round */

static int *fds;
static u32 n_fds;

static u32 make_all(void)
{
	u32 made = 0;

	for (u32 i = 0; i < n_fds; i++) {
		fds[i] = new_object(i % KINDS, fds, i);
		made += fds[i] >= 0;
	}
	return made;
}

static void drop_all(u32 round)
{
	if (round % 3 == 2) { /* all at once */
		int low = fds[0], high = fds[0];

		for (u32 i = 1; i < n_fds; i++) {
			low = MIN(low, fds[i]);
			high = MAX(high, fds[i]);
		}
		sys_close_range(low, high, 0);
		return;
	}
	for (u32 i = 0; i < n_fds; i++)
		sys_close(fds[round % 3 ? n_fds - 1 - i : i]);
}

/* What a child makes and drops is not the parent's business; what it inherits keeps objects only while it lives. */
static u32 child_round(u32 round)
{
	u32 made = make_all();
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		u32 mine;

		drop_all(0);
		mine = make_all();
		drop_all(1);
		_exit(mine == n_fds ? 0 : 1);
	}
	if (round & 1)
		drop_all(0);
	waitpid(pid, &status, 0);
	if (!(round & 1))
		drop_all(0);
	return status == 0 ? made : 0;
}

/* ---- what is left */

struct left {
	long objects, fds, allocated, resident;
};

static long count_objects(void)
{
	static const int next[] = { BPF_MAP_GET_NEXT_ID, BPF_PROG_GET_NEXT_ID, BPF_BTF_GET_NEXT_ID };
	long n = 0;

	for (u32 i = 0; i < ARRAY_SIZE(next); i++) {
		union abi_attr a = { 0 };

		for (; !bpf(next[i], &a); n++)
			a.id.start_id = a.id.next_id;
	}
	return n;
}

static struct left look(void)
{
	struct left l = { .objects = count_objects() };
	DIR *d = opendir("/proc/self/fd");
	char text[128] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	while (d && readdir(d))
		l.fds++;
	closedir(d);
	env_synchronize();
	if (read(fd, text, sizeof(text) - 1) > 0)
		sscanf(text, "%*d %ld", &l.resident);
	close(fd);
	l.resident *= 4;
	l.allocated = __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes() : mallinfo2().uordblks;
	return l;
}

/* The place of an object in sys's tables is kept for the next one; with children the peak of these is a matter of timing. */
enum { HANDLE = 192 };

static void rounds(const char *name, u32 n, u32 (*round)(u32 nr))
{
	struct left before, after;
	u32 complete = 0;

	for (u32 i = 0; i < 4; i++) /* what is kept for good is made now */
		round(i);
	before = look();
	for (u32 i = 0; i < n; i++)
		complete += round(i) == n_fds;
	after = look();
	printf("# %s: %u objects, %u times; before and after: objects %ld %ld, descriptors %ld %ld, bytes allocated %ld %ld, kB resident %ld %ld\n",
	       name, n_fds, n, before.objects, after.objects, before.fds, after.fds, before.allocated, after.allocated, before.resident,
	       after.resident);
	EQ(complete, n);
	EQ(after.objects, before.objects);
	EQ(after.fds, before.fds);
	OK(after.allocated <= before.allocated + 16384 + n_fds * HANDLE);
	if (!__sanitizer_get_current_allocated_bytes) /* it keeps freed memory aside */
		OK(after.resident <= before.resident + 4096);
}

static u32 plain_round(u32 nr)
{
	u32 made = make_all();

	drop_all(nr);
	return made;
}

int main(int argc, char **argv)
{
	u32 n = argc > 2 ? atoi(argv[2]) : 20;
	struct rlimit lim;

	n_fds = argc > 1 ? atoi(argv[1]) : 300;
	n_fds = ROUND_UP(MAX(n_fds, 2u * KINDS), (u32)KINDS);
	fds = calloc(n_fds, sizeof(*fds));
	getrlimit(RLIMIT_NOFILE, &lim);
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
	rounds("one process", n, plain_round);
	rounds("with children", MAX(n / 4, 15u), child_round);
	free(fds);
	return tap_done();
}
