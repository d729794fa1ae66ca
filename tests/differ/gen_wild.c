/* Damage: a program that was right, changed in a few places. */
#include "gen_private.h"

static u32 below(u64 *rnd, u32 n)
{
	return (u32)((gen_rnd64(rnd) >> 32) * n >> 32);
}

static bool changeable(const struct gen_program *p, u32 i)
{
	return !isa_is_ld_imm64(&p->insn[i]) && !(i && isa_is_ld_imm64(&p->insn[i - 1])) && !isa_is_pseudo_call(&p->insn[i]);
}

static s32 number(u64 *rnd, s32 near)
{
	static const s32 corners[] = { 0, 1, -1, 2, 8, 16, 31, 32, 63, 64, 255, 256, -8, 0x7fffffff, -0x7fffffff - 1, 4096 };

	switch (below(rnd, 3)) {
	case 0:
		return corners[below(rnd, ARRAY_SIZE(corners))];
	case 1:
		return (s32)((u32)near + below(rnd, 17) - 8);
	default:
		return near ^ (s32)(1u << below(rnd, 32));
	}
}

static void damage_one(struct gen_program *p, u64 *rnd)
{
	u32 at = below(rnd, p->n);
	struct bpf_insn *i = &p->insn[at];

	if (!changeable(p, at))
		return;
	switch (below(rnd, 9)) {
	case 0:
		i->dst_reg = below(rnd, 11);
		break;
	case 1:
		i->src_reg = below(rnd, 11);
		break;
	case 2:		/* jumps too: wherever it leads */
		i->off = (s16)number(rnd, i->off);
		break;
	case 3:
	case 4:
		i->imm = number(rnd, i->imm);
		break;
	case 5:
		if (BPF_CLASS(i->code) == BPF_ALU || BPF_CLASS(i->code) == BPF_ALU64 || BPF_CLASS(i->code) == BPF_JMP)
			i->code = (u8)((i->code & 0x0f) | below(rnd, 14) << 4);
		else
			i->code = (u8)((i->code & ~0x18) | below(rnd, 4) << 3);
		break;
	case 6:		/* nothing */
		*i = (struct bpf_insn){ .code = BPF_JMP | BPF_JA };
		break;
	case 7:		/* the other width */
		if (BPF_CLASS(i->code) >= BPF_ALU)
			i->code ^= 3;	/* ALU <-> ALU64, JMP <-> JMP32 */
		break;
	default:	/* something from elsewhere in the program */
		if (changeable(p, at) && p->n > 1) {
			u32 from = below(rnd, p->n);

			if (changeable(p, from))
				*i = p->insn[from];
		}
	}
}

void gen_damage(struct gen_program *p, u64 *rnd)
{
	p->wild = true;
	for (u32 n = 1 + below(rnd, 3); n; n--)
		damage_one(p, rnd);
}

static bool goes_back(const struct bpf_insn *i)
{
	u8 class = BPF_CLASS(i->code);

	if (class == BPF_JMP32 && BPF_OP(i->code) == BPF_JA)
		return i->imm < 0;
	return (class == BPF_JMP || class == BPF_JMP32) && BPF_OP(i->code) != BPF_CALL && BPF_OP(i->code) != BPF_EXIT && i->off < 0;
}

bool gen_is_dangerous(const struct gen_program *p)
{
	bool loops = false, sign = false;

	for (u32 k = 0; k < p->n; k++) {
		const struct bpf_insn *i = &p->insn[k];
		u8 op = BPF_OP(i->code), class = BPF_CLASS(i->code);

		if (isa_is_ld_imm64(i)) {
			loops |= i->src_reg == BPF_PSEUDO_FUNC;
			k++;
			continue;
		}
		loops |= goes_back(i);
		if ((class == BPF_ALU || class == BPF_ALU64) && op == BPF_ARSH)
			sign |= BPF_SRC(i->code) == BPF_X || i->imm == 31 || i->imm == 63;
	}
	return loops && sign;
}
