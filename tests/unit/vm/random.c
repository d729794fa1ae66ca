/* random [COUNT [SEED]]: random programs get the same memory and result from every engine, and from
 * the kernel where bpf(2) is allowed. What the fast interpreter fuses, the observed one runs one by
 * one, so they check each other. Prints TAP; a failing program is printed with its seed.
 *
 * A program is what the verifier accepts: r1 stays the packet, the other registers are numbers,
 * jumps go forward.
 *
 * Two faults of kernel 6.18 are kept out of the comparison. (1) What its verifier knows of a stack
 * slot that only atomics read gets lost when a path is pruned, and a branch that can be taken is
 * removed as dead: so atomics have slots of their own that nothing is ever known about. (2) On a
 * pruned path it forgets that a 32-bit cmpxchg clears the upper half of r0: so a move that clears
 * it follows. */
#include "base/bits.h"
#include "isa/isa.h"
#include "kernel.h"
#include "program.h"
#include "tap.h"

#define LEN 192 /* bytes of packet: registers and stack are stored into its beginning at the end   \
		 */
#define SLOTS                                                                                      \
	8 /* 8-byte slots of stack: the upper half for atomics, the lower for everything else */
#define BODY 60 /* instructions between prologue and epilogue */

static u64 state;

static u32 rnd(u32 below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % below;
}

static u8 number(void) /* a register that holds a number: r0, r2-r9 */
{
	u8 r = rnd(9);

	return r ? r + 1 : 0;
}

static s32 immediate(void)
{
	static const s32 corners[] = {
	    0, 1, -1, 2, 7, 8, 31, 255, 0x7fffffff, -0x7fffffff - 1, 0x8000, -128};

	return rnd(2) ? corners[rnd(ARRAY_SIZE(corners))] : (s32)((rnd(65536) << 16) | rnd(65536));
}

struct code {
	struct bpf_insn insns[256];
	u32 n;
};

static void add(struct code *c, u8 op, u8 dst, u8 src, s16 off, s32 imm)
{
	c->insns[c->n++] = (struct bpf_insn){op, dst, src, off, imm};
}

/* An address of the packet or the stack for an access of this size; stack accesses are aligned. */
static void address(u8 *reg, s16 *off, u32 size, bool ordered, bool atomic)
{
	if (ordered || rnd(2)) {
		*reg = 10;
		*off = -(s32)(rnd(SLOTS * 4 / size) + 1) * size - (atomic ? 0 : SLOTS * 4);
	} else {
		*reg = 1;
		*off = rnd(LEN - size + 1);
	}
}

static s32 alu_immediate(const struct isa_op *op)
{
	u32 bits = BPF_CLASS(op->code) == BPF_ALU ? 32 : 64;
	s32 imm = immediate();

	/* the verifier refuses these constants */
	if (BPF_OP(op->code) == BPF_LSH || BPF_OP(op->code) == BPF_RSH ||
	    BPF_OP(op->code) == BPF_ARSH)
		return (u32)imm % bits;
	if ((BPF_OP(op->code) == BPF_DIV || BPF_OP(op->code) == BPF_MOD) && !imm)
		return 3;
	return imm;
}

static void alu(struct code *c, const struct isa_op *op, u8 dst)
{
	s16 off = op->sub == ISA_SUB_OFF ? op->sub_value : 0;

	if (op->form == ISA_NEG)
		add(c, op->code, dst, 0, 0, 0);
	else if (op->form == ISA_END)
		add(c, op->code, dst, 0, 0, op->sub_value);
	else if (BPF_SRC(op->code) == BPF_X)
		add(c, op->code, dst, number(), off, 0);
	else
		add(c, op->code, dst, 0, off, alu_immediate(op));
}

/* A move and arithmetic on the same register: what the fast interpreter fuses, or must not. */
static void move_and_alu(struct code *c)
{
	const struct isa_op *op;
	u8 dst = number();

	do
		op = isa_op_by_id(rnd(ISA_ID_MAX));
	while (op->form != ISA_ALU);
	add(c, (rnd(2) ? BPF_ALU64 : BPF_ALU) | BPF_MOV | BPF_X, dst, number(), 0, 0);
	alu(c, op, dst);
}

static void memory(struct code *c, const struct isa_op *op)
{
	bool ordered =
	    op->form == ISA_ATOMIC || op->form == ISA_LOAD_ACQ || op->form == ISA_STORE_REL;
	s32 imm = ordered ? op->sub_value : op->form == ISA_ST ? immediate() : 0;
	s16 off;
	u8 reg;

	address(&reg, &off, isa_size(op->code), ordered, op->form == ISA_ATOMIC);
	if (op->form == ISA_LDX || op->form == ISA_LDSX || op->form == ISA_LOAD_ACQ)
		add(c, op->code, number(), reg, off, imm);
	else
		add(c, op->code, reg, op->form == ISA_ST ? 0 : number(), off, imm);
	if (op->id == ISA_ID_CMPXCHG32)
		add(c, BPF_ALU | BPF_MOV | BPF_X, 0, 0, 0, 0);
}

/* Forward, by a distance that is patched when the end is known: off holds how many of what follows
 * it skips. */
static void jump(struct code *c, const struct isa_op *op)
{
	bool reg = BPF_SRC(op->code) == BPF_X;

	add(c, op->code, number(), reg ? number() : 0, 1, reg ? 0 : immediate());
	if (rnd(2))
		add(c, BPF_JMP | BPF_JA, 0, 0, rnd(4), 0);
	else
		c->insns[c->n - 1].off = rnd(6);
}

