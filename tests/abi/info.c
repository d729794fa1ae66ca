/* OBJ_GET_INFO_BY_FD and BTF_LOAD. */
#include "abi.h"

/* struct point { int x; int y; } with its int */
static const struct {
	struct btf_header h;
	u32 types[4 + 3 + 6];
	char strings[24];
} blob = {
    .h = {.magic = BTF_MAGIC,
	  .version = 1,
	  .hdr_len = sizeof(struct btf_header),
	  .type_len = 13 * 4,
	  .str_off = 13 * 4,
	  .str_len = 15},
    .types = {1, BTF_KIND_INT << 24, 4, BTF_INT_SIGNED << 24 | 32,   /* [1] int */
	      5, BTF_KIND_STRUCT << 24 | 2, 8, 11, 1, 0, 13, 1, 32}, /* [2] point: x, y */
    .strings = "\0int\0point\0x\0y",
};

static int load_btf(struct floor *f, const void *data, u32 size)
{
	union abi_attr a = {.btf_load = {.btf = addr_of(data), .btf_size = size}};

	return call(f, BPF_BTF_LOAD, &a);
}

static const u32 blob_size = sizeof(struct btf_header) + 13 * 4 + 15;

void area_btf(struct floor *f)
{
	static const u8 zeros[64];
	static char text[4096];
	union abi_attr a = {.btf_load = {.btf = addr_of(&blob), .btf_size = blob_size}};
	int b;

	SAME("load", FD, fd_or_error(f, load_btf(f, &blob, blob_size)));
	SAME("size 0", -EINVAL, load_btf(f, &blob, 0));
	SAME("10 bytes", -EINVAL, load_btf(f, &blob, 10));
	SAME("zeros", -EINVAL, load_btf(f, zeros, 64));
	SAME("NULL", -EFAULT, load_btf(f, NULL, 64));
	SAME("above 16 MiB", -E2BIG, load_btf(f, &blob, (16 << 20) + 1));
	SAME("one byte short", -EINVAL, load_btf(f, &blob, blob_size - 1));
	a.btf_load.flags = 1;
	SAME("flags 1", -EINVAL, call(f, BPF_BTF_LOAD, &a));
	a.btf_load.flags = ABI_F_TOKEN_FD;
	a.btf_load.token_fd = 900;
	SAME("token closed", -EBADF, call(f, BPF_BTF_LOAD, &a));
	a.btf_load.flags = a.btf_load.token_fd = 0;
	a.btf_load.log_level = 16;
	SAME("log level 16", -EINVAL, call(f, BPF_BTF_LOAD, &a));
	a.btf_load.log_level = 1;
	a.btf_load.log_size = 10;
	a.btf_load.log_buf = addr_of(text);
	SAME("log too small", -ENOSPC, call(f, BPF_BTF_LOAD, &a));
	SAME("true size told", 1, a.btf_load.log_true_size > 10);
	a.btf_load.log_size = sizeof(text);
	SAME("log", FD, fd_or_error(f, call(f, BPF_BTF_LOAD, &a)));
	SAME("true size is the text's", a.btf_load.log_true_size, strlen(text) + 1);
	b = load_btf(f, &blob, blob_size);
	{
		union abi_attr m = {.map_create = {.map_type = BPF_MAP_TYPE_HASH,
						   .key_size = 4,
						   .value_size = 8,
						   .max_entries = 1,
						   .btf_fd = b,
						   .btf_key_type_id = 1,
						   .btf_value_type_id = 2}};

		SAME("map with types", FD, fd_or_error(f, call(f, BPF_MAP_CREATE, &m)));
		m.map_create.value_size = 16;
		SAME("map with a value of another size", -EINVAL, call(f, BPF_MAP_CREATE, &m));
		m.map_create.value_size = 8;
		m.map_create.btf_value_type_id = 77;
		SAME("map with a type that is not there", -EINVAL, call(f, BPF_MAP_CREATE, &m));
		m.map_create.btf_value_type_id = 2;
		m.map_create.map_type = BPF_MAP_TYPE_PROG_ARRAY;
		SAME("prog array with types", -EINVAL, call(f, BPF_MAP_CREATE, &m));
	}
	f->close(b);
}

/* ---- info */

static long info(struct floor *f, int fd, void *to, u32 *len)
{
	union abi_attr a = {.info = {.bpf_fd = fd, .info_len = *len, .info = addr_of(to)}};
	long r = call(f, BPF_OBJ_GET_INFO_BY_FD, &a);

	*len = a.info.info_len;
	return r;
}

