/* The maps that the cases use, once for both verifiers. */
#include "access.h"

const struct access_map access_maps[ACCESS_MAPS] = {
	{ BPF_MAP_TYPE_ARRAY, 4, 8, 4 },
	{ BPF_MAP_TYPE_HASH, 4, 48, 16 },
	{ BPF_MAP_TYPE_RINGBUF, 0, 0, 4096 },
	{ BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4 },
	{ BPF_MAP_TYPE_ARRAY, 4, 16, 1, BPF_F_RDONLY_PROG, .frozen = true },
	{ BPF_MAP_TYPE_ARRAY, 4, 16, 1, BPF_F_WRONLY_PROG },
	{ BPF_MAP_TYPE_ARRAY, 4, 16, 1, BPF_F_RDONLY_PROG },
	{ BPF_MAP_TYPE_ARRAY, 4, 16, 1, .lock = true },
	{ BPF_MAP_TYPE_HASH, 4, 8, 16 },
	{ BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, 2, .inner = 0 + 1 },
	{ BPF_MAP_TYPE_HASH_OF_MAPS, 4, 4, 2, .inner = 1 + 1 },
	{ BPF_MAP_TYPE_ARRAY, 4, 8, 4, BPF_F_INNER_MAP },
	{ BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, 2, .inner = 11 + 1 },
};

const u8 access_contents[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0x80 };

#define INFO(kind, vlen) ((u32)(kind) << 24 | (vlen))

#define STRINGS "\0int\0long\0bpf_spin_lock\0val\0value\0a\0l\0prog\0fn"

static const struct {
	struct btf_header h;
	u32 int4[4], int8[4];
	u32 lock[3 + 3];
	u32 value[3 + 6];
	u32 proto[3], prog[3], fn[3];
	char str[sizeof(STRINGS)];
} blob = {
	.h = { .magic = 0xeb9f, .version = 1, .hdr_len = 24, .type_len = 128, .str_off = 128,
	       .str_len = sizeof(STRINGS) },
	.int4 = { 1, INFO(BTF_KIND_INT, 0), 4, 32 },
	.int8 = { 5, INFO(BTF_KIND_INT, 0), 8, 64 },
	.lock = { 10, INFO(BTF_KIND_STRUCT, 1), 4, 24, 1, 0 },
	.value = { 28, INFO(BTF_KIND_STRUCT, 2), 16, 34, 2, 0, 36, 3, 64 },
	.proto = { 0, INFO(BTF_KIND_FUNC_PROTO, 0), 1 },
	.prog = { 38, INFO(BTF_KIND_FUNC, 0), 5 },
	.fn = { 43, INFO(BTF_KIND_FUNC, 0), 5 },
	.str = STRINGS,
};
static_assert(offsetof(__typeof__(blob), str) == 24 + 128, "no holes in the blob");

const void *access_btf(u32 *size)
{
	*size = 24 + 128 + sizeof(STRINGS);
	return &blob;
}
