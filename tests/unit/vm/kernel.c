/* The running kernel as one more engine: see kernel.h. */
#include "kernel.h"
#include "isa/isa.h"
#include <stdio.h>
#include <sys/syscall.h>

static int sys(int cmd, union bpf_attr *attr)
{
	int rc = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return rc < 0 ? -errno : rc;
}

int kernel_load_insns(int *fd, bool socket, const struct bpf_insn *insns, u32 n, char *why,
		      size_t room)
{
	static char text[1 << 20];
	union bpf_attr attr = {0};
	size_t len;
	int rc;

	attr.prog_type = socket ? BPF_PROG_TYPE_SOCKET_FILTER : BPF_PROG_TYPE_XDP;
	attr.insns = addr_of(insns);
	attr.insn_cnt = n;
	attr.license = addr_of("GPL");
	rc = sys(BPF_PROG_LOAD, &attr);
	if (rc >= 0) {
		*fd = rc;
		return 0;
	}
	attr.log_buf = addr_of(text);
	attr.log_size = sizeof(text);
	attr.log_level = 1;
	text[0] = 0;
	sys(BPF_PROG_LOAD, &attr);
	len = strlen(text);
	snprintf(why, room, "%s: %s", strerror(-rc), len > 400 ? text + len - 400 : text);
	return rc;
}

static int probe(void)
{
	static const struct bpf_insn nothing[] = {{.code = 0xb7}, {.code = 0x95}};
	char why[64];
	int fd, rc = kernel_load_insns(&fd, false, nothing, 2, why, sizeof(why));

	if (!rc)
		close(fd);
	return rc;
}

bool kernel_allows(void)
{
	static int answer = 1;

	if (answer > 0)
		answer = probe();
	return !answer;
}

const char *kernel_why_not(void)
{
	return "the kernel does not let this user load programs";
}

static const char prologue[] = "r2 = *(u32 *)(r1 +4)\n"
			       "r1 = *(u32 *)(r1 +0)\n"
			       "r3 = r1\n"
			       "r3 += %u\n"
			       "if r3 <= r2 goto done\n"
			       "r0 = -1\n"
			       "exit\n"
			       "done: r2 = %u\n";

static int assemble(const char *text, struct bpf_insn **insns, u32 *n, char *why, size_t room)
{
	struct log err;
	char *said;
	int rc;

	log_init(&err, 200);
	rc = isa_assemble(text, insns, n, &err);
	if (rc) {
		said = log_text(&err, NULL);
		snprintf(why, room, "%s", said);
		free(said);
	}
	log_done(&err);
	return rc;
}

int kernel_load_xdp(int *fd, const struct bpf_insn *insns, u32 n, u32 len, char *why, size_t room)
{
	struct bpf_insn *before = NULL, *all;
	char text[512];
	u32 n_before;
	int rc;

	snprintf(text, sizeof(text), prologue, len, len);
	rc = assemble(text, &before, &n_before, why, room);
	all = rc ? NULL : calloc(n_before + n, sizeof(*all));
	if (all) {
		memcpy(all, before, n_before * sizeof(*all));
		memcpy(all + n_before, insns, n * sizeof(*all));
		rc = kernel_load_insns(fd, false, all, n_before + n, why, room);
	}
	free(before);
	free(all);
	return rc;
}

int kernel_load(int *fd, bool socket, const char *code, u32 len, char *why, size_t room)
{
	struct bpf_insn *insns;
	u32 n;
	int rc = assemble(code, &insns, &n, why, room);

	if (rc)
		return rc;
	rc = socket ? kernel_load_insns(fd, true, insns, n, why, room)
		    : kernel_load_xdp(fd, insns, n, len, why, room);
	free(insns);
	return rc;
}

int kernel_run(int fd, const u8 *in, u8 *out, u32 len, u32 *r0)
{
	union bpf_attr attr = {0};
	int rc;

	attr.test.prog_fd = fd;
	attr.test.data_in = addr_of(in);
	attr.test.data_size_in = len;
	attr.test.data_out = addr_of(out);
	attr.test.data_size_out = len;
	attr.test.repeat = 1;
	rc = sys(BPF_PROG_TEST_RUN, &attr);
	*r0 = attr.test.retval;
	return rc;
}
