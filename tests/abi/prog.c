/* PROG_LOAD's attributes and its log, TEST_RUN, PROG_BIND_MAP. */
#include "abi.h"
#include <sys/mman.h>

#define WITH(field, x)                                                                             \
	({                                                                                         \
		union abi_attr a_ = pass_attr();                                                   \
		a_.prog_load.field = (x);                                                          \
		fd_or_error(f, call(f, BPF_PROG_LOAD, &a_));                                       \
	})

void area_prog(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0);
	union abi_attr a = pass_attr();

	SAME("load", FD, fd_or_error(f, new_prog(f)));
	SAME("no instructions", -E2BIG, WITH(insn_cnt, 0));
	SAME("a million and one", -E2BIG, WITH(insn_cnt, 1000001));
	SAME("type 0", -EINVAL, WITH(prog_type, 0));
	SAME("unknown type", -EINVAL, WITH(prog_type, 99));
	SAME("prog_flags 1 << 30", -EINVAL, WITH(prog_flags, 1u << 30));
	SAME("license NULL", -EFAULT, WITH(license, 0));
	SAME("license at 8", -EFAULT, WITH(license, 8));
	SAME("instructions NULL", -EFAULT, WITH(insns, 0));
	SAME("any attach type", FD, WITH(expected_attach_type, 12345));
	SAME("attach_btf_id", -EINVAL, WITH(attach_btf_id, 1));
	SAME("attach_prog_fd closed", -EINVAL, WITH(attach_prog_fd, 900));
	SAME("device that is not there", -EINVAL, WITH(prog_ifindex, 12345));
	SAME("prog_btf_fd closed, nothing to look up", FD, WITH(prog_btf_fd, 900));
	SAME("kern_version", FD, WITH(kern_version, 1));
	a.prog_load.func_info_cnt = 1;
	a.prog_load.func_info_rec_size = 8;
	a.prog_load.prog_btf_fd = 900;
	SAME("func_info and prog_btf_fd closed", -EBADF, call(f, BPF_PROG_LOAD, &a));
	a.prog_load.prog_btf_fd = m;
	SAME("func_info and prog_btf_fd a map", -EINVAL, call(f, BPF_PROG_LOAD, &a));
	a = pass_attr();
	a.prog_load.prog_flags = ABI_F_TOKEN_FD;
	a.prog_load.prog_token_fd = 900;
	SAME("token closed", -EBADF, call(f, BPF_PROG_LOAD, &a));
	a.prog_load.prog_token_fd = m;
	SAME("token is a map", -EINVAL, call(f, BPF_PROG_LOAD, &a));
	a = pass_attr();
	memcpy(a.prog_load.prog_name, "a b", 4);
	SAME("name with a space", -EINVAL, call(f, BPF_PROG_LOAD, &a));
	memcpy(a.prog_load.prog_name, "\xe4rger", 6);
	SAME("name with a letter of Latin-1", FD, fd_or_error(f, call(f, BPF_PROG_LOAD, &a)));
	a = pass_attr();
	a.prog_load.fd_array_cnt = 1;
	SAME("fd_array_cnt without fd_array", -EFAULT, call(f, BPF_PROG_LOAD, &a));
	a.prog_load.fd_array = addr_of((s32[]){900});
	SAME("fd_array with a closed descriptor", -EBADF, call(f, BPF_PROG_LOAD, &a));
	a.prog_load.fd_array = addr_of((s32[]){m});
	SAME("fd_array with a map", FD, fd_or_error(f, call(f, BPF_PROG_LOAD, &a)));
	f->close(m);
}

/* ---- the log */

static char text[65536];

static long load_log(struct floor *f, const struct bpf_insn *insns, u32 n, u32 level, u32 size,
		     void *buf, u32 *true_size)
{
	union abi_attr a = pass_attr();
	long r;

	a.prog_load.insns = addr_of(insns);
	a.prog_load.insn_cnt = n;
	a.prog_load.log_level = level;
	a.prog_load.log_size = size;
	a.prog_load.log_buf = addr_of(buf);
	memset(text, 'x', sizeof(text));
	r = fd_or_error(f, call(f, BPF_PROG_LOAD, &a));
	*true_size = a.prog_load.log_true_size;
	return r;
}

