/* Functions, blocks, conditions and loops of a random program. */
#include "gen_private.h"
#include "unit/btf/blob.h"

const struct gen_map_spec gen_maps[GEN_MAPS] = {
#define MAP(name, type, key, value, entries, flags, fill) { #name, type, key, value, entries, flags, fill },
#include "maps.def"
#undef MAP
};

/* ---- writing */

void put(struct gen *g, u8 code, u8 dst, u8 src, s64 off, s64 imm)
{
	struct gen_program *p = g->p;

	assert(p->n < GEN_INSNS);
	p->insn[p->n++] = (struct bpf_insn){ .code = code, .dst_reg = dst, .src_reg = src, .off = (s16)off, .imm = (s32)imm };
	if (g->budget)
		g->budget--;
}

void put_mov(struct gen *g, u8 dst, u8 src)
{
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
	if (src == 10)
		g->now.reg[dst] = (struct held){ .what = STACK };
	else
		g->now.reg[dst] = g->now.reg[src];
}

void set_num(struct gen *g, u8 reg, u64 max)
{
	g->now.reg[reg] = (struct held){ .what = NUM, .max = max };
}

void put_imm(struct gen *g, u8 dst, s64 imm)
{
	put(g, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm);
	set_num(g, dst, (u64)imm);
}

void put_map(struct gen *g, u8 dst, u32 map)
{
	put(g, BPF_LD | BPF_IMM | BPF_DW, dst, BPF_PSEUDO_MAP_FD, 0, map);
	put(g, 0, 0, 0, 0, 0);
	g->p->maps |= 1u << map;
	g->now.reg[dst] = (struct held){ 0 };
}

u32 put_jump(struct gen *g, u8 code, u8 dst, u8 src, s64 imm)
{
	put(g, code, dst, src, 0, imm);
	return g->p->n - 1;
}

void land(struct gen *g, u32 jump)
{
	struct bpf_insn *i = &g->p->insn[jump];
	s32 off = (s32)(g->p->n - jump - 1);

	if (i->code == (BPF_JMP32 | BPF_JA))
		i->imm = off;
	else
		i->off = (s16)off;
}

/* ---- what is where */

bool may_write(const struct gen *g, u8 reg, bool number)
{
	u16 bit = (u16)(1u << reg);

	return !(g->fixed & bit) && (number || !(g->numbers & bit));
}

int find_reg(struct gen *g, enum what what)
{
	u32 at = rnd(g, 10);

	for (u32 i = 0; i < 10; i++, at = (at + 1) % 10)
		if (g->now.reg[at].what == what)
			return (int)at;
	return -1;
}

int find_pointer(struct gen *g)
{
	u32 at = rnd(g, 10);

	for (u32 i = 0; i < 10; i++, at = (at + 1) % 10) {
		const struct held *h = &g->now.reg[at];

		if ((h->what == PKT || h->what == VALUE || h->what == STACK) && h->room)
			return (int)at;
	}
	return -1;
}

/* Rather one that holds nothing of use; r6-r9 live longer. */
int free_reg(struct gen *g, bool for_number)
{
	for (u32 tries = 0; tries < 12; tries++) {
		u8 r = chance(g, 60) ? 6 + rnd(g, 4) : rnd(g, 10);
		u8 what = g->now.reg[r].what;

		if (may_write(g, r, for_number) && (what == NONE || what == NUM || (what != CTX && tries > 8)))
			return r;
	}
	for (u8 r = 0; r < 6; r++)
		if (may_write(g, r, for_number))
			return r;
	return -1;
}

s64 constant(struct gen *g)
{
	if (chance(g, 15))
		return (s32)gen_rnd64(&g->rnd);
	return PICK(g, 0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 33, 48, 63, 64, 100, 127, 128, 255, 256, 0xfff, 0xffff, 0x10000,
		    0x7fffffff, 0x7ffffffe, -1, -2, -3, -4, -8, -16, -128, -256, -0x80000000ll, -0x7fffffff, 0x40000000);
}

