/* Key and value types at creation: they must fit the sizes and the kind, as in kernel 6.18 (see floor.h). */
#include "floor.h"
#include "btf/btf.h"

enum { U32 = 1, U64, WORD, LOCK, LOCKED, VAR, DATA, PREFIX, BYTE, U8S, TYPEDEF, TAG, KPTR, HOLDER };

#define INT(name, size, bits) name, BTF_KIND_INT << 24, size, bits
#define STRUCT(name, n, size) name, BTF_KIND_STRUCT << 24 | (n), size
#define MEMBER(name, type, bits) name, type, bits
static const char names[] = "\0u32\0u64\0word\0bpf_spin_lock\0locked\0v\0.data\0prefix\0u8\0len\0t\0kptr\0holder";
enum { N_U32 = 1, N_U64 = 5, N_WORD = 9, N_LOCK = 14, N_LOCKED = 28, N_V = 35, N_DATA = 37, N_PREFIX = 43, N_U8 = 50,
	N_LEN = 53, N_T = 57, N_KPTR = 59, N_HOLDER = 64 };
static const u32 types[] = {
	INT(N_U32, 4, 32),
	INT(N_U64, 8, 64),
	STRUCT(N_WORD, 1, 4), MEMBER(N_V, U32, 0),
	STRUCT(N_LOCK, 1, 4), MEMBER(N_V, U32, 0),
	STRUCT(N_LOCKED, 2, 8), MEMBER(N_V, LOCK, 0), MEMBER(N_LEN, U32, 32),
	N_V, BTF_KIND_VAR << 24, U32, 1,
	N_DATA, BTF_KIND_DATASEC << 24 | 1, 4, VAR, 0, 4,
	STRUCT(N_PREFIX, 2, 8), MEMBER(N_LEN, U32, 0), MEMBER(N_V, U8S, 32),
	INT(N_U8, 1, 8),
	0, BTF_KIND_ARRAY << 24, 0, BYTE, U32, 4,
	N_T, BTF_KIND_TYPEDEF << 24, U32,
	N_KPTR, BTF_KIND_TYPE_TAG << 24, WORD,
	0, BTF_KIND_PTR << 24, TAG,
	STRUCT(N_HOLDER, 1, 8), MEMBER(N_V, KPTR, 0),
};

static u8 blob[sizeof(struct btf_header) + sizeof(types) + sizeof(names)];
static struct btf_types *btf;
static int btf_fd = -1;

static void load(void)
{
	struct btf_header h = { .magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(h), .type_len = sizeof(types),
		.str_off = sizeof(types), .str_len = sizeof(names) };
	union abi_attr attr = { .btf_load = { .btf = addr_of(blob), .btf_size = sizeof(blob) } };

	memcpy(blob, &h, sizeof(h));
	memcpy(blob + sizeof(h), types, sizeof(types));
	memcpy(blob + sizeof(h) + sizeof(types), names, sizeof(names));
	if (on_kernel)
		OK((btf_fd = kernel_bpf(BPF_BTF_LOAD, &attr)) >= 0);
	else
		EQ(btf_parse(&btf, blob, sizeof(blob), NULL, NULL), 0);
}

static u32 create_flags;

static int create(u32 type, u32 key, u32 value, u32 max, u32 key_id, u32 value_id)
{
	u32 flags = type == BPF_MAP_TYPE_LPM_TRIE ? BPF_F_NO_PREALLOC : create_flags;
	struct map_attr a = { .type = type, .key_size = key, .value_size = value, .max_entries = max, .flags = flags,
		.btf = btf, .btf_key_id = key_id, .btf_value_id = value_id };
	union abi_attr attr = { .map_create = { .map_type = type, .key_size = key, .value_size = value, .max_entries = max,
		.map_flags = flags, .btf_fd = btf_fd, .btf_key_type_id = key_id, .btf_value_type_id = value_id } };
	struct map *m = NULL;
	int r;

	if (!on_kernel) {
		r = map_new(&m, &a);
		map_put(m);
		return r;
	}
	r = kernel_bpf(BPF_MAP_CREATE, &attr);
	if (r < 0)
		return r;
	close(r);
	return 0;
}

