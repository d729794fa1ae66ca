/* isa: the table, round trips through text for every row, what the assembler refuses, successors.
 */
#include "forms.h"
#include "tap.h"

static const char *imm64_text(void *ctx, u32 idx, char *buf, size_t room)
{
	const struct bpf_insn *i = (const struct bpf_insn *)ctx + idx;
	const struct isa_op *op = isa_op(i);

	if (i->src_reg == BPF_PSEUDO_FUNC)
		snprintf(buf, room, "func(pc%+d)", i->imm);
	else
		snprintf(buf, room, "%s(%d, %d)", op->name, i->imm, i[1].imm);
	return buf;
}

/* With and without the opcode in front. */
static bool round_trip(const struct form *f, u32 skip)
{
	struct isa_print how = {(void *)f->insn, form_helper_name, NULL, imm64_text, false};
	struct bpf_insn *back = NULL;
	struct log text, err;
	char *line, *why;
	u32 n = 0;
	bool same;

	log_init(&text, 200);
	log_init(&err, 200);
	isa_print_insn(&text, f->insn, 0, &how);
	line = log_text(&text, NULL);
	same = !isa_assemble(line + skip, &back, &n, &err) && n == f->n &&
	       !memcmp(back, f->insn, n * sizeof(*back));
	if (!same) {
		why = log_text(&err, NULL);
		printf("# %s: %s\n", line, why);
		free(why);
	}
	free(line);
	free(back);
	log_done(&text);
	log_done(&err);
	return same;
}

static void rows(void)
{
	struct form f;
	u32 tried = 0;

	for (u32 id = 0; id < ISA_ID_MAX; id++) {
		bool same = true;

		for (u32 v = 0; form_make(&f, id, v); v++, tried++) {
			same &= isa_op(&f.insn[0]) == isa_op_by_id(id);
			same &= round_trip(&f, 0) && round_trip(&f, 5);
		}
		if (!same)
			printf("# row %u, opcode %02x\n", id, isa_op_by_id(id)->code);
		if (!same || id == ISA_ID_MAX - 1)
			OK(same);
	}
	OK(tried == 6 * ISA_ID_MAX);
}

static bool prints(struct bpf_insn insn, const char *want)
{
	struct bpf_insn two[2] = {insn};
	struct log log;
	char *got;
	bool same;

	log_init(&log, 200);
	isa_print_insn(&log, two, 0, NULL);
	got = log_text(&log, NULL);
	same = !strcmp(got, want);
	if (!same)
		printf("# got %s\n", got);
	free(got);
	log_done(&log);
	return same;
}

/* Reserved fields hold something unknown: the plain instruction, as the kernel prints it before
 * refusing. */
static void odd_ones(void)
{
	OK(!isa_op(&(struct bpf_insn){.code = 0xbf, .off = 7}));
	OK(prints((struct bpf_insn){.code = 0xbf, .dst_reg = 1, .src_reg = 2, .off = 7},
		  "(bf) r1 = r2"));
	OK(prints((struct bpf_insn){.code = 0x3f, .dst_reg = 1, .off = 2}, "(3f) r1 /= r0"));
	OK(prints((struct bpf_insn){.code = 0xd4, .dst_reg = 3, .imm = 24}, "(d4) r3 = le24 r3"));
	OK(prints((struct bpf_insn){.code = 0xdb, .imm = 0x77}, "BUG_db"));
	OK(prints((struct bpf_insn){.code = 0xff}, "BUG_ff"));
	OK(prints((struct bpf_insn){.code = 0x85, .src_reg = 7, .imm = 1}, "(85) call unknown#1"));
	OK(!isa_known_opcode(0x8d) && !isa_known_opcode(0xf5) && !isa_known_opcode(0));
	OK(isa_known_opcode(0x18) && isa_known_opcode(0xe5) && isa_known_opcode(0x06));
}