/* A number that the verifier does not know, if there is one; else a constant. */
int num_reg(struct gen *g)
{
	int r = find_reg(g, NUM);

	if (r >= 0)
		return r;
	r = free_reg(g, true);
	if (r >= 0)
		put_imm(g, (u8)r, constant(g));
	return r;
}

void forget_packet(struct gen *g)
{
	for (u32 i = 0; i < 10; i++)
		if (g->now.reg[i].what == PKT || g->now.reg[i].what == END || g->now.reg[i].what == META)
			g->now.reg[i] = (struct held){ 0 };
	for (u32 i = 0; i < SLOTS; i++)
		if (g->now.slot[i].what == PKT || g->now.slot[i].what == END || g->now.slot[i].what == META)
			g->now.slot[i] = (struct held){ 0 };
}

void clobber(struct gen *g)
{
	memset(g->now.reg, 0, 6 * sizeof(g->now.reg[0]));
}

bool has_area(const struct gen *g)
{
	return g->now.slot[AREA].what == NUM;
}

bool may_call(const struct gen *g)
{
	return !((g->fixed | g->numbers) & 0x3f);
}

/* Where two paths meet only what both hold is known. */
static void meet_one(struct held *a, const struct held *b)
{
	if (a->what != b->what || a->map != b->map) {
		*a = (struct held){ 0 };
		return;
	}
	a->room = MIN(a->room, b->room);
	a->max = MAX(a->max, b->max);
}

static void meet(struct known *a, const struct known *b)
{
	for (u32 i = 0; i < 10; i++)
		meet_one(&a->reg[i], &b->reg[i]);
	for (u32 i = 0; i < SLOTS; i++)
		meet_one(&a->slot[i], &b->slot[i]);
}

/* ---- control flow */

void branch_block(struct gen *g, u32 jump, u32 statements)
{
	struct known before = g->now;

	g->depth++;
	block(g, statements);
	g->depth--;
	land(g, jump);
	meet(&g->now, &before);
}

static u8 compare_op(struct gen *g)
{
	return (u8)PICK(g, BPF_JEQ, BPF_JNE, BPF_JNE, BPF_JGT, BPF_JGE, BPF_JLT, BPF_JLE, BPF_JSGT, BPF_JSLT, BPF_JSGE, BPF_JSLE,
			BPF_JSET);
}

static u32 put_condition(struct gen *g, u8 r)
{
	u8 class = chance(g, 65) ? BPF_JMP : BPF_JMP32;
	int other = chance(g, 30) ? find_reg(g, NUM) : -1;

	if (other >= 0 && other != r)
		return put_jump(g, class | compare_op(g) | BPF_X, r, (u8)other, 0);
	return put_jump(g, class | compare_op(g) | BPF_K, r, 0, constant(g));
}

static void do_if(struct gen *g)
{
	int r = num_reg(g);
	u32 jump, other;
	struct known before, then;

	if (r < 0)
		return;
	jump = put_condition(g, (u8)r);
	if (chance(g, 60)) {
		branch_block(g, jump, 1 + rnd(g, 4));
		return;
	}
	before = g->now;
	g->depth++;
	block(g, 1 + rnd(g, 3));
	other = put_jump(g, chance(g, 85) ? BPF_JMP | BPF_JA : BPF_JMP32 | BPF_JA, 0, 0, 0);
	land(g, jump);
	then = g->now;
	g->now = before;
	block(g, 1 + rnd(g, 3));
	g->depth--;
	land(g, other);
	meet(&g->now, &then);
}

static void do_leave(struct gen *g)
{
	int r = find_reg(g, NUM);

	if (g->no_exit || r < 0 || g->n_exits == ARRAY_SIZE(g->exits))
		return;
	g->exits[g->n_exits++] = put_condition(g, (u8)r);
}