static void lengths(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 3, BPF_F_NO_PREALLOC | BPF_F_RDONLY);
	static u8 buf[8192];
	struct abi_map_info *i = (void *)buf;
	u32 len = 64;

	SAME("of no BPF object", -EINVAL, info(f, 0, buf, &len));
	SAME("of a closed descriptor", -EBADFD, info(f, 900, buf, &len));
	len = 512;
	buf[500] = 1;
	SAME("tail not zero", -E2BIG, info(f, m, buf, &len));
	buf[500] = 0;
	SAME("tail zero", 0, info(f, m, buf, &len));
	SAME("length told", 104, len);
	SAME("type", BPF_MAP_TYPE_HASH, i->type);
	SAME("value size", 8, i->value_size);
	SAME("flags without the descriptor's mode", BPF_F_NO_PREALLOC, i->map_flags);
	memset(buf, 0xee, 16);
	len = 8;
	SAME("length 8", 0, info(f, m, buf, &len));
	SAME("length told", 8, len);
	SAME("byte behind it untouched", 0xee, buf[8]);
	len = 5000;
	SAME("length beyond a page", -E2BIG, info(f, m, buf, &len));
	len = 0;
	SAME("length 0", 0, info(f, m, buf, &len));
	len = 64;
	SAME("buffer NULL", -EFAULT, info(f, m, NULL, &len));
	memset(buf, 0, sizeof(buf));
	i->hash_size = 1;
	len = 104;
	SAME("hash_size without hash", -EINVAL, info(f, m, buf, &len));
	f->close(m);
}

static void prog(struct floor *f)
{
	int p = new_prog(f), m = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0);
	union abi_attr bind = {.bind_map = {.prog_fd = p, .map_fd = m}};
	struct abi_prog_info i = {0};
	struct abi_map_info mi = {0};
	struct bpf_insn insns[2] = {{0}};
	u8 tags[4][8] = {{0}};
	u32 ids[2] = {0}, len = sizeof(i), mlen = sizeof(mi);

	call(f, BPF_PROG_BIND_MAP, &bind);
	SAME("prog info", 0, info(f, p, &i, &len));
	SAME("length", 232, len);
	SAME("type", BPF_PROG_TYPE_XDP, i.type);
	SAME("GPL", 1, i.gpl_compatible);
	SAME("maps", 1, i.nr_map_ids);
	SAME("instructions, bytes", 16, i.xlated_prog_len);
	SAME("verified instructions", 2, i.verified_insns);
	SAME("tags", 1, i.nr_prog_tags);
	SAME("func_info record size", 8, i.func_info_rec_size);
	SAME("line_info record size", 16, i.line_info_rec_size);
	i = (struct abi_prog_info){.nr_map_ids = 2,
				   .map_ids = addr_of(ids),
				   .xlated_prog_len = sizeof(insns),
				   .xlated_prog_insns = addr_of(insns),
				   .nr_prog_tags = 4,
				   .prog_tags = addr_of(tags)};
	SAME("with arrays", 0, info(f, p, &i, &len));
	info(f, m, &mi, &mlen);
	SAME("the map's id", mi.id, ids[0]);
	SAME("one of them", 1, i.nr_map_ids);
	SAME("r0 = 2", 2, insns[0].imm);
	SAME("exit", 0x95, insns[1].code);
	SAME("the program's tag", 0, memcmp(tags[0], i.tag, 8));
	i = (struct abi_prog_info){.nr_map_ids = 1, .map_ids = 8};
	SAME("map_ids at 8", -EFAULT, info(f, p, &i, &len));
	i = (struct abi_prog_info){.xlated_prog_len = 16, .xlated_prog_insns = 8};
	SAME("instructions at 8", -EFAULT, info(f, p, &i, &len));
	i = (struct abi_prog_info){.nr_func_info = 1};
	SAME("func_info without a record size", -EINVAL, info(f, p, &i, &len));
	i = (struct abi_prog_info){.line_info_rec_size = 12};
	SAME("wrong record size", -EINVAL, info(f, p, &i, &len));
	f->close(p);
	f->close(m);
}

static void btf(struct floor *f)
{
	int b = load_btf(f, &blob, blob_size);
	static u8 back[256];
	char name[4] = "abc";
	struct abi_btf_info i = {.btf = addr_of(back), .btf_size = sizeof(back)};
	u32 len = sizeof(i);

	SAME("BTF info", 0, info(f, b, &i, &len));
	SAME("size", blob_size, i.btf_size);
	SAME("bytes", 0, memcmp(back, &blob, blob_size));
	SAME("not the kernel's", 0, i.kernel_btf);
	i = (struct abi_btf_info){.name = addr_of(name), .name_len = sizeof(name)};
	SAME("name", 0, info(f, b, &i, &len));
	SAME("is empty", 0, name[0] + i.name_len);
	i = (struct abi_btf_info){.name = addr_of(name)};
	SAME("name without length", -EINVAL, info(f, b, &i, &len));
	i = (struct abi_btf_info){.name_len = 4};
	SAME("length without name", -EINVAL, info(f, b, &i, &len));
	i = (struct abi_btf_info){.btf = 8, .btf_size = 10};
	SAME("bytes at 8", -EFAULT, info(f, b, &i, &len));
	f->close(b);
}

void area_info(struct floor *f)
{
	lengths(f);
	prog(f);
	btf(f);
}