static void assembles(void)
{
	struct bpf_insn *p;
	struct log err;
	u32 n;

	log_init(&err, 200);
	EQ(isa_assemble("	r1 = 5		; five\n"
			"loop:	r1 += -1	# down\n"
			"\n"
			"3: (55) if r1 != 0x0 goto loop ; R1=scalar()\n"
			"	gotol end\n"
			"	call f\n"
			"	r2 = func(f)\n"
			"end:\n"
			"	exit\n"
			"f:	exit\n",
			&p, &n, &err),
	   0);
	EQ(n, 9);
	EQ(p[2].off, -2);
	EQ(p[3].imm, 3);
	EQ(p[4].imm, 3);
	EQ(p[5].imm, 2);
	EQ(p[5].src_reg, BPF_PSEUDO_FUNC);
	free(p);
	EQ(isa_assemble("r3 = 0xffffffffffffffff\nr4 = 7 ll\nw1 = 0xffffffff\n", &p, &n, &err), 0);
	EQ(n, 5);
	EQ(p[1].imm, -1);
	EQ(p[4].imm, -1);
	free(p);
	log_done(&err);
}

static bool refused(const char *text, const char *want)
{
	struct bpf_insn *p = NULL;
	struct log err;
	char *got;
	bool good;
	u32 n;

	log_init(&err, 200);
	good = isa_assemble(text, &p, &n, &err) == -EINVAL && !p;
	got = log_text(&err, NULL);
	good = good && strstr(got, want);
	if (!good)
		printf("# %s: %s\n", text, got);
	free(got);
	log_done(&err);
	return good;
}

static void refuses(void)
{
	OK(refused("r0 = 1\nr11 = 2\nexit", "line 2: expected an instruction at \"r11 = 2\""));
	OK(refused("(bf) r1 = 2", "this is opcode b7, not bf"));
	OK(refused("goto nowhere\nexit", "line 1: no such label"));
	OK(refused("a: exit\na: exit", "stands elsewhere"));
	OK(refused("r1 = w2", "same width"));
	OK(refused("w1 = (s32)w2", "(s8) or (s16)"));
	OK(refused("r1 = 3000000000", "32 bits"));
	OK(refused("r1 += 3000000000", "32-bit number"));
	OK(refused("r1 = *(s64 *)(r2 +0)", "s64"));
	OK(refused("r1 = *(u32 *)(r2 +40000)", "(rN +off)"));
	OK(refused("r2 = atomic_xchg((u32 *)(r1 +0), r3)", "the result"));
	OK(refused("r3 = atomic64_xchg((u32 *)(r1 +0), r3)", "arguments"));
	OK(refused("lock *(u8 *)(r1 +0) += r2", "u32 or u64"));
	OK(refused("exit exit", "end of the line"));
	OK(refused("  ; nothing\n", "no instruction"));
	OK(refused("if r1 =! 3 goto pc+1", "comparison"));
	OK(refused("r1 = 99999999999999999999", "value"));
}

static void successors(void)
{
	static const char text[] =
	    "if r1 == 0x5 goto pc+3\nr2 = 0x1\ngoto pc+0\nmay_goto pc+1\nexit\ngoto pc+9\n";
	struct bpf_insn *p;
	struct log err;
	u32 n, next[2];

	log_init(&err, 200);
	EQ(isa_assemble(text, &p, &n, &err), 0);
	EQ(isa_successors(p, n, 0, next), 2);
	OK(next[0] == 1 && next[1] == 4);
	EQ(isa_successors(p, n, 1, next), 1);
	EQ(next[0], 3);
	EQ(isa_successors(p, n, 4, next), 2);
	OK(next[0] == 5 && next[1] == 6);
	EQ(isa_successors(p, n, 5, next), 0);
	EQ(isa_successors(p, n, 6, next), 0);
	free(p);
	log_done(&err);
}

int main(void)
{
	rows();
	odd_ones();
	assembles();
	refuses();
	successors();
	return tap_done();
}
