/* Numbers as the kernel sees them: random programs of arithmetic and jumps are judged by both
 * verifiers, and what is known of every register after every instruction, as the logs of level 2
 * tell it, must be the same text. So must be the refusals of single instructions with any fields on
 * registers of many types.
 *
 * Lines about precision are left out: they are precise.c's, and the marks they end in show in the
 * states. */
#include "tap.h"
#include "value.h"
#include "kind/kind.h"
#include "verify/verify.h"
#include <sys/syscall.h>
#include <sys/utsname.h>

enum { MAX_INSNS = 64, LOG_SIZE = 1 << 22 };

struct program {
	struct bpf_insn insn[MAX_INSNS];
	u32 n;
	u32 jump[MAX_INSNS], n_jumps; /* jumps to the end, whose place is not known yet */
};

static void emit(struct program *p, u8 code, u32 dst, u32 src, s16 off, s32 imm)
{
	p->insn[p->n++] =
	    (struct bpf_insn){.code = code, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm};
}

static u32 any_reg(void)
{
	static const u8 reg[] = {0, 6, 7, 8};

	return reg[rand64() % ARRAY_SIZE(reg)];
}

static void emit_jump(struct program *p)
{
	static const u8 op[] = {BPF_JEQ,  BPF_JGT, BPF_JGE, BPF_JSET, BPF_JNE, BPF_JSGT,
				BPF_JSGE, BPF_JLT, BPF_JLE, BPF_JSLT, BPF_JSLE};
	u8 code = op[rand64() % ARRAY_SIZE(op)] | (rand64() & 1 ? BPF_JMP : BPF_JMP32);

	p->jump[p->n_jumps++] = p->n;
	if (rand64() & 1)
		emit(p, code | BPF_X, any_reg(), any_reg(), 0, 0);
	else
		emit(p, code | BPF_K, any_reg(), 0, 0, (s32)rand_number());
}

static void emit_move(struct program *p)
{
	static const u8 from[] = {0, 8, 16, 32};
	bool wide = rand64() & 1;
	u8 code = BPF_MOV | (wide ? BPF_ALU64 : BPF_ALU);

	if (rand64() % 4 == 0)
		emit(p, code | BPF_K, any_reg(), 0, 0, (s32)rand_number());
	else
		emit(p, code | BPF_X, any_reg(), any_reg(), from[rand64() % (wide ? 4 : 3)], 0);
}

static void emit_unary(struct program *p)
{
	static const u8 code[] = {BPF_NEG | BPF_ALU, BPF_NEG | BPF_ALU64,
				  BPF_END | BPF_ALU | BPF_TO_LE, BPF_END | BPF_ALU | BPF_TO_BE,
				  BPF_END | BPF_ALU64};
	u32 i = rand64() % ARRAY_SIZE(code);

	emit(p, code[i], any_reg(), 0, 0, i < 2 ? 0 : 16 << rand64() % 3);
}

static void emit_alu(struct program *p)
{
	static const u8 op[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV,  BPF_OR,  BPF_AND, BPF_LSH,
				BPF_RSH, BPF_MOD, BPF_XOR, BPF_ARSH, BPF_ADD, BPF_AND, BPF_ARSH};
	u8 o = op[rand64() % ARRAY_SIZE(op)];
	bool wide = rand64() % 3, shift = o == BPF_LSH || o == BPF_RSH || o == BPF_ARSH;
	u8 code = o | (wide ? BPF_ALU64 : BPF_ALU);
	s32 imm = (s32)rand_number();

	if (shift)
		imm = (u32)imm % (wide ? 64 : 32);
	else if (!imm)
		imm = 1;
	if (rand64() % 3 == 0)
		emit(p, code | BPF_X, any_reg(), any_reg(), 0, 0);
	else
		emit(p, code | BPF_K, any_reg(), 0, 0, imm);
}

/* Four numbers that nothing is known of, then `steps` random instructions; every jump goes to the
 * end. */
