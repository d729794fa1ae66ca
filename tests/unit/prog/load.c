/* What prog_load() makes of a program besides running it: tag, instructions after dead code is gone, function and line
 * records that follow; and what it answers to odd requests. Compared with the kernel's PROG_LOAD and GET_INFO. */
#include "floors.h"
#include "text.h"
#include "isa/isa.h"
#include "tap.h"

enum { MAX = 128, RECORDS = 128 };

static u64 seed = 0xdead;

/* ---- random programs of constants, jumps and dead code */

struct program {
	struct bpf_insn insns[MAX];
	struct bpf_line_info lines[RECORDS];
	u32 n, n_lines, starts[8], n_starts;
};

static void put(struct program *p, u8 code, u8 dst, u8 src, s16 off, s32 imm)
{
	assert(p->n < MAX);
	p->insns[p->n++] = (struct bpf_insn){ code, dst, src, off, imm };
}

/* Instructions of one function, all jumps forward; some lead over code that nobody reaches. */
static void body(struct program *p, u32 len, bool unknown)
{
	u32 end;

	for (u32 r = 0; r <= 5; r++)
		put(p, BPF_ALU64 | BPF_MOV | BPF_K, r, 0, 0, r);
	if (unknown) {
		put(p, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_prandom_u32);
		for (u32 r = 1; r <= 5; r++)
			put(p, BPF_ALU64 | BPF_MOV | BPF_K, r, 0, 0, r);
	}
	end = p->n + len;
	while (p->n < end) {
		u32 room = end - p->n - 1, dst = pick(&seed) % 6, far = room ? pick(&seed) % MIN(room, 6u) : 0;
		s32 imm = pick(&seed) % 8;

		switch (pick(&seed) % 6) {
		case 0:
			put(p, BPF_JMP | BPF_JA, 0, 0, far, 0);
			break;
		case 1:
		case 2:
			put(p, BPF_JMP | (pick(&seed) % 2 ? BPF_JEQ : BPF_JGT) | BPF_K, dst, 0, far, imm);
			break;
		case 3:
			put(p, BPF_JMP32 | BPF_JNE | BPF_K, dst, 0, far, imm);
			break;
		default:
			put(p, BPF_ALU64 | (pick(&seed) % 2 ? BPF_MOV : BPF_XOR) | BPF_K, dst, 0, 0, imm);
		}
	}
	put(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void make(struct program *p)
{
	u32 calls[8], n_subs = pick(&seed) % 4;

	*p = (struct program){ .n_starts = 1 };
	for (u32 i = 0; i < n_subs; i++) { /* some calls stand where nobody comes */
		if (pick(&seed) % 2)
			put(p, BPF_JMP | BPF_JA, 0, 0, 1, 0);
		calls[i] = p->n;
		put(p, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
	}
	body(p, pick(&seed) % 24, pick(&seed) % 3 == 0);
	for (u32 i = 0; i < n_subs; i++) {
		p->insns[calls[i]].imm = p->n - calls[i] - 1;
		p->starts[p->n_starts++] = p->n;
		body(p, pick(&seed) % 8, false);
	}
	for (u32 i = 0, s = 0; i < p->n; i++) {
		bool start = s < p->n_starts && p->starts[s] == i;

		s += start;
		if (start || pick(&seed) % 2)
			p->lines[p->n_lines++] = (struct bpf_line_info){ i, 1, 5, i << 10 };
	}
}

/* Helper calls stand as ids here and as addresses there; calls of functions have their distance in off there, because the
 * kernel compiled them. */
static bool insns_equal(const struct bpf_insn *a, const struct bpf_insn *b, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		struct bpf_insn x = a[i], y = b[i];

		if (isa_is_helper_call(&x) && isa_is_helper_call(&y))
			x.imm = y.imm = 0;
		if (isa_is_pseudo_call(&y)) {
			y.imm = y.off;
			y.off = 0;
		}
		if (memcmp(&x, &y, sizeof(x))) {
			printf("# instruction %u: %02x off %d imm %d, kernel %02x off %d imm %d\n", i, x.code, x.off, x.imm, y.code,
			       y.off, y.imm);
			return false;
		}
	}
	return true;
}

static bool records_equal(const struct prog *p, const struct abi_prog_info *info, const struct bpf_func_info *funcs,
			  const struct bpf_line_info *lines)
{
	bool same = p->n_func_info == info->nr_func_info && p->n_line_info == info->nr_line_info;

	for (u32 i = 0; i < p->n_func_info && same; i++)
		same = !memcmp(&p->func_info[i], &funcs[i], sizeof(*funcs));
	for (u32 i = 0; i < p->n_line_info && same; i++)
		same = !memcmp(&p->line_info[i], &lines[i], sizeof(*lines));
	if (!same)
		printf("# %u functions, %u lines; kernel %u, %u\n", p->n_func_info, p->n_line_info, info->nr_func_info,
		       info->nr_line_info);
	return same;
}

static bool one_random(void)
{
	struct program p;
	struct floors f;
	struct bpf_insn insns[MAX];
	struct bpf_func_info funcs[16];
	struct bpf_line_info lines[RECORDS];
	struct abi_prog_info info = {
		.xlated_prog_insns = addr_of(insns), .xlated_prog_len = sizeof(insns),
		.func_info = addr_of(funcs), .nr_func_info = ARRAY_SIZE(funcs), .func_info_rec_size = sizeof(*funcs),
		.line_info = addr_of(lines), .nr_line_info = ARRAY_SIZE(lines), .line_info_rec_size = sizeof(*lines),
	};
	bool same = true;

	make(&p);
	floors_load_program(&f, &(struct floor_program){ p.insns, p.n, BPF_XDP, 0, NULL, 0, p.lines, p.n_lines, true });
	if (floors_have_kernel()) {
		same = f.user_err == (f.kernel < 0 ? f.kernel : 0);
		if (same && !f.user_err) {
			same = floors_kernel_info(&f, &info) && !memcmp(f.user->tag, info.tag, sizeof(info.tag)) &&
			       f.user->n_xlated * sizeof(*insns) == info.xlated_prog_len &&
			       insns_equal(f.user->xlated, insns, f.user->n_xlated) && records_equal(f.user, &info, funcs, lines) &&
			       f.user->verified_insns == info.verified_insns;
			if (!same)
				printf("# %u instructions, kernel %zu; verified %u, kernel %u\n", f.user->n_xlated,
				       info.xlated_prog_len / sizeof(*insns), f.user->verified_insns, info.verified_insns);
		}
		if (!same)
			floors_say_logs(&f);
	}
	for (u32 i = 0; !f.user_err && i < f.user->n_xlated; i++) /* every one has an origin of its own */
		same &= f.user->origin[i] < p.n && (!i || f.user->origin[i] > f.user->origin[i - 1]);
	floors_done(&f);
	return same;
}

static void random_programs(u32 n)
{
	u32 bad = 0;

	for (u32 i = 0; i < n && bad < 3; i++)
		bad += !one_random();
	printf("# %u programs\n", n);
	EQ(bad, 0);
}

/* ---- tags of all lengths around a block of SHA-256 */

static void tags(void)
{
	struct bpf_insn insns[40];
	u32 bad = 0;

	for (u32 n = 2; n < 40; n++) {
		struct abi_prog_info info = { 0 };
		struct floors f;

		for (u32 i = 0; i < n - 1; i++)
			insns[i] = (struct bpf_insn){ BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, i * 77 };
		insns[n - 1] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
		floors_load_program(&f, &(struct floor_program){ insns, n, BPF_XDP });
		bad += f.user_err || (floors_kernel_info(&f, &info) && memcmp(info.tag, f.user->tag, 8));
		floors_done(&f);
	}
	EQ(bad, 0);
}

static void map_tag(void)
{
	struct floor_map maps[] = { { BPF_MAP_TYPE_ARRAY, 4, 64, 1 }, { BPF_MAP_TYPE_ARRAY, 4, 64, 1 } };
	struct abi_prog_info info = { 0 };
	struct floors f;

	floors_make_maps(maps, 2);
	floors_load(&f, "r1 = map_fd(0)\nr1 = map_fd(1)\nr1 = map_value(1, 8)\nr0 = *(u64 *)(r1 +0)\nexit\n", BPF_XDP, 0, maps, 2);
	EQ(f.user_err, 0);
	EQ(f.user->n_maps, 2);
	OK(f.user->maps[0] == maps[0].user && f.user->maps[1] == maps[1].user);
	EQ(f.user->xlated[4].src_reg, BPF_PSEUDO_MAP_VALUE);
	EQ(f.user->xlated[5].imm, 8);
	if (floors_kernel_info(&f, &info))
		OK(!memcmp(info.tag, f.user->tag, 8));
	EQ(prog_add_map(f.user, maps[0].user), 0);
	EQ(f.user->n_maps, 2);
	floors_done(&f);
	floors_drop_maps(maps, 2);
}

/* ---- odd requests */

static bool same_verdict(const struct floor_program *p)
{
	struct floors f;
	bool same;

	floors_load_program(&f, p);
	same = !floors_have_kernel() || f.user_err == (f.kernel < 0 ? f.kernel : 0);
	if (!same) {
		printf("# flags %x attach %u lines %u license %s\n", p->flags, p->attach_type, p->n_lines, p->license ?: "");
		floors_say_logs(&f);
	}
	floors_done(&f);
	return same;
}

static void requests(void)
{
	struct bpf_insn insns[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT } };
	struct bpf_line_info lines[] = { { 0, 1, 1, 1 }, { 1, 1, 1, 1 }, { 2, 1, 1, 1 }, { 0, 99, 1, 1 }, { 1, 1, 1, 1 } };
	struct bpf_insn *many;
	u32 bad = 0;

	for (u32 bit = 0; bit < 32; bit++)
		if (1u << bit != ABI_F_TOKEN_FD) /* the token's descriptor is sys's business */
			bad += !same_verdict(&(struct floor_program){ insns, 2, BPF_XDP, 1u << bit });
	for (u32 attach = 0; attach < 60; attach++)
		bad += !same_verdict(&(struct floor_program){ insns, 2, attach });
	bad += !same_verdict(&(struct floor_program){ insns, 2, ~0u });
	bad += !same_verdict(&(struct floor_program){ insns, 0, BPF_XDP });
	many = calloc(1000001, sizeof(*many));
	bad += !same_verdict(&(struct floor_program){ many, 1000001, BPF_XDP });
	free(many);
	for (u32 n = 0; n <= 3; n++)
		bad += !same_verdict(&(struct floor_program){ insns, 2, BPF_XDP, .lines = lines, .n_lines = n });
	bad += !same_verdict(&(struct floor_program){ insns, 2, BPF_XDP, .lines = lines + 1, .n_lines = 1 });
	bad += !same_verdict(&(struct floor_program){ insns, 2, BPF_XDP, .lines = lines + 3, .n_lines = 2 });
	EQ(bad, 0);
}

static void licenses(void)
{
	static const char *const names[] = { "GPL", "GPL v2", "GPL and additional rights", "Dual BSD/GPL", "Dual MIT/GPL",
					     "Dual MPL/GPL", "BSD", "", "GPLv2", "gpl", "GPL ", "Proprietary" };
	/* trace_printk is for GPL programs */
	struct bpf_insn insns[] = {
		{ BPF_ST | BPF_MEM | BPF_DW, 10, 0, -8, 0 }, { BPF_ALU64 | BPF_MOV | BPF_X, 1, 10 },
		{ BPF_ALU64 | BPF_ADD | BPF_K, 1, 0, 0, -8 }, { BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, 8 },
		{ BPF_JMP | BPF_CALL, 0, 0, 0, 6 }, { .code = BPF_JMP | BPF_EXIT },
	};
	u32 bad = 0;

	for (u32 i = 0; i < ARRAY_SIZE(names); i++)
		bad += !same_verdict(&(struct floor_program){ insns, 6, BPF_XDP, .license = names[i] });
	EQ(bad, 0);
}

static int try(struct prog_attr attr)
{
	struct bpf_insn insns[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT } };
	struct prog *p;
	struct refusal why;
	int err;

	attr.insns = insns;
	attr.n_insns = 2;
	attr.license = "GPL";
	err = prog_load(&p, &attr, &why);
	if (!err)
		prog_put(p);
	EQ(why.err, err);
	return err;
}

