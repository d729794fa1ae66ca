/* bpf(2) calls on skep's floor for the tests here; results as sys_bpf gives them. */
#ifndef TEST_SYS_CALLS_H
#define TEST_SYS_CALLS_H
#include "base/raw.h"
#include "sys/sys.h"
#include "tap.h"
#include <dirent.h>
#include <fcntl.h>

static inline long call(int cmd, union abi_attr *a)
{
	return sys_bpf(sys_self(), cmd, addr_of(a), sizeof(*a));
}

static inline int new_map(u32 type, u32 key, u32 value, u32 max, u32 flags)
{
	union abi_attr a = { .map_create = { .map_type = type, .key_size = key, .value_size = value, .max_entries = max,
					     .map_flags = flags } };

	return call(BPF_MAP_CREATE, &a);
}

static inline int new_hash(void)
{
	return new_map(BPF_MAP_TYPE_HASH, 4, 8, 16, 0);
}

static inline long elem(int cmd, int fd, const void *key, const void *value, u64 flags)
{
	union abi_attr a = { .elem = { .map_fd = fd, .key = addr_of(key), .value = addr_of(value), .flags = flags } };

	return call(cmd, &a);
}

static inline long put(int fd, u32 key, u64 value)
{
	return elem(BPF_MAP_UPDATE_ELEM, fd, &key, &value, 0);
}

static inline s64 get(int fd, u32 key)
{
	u64 value = 0;
	long err = elem(BPF_MAP_LOOKUP_ELEM, fd, &key, &value, 0);

	return err ? err : (s64)value;
}

/* An XDP program that returns 2 and, with map >= 0, names that map. */
static inline int new_prog(int map)
{
	struct bpf_insn insns[] = {
		{ .code = 0x18, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map }, { 0 },
		{ .code = 0xb7, .imm = 2 }, { .code = 0x95 },
	};
	u32 skip = map < 0 ? 2 : 0;
	union abi_attr a = { .prog_load = { .prog_type = BPF_PROG_TYPE_XDP, .insn_cnt = 4 - skip, .insns = addr_of(insns + skip),
					    .license = addr_of("GPL") } };

	return call(BPF_PROG_LOAD, &a);
}

static inline u32 map_id(int fd)
{
	struct abi_map_info i = { 0 };
	union abi_attr a = { .info = { .bpf_fd = fd, .info_len = sizeof(i), .info = addr_of(&i) } };

	return call(BPF_OBJ_GET_INFO_BY_FD, &a) ? 0 : i.id;
}

static inline int by_id(int cmd, u32 id)
{
	union abi_attr a = { .id = { .start_id = id } };

	return call(cmd, &a);
}

static inline bool map_exists(u32 id)
{
	union abi_attr a = { .id = { .start_id = id - 1 } };

	return call(BPF_MAP_GET_NEXT_ID, &a) == 0 && a.id.next_id == id;
}

/* Objects of a kind, by walking its ids. */
static inline u32 count_ids(int cmd)
{
	union abi_attr a = { 0 };
	u32 n = 0;

	while (call(cmd, &a) == 0) {
		a.id.start_id = a.id.next_id;
		a.id.next_id = 0;
		n++;
	}
	return n;
}

static inline u32 count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	u32 n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

#endif