static void one(struct code *c)
{
	const struct isa_op *op = isa_op_by_id(rnd(ISA_ID_MAX));

	switch (op->form) {
	case ISA_ALU:
	case ISA_NEG:
	case ISA_END:
	case ISA_MOV:
	case ISA_MOVSX:
		alu(c, op, number());
		break;
	case ISA_LDX:
	case ISA_LDSX:
	case ISA_ST:
	case ISA_STX:
	case ISA_ATOMIC:
	case ISA_LOAD_ACQ:
	case ISA_STORE_REL:
		memory(c, op);
		break;
	case ISA_JCOND:
		jump(c, op);
		break;
	default:
		move_and_alu(c);
	}
}

static void generate(struct code *c)
{
	c->n = 0;
	for (u32 i = 0; i < SLOTS; i++) {
		add(c, BPF_LDX | BPF_MEM | BPF_DW, 0, 1, 80 + 8 * i, 0);
		add(c, BPF_STX | BPF_MEM | BPF_DW, 10, 0, -8 * (s32)(i + 1), 0);
	}
	for (u32 r = 0; r < 10; r++)
		if (r != 1)
			add(c, BPF_LDX | BPF_MEM | BPF_DW, r, 1, 8 * r, 0);
	for (u32 end = c->n + BODY; c->n < end;)
		one(c);
	/* all distances above stay below this */
	for (u32 i = 0; i < 6; i++)
		add(c, BPF_ALU64 | BPF_ADD | BPF_K, 0, 0, 0, 1);
	for (u32 r = 0; r < 10; r++)
		if (r != 1)
			add(c, BPF_STX | BPF_MEM | BPF_DW, 1, r, 8 * r, 0);
	for (u32 i = 0; i < SLOTS; i++) {
		add(c, BPF_LDX | BPF_MEM | BPF_DW, 2, 10, -8 * (s32)(i + 1), 0);
		add(c, BPF_STX | BPF_MEM | BPF_DW, 1, 2, 80 + 8 * i, 0);
	}
	add(c, BPF_ALU | BPF_MOV | BPF_X, 0, 0, 0, 0);
	add(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static int on_vm(const struct code *c, u8 *mem, bool observed, u64 *r0)
{
	const struct vm_func f = {0, c->n, 512};
	const struct vm_code code = {c->insns, NULL, c->n, &f, 1, NULL};
	struct vm_image *img;
	struct env env;
	int rc;

	rc = vm_image_new(&img, &code);
	if (rc)
		return rc;
	env_init(&env, &env_host_world);
	env_enter(&env);
	rc = vm_run_raw(img, &env, addr_of(mem), LEN, observed ? 100000 : 0, observed, r0);
	env_leave(&env);
	vm_image_free(img);
	return rc;
}

static void show(const struct code *c, u64 seed, const char *why)
{
	struct log log;
	char *text;

	printf("# seed %llu: %s\n", (unsigned long long)seed, why);
	log_init(&log, 65536);
	for (u32 i = 0; i < c->n; i++) {
		log_printf(&log, "#\t");
		isa_print_insn(&log, &c->insns[i], i, NULL);
		log_printf(&log, "\n");
	}
	text = log_text(&log, NULL);
	fputs(text, stdout);
	free(text);
	log_done(&log);
}

static u32 loaded;

/* NULL, or who disagrees. */
static const char *disagrees(const struct code *c, const u8 *in, char *why, size_t room)
{
	u8 fast[LEN], observed[LEN], kernel[LEN];
	u64 r0, r0_observed;
	u32 r0_kernel;
	int fd, rc;

	memcpy(fast, in, LEN);
	memcpy(observed, in, LEN);
	if (on_vm(c, fast, false, &r0) || on_vm(c, observed, true, &r0_observed))
		return "an engine failed";
	if (r0 != r0_observed || memcmp(fast, observed, LEN))
		return "fast and observed differ";
	if (!kernel_allows())
		return NULL;
	if (kernel_load_xdp(&fd, c->insns, c->n, LEN, why, room))
		return why;
	loaded++;
	rc = kernel_run(fd, in, kernel, LEN, &r0_kernel);
	close(fd);
	if (rc)
		return "the kernel's test run failed";
	if ((u32)r0 == r0_kernel && !memcmp(fast, kernel, LEN))
		return NULL;
	snprintf(why, room, "the kernel differs: r0 0x%x, ours 0x%x", r0_kernel, (u32)r0);
	for (u32 i = 0; i + 8 <= LEN; i += 8)
		if (memcmp(fast + i, kernel + i, 8))
			snprintf(why + strlen(why), room - strlen(why), "; +%u 0x%llx, ours 0x%llx",
				 i, (unsigned long long)LOAD(u64, kernel + i),
				 (unsigned long long)LOAD(u64, fast + i));
	return why;
}

int main(int argc, char **argv)
{
	u64 count = argc > 1 ? strtoull(argv[1], NULL, 0) : 400,
	    seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	u32 wrong = 0;

	for (u64 end = seed + count; seed < end && wrong < 5; seed++) {
		const char *who;
		struct code c;
		u8 in[LEN];
		char why[600];

		state = seed * 0x9e3779b97f4a7c15u;
		for (u32 i = 0; i < LEN; i++)
			in[i] = rnd(3) ? rnd(256) : rnd(2) * 255;
		generate(&c);
		who = disagrees(&c, in, why, sizeof(why));
		if (who) {
			show(&c, seed, who);
			wrong++;
		}
	}
	EQ(wrong, 0);
	if (kernel_allows())
		EQ(loaded, count);
	else
		printf("ok %d - # SKIP %s\n", ++tap_n, kernel_why_not());
	return tap_done();
}
