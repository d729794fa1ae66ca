/* bpf(2) as kernel 6.18 has it: the system's linux/bpf.h (6.1 on Debian 12) and our names for what is newer.
 *
 * Names that the system header lacks are defined here under the kernel's own spelling when they are constants, so that code
 * reads the same on a newer system. Structures that grew since get a mirror called abi_*, with the full 6.18 layout. */
#ifndef BASE_ABI_H
#define BASE_ABI_H
#include "types.h"
#include <linux/bpf.h>
#include <linux/btf.h>

/* instructions (RFC 9669 and load-acquire/store-release, may_goto, addr_space_cast) */
#ifndef BPF_MEMSX
#define BPF_MEMSX 0x80
#endif
#define ABI_LOAD_ACQ 0x100  /* BPF_LOAD_ACQ */
#define ABI_STORE_REL 0x110 /* BPF_STORE_REL */
#define ABI_JCOND 0xe0	    /* BPF_JCOND: may_goto when src_reg is 0 */
#define ABI_TAIL_CALL 0xf0  /* internal: JMP | TAIL_CALL, made by prog/lower.c */

/* kinds and commands newer than the header; plain macros so that they never clash with its enums */
#define ABI_CMD_TOKEN_CREATE 36
#define ABI_CMD_PROG_STREAM_READ 37
#define ABI_CMD_MAX 38
#define ABI_MAP_CGRP_STORAGE 32
#define ABI_MAP_ARENA 33
#define ABI_MAP_MAX 34
#define ABI_PROG_NETFILTER 32
#define ABI_PROG_MAX 33
#define ABI_ATTACH_MAX 58
#define ABI_FUNC_MAX 212 /* helper ids are below this */

#define ABI_F_VTYPE_BTF_OBJ_FD (1U << 15)
#define ABI_F_TOKEN_FD (1U << 16)
#define ABI_F_SEGV_ON_FAULT (1U << 17)
#define ABI_F_NO_USER_CONV (1U << 18)

#define ABI_F_STRICT_ALIGNMENT (1U << 0) /* prog_flags */
#define ABI_F_ANY_ALIGNMENT (1U << 1)
#define ABI_F_TEST_RND_HI32 (1U << 2)
#define ABI_F_TEST_STATE_FREQ (1U << 3)
#define ABI_F_SLEEPABLE (1U << 4)
#define ABI_F_XDP_HAS_FRAGS (1U << 5)
#define ABI_F_XDP_DEV_BOUND_ONLY (1U << 6)
#define ABI_F_TEST_REG_INVARIANTS (1U << 7)

#define ABI_LOG_LEVEL1 1
#define ABI_LOG_LEVEL2 2
#define ABI_LOG_STATS 4
#define ABI_LOG_FIXED 8
#define ABI_LOG_MASK 15

/* What the kernel lets names of maps and programs be made of: its isalnum() knows the letters of Latin-1, too. */
static inline bool abi_name_char(u8 ch)
{
	return (ch >= '0' && ch <= '9') || (ch >= 'A' && ch <= 'Z') || (ch >= 'a' && ch <= 'z') || ch == '_' ||
	       ch == '.' || (ch >= 0xc0 && ch != 0xd7 && ch != 0xf7);
}

/* union bpf_attr of 6.18, the parts that are used (include/uapi/linux/bpf.h). Each part fills the union (`rest`): a compiler may
 * leave what an initialised part does not cover as it was, and bpf(2) wants zeros there. */
