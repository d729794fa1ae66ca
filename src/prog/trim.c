/* Remove what no path reaches: conditional jumps that only ever go one way become plain ones, dead instructions go, and so do
 * jumps to the very next instruction. The same three steps as the kernel's, so that the result is as long as the kernel's.
 *
 * Verify judged the program before; this changes nothing that a run can see. */
#include "passes.h"
#include "base/cleanup.h"

static bool is_jump(const struct bpf_insn *i)
{
	u8 class = BPF_CLASS(i->code), op = BPF_OP(i->code);

	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT && op != ABI_TAIL_CALL;
}

static bool is_conditional(const struct bpf_insn *i)
{
	return is_jump(i) && BPF_OP(i->code) != BPF_JA;
}

static bool is_gotol(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP32 | BPF_JA);
}

static const struct bpf_insn *nop(void)
{
	static const struct bpf_insn ja_0 = { .code = BPF_JMP | BPF_JA };

	return &ja_0;
}

bool prog_target(const struct bpf_insn *insns, u32 i, u32 *target)
{
	const struct bpf_insn *insn = &insns[i];

	if (isa_is_pseudo_call(insn) || isa_is_pseudo_func(insn) || is_gotol(insn))
		*target = i + 1 + insn->imm;
	else if (is_jump(insn))
		*target = i + 1 + insn->off;
	else
		return false;
	return true;
}

void prog_set_target(struct bpf_insn *insns, u32 i, u32 target)
{
	struct bpf_insn *insn = &insns[i];
	s32 by = (s32)(target - i - 1);

	if (is_jump(insn) && !is_gotol(insn))
		insn->off = by;
	else
		insn->imm = by;
}

static void fold_branches(struct code *c, const struct proof *proof)
{
	for (u32 i = 0; i + 1 < c->n; i++) {
		struct bpf_insn *insn = &c->insns[i];
		u32 target = i + 1 + insn->off;

		if (!proof->insn[i].seen || !is_conditional(insn))
			continue;
		if (!proof->insn[i + 1].seen)
			*insn = (struct bpf_insn){ .code = BPF_JMP | BPF_JA, .off = insn->off };
		else if (!proof->insn[target].seen)
			*insn = *nop();
	}
}

/* The address of a function that no path calls (bpf_loop zero times): the function goes, its address becomes 0. */
static void drop_uncalled(struct code *c, const struct proof *proof)
{
	for (u32 i = 0; i + 1 < c->n; i++) {
		struct bpf_insn *insn = &c->insns[i];

		if (!proof->insn[i].seen || !isa_is_ld_imm64(insn))
			continue;
		if (isa_is_pseudo_func(insn) && !proof->insn[i + 1 + insn->imm].seen) {
			insn[0].src_reg = 0;
			insn[0].imm = insn[1].imm = 0;
		}
		i++;
	}
}

/* Take out the instructions that are not kept; at[i] becomes the new place of i, or of the next that stays. */
static int squeeze(struct load *l, const u8 *keep, u32 *at)
{
	struct code *c = &l->code;
	u32 n = 0, funcs = 0, target;

	for (u32 i = 0; i < c->n; i++) {
		at[i] = n;
		n += keep[i];
	}
	at[c->n] = n;

	for (u32 i = 0; i < c->n; i++) {
		if (!keep[i])
			continue;
		if (prog_target(c->insns, i, &target)) {
			if (target >= c->n || at[target] == n)
				return prog_refuse(l, -EFAULT, "insn %u leads into code that was not verified", c->origin[i]);
			prog_set_target(c->insns, i, i + 1 + (at[target] - at[i] - 1));
		}
		c->insns[at[i]] = c->insns[i];
		c->origin[at[i]] = c->origin[i];
		if (isa_is_ld_imm64(&c->insns[i])) { /* its second half is no instruction */
			i++;
			c->insns[at[i]] = c->insns[i];
			c->origin[at[i]] = c->origin[i];
		}
	}
	for (u32 i = 0; i < c->funcs.n; i++) {
		struct vm_func f = c->funcs.v[i];

		f.start = at[f.start];
		f.end = at[f.end];
		if (f.start != f.end)
			c->funcs.v[funcs++] = f;
	}
	c->funcs.n = funcs;
	prog_move_records(l, at, c->n, n);
	c->n = n;
	return 0;
}

int prog_trim(struct load *l)
{
	const struct proof *proof = &l->p->proof;
	struct code *c = &l->code;
	autofree u32 *at = calloc((size_t)c->n + 1, sizeof(*at));
	autofree u8 *keep = calloc(c->n, 1);
	int err;

	if (!at || !keep)
		return -ENOMEM;
	fold_branches(c, proof);
	drop_uncalled(c, proof);
	for (u32 i = 0; i < c->n; i++) {
		keep[i] = proof->insn[i].seen;
		if (isa_is_ld_imm64(&c->insns[i]) && i + 1 < c->n) {
			keep[i + 1] = keep[i];
			i++;
		}
	}
	err = squeeze(l, keep, at);
	if (err)
		return err;
	for (u32 i = 0; i < c->n; i++) {
		keep[i] = memcmp(&c->insns[i], nop(), sizeof(*nop())) != 0;
		if (isa_is_ld_imm64(&c->insns[i])) {
			keep[i + 1] = true; /* all zero but for imm, never a jump */
			i++;
		}
	}
	return squeeze(l, keep, at);
}