/* A loop's body may change numbers, and whatever was not there before. */
static void loop_body(struct gen *g, u8 counter, bool bounded_by_counter)
{
	u16 fixed = g->fixed, numbers = g->numbers, fixed_slots = g->fixed_slots;
	bool no_move = g->no_move;

	for (u8 r = 0; r < 6; r++)
		if (g->now.reg[r].what)
			g->now.reg[r] = (struct held){ 0 };
	for (u8 r = 6; r < 10; r++) {
		if (g->now.reg[r].what == NUM) {
			g->numbers |= (u16)(1u << r);
			g->now.reg[r].max = ~0ull;
		} else if (g->now.reg[r].what) {
			g->fixed |= (u16)(1u << r);
		}
	}
	for (u32 i = 0; i < SLOTS; i++)
		if (g->now.slot[i].what > NUM)
			g->fixed_slots |= (u16)(1u << i);
		else
			g->now.slot[i].max = ~0ull;
	g->fixed |= (u16)(1u << counter);
	if (bounded_by_counter)
		g->now.reg[counter].max = 16;
	g->no_move = true;
	g->loops++;
	g->depth++;
	block(g, 1 + rnd(g, 3));
	g->depth--;
	g->loops--;
	g->no_move = no_move;
	g->fixed = fixed;
	g->numbers = numbers;
	g->fixed_slots = fixed_slots;
}

static void do_loop(struct gen *g)
{
	u32 start, out = 0, rounds = 1 + rnd(g, g->loops ? 4 : 12);
	bool may_goto = chance(g, 20);
	struct known before;
	u8 counter = 6 + rnd(g, 4);

	if (g->loops > 1 || g->depth > 3 || !may_write(g, counter, false) || g->now.reg[counter].what == CTX)
		return;
	put_imm(g, counter, 0);
	before = g->now;
	start = g->p->n;
	if (may_goto)
		out = put_jump(g, BPF_JMP | ABI_JCOND, 0, 0, 0);
	loop_body(g, counter, !may_goto);
	put(g, BPF_ALU64 | BPF_ADD | BPF_K, counter, 0, 0, 1);
	put(g, (chance(g, 80) ? BPF_JMP : BPF_JMP32) | (u8)PICK(g, BPF_JLT, BPF_JLT, BPF_JNE, BPF_JSLT) | BPF_K, counter, 0,
	    (s64)start - g->p->n - 1, rounds);
	if (may_goto)
		land(g, out);
	for (u8 r = 0; r < 6; r++)
		before.reg[r] = (struct held){ 0 };
	for (u8 r = 6; r < 10; r++)
		before.reg[r].max = before.reg[r].what == NUM ? ~0ull : before.reg[r].max;
	meet(&g->now, &before);
	g->now.reg[counter].max = ~0ull;
}

static const struct {
	void (*fn)(struct gen *g);
	u8 weight;
} statements[] = {
	{ do_alu, 24 }, { do_unary, 6 }, { do_move, 8 }, { do_context, 9 }, { do_load_absolute, 3 }, { do_load, 20 }, { do_store, 14 }, { do_atomic, 6 },
	{ do_spill, 8 }, { do_fill, 8 }, { do_stack_index, 3 }, { do_packet_check, 12 }, { do_packet_index, 7 },
	{ do_value_index, 7 }, { do_packet_size, 3 }, { do_lookup, 9 }, { do_update, 3 }, { do_delete, 2 }, { do_ring, 2 },
	{ do_data, 4 }, { do_move_packet, 2 }, { do_bytes, 3 }, { do_csum, 1 }, { do_small_helper, 2 }, { do_call, 4 },
	{ do_callback, 2 }, { do_queue, 2 }, { do_each, 2 }, { do_tail_call, 1 }, { do_if, 18 }, { do_leave, 4 }, { do_loop, 5 },
};

