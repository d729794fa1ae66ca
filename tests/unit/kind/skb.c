/* Context fields and helpers of the kinds with a struct __sk_buff and of the tracing kinds: every offset, size and direction,
 * and every helper id, asked of the kernel with a program each (as root). */
#include "kind/kind.h"
#include "helper/helper.h"
#include "tap.h"
#include <sys/syscall.h>

static char log_text[65536];

static int kernel_load(u32 type, const struct bpf_insn *insns, u32 n, bool log)
{
	union abi_attr attr = { .prog_load = {
		.prog_type = type, .insn_cnt = n, .insns = addr_of(insns), .license = addr_of("GPL"),
		.log_level = log, .log_size = log ? sizeof(log_text) : 0, .log_buf = log ? addr_of(log_text) : 0,
	} };
	long fd;

	log_text[0] = 0;
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static bool have_kernel(void)
{
	struct bpf_insn insns[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT } };

	return !geteuid() && !kernel_load(BPF_PROG_TYPE_SOCKET_FILTER, insns, 2, false);
}

enum how { LOAD, LOAD_SIGNED, STORE, STORE_IMM, HOWS };
static const u8 classes[] = { BPF_LDX | BPF_MEM, BPF_LDX | BPF_MEMSX, BPF_STX | BPF_MEM, BPF_ST | BPF_MEM };

static bool kernel_takes(u32 type, enum how how, u32 off, u8 size)
{
	bool write = how >= STORE;
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = classes[how] | size, .dst_reg = write ? 1 : 2, .src_reg = write ? 0 : 1, .off = off },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT },
	};

	if (how == STORE_IMM)
		insns[1].src_reg = 0;
	return !kernel_load(type, insns, 4, false);
}

static bool we_take(u32 type, enum how how, u32 off, u32 bytes)
{
	const struct kind_field *f = kind_access(kind_get(type), 0, off, bytes, how >= STORE);

	return f && !(how == LOAD_SIGNED && f->gives != KIND_SCALAR);
}

static void accesses(u32 type, u32 from, u32 to)
{
	static const u8 sizes[] = { BPF_B, BPF_H, BPF_W, BPF_DW };
	u32 bad = 0, taken = 0;

	for (u32 off = from; off < to; off++)
		for (u32 s = 0; s < 4; s++)
			for (enum how how = 0; how < HOWS; how++) {
				bool kernel, ours = we_take(type, how, off, 1u << s);

				if (how == LOAD_SIGNED && sizes[s] == BPF_DW)
					continue;
				kernel = kernel_takes(type, how, off, sizes[s]);
				taken += kernel;
				if (kernel == ours)
					continue;
				bad++;
				printf("# %s: how %d off %u size %u: kernel %d, ours %d\n", kind_name(type), how, off, 1u << s,
				       kernel, ours);
			}
	EQ(bad, 0);
	OK(taken > 100);
}

static void helpers(u32 type)
{
	const struct kind *k = kind_get(type);
	u32 bad = 0;

	for (u32 id = 0; id < ABI_FUNC_MAX; id++) {
		struct bpf_insn insns[] = { { .code = BPF_JMP | BPF_CALL, .imm = id },
					    { .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT } };
		bool allowed;

		kernel_load(type, insns, 3, true);
		allowed = !strstr(log_text, "cannot use helper");
		if (allowed == kind_allows(k, id, 0))
			continue;
		bad++;
		printf("# %s: helper %u (%s): kernel says %d\n", k->name, id, id ? helper_name(id) : "", allowed);
	}
	EQ(bad, 0);
}

static void tables(void)
{
	static const u32 types[] = { BPF_PROG_TYPE_SOCKET_FILTER, BPF_PROG_TYPE_SCHED_CLS, BPF_PROG_TYPE_SCHED_ACT,
				     BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_PROG_TYPE_TRACEPOINT };

	for (u32 i = 0; i < ARRAY_SIZE(types); i++) {
		const struct kind *k = kind_get(types[i]);

		OK(k && k->prog_type == types[i] && !strcmp(k->name, kind_name(types[i])));
		OK(!k->returns(0).checked);
	}
	/* cb[4] has no 8 bytes left; data is whole or nothing, and a socket filter has none */
	OK(kind_access(kind_get(BPF_PROG_TYPE_SOCKET_FILTER), 0, 48, 8, true));
	OK(!kind_access(kind_get(BPF_PROG_TYPE_SOCKET_FILTER), 0, 64, 8, true));
	OK(!kind_access(kind_get(BPF_PROG_TYPE_SCHED_CLS), 0, 76, 2, false));
	OK(!kind_access(kind_get(BPF_PROG_TYPE_SOCKET_FILTER), 0, 76, 4, false));
}

int main(void)
{
	tables();
	if (!have_kernel()) {
		printf("ok %d - tables compared with the kernel # SKIP bpf(2) needs root\n", ++tap_n);
		return tap_done();
	}
	accesses(BPF_PROG_TYPE_SOCKET_FILTER, 0, 200);
	accesses(BPF_PROG_TYPE_SCHED_CLS, 0, 200);
	accesses(BPF_PROG_TYPE_SCHED_ACT, 0, 200);
	accesses(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 112);
	accesses(BPF_PROG_TYPE_TRACEPOINT, 0, 64);
	accesses(BPF_PROG_TYPE_TRACEPOINT, 8160, 8208);
	helpers(BPF_PROG_TYPE_SOCKET_FILTER);
	helpers(BPF_PROG_TYPE_SCHED_CLS);
	helpers(BPF_PROG_TYPE_SCHED_ACT);
	helpers(BPF_PROG_TYPE_RAW_TRACEPOINT);
	helpers(BPF_PROG_TYPE_TRACEPOINT);
	return tap_done();
}