int main(int argc, char **argv)
{
	f_start(argc, argv);
	load();
	EQ(create(BPF_MAP_TYPE_ARRAY, 4, 4, 2, U32, WORD), 0);
	EQ(create(BPF_MAP_TYPE_ARRAY, 4, 4, 2, TYPEDEF, WORD), 0);
	EQ(create(BPF_MAP_TYPE_ARRAY, 4, 8, 2, U32, WORD), -EINVAL);	/* value size */
	EQ(create(BPF_MAP_TYPE_ARRAY, 4, 4, 2, U64, WORD), -EINVAL);	/* key size */
	EQ(create(BPF_MAP_TYPE_ARRAY, 4, 4, 2, WORD, WORD), -EINVAL);	/* key is no integer */
	EQ(create(BPF_MAP_TYPE_ARRAY, 4, 4, 2, U32, 0), -EINVAL);
	EQ(create(BPF_MAP_TYPE_ARRAY, 4, 4, 2, U32, 99), -EINVAL);
	EQ(create(BPF_MAP_TYPE_ARRAY, 4, 4, 2, 99, WORD), -EINVAL);
	EQ(create(BPF_MAP_TYPE_ARRAY, 4, 4, 1, 0, WORD), -EINVAL);	/* no key: only for a data section */
	EQ(create(BPF_MAP_TYPE_ARRAY, 4, 4, 1, 0, DATA), 0);
	EQ(create(BPF_MAP_TYPE_ARRAY, 4, 4, 2, 0, DATA), -EINVAL);
	EQ(create(BPF_MAP_TYPE_PERCPU_ARRAY, 4, 4, 2, U32, WORD), 0);
	EQ(create(BPF_MAP_TYPE_PERCPU_ARRAY, 4, 4, 2, WORD, WORD), -EINVAL);
	EQ(create(BPF_MAP_TYPE_HASH, 4, 4, 2, WORD, WORD), 0);
	EQ(create(BPF_MAP_TYPE_HASH, 4, 4, 2, 0, WORD), -EINVAL);
	EQ(create(BPF_MAP_TYPE_LRU_HASH, 8, 4, 2, U64, U32), 0);
	EQ(create(BPF_MAP_TYPE_PERCPU_HASH, 8, 4, 2, U64, U32), 0);
	EQ(create(BPF_MAP_TYPE_LPM_TRIE, 8, 4, 2, PREFIX, U32), 0);
	EQ(create(BPF_MAP_TYPE_LPM_TRIE, 8, 4, 2, U64, U32), -EINVAL);
	EQ(create(BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 2, U32, U32), 0);
	EQ(create(BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 2, WORD, U32), 0);
	EQ(create(BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 2, 0, U32), -EINVAL);
	EQ(create(BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0, 0), 0);
	EQ(create(BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0, WORD), -EINVAL);
	/* what is in a value belongs to the kernel */
	EQ(create(BPF_MAP_TYPE_HASH, 4, 8, 2, U32, LOCKED), 0);
	EQ(create(BPF_MAP_TYPE_ARRAY, 4, 8, 2, U32, LOCKED), 0);
	EQ(create(BPF_MAP_TYPE_LRU_HASH, 4, 8, 2, U32, LOCKED), -EOPNOTSUPP);
	EQ(create(BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 2, U32, LOCKED), -EOPNOTSUPP);
	EQ(create(BPF_MAP_TYPE_HASH, 4, 8, 2, U32, HOLDER), 0);
	EQ(create(BPF_MAP_TYPE_PERCPU_HASH, 4, 8, 2, U32, HOLDER), 0);
	create_flags = BPF_F_RDONLY_PROG;
	EQ(create(BPF_MAP_TYPE_ARRAY, 4, 8, 2, U32, LOCKED), -EACCES);
	EQ(create(BPF_MAP_TYPE_ARRAY, 4, 4, 2, U32, WORD), 0);
	if (on_kernel)
		return tap_done();
	btf_put(btf);
	return tap_done();
}