static void statement(struct gen *g)
{
	static u32 total;
	u32 pick;

	if (!total)
		for (u32 i = 0; i < ARRAY_SIZE(statements); i++)
			total += statements[i].weight;
	pick = rnd(g, total);
	for (u32 i = 0; i < ARRAY_SIZE(statements); i++) {
		if (pick < statements[i].weight) {
			statements[i].fn(g);
			return;
		}
		pick -= statements[i].weight;
	}
}

void block(struct gen *g, u32 n)
{
	for (u32 i = 0; i < n && g->budget > 30 && g->p->n + 80 < GEN_INSNS; i++)
		if (g->depth < 5)
			statement(g);
		else
			do_alu(g);
}

/* ---- functions */

static void arguments(struct gen *g, u8 kind)
{
	switch (kind) {
	case GEN_MAIN:
		g->now.reg[1] = (struct held){ .what = CTX };
		break;
	case GEN_STATIC:	/* as do_call() passes them */
		g->now.reg[1] = (struct held){ .what = CTX };
		set_num(g, 2, ~0ull);
		g->now.reg[3] = (struct held){ .what = STACK, .room = 16 };
		break;
	case GEN_GLOBAL:
		set_num(g, 1, ~0ull);
		set_num(g, 2, ~0ull);
		break;
	case GEN_CALLBACK:	/* as do_callback() passes them */
		set_num(g, 1, ~0ull);
		g->now.reg[2] = (struct held){ .what = STACK, .room = 16 };
		break;
	case GEN_EACH:		/* map, key, value, what do_each() passes */
		g->now.reg[3] = (struct held){ .what = VALUE, .map = GEN_ARRAY, .room = gen_maps[GEN_ARRAY].value };
		g->now.reg[4] = (struct held){ .what = STACK, .room = 16 };
		break;
	}
}

static void begin(struct gen *g, u8 kind)
{
	bool area = chance(g, kind == GEN_MAIN ? 80 : 30);

	if (kind == GEN_MAIN || (kind == GEN_STATIC && chance(g, 80)))
		put_mov(g, 6, 1);
	if (kind == GEN_MAIN && chance(g, 70)) {
		do_context(g);
		do_context(g);
		do_packet_check(g);
	}
	for (u32 i = 0; i < SLOTS; i++) {
		if (i >= AREA ? !area : !chance(g, 15))
			continue;
		put(g, BPF_ST | BPF_MEM | BPF_DW, 10, 0, -8 * (s64)(i + 1), chance(g, 50) ? 0 : constant(g));
		g->now.slot[i] = (struct held){ .what = NUM, .max = ~0ull };
	}
}