static void make(struct program *p, u32 steps)
{
	p->n = p->n_jumps = 0;
	for (u32 r = BPF_REG_6; r <= BPF_REG_9; r++) {
		emit(p, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ktime_get_ns);
		emit(p, BPF_ALU64 | BPF_MOV | BPF_X, r, 0, 0, 0);
	}
	while (steps--) {
		u32 what = rand64() % 8;

		if (what < 3)
			emit_jump(p);
		else if (what == 3)
			emit_move(p);
		else if (what == 4 && rand64() & 1)
			emit_unary(p);
		else
			emit_alu(p);
	}
	for (u32 i = 0; i < p->n_jumps; i++)
		p->insn[p->jump[i]].off = p->n - p->jump[i] - 1;
	emit(p, BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
	emit(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static s32 odd_imm(void)
{
	static const s32 usual[] = {0, 0, 1, 8, 16, 32, 64, 31, -1};

	return rand64() & 1 ? usual[rand64() % ARRAY_SIZE(usual)] : (s32)rand_number();
}

/* One arithmetic instruction or jump with whatever in its fields. Jumps stay inside. Left out are
 * may_goto and values of off that only change how the kernel prints what it then refuses. */
static void emit_any(struct program *p)
{
	static const u8 class[] = {BPF_ALU, BPF_ALU64, BPF_JMP, BPF_JMP32};
	static const s16 usual[] = {0, 0, 0, 1, 8, 16, 64};
	u8 c = class[rand64() % ARRAY_SIZE(class)], op = rand64() % 16 << 4;
	bool jump = c == BPF_JMP || c == BPF_JMP32;

	if (jump && (op == BPF_JA || op == BPF_CALL || op == BPF_EXIT || op == ABI_JCOND))
		op = BPF_JNE;
	emit(p, c | op | (rand64() & 1 ? BPF_X : BPF_K), rand64() % 12,
	     rand64() & 1 ? 0 : rand64() % 12,
	     jump ? rand64() & 1 : usual[rand64() % ARRAY_SIZE(usual)], odd_imm());
}

/* Registers of many types, then `steps` such instructions: r1 context, r2 any number, r3 a packet
 * pointer moved by a number, r7 0 .. 7, r8 packet, r9 its end, r0 and r6 copies of each other, r4
 * and r5 not readable. */
static void make_any(struct program *p, u32 steps)
{
	p->n = p->n_jumps = 0;
	emit(p, BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0);
	emit(p, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ktime_get_ns);
	emit(p, BPF_ALU64 | BPF_MOV | BPF_X, 1, 6, 0, 0);
	emit(p, BPF_ALU64 | BPF_MOV | BPF_X, 2, 0, 0, 0);
	emit(p, BPF_ALU64 | BPF_MOV | BPF_X, 7, 0, 0, 0);
	emit(p, BPF_ALU64 | BPF_AND | BPF_K, 7, 0, 0, 7);
	emit(p, BPF_LDX | BPF_MEM | BPF_W, 8, 1, 0, 0);
	emit(p, BPF_LDX | BPF_MEM | BPF_W, 9, 1, 4, 0);
	emit(p, BPF_ALU64 | BPF_MOV | BPF_X, 3, 8, 0, 0);
	emit(p, BPF_ALU64 | BPF_ADD | BPF_X, 3, 7, 0, 0);
	emit(p, BPF_ALU64 | BPF_MOV | BPF_X, 6, 0, 0, 0);
	while (steps--)
		emit_any(p);
	emit(p, BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
	emit(p, BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
	emit(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static int kernel_verdict(const struct program *p, char *log)
{
	union abi_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_load.prog_type = BPF_PROG_TYPE_XDP;
	attr.prog_load.insn_cnt = p->n;
	attr.prog_load.insns = addr_of(p->insn);
	attr.prog_load.license = addr_of("GPL");
	attr.prog_load.log_level = ABI_LOG_LEVEL2;
	attr.prog_load.log_size = LOG_SIZE;
	attr.prog_load.log_buf = addr_of(log);
	log[0] = '\0';
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int no_maps(void *ctx, s32 fd, bool fd_is_index, struct map **map)
{
	return -EBADF;
}

static int own_verdict(const struct program *p, char **text)
{
	struct log log;
	struct verify_input in = {.insns = p->insn,
				  .n_insns = p->n,
				  .kind = kind_get(BPF_PROG_TYPE_XDP),
				  .gpl = true,
				  .caps = VERIFY_CAP_SYS_ADMIN,
				  .use_map = no_maps,
				  .log = &log};
	struct refusal why = {0};
	struct proof proof;
	int err;

	log_init(&log, LOG_SIZE);
	log.level = ABI_LOG_LEVEL2;
	err = verify_program(&in, &proof, &why);
	if (!err)
		verify_proof_done(&proof);
	*text = log_text(&log, NULL);
	log_done(&log);
	return err;
}

static bool is_about_numbers(const char *line)
{
	return strncmp(line, "mark_precise:", 13) && strncmp(line, "force_precise:", 14);
}

static char *next_line(char **at)
{
	char *line;

	do
		line = strsep(at, "\n");
	while (line && !is_about_numbers(line));
	return line;
}

/* The first line in which the logs differ, counted from 1; 0: none. */
static u32 compare(char *kernel, char *own)
{
	for (u32 n = 1;; n++) {
		char *k = next_line(&kernel), *o = next_line(&own);

		if (!k && !o)
			return 0;
		if (!k || !o || strcmp(k, o)) {
			printf("# kernel: %s\n# own:    %s\n", k ? k : "(end)", o ? o : "(end)");
			return n;
		}
	}
}

static u32 different(void (*generate)(struct program *p, u32 steps), u32 programs, u32 steps)
{
	static char log[LOG_SIZE];
	u32 bad = 0;

	for (u32 i = 0; i < programs && bad < 5; i++) {
		struct program p;
		int kernel, own;
		char *text;
		u32 line;

		generate(&p, steps);
		kernel = kernel_verdict(&p, log);
		own = own_verdict(&p, &text);
		if (!text)
			return ++bad;
		line = compare(log, text);
		free(text);
		if (kernel != own || line) {
			printf("# program %u of %u steps: kernel %d, own %d, line %u\n", i, steps,
			       kernel, own, line);
			bad++;
		}
	}
	return bad;
}

static const char *why_not(void)
{
	struct utsname u;
	struct program p = {0};
	static char log[LOG_SIZE];

	if (uname(&u) || strncmp(u.release, "6.18.", 5))
		return "the kernel is not 6.18";
	make(&p, 0);
	return kernel_verdict(&p, log) ? "no bpf(2)" : NULL;
}

int main(void)
{
	const char *reason = why_not();

	if (reason) {
		printf("1..0 # SKIP %s\n", reason);
		tap_finished = 1;
		return 0;
	}
	EQ(different(make, 400, 6), 0);
	EQ(different(make, 400, 14), 0);
	EQ(different(make, 300, 30), 0);
	EQ(different(make_any, 3000, 1), 0);
	EQ(different(make_any, 500, 2), 0);
	return tap_done();
}