union abi_attr {
	struct { /* MAP_CREATE */
		u32 map_type, key_size, value_size, max_entries, map_flags, inner_map_fd, numa_node;
		char map_name[16];
		u32 map_ifindex, btf_fd, btf_key_type_id, btf_value_type_id, btf_vmlinux_value_type_id;
		u64 map_extra;
		s32 value_type_btf_obj_fd, map_token_fd;
		u64 excl_prog_hash;
		u32 excl_prog_hash_size;
		u8 rest[168 - 92];
	} map_create;
	struct { /* MAP_*_ELEM, GET_NEXT_KEY, FREEZE */
		u32 map_fd;
		u64 key __attribute__((aligned(8)));
		u64 value; /* or next_key */
		u64 flags;
		u8 rest[168 - 32];
	} elem;
	struct { /* MAP_*_BATCH */
		u64 in_batch, out_batch, keys, values;
		u32 count, map_fd;
		u64 elem_flags, flags;
		u8 rest[168 - 56];
	} batch;
	struct { /* PROG_LOAD */
		u32 prog_type, insn_cnt;
		u64 insns, license;
		u32 log_level, log_size;
		u64 log_buf;
		u32 kern_version, prog_flags;
		char prog_name[16];
		u32 prog_ifindex, expected_attach_type, prog_btf_fd, func_info_rec_size;
		u64 func_info;
		u32 func_info_cnt, line_info_rec_size;
		u64 line_info;
		u32 line_info_cnt, attach_btf_id, attach_prog_fd, core_relo_cnt; /* attach_prog_fd: or attach_btf_obj_fd */
		u64 fd_array, core_relos;
		u32 core_relo_rec_size, log_true_size;
		s32 prog_token_fd;
		u32 fd_array_cnt;
		u64 signature;
		u32 signature_size;
		s32 keyring_id;
	} prog_load;
	struct { /* OBJ_PIN, OBJ_GET */
		u64 pathname;
		u32 bpf_fd, file_flags;
		s32 path_fd;
		u8 rest[168 - 20];
	} obj;
	struct { /* PROG_TEST_RUN */
		u32 prog_fd, retval, data_size_in, data_size_out;
		u64 data_in, data_out;
		u32 repeat, duration, ctx_size_in, ctx_size_out;
		u64 ctx_in, ctx_out;
		u32 flags, cpu, batch_size;
		u8 rest[168 - 76];
	} test;
	struct { /* *_GET_NEXT_ID, *_GET_FD_BY_ID: start_id is also prog_id, map_id, btf_id, link_id */
		u32 start_id, next_id, open_flags;
		s32 token_fd;
		u8 rest[168 - 16];
	} id;
	struct { /* OBJ_GET_INFO_BY_FD */
		u32 bpf_fd, info_len;
		u64 info;
		u8 rest[168 - 16];
	} info;
	struct { /* BTF_LOAD */
		u64 btf, log_buf;
		u32 btf_size, log_size, log_level, log_true_size, flags;
		s32 token_fd;
		u8 rest[168 - 40];
	} btf_load;
	struct { /* PROG_BIND_MAP */
		u32 prog_fd, map_fd, flags;
		u8 rest[168 - 12];
	} bind_map;
	u8 raw[168];
};

/* info structures with their 6.18 sizes */
struct abi_prog_info {
	u32 type, id;
	u8 tag[8];
	u32 jited_prog_len, xlated_prog_len;
	u64 jited_prog_insns, xlated_prog_insns, load_time;
	u32 created_by_uid, nr_map_ids;
	u64 map_ids;
	char name[16];
	u32 ifindex, gpl_compatible; /* gpl_compatible: bit 0 */
	u64 netns_dev, netns_ino;
	u32 nr_jited_ksyms, nr_jited_func_lens;
	u64 jited_ksyms, jited_func_lens;
	u32 btf_id, func_info_rec_size;
	u64 func_info;
	u32 nr_func_info, nr_line_info;
	u64 line_info, jited_line_info;
	u32 nr_jited_line_info, line_info_rec_size, jited_line_info_rec_size, nr_prog_tags;
	u64 prog_tags, run_time_ns, run_cnt, recursion_misses;
	u32 verified_insns, attach_btf_obj_id, attach_btf_id, pad;
};

struct abi_map_info {
	u32 type, id, key_size, value_size, max_entries, map_flags;
	char name[16];
	u32 ifindex, btf_vmlinux_value_type_id;
	u64 netns_dev, netns_ino;
	u32 btf_id, btf_key_type_id, btf_value_type_id, btf_vmlinux_id;
	u64 map_extra, hash;
	u32 hash_size, pad;
};

struct abi_btf_info {
	u64 btf;
	u32 btf_size, id;
	u64 name;
	u32 name_len, kernel_btf;
};

static_assert(sizeof(union abi_attr) == 168, "union bpf_attr of 6.18");
static_assert(sizeof(struct abi_prog_info) == 232, "struct bpf_prog_info of 6.18");
static_assert(sizeof(struct abi_map_info) == 104, "struct bpf_map_info of 6.18");
static_assert(sizeof(struct abi_btf_info) == 32, "struct bpf_btf_info of 6.18");

#endif