static void rights_and_names(void)
{
	const u32 all = VERIFY_CAP_BPF | VERIFY_CAP_NET_ADMIN;

	EQ(try((struct prog_attr){ .type = BPF_PROG_TYPE_XDP, .caps = all }), 0);
	EQ(try((struct prog_attr){ .type = BPF_PROG_TYPE_XDP, .caps = VERIFY_CAP_BPF }), -EPERM);
	EQ(try((struct prog_attr){ .type = BPF_PROG_TYPE_XDP, .caps = VERIFY_CAP_NET_ADMIN }), -EPERM);
	EQ(try((struct prog_attr){ .type = BPF_PROG_TYPE_XDP, .caps = VERIFY_CAP_SYS_ADMIN }), 0);
	EQ(try((struct prog_attr){ .type = BPF_PROG_TYPE_KPROBE, .caps = all }), -EPERM);
	EQ(try((struct prog_attr){ .type = BPF_PROG_TYPE_LIRC_MODE2, .caps = all }), -EINVAL);
	EQ(try((struct prog_attr){ .type = 99, .caps = all }), -EINVAL);
	EQ(try((struct prog_attr){ .type = BPF_PROG_TYPE_XDP, .caps = all, .name = "a.b_C9" }), 0);
	EQ(try((struct prog_attr){ .type = BPF_PROG_TYPE_XDP, .caps = all, .name = "a-b" }), -EINVAL);
	EQ(try((struct prog_attr){ .type = BPF_PROG_TYPE_XDP, .caps = all, .name = { [0 ... 14] = 'x' } }), 0);
	EQ(try((struct prog_attr){ .type = BPF_PROG_TYPE_XDP, .caps = all, .name = { [0 ... 15] = 'x' } }), -EINVAL);
	EQ(try((struct prog_attr){ .type = BPF_PROG_TYPE_XDP, .caps = all, .ifindex = 1 }), -EOPNOTSUPP);
	EQ(try((struct prog_attr){ .type = BPF_PROG_TYPE_XDP, .caps = all, .attach_btf_id = 1 }), -EINVAL);
	EQ(try((struct prog_attr){ .type = BPF_PROG_TYPE_XDP, .caps = all, .func_info_cnt = 1, .func_info_rec_size = 4 }), -EINVAL);
	EQ(try((struct prog_attr){ .type = BPF_PROG_TYPE_XDP, .caps = all, .line_info_cnt = 1, .line_info_rec_size = 18 }), -EINVAL);
	EQ(try((struct prog_attr){ .type = BPF_PROG_TYPE_XDP, .caps = all, .func_info_cnt = 1, .func_info_rec_size = 12,
				   .func_info = (u32[]){ 0, 3, 1 } }), -E2BIG);
}

int main(void)
{
	if (!floors_have_kernel())
		printf("ok %d - compared with the kernel # SKIP bpf(2) needs root\n", ++tap_n);
	tags();
	map_tag();
	requests();
	licenses();
	rights_and_names();
	random_programs(1500);
	return tap_done();
}
