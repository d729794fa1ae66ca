/* MAP_CREATE: what each kind of map allows, names, flags. */
#include "abi.h"

static long create(struct floor *f, u32 type, u32 key, u32 value, u32 max, u32 flags)
{
	return fd_or_error(f, new_map(f, type, key, value, max, flags));
}

static void sizes(struct floor *f)
{
	SAME("type 0", -EINVAL, create(f, 0, 4, 4, 1, 0));
	SAME("unknown type", -EINVAL, create(f, 77, 4, 4, 1, 0));
	SAME("array: key of 8", -EINVAL, create(f, BPF_MAP_TYPE_ARRAY, 8, 8, 1, 0));
	SAME("array: value 0", -EINVAL, create(f, BPF_MAP_TYPE_ARRAY, 4, 0, 1, 0));
	SAME("array: no entries", -EINVAL, create(f, BPF_MAP_TYPE_ARRAY, 4, 8, 0, 0));
	SAME("array: value of 2 GiB", -E2BIG, create(f, BPF_MAP_TYPE_ARRAY, 4, 0x80000000u, 1, 0));
	SAME("array: more than the machine has", -ENOMEM,
	     create(f, BPF_MAP_TYPE_ARRAY, 4, 1 << 20, 1 << 30, 0));
	SAME("hash: key 0", -EINVAL, create(f, BPF_MAP_TYPE_HASH, 0, 8, 1, 0));
	SAME("hash: value 0", -EINVAL, create(f, BPF_MAP_TYPE_HASH, 4, 0, 1, 0));
	SAME("hash: no entries", -EINVAL, create(f, BPF_MAP_TYPE_HASH, 4, 8, 0, 0));
	SAME("hash: one entry", FD, create(f, BPF_MAP_TYPE_HASH, 4, 8, 1, 0));
	SAME("hash: 4 GiB of entries", -E2BIG, create(f, BPF_MAP_TYPE_HASH, 4, 0xffffff00u, 1, 0));
	SAME("percpu array: value above 32 KiB", -E2BIG,
	     create(f, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 32769, 1, 0));
	SAME("percpu array: value of 32 KiB", FD,
	     create(f, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 32768, 1, 0));
	SAME("percpu hash: value above 32 KiB", -E2BIG,
	     create(f, BPF_MAP_TYPE_PERCPU_HASH, 4, 32769, 1, 0));
	SAME("LPM: key of 4 (no data)", -EINVAL,
	     create(f, BPF_MAP_TYPE_LPM_TRIE, 4, 8, 1, BPF_F_NO_PREALLOC));
	SAME("LPM: key of 260", FD, create(f, BPF_MAP_TYPE_LPM_TRIE, 260, 8, 1, BPF_F_NO_PREALLOC));
	SAME("LPM: key of 261", -EINVAL,
	     create(f, BPF_MAP_TYPE_LPM_TRIE, 261, 8, 1, BPF_F_NO_PREALLOC));
	SAME("LPM: without NO_PREALLOC", -EINVAL, create(f, BPF_MAP_TYPE_LPM_TRIE, 8, 8, 1, 0));
	SAME("prog array: value of 8", -EINVAL, create(f, BPF_MAP_TYPE_PROG_ARRAY, 4, 8, 1, 0));
	SAME("prog array", FD, create(f, BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 1, 0));
	SAME("ring buffer: a page", FD, create(f, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0));
	SAME("ring buffer: not a power of two", -EINVAL,
	     create(f, BPF_MAP_TYPE_RINGBUF, 0, 0, 5000, 0));
	SAME("ring buffer: less than a page", -EINVAL,
	     create(f, BPF_MAP_TYPE_RINGBUF, 0, 0, 2048, 0));
	SAME("ring buffer: size 0", -EINVAL, create(f, BPF_MAP_TYPE_RINGBUF, 0, 0, 0, 0));
	SAME("ring buffer: with a key", -EINVAL, create(f, BPF_MAP_TYPE_RINGBUF, 4, 0, 4096, 0));
	SAME("ring buffer: with a value", -EINVAL, create(f, BPF_MAP_TYPE_RINGBUF, 0, 4, 4096, 0));
}