static void end(struct gen *g, u8 kind)
{
	int r = find_reg(g, NUM);

	if (kind == GEN_CALLBACK || kind == GEN_EACH) {
		if (r >= 0 && chance(g, 40)) {
			put_mov(g, 0, (u8)r);
			put(g, BPF_ALU64 | BPF_AND | BPF_K, 0, 0, 0, 1);
		} else {
			put_imm(g, 0, 0);
		}
	} else if (r > 0) {
		put_mov(g, 0, (u8)r);
	} else if (r < 0) {
		put_imm(g, 0, 2);
	}
	put(g, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	if (!g->n_exits)
		return;
	while (g->n_exits)
		land(g, g->exits[--g->n_exits]);
	put_imm(g, 0, 1);
	put(g, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void function(struct gen *g, u32 n)
{
	u8 kind = g->func_info[n].kind;

	g->func = n;
	memset(&g->now, 0, sizeof(g->now));
	g->fixed = g->numbers = g->fixed_slots = 0;
	g->depth = g->loops = 0;
	g->no_exit = false;
	g->no_move = kind != GEN_MAIN;
	g->budget = n ? 70 : 60 + rnd(g, 200);
	g->p->func[n].start = g->p->n;
	g->p->func[n].kind = kind;
	arguments(g, kind);
	begin(g, kind);
	block(g, n ? 2 + rnd(g, 6) : 4 + rnd(g, 24));
	end(g, kind);
}

static void plan(struct gen *g)
{
	g->n_funcs = chance(g, 35) ? 2 + rnd(g, GEN_FUNCS - 2) : 1;
	for (u32 i = 1; i < g->n_funcs; i++)
		g->func_info[i].kind = (u8)PICK(g, GEN_STATIC, GEN_STATIC, GEN_GLOBAL, GEN_CALLBACK, GEN_EACH);
}

/* Functions that nobody came to call are not written: the kernel takes them, but what for. */
static void write_functions(struct gen *g)
{
	u32 number[GEN_FUNCS] = { 0 };

	function(g, 0);
	g->p->n_funcs = 1;
	for (u32 n = 1; n < g->n_funcs && g->p->n + 120 < GEN_INSNS; n++) {
		u8 kind = g->func_info[n].kind;
		u32 made = g->p->n_funcs;

		if (!g->func_info[n].uses)
			continue;
		/* written as number `made`: numbers only shrink, and calls go to higher ones */
		function(g, n);
		g->p->func[made] = g->p->func[n];
		number[n] = made;
		g->p->n_funcs++;
		g->p->needs_btf |= kind != GEN_STATIC;
	}
	for (u32 i = 0; i < g->n_calls; i++) {
		struct bpf_insn *insn = &g->p->insn[g->call[i].at];
		u32 to = number[g->call[i].func];

		if (to)
			insn->imm = (s32)(g->p->func[to].start - g->call[i].at - 1);
		else if (isa_is_pseudo_call(insn))
			*insn = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K };
	}
}

void gen_make(struct gen_program *p, u32 type, u64 seed)
{
	struct gen g = { .p = p, .rnd = seed };

	memset(p, 0, sizeof(*p));
	p->seed = seed;
	p->type = type;
	gen_rnd64(&g.rnd);
	plan(&g);
	write_functions(&g);
	p->flags = chance(&g, 5) ? ABI_F_TEST_STATE_FREQ : 0;
	if (chance(&g, 30))
		gen_damage(p, &g.rnd);
}

const void *gen_btf(u32 *size, u32 ids[GEN_KINDS])
{
	static struct blob blob;
	static u32 made[GEN_KINDS], n;
	struct blob *b = &blob;

	if (!n) {
		u32 type_int, type_long, proto, global;

		blob_init(b);
		type_int = blob_int(b, "int", 4, BTF_INT_SIGNED);
		type_long = blob_int(b, "long", 8, BTF_INT_SIGNED);
		proto = blob_type(b, BTF_KIND_FUNC_PROTO, NULL, 0, false, type_int);
		global = blob_type(b, BTF_KIND_FUNC_PROTO, NULL, 2, false, type_long);
		blob_word(b, blob_str(b, "a"));
		blob_word(b, type_long);
		blob_word(b, blob_str(b, "b"));
		blob_word(b, type_long);
		made[GEN_MAIN] = blob_type(b, BTF_KIND_FUNC, "prog", BTF_FUNC_STATIC, false, proto);
		made[GEN_STATIC] = blob_type(b, BTF_KIND_FUNC, "fn", BTF_FUNC_STATIC, false, proto);
		made[GEN_CALLBACK] = blob_type(b, BTF_KIND_FUNC, "cb", BTF_FUNC_STATIC, false, proto);
		made[GEN_EACH] = blob_type(b, BTF_KIND_FUNC, "each", BTF_FUNC_STATIC, false, proto);
		made[GEN_GLOBAL] = blob_type(b, BTF_KIND_FUNC, "glob", BTF_FUNC_GLOBAL, false, global);
		blob_end(b, &n);
	}
	memcpy(ids, made, sizeof(made));
	*size = n;
	return blob_end(b, size);
}
