/* isa against the running kernel: which opcodes it knows, and how its verifier log writes each
 * instruction. Skips where bpf(2) is not allowed. */
#include "forms.h"
#include "tap.h"
#include <sys/syscall.h>

static char text[65536];

/* Load as a socket filter with log level 2; the log is in text. Verdicts don't matter here. */
static int load(const struct bpf_insn *insns, u32 n)
{
	union bpf_attr attr = {0};
	int fd;

	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = addr_of(insns);
	attr.insn_cnt = n;
	attr.license = addr_of("GPL");
	attr.log_buf = addr_of(text);
	attr.log_size = sizeof(text);
	attr.log_level = 2;
	text[0] = 0;
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static void known_opcodes(void)
{
	u32 wrong = 0;

	for (u32 code = 0; code < 256; code++) {
		struct bpf_insn insns[3] = {{.code = code}, {.code = 0xb7}, {.code = 0x95}};
		bool known;

		if (code == 0x18)
			insns[1] = (struct bpf_insn){0};
		load(insns, 3);
		/* of an LDX the kernel checks the mode before it looks at its table */
		known = !strstr(text, "unknown opcode") &&
			!(BPF_CLASS(code) == BPF_LDX && strstr(text, "uses reserved fields"));
		if (known != isa_known_opcode(code)) {
			printf("# %02x: kernel %d, table %d: %s\n", code, known,
			       isa_known_opcode(code), text);
			wrong++;
		}
	}
	EQ(wrong, 0);
}

/* The log's text of instruction 0, or NULL: it was refused before the verifier came to it. */
static char *logged(void)
{
	char *at = strstr(text, "0: ("), *end;

	if (!at)
		return NULL;
	at += 3;
	end = strpbrk(at, ";\n");
	if (!end)
		return NULL;
	while (end > at && end[-1] == ' ')
		end--;
	*end = 0;
	return at;
}

/* An instruction the kernel comes to: jumps lead inside, fields the check before the log refuses
 * are zero. */
static u32 program(struct bpf_insn *insns, const struct form *f, const struct isa_op *op)
{
	u32 n = f->n;

	memcpy(insns, f->insn, n * sizeof(*insns));
	if (op->form == ISA_JA || op->form == ISA_JCOND || op->form == ISA_MAY_GOTO)
		insns[0].off = op->form == ISA_JCOND;
	if (op->form == ISA_GOTOL)
		insns[0].imm = 0;
	if (op->id == ISA_ID_CALL_SUB)
		insns[0].imm = 2;
	insns[n++] = (struct bpf_insn){.code = 0xb7};
	insns[n++] = (struct bpf_insn){.code = 0x95};
	if (op->id == ISA_ID_CALL_SUB) {
		insns[n++] = (struct bpf_insn){.code = 0xb7};
		insns[n++] = (struct bpf_insn){.code = 0x95};
	}
	if (op->form == ISA_EXIT)
		n = 1;
	return n;
}

static void same_text(void)
{
	struct isa_print how = {.helper = form_helper_name};
	u32 same = 0, different = 0, unseen = 0;
	bool row_seen[ISA_ID_MAX] = {0};
	struct bpf_insn insns[8];
	struct form f;

	for (u32 id = 0; id < ISA_ID_MAX; id++) {
		for (u32 v = 0; form_make(&f, id, v); v++) {
			char *theirs, *ours;
			struct log log;

			if (id == ISA_ID_CALL_KFUNC) /* named from the kernel's BTF */
				continue;
			load(insns, program(insns, &f, isa_op_by_id(id)));
			theirs = logged();
			if (!theirs) {
				unseen++;
				continue;
			}
			row_seen[id] = true;
			log_init(&log, 200);
			isa_print_insn(&log, insns, 0, &how);
			ours = log_text(&log, NULL);
			if (strcmp(theirs, ours)) {
				printf("# kernel: %s\n# ours:   %s\n", theirs, ours);
				different++;
			} else {
				same++;
			}
			free(ours);
			log_done(&log);
		}
	}
	EQ(different, 0);
	printf("# %u the same, %u refused before the log:", same, unseen);
	for (u32 id = 0; id < ISA_ID_MAX; id++)
		if (!row_seen[id])
			printf(" %02x/%s", isa_op_by_id(id)->code, isa_op_by_id(id)->name);
	printf("\n");
	OK(same > 700);
}

int main(void)
{
	static const struct bpf_insn nothing[] = {{.code = 0xb7}, {.code = 0x95}};

	if (load(nothing, 2)) {
		printf("ok 1 - # SKIP the kernel does not let this user load programs\n1..1\n");
		tap_finished = 1;
		return 0;
	}
	known_opcodes();
	same_text();
	return tap_done();
}