static void flags(struct floor *f)
{
	SAME("flag 1 << 30", -EINVAL, create(f, BPF_MAP_TYPE_HASH, 4, 8, 1, 1 << 30));
	SAME("hash: MMAPABLE", -EINVAL, create(f, BPF_MAP_TYPE_HASH, 4, 8, 1, BPF_F_MMAPABLE));
	SAME("array: MMAPABLE", FD, create(f, BPF_MAP_TYPE_ARRAY, 4, 8, 1, BPF_F_MMAPABLE));
	SAME("array: NO_PREALLOC", -EINVAL,
	     create(f, BPF_MAP_TYPE_ARRAY, 4, 8, 1, BPF_F_NO_PREALLOC));
	SAME("percpu array: MMAPABLE", -EINVAL,
	     create(f, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 1, BPF_F_MMAPABLE));
	SAME("hash: NO_PREALLOC", FD, create(f, BPF_MAP_TYPE_HASH, 4, 8, 1, BPF_F_NO_PREALLOC));
	SAME("LRU hash: NO_PREALLOC", -ENOTSUPP_,
	     create(f, BPF_MAP_TYPE_LRU_HASH, 4, 8, 1, BPF_F_NO_PREALLOC));
	SAME("hash: NO_COMMON_LRU", -EINVAL,
	     create(f, BPF_MAP_TYPE_HASH, 4, 8, 1, BPF_F_NO_COMMON_LRU));
	SAME("hash: ZERO_SEED", FD, create(f, BPF_MAP_TYPE_HASH, 4, 8, 1, BPF_F_ZERO_SEED));
	SAME("RDONLY_PROG", FD, create(f, BPF_MAP_TYPE_ARRAY, 4, 8, 1, BPF_F_RDONLY_PROG));
	SAME("RDONLY_PROG | WRONLY_PROG", -EINVAL,
	     create(f, BPF_MAP_TYPE_HASH, 4, 8, 1, BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG));
	SAME("RDONLY | WRONLY", -EINVAL,
	     create(f, BPF_MAP_TYPE_HASH, 4, 8, 1, BPF_F_RDONLY | BPF_F_WRONLY));
	SAME("prog array: RDONLY_PROG", -EINVAL,
	     create(f, BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 1, BPF_F_RDONLY_PROG));
	SAME("ring buffer: RDONLY", -EINVAL,
	     create(f, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, BPF_F_RDONLY));
}

static void names(struct floor *f)
{
	static const struct {
		const char *what, *name;
		long want;
	} rows[] = {
	    {"name with a space", "bad name!", -EINVAL},
	    {"name without end", "0123456789abcdef", -EINVAL},
	    {"name of 15", "0123456789abcde", FD},
	    {"name with '.' and '_'", "a.b_c", FD},
	    {"name with '-'", "a-b", -EINVAL},
	    {"name with a letter of Latin-1", "\xe4", FD},
	    {"name with the times sign", "\xd7", -EINVAL},
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		union abi_attr a = {.map_create = {.map_type = BPF_MAP_TYPE_HASH,
						   .key_size = 4,
						   .value_size = 4,
						   .max_entries = 1}};

		memcpy(a.map_create.map_name, rows[i].name, strlen(rows[i].name));
		SAME(rows[i].what, rows[i].want, fd_or_error(f, call(f, BPF_MAP_CREATE, &a)));
		a.map_create.key_size = 0;
		SAME("the same and no key", -EINVAL, call(f, BPF_MAP_CREATE, &a));
	}
}

#define WITH(field, x)                                                                             \
	({                                                                                         \
		union abi_attr a_ = base;                                                          \
		a_.map_create.field = (x);                                                         \
		fd_or_error(f, call(f, BPF_MAP_CREATE, &a_));                                      \
	})

static void fields(struct floor *f)
{
	const union abi_attr base = {
	    .map_create = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1}};
	union abi_attr a = base;

	SAME("map_extra", -EINVAL, WITH(map_extra, 1));
	SAME("map_ifindex", -EINVAL, WITH(map_ifindex, 12345));
	SAME("key type without value type", -EINVAL, WITH(btf_key_type_id, 1));
	SAME("value type, btf_fd 0 (no BTF)", -EINVAL, WITH(btf_value_type_id, 1));
	SAME("vmlinux value type", -EINVAL, WITH(btf_vmlinux_value_type_id, 1));
	SAME("numa_node without the flag", FD, WITH(numa_node, 77));
	SAME("excl_prog_hash_size alone", -EINVAL, WITH(excl_prog_hash_size, 32));
	a.map_create.map_flags = BPF_F_NUMA_NODE;
	a.map_create.numa_node = 0;
	SAME("numa_node 0", FD, fd_or_error(f, call(f, BPF_MAP_CREATE, &a)));
	a.map_create.numa_node = 4000;
	SAME("numa_node 4000", -EINVAL, call(f, BPF_MAP_CREATE, &a));
	a = base;
	a.map_create.btf_value_type_id = 1;
	a.map_create.btf_fd = 900;
	SAME("btf_fd closed", -EBADF, call(f, BPF_MAP_CREATE, &a));
	a = base;
	a.map_create.map_flags = ABI_F_TOKEN_FD;
	a.map_create.map_token_fd = 900;
	SAME("token closed", -EBADF, call(f, BPF_MAP_CREATE, &a));
	a.map_create.map_token_fd = 0;
	SAME("token is none", -EINVAL, call(f, BPF_MAP_CREATE, &a));
}

void area_map(struct floor *f)
{
	sizes(f);
	flags(f);
	names(f);
	fields(f);
}
