/* Registers and states in the words of the kernel's log: texts recorded from 6.18, one for each
 * form. */
#include "tap.h"
#include "verify/verifier.h"

static struct log out;
static struct verifier v;
static struct state state;
static struct frame frame[2];
static struct map map = {.key_size = 4, .value_size = 64, .name = "flows"};

static char *taken(void)
{
	static char *text;

	free(text);
	text = log_text(&out, NULL);
	log_reset(&out, 0);
	return text;
}

static const char *shown(const struct reg *r)
{
	print_reg(&out, &v, r);
	return taken();
}

static struct reg scalar(u64 min, u64 max)
{
	struct reg r = {.type = REG_SCALAR, .v = value_unknown()};

	r.v.umin = min;
	r.v.umax = max;
	value_sync(&r.v);
	return r;
}

static struct reg pointer(enum reg_type type)
{
	return (struct reg){.type = type, .v = value_const(0)};
}

static void numbers(void)
{
	struct reg r = scalar(0, ~0ull), c = scalar(5, 5);
	struct value minus = value_const(-100);

	STR(shown(&r), "scalar()");
	r.id = 3;
	STR(shown(&r), "scalar(id=3)");
	r.id |= REG_LINK_ADD64;
	r.off = -5;
	STR(shown(&r), "scalar(id=3-5)");
	STR(shown(&c), "5");
	c.precise = true;
	STR(shown(&c), "P5");
	c = scalar(~0ull - 1, ~0ull - 1);
	STR(shown(&c), "-2");
	c = scalar(0x123456789, 0x123456789);
	STR(shown(&c), "0x123456789");
	r = scalar(0, 255);
	STR(shown(&r), "scalar(smin=smin32=0,smax=umax=smax32=umax32=255,var_off=(0x0; 0xff))");
	r = scalar(0, 0xffff); /* signed bounds turn hexadecimal earlier than unsigned ones */
	STR(shown(&r),
	    "scalar(smin=smin32=0,smax=umax=smax32=umax32=0xffff,var_off=(0x0; 0xffff))");
	r = scalar(0, 0xffffffff);
	STR(shown(&r), "scalar(smin=0,smax=umax=0xffffffff,var_off=(0x0; 0xffffffff))");
	r = scalar(0, 100);
	value_alu(&r.v, &minus, BPF_ADD, false);
	STR(shown(&r), "scalar(smin=smin32=-100,smax=smax32=0)");
	r = scalar(0, 0x1ffffff);
	value_neg(&r.v, false); /* in hexadecimal a 32-bit bound has 32 bits */
	STR(shown(&r), "scalar(smin=0xfffffffffe000001,smax=smax32=0,smin32=0xfe000001)");
}

static void pointers(void)
{
	struct reg r = pointer(REG_CTX), any = scalar(0, 7);

	STR(shown(&r), "ctx()");
	r.off = 4;
	STR(shown(&r), "ctx(off=4)");
	r = pointer(REG_MAP_VALUE);
	r.map = &map;
	r.flags = REGF_NULL;
	r.id = 1;
	STR(shown(&r), "map_value_or_null(id=1,map=flows,ks=4,vs=64)");
	r.flags = 0;
	r.id = 0;
	r.off = 8;
	r.v = any.v;
	STR(shown(&r), "map_value(map=flows,ks=4,vs=64,off=8,smin=smin32=0,smax=umax=smax32=umax32="
		       "7,var_off=(0x0; 0x7))");
	r = pointer(REG_PACKET);
	r.id = 2;
	r.off = 14;
	r.range = 34;
	STR(shown(&r), "pkt(id=2,off=14,r=34)");
	r.range = (u32)REG_BEYOND_PKT_END;
	STR(shown(&r), "pkt(id=2,off=14,r=0xfffffffffffffffe)");
	r = pointer(REG_PACKET_END);
	STR(shown(&r), "pkt_end()");
	r = pointer(REG_MEM);
	r.flags = REGF_RINGBUF | REGF_NULL;
	r.id = r.ref_id = 4;
	r.mem_size = 24;
	STR(shown(&r), "ringbuf_mem_or_null(id=4,ref_obj_id=4,sz=24)");
	r = pointer(REG_STACK);
	r.off = -16;
	STR(shown(&r), "fp-16");
	r.frameno = 1;
	STR(shown(&r), "fp[1]-16");
	r.v = any.v;
	STR(shown(&r), "fp[1](off=-16,smin=smin32=0,smax=umax=smax32=umax32=7,var_off=(0x0; 0x7))");
}

static void states(void)
{
	struct slot slots[4] = {0};
	struct frame *f = &frame[0];

	f->regs[0] = scalar(1, 1);
	f->regs[10] = pointer(REG_STACK);
	f->slots = slots;
	f->n_slots = ARRAY_SIZE(slots);
	memset(slots[0].type, SLOT_MISC, 4); /* the upper half of fp-8 */
	memset(slots[1].type, SLOT_SPILL, 8);
	slots[1].spilled = scalar(0, 255);
	slots[1].spilled.id = 7;
	memset(slots[2].type, SLOT_ZERO, 4);
	memset(slots[2].type + 4, SLOT_SPILL, 4);
	slots[2].spilled = scalar(9, 9);
	print_state(&v, &state, 0, true);
	STR(taken(), " R0=1 R10=fp0 fp-8=mmmm???? "
		     "fp-16=scalar(id=7,smin=smin32=0,smax=umax=smax32=umax32=255,"
		     "var_off=(0x0; 0xff)) fp-24=00009\n");
	v.scratched_regs = 1;
	v.scratched_slots = 4;
	print_state(&v, &state, 0, false);
	STR(taken(), " R0=1 fp-24=00009\n");
	EQ(v.scratched_regs, 0);
	f->slots = NULL;
	f->n_slots = 0;
	frame[1].frameno = 1;
	state.cur = 1;
	print_state(&v, &state, 1, true);
	STR(taken(), " frame1:\n");
	state.cur = 0;
}

/* The state stands behind its instruction, unless something was said in between. */
static void lines(void)
{
	const struct bpf_insn insn[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1}};

	v.insns = insn;
	v.n_insns = 1;
	print_insn_line(&v, 0);
	v.scratched_regs = 1;
	print_insn_state(&v, &state, 0);
	STR(taken(), "0: (b7) r0 = 1                        ; R0=1\n");
	print_insn_line(&v, 0);
	verify_say(&v, ABI_LOG_LEVEL2, "mark_precise\n");
	verify_say(&v, ABI_LOG_LEVEL1, "not at this level\n");
	v.scratched_regs = 1;
	print_insn_state(&v, &state, 0);
	STR(taken(), "0: (b7) r0 = 1\nmark_precise\n0: R0=1\n");
}

int main(void)
{
	struct verify_input in = {.n_insns = 1};

	log_init(&out, 1 << 16);
	out.level = ABI_LOG_LEVEL2;
	v.in = &in;
	v.log = &out;
	v.cur = &state;
	state.frame[0] = &frame[0];
	state.frame[1] = &frame[1];
	numbers();
	pointers();
	states();
	lines();
	taken();
	log_done(&out);
	return tap_done();
}
