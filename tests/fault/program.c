/* A real program to be loaded again and again: libbpf loads the object once, and what it hands to bpf(2) is kept. */
#include "fault.h"
#include <errno.h>
#include <bpf/libbpf.h>

union abi_attr program_attr, program_bad_attr, program_btf_attr;
static struct bpf_object *object;

static u64 copy_of(u64 from, size_t size)
{
	void *p = malloc(size + 1);

	if (!p)
		abort();
	memcpy(p, (void *)(uintptr_t)from, size);
	return (uintptr_t)p;
}

static void keep_program(const union abi_attr *attr, u32 size)
{
	union abi_attr *a = &program_attr;

	memset(a, 0, sizeof(*a));
	memcpy(a, attr, MIN(size, (u32)sizeof(*a)));
	a->prog_load.insns = copy_of(a->prog_load.insns, a->prog_load.insn_cnt * 8);
	a->prog_load.license = copy_of(a->prog_load.license, strlen((char *)(uintptr_t)a->prog_load.license));
	a->prog_load.func_info = copy_of(a->prog_load.func_info, a->prog_load.func_info_cnt * a->prog_load.func_info_rec_size);
	a->prog_load.line_info = copy_of(a->prog_load.line_info, a->prog_load.line_info_cnt * a->prog_load.line_info_rec_size);
	a->prog_load.log_level = a->prog_load.log_size = 0;
	a->prog_load.log_buf = 0;
	a->prog_load.fd_array = 0;
}

/* Every bpf(2) call that libbpf makes comes here; the last program with line information is the one it was asked for. */
long program_see(long cmd, union abi_attr *attr, u32 size);
long program_see(long cmd, union abi_attr *attr, u32 size)
{
	if (cmd == BPF_PROG_LOAD && attr->prog_load.line_info_cnt && attr->prog_load.insn_cnt > 50)
		keep_program(attr, size);
	if (cmd == BPF_BTF_LOAD && attr->btf_load.btf_size > 1000) {
		program_btf_attr = (union abi_attr){ .btf_load = { .btf = copy_of(attr->btf_load.btf, attr->btf_load.btf_size),
								   .btf_size = attr->btf_load.btf_size } };
	}
	return sys_bpf(sys_self(), cmd, (uintptr_t)attr, size);
}

/* 0 or -errno */
static long verdict(union abi_attr *a)
{
	long fd = bpf(BPF_PROG_LOAD, a);

	if (fd >= 0)
		sys_close(fd);
	return MIN(fd, 0L);
}

/* The same program with one comparison taken out, such that it reads what it may not. */
static bool spoil(void)
{
	u32 n = program_attr.prog_load.insn_cnt;
	struct bpf_insn *insns;

	program_bad_attr = program_attr;
	program_bad_attr.prog_load.insns = copy_of(program_attr.prog_load.insns, n * 8);
	insns = (void *)(uintptr_t)program_bad_attr.prog_load.insns;
	for (u32 i = n; i--;) {
		struct bpf_insn was = insns[i];

		if (was.code != (BPF_JMP | BPF_JGT | BPF_X) && was.code != (BPF_JMP | BPF_JEQ | BPF_K))
			continue;
		insns[i] = (struct bpf_insn){ .code = BPF_JMP | BPF_JA };
		if (verdict(&program_bad_attr) == -EACCES)
			return true;
		insns[i] = was;
	}
	return false;
}

bool program_record(const char *path)
{
	object = bpf_object__open_file(path, NULL);
	if (libbpf_get_error(object) || bpf_object__load(object))
		return false;
	return program_attr.prog_load.insn_cnt && program_btf_attr.btf_load.btf_size && !verdict(&program_attr) && spoil();
}

void program_done(void)
{
	bpf_object__close(object);
	free((void *)(uintptr_t)program_attr.prog_load.insns);
	free((void *)(uintptr_t)program_attr.prog_load.license);
	free((void *)(uintptr_t)program_attr.prog_load.func_info);
	free((void *)(uintptr_t)program_attr.prog_load.line_info);
	free((void *)(uintptr_t)program_bad_attr.prog_load.insns);
	free((void *)(uintptr_t)program_btf_attr.btf_load.btf);
}
