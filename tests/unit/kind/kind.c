/* The tables of program kinds: complete, and as the kernel has them (asked when we are root). */
#include "kind/kind.h"
#include "helper/helper.h"
#include "tap.h"
#include <linux/capability.h>
#include <sys/syscall.h>

static char log_text[65536];

/* 0 or the errno of loading these instructions as an XDP program; what the verifier said is in log_text. */
static int kernel_load(const struct bpf_insn *insns, u32 n, u32 attach_type)
{
	union abi_attr attr = { .prog_load = {
		.prog_type = BPF_PROG_TYPE_XDP, .insn_cnt = n, .insns = addr_of(insns), .license = addr_of("GPL"),
		.log_level = 1, .log_size = sizeof(log_text), .log_buf = addr_of(log_text),
		.expected_attach_type = attach_type,
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

	return !geteuid() && !kernel_load(insns, 2, BPF_XDP);
}

static void tables(void)
{
	const struct kind *xdp = kind_get(BPF_PROG_TYPE_XDP);

	OK(xdp && xdp->prog_type == BPF_PROG_TYPE_XDP);
	STR(kind_name(BPF_PROG_TYPE_XDP), "xdp");
	STR(kind_name(BPF_PROG_TYPE_CGROUP_SOCKOPT), "cgroup_sockopt");
	STR(kind_name(ABI_PROG_NETFILTER), "netfilter");
	STR(kind_name(ABI_PROG_MAX), "unknown");
	STR(kind_name(~0u), "unknown");
	OK(!kind_get(ABI_PROG_MAX) && !kind_get(~0u) && !kind_get(BPF_PROG_TYPE_UNSPEC));
	EQ(kind_caps(BPF_PROG_TYPE_SOCKET_FILTER), 0);
	EQ(kind_caps(BPF_PROG_TYPE_XDP), KIND_CAP_BPF | KIND_CAP_NET_ADMIN);
	EQ(kind_caps(12345), KIND_CAP_BPF);
	OK(!xdp->returns(BPF_XDP).checked);
	OK(!kind_allows(xdp, 0, BPF_XDP) && !kind_allows(xdp, ~0u, BPF_XDP));
}

static void kernel_helpers(void)
{
	const struct kind *xdp = kind_get(BPF_PROG_TYPE_XDP);
	u32 bad = 0;

	for (u32 id = 0; id < ABI_FUNC_MAX; id++) {
		struct bpf_insn insns[] = { { .code = BPF_JMP | BPF_CALL, .imm = id },
					    { .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT } };
		bool allowed;

		kernel_load(insns, 3, BPF_XDP);
		allowed = !strstr(log_text, "cannot use helper");
		if (allowed != kind_allows(xdp, id, BPF_XDP)) {
			printf("# helper %u (%s): kernel says %d\n", id, id ? helper_name(id) : "", allowed);
			bad++;
		}
	}
	EQ(bad, 0);
}

/* One access of the context: kernel's verdict against kind_access. */
static bool access_same(u32 attach, u32 off, u8 size, bool write, bool sign)
{
	const struct kind *xdp = kind_get(BPF_PROG_TYPE_XDP);
	static const u32 bytes[] = { [BPF_B] = 1, [BPF_H] = 2, [BPF_W] = 4, [BPF_DW] = 8 };
	const struct kind_field *f = kind_access(xdp, attach, off, bytes[size], write);
	struct bpf_insn insns[] = {
		{ .code = write ? BPF_STX | BPF_MEM | size : BPF_LDX | (sign ? BPF_MEMSX : BPF_MEM) | size,
		  .dst_reg = write ? 1 : 2, .src_reg = write ? 0 : 1, .off = off },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_insn with_r0[4] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K } };
	bool kernel, ours = f && !(sign && f->gives != KIND_SCALAR);

	memcpy(with_r0 + 1, insns, sizeof(insns));
	kernel = !kernel_load(with_r0, 4, attach);
	if (kernel != ours)
		printf("# attach %u offset %u size %u write %d sign %d: kernel %d (%s)\n", attach, off, bytes[size], write, sign,
		       kernel, log_text);
	return kernel == ours;
}

static void kernel_accesses(void)
{
	static const u32 attach[] = { 0, BPF_XDP, BPF_XDP_DEVMAP, BPF_XDP_CPUMAP };
	static const u8 sizes[] = { BPF_B, BPF_H, BPF_W, BPF_DW };
	u32 bad = 0;

	for (u32 a = 0; a < ARRAY_SIZE(attach); a++)
		for (u32 off = 0; off < 32; off++)
			for (u32 s = 0; s < 4; s++) {
				bad += !access_same(attach[a], off, sizes[s], false, false);
				bad += !access_same(attach[a], off, sizes[s], true, false);
				if (sizes[s] != BPF_DW)
					bad += !access_same(attach[a], off, sizes[s], false, true);
			}
	EQ(bad, 0);
}

int main(void)
{
	tables();
	if (have_kernel()) {
		kernel_helpers();
		kernel_accesses();
	} else {
		printf("ok %d - tables compared with the kernel # SKIP bpf(2) needs root\n", ++tap_n);
	}
	return tap_done();
}
