/* Ids, and the commands that are not built. */
#include "abi.h"
#include <fcntl.h>

static long next(struct floor *f, int cmd, u32 after)
{
	union abi_attr a = {.id = {.start_id = after}};
	long r = call(f, cmd, &a);

	return r ? r : (long)a.id.next_id;
}

static long by_id(struct floor *f, int cmd, u32 id, u32 flags)
{
	union abi_attr a = {.id = {.start_id = id, .open_flags = flags}};

	return call(f, cmd, &a);
}

void area_id(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 1, 0), again;
	struct abi_map_info i = {0};
	union abi_attr a = {.info = {.bpf_fd = m, .info_len = sizeof(i), .info = addr_of(&i)}};
	union abi_attr back = {.id = {.next_id = 1}};
	u32 k = 1;
	u64 v = 2;

	call(f, BPF_OBJ_GET_INFO_BY_FD, &a);
	SAME("next id before it", i.id, next(f, BPF_MAP_GET_NEXT_ID, i.id - 1));
	SAME("from 0xfffffff0", -EINVAL, next(f, BPF_MAP_GET_NEXT_ID, 0xfffffff0));
	SAME("from the last possible", -EINVAL, next(f, BPF_MAP_GET_NEXT_ID, 0x7fffffff));
	SAME("from one before that", -ENOENT, next(f, BPF_MAP_GET_NEXT_ID, 0x7ffffffe));
	SAME("open_flags set", -EINVAL,
	     (back.id.open_flags = 1, call(f, BPF_MAP_GET_NEXT_ID, &back)));
	SAME("map by an unknown id", -ENOENT, by_id(f, BPF_MAP_GET_FD_BY_ID, 0xfffffff0, 0));
	SAME("map by id 0", -ENOENT, by_id(f, BPF_MAP_GET_FD_BY_ID, 0, 0));
	SAME("map by id, flags 1", -EINVAL, by_id(f, BPF_MAP_GET_FD_BY_ID, i.id, 1));
	SAME("program by an unknown id", -ENOENT, by_id(f, BPF_PROG_GET_FD_BY_ID, 0xfffffff0, 0));
	SAME("program by id, flags", -EINVAL, by_id(f, BPF_PROG_GET_FD_BY_ID, i.id, BPF_F_RDONLY));
	SAME("BTF by an unknown id", -ENOENT, by_id(f, BPF_BTF_GET_FD_BY_ID, 0xfffffff0, 0));
	SAME("link by an unknown id", -ENOENT, by_id(f, BPF_LINK_GET_FD_BY_ID, 0xfffffff0, 0));
	SAME("next link from one before the last", -ENOENT,
	     next(f, BPF_LINK_GET_NEXT_ID, 0x7ffffffe));
	again = by_id(f, BPF_MAP_GET_FD_BY_ID, i.id, BPF_F_RDONLY);
	SAME("map by id, to read", 1, again >= 0);
	SAME("look-up through it", -ENOENT, lookup(f, again, &k, &v, 0));
	SAME("update through it", -EPERM, update(f, again, &k, &v, 0));
	f->close(m);
	SAME("still there", i.id, next(f, BPF_MAP_GET_NEXT_ID, i.id - 1));
	f->close(again);
	SAME("then not", 1, by_id(f, BPF_MAP_GET_FD_BY_ID, i.id, 0) == -ENOENT);
	SAME("the kernel's BTF is the first", 1, next(f, BPF_BTF_GET_NEXT_ID, 0));
	{
		int b = by_id(f, BPF_BTF_GET_FD_BY_ID, 1, 0);
		char name[16] = "";
		struct abi_btf_info bi = {.name = addr_of(name), .name_len = sizeof(name)};
		union abi_attr ba = {
		    .info = {.bpf_fd = b, .info_len = sizeof(bi), .info = addr_of(&bi)}};

		SAME("its info", 0, call(f, BPF_OBJ_GET_INFO_BY_FD, &ba));
		SAME("its name", 0, strcmp(name, "vmlinux"));
		SAME("it says so", 1, bi.kernel_btf);
		SAME("its id", 1, bi.id);
		SAME("it is large", 1, bi.btf_size > 100000);
		ba = (union abi_attr){.map_create = {.map_type = BPF_MAP_TYPE_HASH,
						     .key_size = 4,
						     .value_size = 4,
						     .max_entries = 1,
						     .btf_fd = b,
						     .btf_value_type_id = 1}};
		SAME("no map has its types", -EACCES, call(f, BPF_MAP_CREATE, &ba));
		f->close(b);
	}
}