void area_log(struct floor *f)
{
	static const struct bpf_insn bad[] = {{.code = 0xff}, {.code = 0x95}},
				     no_r0[] = {{.code = 0x95}};
	u32 all, n;

	SAME("level 1 without a buffer", FD, load_log(f, pass_insns, 2, 1, 0, NULL, &n));
	SAME("then its size is told", 1, n > 20);
	SAME("no level: nothing is told", FD, load_log(f, pass_insns, 2, 0, 0, NULL, &n));
	SAME("its size", 0, n);
	SAME("buffer without a level", -EINVAL, load_log(f, pass_insns, 2, 0, 4096, text, &n));
	SAME("size without a buffer", -EINVAL, load_log(f, pass_insns, 2, 1, 4096, NULL, &n));
	SAME("buffer without a size", -EINVAL, load_log(f, pass_insns, 2, 1, 0, text, &n));
	SAME("level 16", -EINVAL, load_log(f, pass_insns, 2, 16, 4096, text, &n));
	SAME("size of 1 GiB", -EINVAL, load_log(f, pass_insns, 2, 1, 1u << 30, text, &n));
	SAME("level 2", FD, load_log(f, pass_insns, 2, 2, sizeof(text), text, &all));
	SAME("true size is the text's", all, strlen(text) + 1);
	SAME("level 2, exactly its size", FD, load_log(f, pass_insns, 2, 2, all, text, &n));
	SAME("level 2, one byte less", -ENOSPC, load_log(f, pass_insns, 2, 2, all - 1, text, &n));
	SAME("true size stays", all, n);
	SAME("the end is kept", 1, strstr(text, "processed 2 insns") != NULL);
	SAME("16 bytes", -ENOSPC, load_log(f, pass_insns, 2, 2, 16, text, &n));
	SAME("15 of them text", 15, strlen(text));
	SAME("FIXED, 16 bytes", -ENOSPC,
	     load_log(f, pass_insns, 2, 2 | ABI_LOG_FIXED, 16, text, &n));
	SAME("the beginning is kept", 15, strlen(text));
	SAME("1 byte", -ENOSPC, load_log(f, pass_insns, 2, 2, 1, text, &n));
	SAME("buffer at 8", -EFAULT, load_log(f, pass_insns, 2, 2, 64, (void *)8, &n));
	SAME("bad opcode", -EINVAL, load_log(f, bad, 2, 1, sizeof(text), text, &n));
	SAME("its words", 0, strncmp(text, "unknown opcode ff\n", 18));
	SAME("no r0", -EACCES, load_log(f, no_r0, 1, 1, sizeof(text), text, &n));
	SAME("its words", 1, strstr(text, "R0 !read_ok\n") != NULL);
	SAME("refused, log too small", -ENOSPC, load_log(f, no_r0, 1, 1, 8, text, &n));
}

/* ---- running */

#define RUN(...)                                                                                   \
	({                                                                                         \
		union abi_attr a_ = {.test = {.prog_fd = p, __VA_ARGS__}};                         \
		long r_ = call(f, BPF_PROG_TEST_RUN, &a_);                                         \
		out = a_;                                                                          \
		r_;                                                                                \
	})

void area_run(struct floor *f)
{
	static u8 packet[64], back[256];
	int m = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0), p = new_prog(f);
	union abi_attr out, bind = {.bind_map = {.prog_fd = p, .map_fd = m}};

	SAME("test run without data", -EINVAL, RUN());
	SAME("of a map", -EINVAL, ({
		     int was = p;
		     long r;
		     p = m;
		     r = RUN();
		     p = was;
		     r;
	     }));
	SAME("13 bytes", -EINVAL, RUN(.data_in = addr_of(packet), .data_size_in = 13));
	SAME("64 bytes", 0, RUN(.data_in = addr_of(packet), .data_size_in = 64));
	SAME("its verdict", 2, out.test.retval);
	SAME("its size", 64, out.test.data_size_out);
	SAME("data NULL", -EFAULT, RUN(.data_size_in = 64));
	SAME("room enough", 0,
	     RUN(.data_in = addr_of(packet), .data_size_in = 64, .data_out = addr_of(back),
		 .data_size_out = 256));
	SAME("what came back", 64, out.test.data_size_out);
	SAME("room too small", -ENOSPC,
	     RUN(.data_in = addr_of(packet), .data_size_in = 64, .data_out = addr_of(back),
		 .data_size_out = 9));
	SAME("what there would be", 64, out.test.data_size_out);
	SAME("verdict all the same", 2, out.test.retval);
	SAME("room not told", 0,
	     RUN(.data_in = addr_of(packet), .data_size_in = 64, .data_out = addr_of(back)));
	SAME("context without size", -EINVAL,
	     RUN(.data_in = addr_of(packet), .data_size_in = 64, .ctx_in = addr_of(back)));
	SAME("context size without context", -EINVAL,
	     RUN(.data_in = addr_of(packet), .data_size_in = 64, .ctx_size_in = 24));
	SAME("context size out without context", -EINVAL,
	     RUN(.data_in = addr_of(packet), .data_size_in = 64, .ctx_size_out = 24));
	SAME("flags 64", -EINVAL, RUN(.data_in = addr_of(packet), .data_size_in = 64, .flags = 64));
	SAME("cpu does not matter", 0,
	     RUN(.data_in = addr_of(packet), .data_size_in = 64, .cpu = 1));
	SAME("bind", 0, call(f, BPF_PROG_BIND_MAP, &bind));
	SAME("bind again", 0, call(f, BPF_PROG_BIND_MAP, &bind));
	bind.bind_map.flags = 1;
	SAME("bind, flags 1", -EINVAL, call(f, BPF_PROG_BIND_MAP, &bind));
	bind = (union abi_attr){.bind_map = {.prog_fd = m, .map_fd = m}};
	SAME("bind to a map", -EINVAL, call(f, BPF_PROG_BIND_MAP, &bind));
	bind = (union abi_attr){.bind_map = {.prog_fd = p, .map_fd = p}};
	SAME("bind a program", -EINVAL, call(f, BPF_PROG_BIND_MAP, &bind));
	bind.bind_map.map_fd = 900;
	SAME("bind a closed descriptor", -EBADF, call(f, BPF_PROG_BIND_MAP, &bind));
	f->close(m);
	f->close(p);
}
