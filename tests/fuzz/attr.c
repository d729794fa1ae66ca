/* Fuzz target: bpf(2). The input is a list of calls, and at the same time the memory of who makes
 * them.
 *
 * A record is a command byte, a length byte and that many bytes of attr; commands from CLOSE on do
 * things with descriptors. Pointers in attr lead into the input, which the caller sees at BASE.
 * Whatever is asked, answers are those of a system call, nothing outside that memory is touched,
 * and when all descriptors are closed no object is left. */
#include "fuzz.h"
#include "env/env.h"
#include "sys/sys.h"
#include <string.h>
#include <unistd.h>

#define BASE   0x10000ull
#define MEMORY 65536u
#define CALLS  64

enum { CLOSE = 200, DUP, DUP_ONTO };

static struct {
	u8 bytes[MEMORY];
	size_t size;
} memory;
static int fds[CALLS];
static u32 n_fds;

/* ---- the caller */

static int find(u64 at, size_t size, u8 **p)
{
	if (at < BASE || at - BASE > memory.size || size > memory.size - (at - BASE))
		return -EFAULT;
	*p = memory.bytes + (at - BASE);
	return 0;
}

static int read_memory(struct sys_caller *c, void *to, u64 from, size_t size)
{
	u8 *p;
	int err = find(from, size, &p);

	if (!err)
		memcpy(to, p, size);
	return err;
}

static int write_memory(struct sys_caller *c, u64 to, const void *from, size_t size)
{
	u8 *p;
	int err = find(to, size, &p);

	if (!err)
		memcpy(p, from, size);
	return err;
}

static int read_text(struct sys_caller *c, char *to, u64 from, size_t room)
{
	for (size_t i = 0; i + 1 < room; i++) {
		if (read_memory(c, to + i, from + i, 1))
			return -EFAULT;
		if (!to[i])
			return 0;
	}
	to[room - 1] = 0;
	return 0;
}

static const struct sys_caller_ops ops = {read_memory, write_memory, read_text};
static struct sys_caller caller = {.ops = &ops, .caps = 15};

/* ---- calls */

/* Sizes that only cost time and memory are kept small: what is fuzzed is what is done with them. */
static void tame(u32 cmd, union abi_attr *a)
{
	if (cmd == BPF_MAP_CREATE) {
		a->map_create.max_entries &= 0x80001fff;
		if (a->map_create.max_entries >> 31 && a->map_create.value_size < 1 << 20)
			a->map_create.max_entries = 16;
		if (a->map_create.key_size < 1u << 31)
			a->map_create.key_size &= 0x3ff;
		if (a->map_create.value_size < 1u << 31)
			a->map_create.value_size &= 0xffff;
	} else if (cmd == BPF_PROG_TEST_RUN) {
		a->test.repeat &= 7;
		a->test.batch_size &= 63;
	} else if (cmd == BPF_BTF_GET_FD_BY_ID && a->id.start_id == 1) {
		a->id.start_id = 2; /* the kernel's: megabytes to read */
	}
}

static bool gives_descriptor(u32 cmd)
{
	switch (cmd) {
	case BPF_MAP_CREATE:
	case BPF_PROG_LOAD:
	case BPF_BTF_LOAD:
	case BPF_PROG_GET_FD_BY_ID:
	case BPF_MAP_GET_FD_BY_ID:
	case BPF_BTF_GET_FD_BY_ID:
		return true;
	default:
		return false;
	}
}

static void keep(int fd)
{
	if (n_fds < CALLS)
		fds[n_fds++] = fd;
	else
		sys_close(fd);
}

/* The attr that the record holds is put where the caller's memory is, as the last bytes of it. */
static void call(u32 cmd, const u8 *bytes, u32 len)
{
	union abi_attr a = {0};
	u8 *at = memory.bytes + memory.size;
	long r;

	memcpy(a.raw, bytes, MIN(len, (u32)sizeof(a)));
	tame(cmd, &a);
	memset(at, 0, 512);
	memcpy(at, bytes, len);
	memcpy(at, a.raw, MIN(len, (u32)sizeof(a)));
	memory.size += 512;
	r = sys_bpf(&caller, cmd, BASE + memory.size - 512, len);
	memory.size -= 512;
	FUZZ_CHECK(r >= -4095 && r <= INT32_MAX);
	if (gives_descriptor(cmd) && r >= 0)
		keep(r);
	else
		FUZZ_CHECK(r <= 0 || cmd == SYS_MAGIC_CMD);
}

static void descriptor(u32 what, const u8 *bytes, u32 len)
{
	u32 i = len && n_fds ? bytes[0] % n_fds : 0, j = len > 1 && n_fds ? bytes[1] % n_fds : 0;

	if (!n_fds)
		return;
	if (what == CLOSE) {
		sys_close(fds[i]);
		fds[i] = fds[--n_fds];
	} else if (what == DUP) {
		keep(dup(fds[i]));
	} else {
		sys_dup2(fds[i], fds[j]);
	}
}

static bool any_left(u32 cmd)
{
	union abi_attr a = {0};

	return sys_bpf(sys_self(), cmd, addr_of(&a), sizeof(a)) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u32 n = 0;

	memory.size = MIN(size, (size_t)MEMORY - 512);
	memcpy(memory.bytes, data, memory.size);
	for (size_t at = 0; at + 2 <= memory.size && n < CALLS; n++) {
		u32 what = data[at], len = MIN((size_t)data[at + 1], memory.size - at - 2);

		if (what < CLOSE)
			call(what, data + at + 2, len);
		else
			descriptor(what, data + at + 2, len);
		at += 2 + len;
	}
	while (n_fds)
		sys_close(fds[--n_fds]);
	FUZZ_CHECK(!any_left(BPF_MAP_GET_NEXT_ID));
	FUZZ_CHECK(!any_left(BPF_PROG_GET_NEXT_ID));
	return 0;
}