#define CALL(cmd, ...)                                                                             \
	({                                                                                         \
		union abi_attr a_ = {__VA_ARGS__};                                                 \
		fd_or_error(f, call(f, cmd, &a_));                                                 \
	})

static void pins(struct floor *f, int m)
{
	SAME("get: path NULL", -EFAULT, CALL(BPF_OBJ_GET, .obj = {0}));
	SAME("get: no such file", -ENOENT,
	     CALL(BPF_OBJ_GET, .obj = {.pathname = addr_of("/tmp/no/such")}));
	SAME("get: a plain file", -EACCES,
	     CALL(BPF_OBJ_GET, .obj = {.pathname = addr_of("/etc/passwd")}));
	SAME("get: a descriptor too", -EINVAL,
	     CALL(BPF_OBJ_GET, .obj = {.pathname = addr_of("/etc/passwd"), .bpf_fd = m}));
	SAME("get: flags 1", -EINVAL,
	     CALL(BPF_OBJ_GET, .obj = {.pathname = addr_of("/etc/passwd"), .file_flags = 1}));
	SAME("pin: outside bpffs", -EPERM,
	     CALL(BPF_OBJ_PIN, .obj = {.pathname = addr_of("/tmp/skep-not-there"), .bpf_fd = m}));
	SAME("pin: no such folder", -ENOENT,
	     CALL(BPF_OBJ_PIN, .obj = {.pathname = addr_of("/tmp/no/such"), .bpf_fd = m}));
	SAME("pin: over a file", -EEXIST,
	     CALL(BPF_OBJ_PIN, .obj = {.pathname = addr_of("/etc/passwd"), .bpf_fd = m}));
	SAME("pin: closed descriptor", -EINVAL,
	     CALL(BPF_OBJ_PIN, .obj = {.pathname = addr_of("/tmp/x"), .bpf_fd = 900}));
	SAME("pin: no BPF object", -EINVAL,
	     CALL(BPF_OBJ_PIN, .obj = {.pathname = addr_of("/tmp/x"), .bpf_fd = 0}));
}

void area_other(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 2, 0), p = new_prog(f),
	    null = open("/dev/null", O_RDONLY);

	pins(f, m);
	SAME("batch: closed descriptor", -EBADF,
	     CALL(BPF_MAP_UPDATE_BATCH, .batch = {.map_fd = 900, .count = 1}));
	SAME("batch: a program", -EINVAL,
	     CALL(BPF_MAP_UPDATE_BATCH, .batch = {.map_fd = p, .count = 1}));
	SAME("link: closed program", -EBADF, CALL(BPF_LINK_CREATE, .raw = {0x84, 3}));
	SAME("link: XDP without a device", -EINVAL, ({
		     union abi_attr a = {0};

		     memcpy(a.raw, (u32[]){p, 0, BPF_XDP}, 12);
		     call(f, BPF_LINK_CREATE, &a);
	     }));
	SAME("link update: no link", -EINVAL, CALL(BPF_LINK_UPDATE, .elem = {.map_fd = m}));
	SAME("link detach: closed", -EBADF, CALL(BPF_LINK_DETACH, .elem = {.map_fd = 900}));
	SAME("iterator: no link", -EINVAL, CALL(BPF_ITER_CREATE, .elem = {.map_fd = m}));
	SAME("raw tracepoint with an XDP program", -EINVAL, ({
		     union abi_attr a = {0};

		     memcpy(a.raw, (u64[]){addr_of("sys_enter")}, 8);
		     memcpy(a.raw + 8, (u32[]){p}, 4);
		     call(f, BPF_RAW_TRACEPOINT_OPEN, &a);
	     }));
	SAME("attach: zeros", -EINVAL, CALL(BPF_PROG_ATTACH, .raw = {0}));
	DIFFERS("detach: zeros", -EBADF, -EINVAL, "attach", CALL(BPF_PROG_DETACH, .raw = {0}));
	DIFFERS("statistics", FD, -EINVAL, "enable-stats", CALL(BPF_ENABLE_STATS, .raw = {0}));
	SAME("token: closed descriptor", -EBADF,
	     CALL(ABI_CMD_TOKEN_CREATE, .raw = {[4] = 0x84, 3}));
	SAME("token: no bpffs", -EINVAL, CALL(ABI_CMD_TOKEN_CREATE, .raw = {[4] = null}));
	SAME("token: flags", -EINVAL, CALL(ABI_CMD_TOKEN_CREATE, .raw = {1}));
	f->close(m);
	f->close(p);
	close(null);
}
