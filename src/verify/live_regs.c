/* Which registers matter before each instruction: the usual backward dataflow, per function, once per program. Pruning
 * compares and keeps only these. */
#include "engine.h"

#define R(n) (1u << (n))
#define CALLER_SAVED 0x3fu	/* r0-r5 */
#define ARGUMENTS 0x3eu		/* r1-r5 */
#define ALL 0x3ffu		/* r0-r9 */

struct use { u16 reads, writes; };

static u32 helper_args(u32 id)
{
	const struct helper_proto *p = helper_get(id);
	u32 n = 0;

	if (!p)
		return ARGUMENTS;
	while (n < ARRAY_SIZE(p->arg) && p->arg[n] != HARG_NONE)
		n++;
	return ((1u << (n + 1)) - 1) & ARGUMENTS;
}

static struct use use_of_kfunc(const struct kfunc *k)
{
	return (struct use){ ((1u << (kfunc_args(k) + 1)) - 1) & ARGUMENTS, CALLER_SAVED };
}

static struct use use_of_atomic(const struct bpf_insn *i)
{
	u16 dst = R(i->dst_reg), src = R(i->src_reg);

	switch ((u32)i->imm) {
	case BPF_CMPXCHG:
		return (struct use){ dst | src | R(0), R(0) };
	case ABI_LOAD_ACQ:
		return (struct use){ src, dst };
	case ABI_STORE_REL:
		return (struct use){ dst | src, 0 };
	}
	return (struct use){ dst | src, i->imm & BPF_FETCH ? src : 0 };
}

static struct use use_of_load(const struct bpf_insn *i)
{
	if (BPF_MODE(i->code) == BPF_IMM)
		return (struct use){ 0, R(i->dst_reg) };
	return (struct use){ ALL, 0 };	/* LD_ABS and LD_IND, as the kernel counts them */
}

static struct use use_of_alu(const struct bpf_insn *i)
{
	u16 dst = R(i->dst_reg), src = BPF_SRC(i->code) == BPF_X ? R(i->src_reg) : 0;

	switch (BPF_OP(i->code)) {
	case BPF_END:
		return (struct use){ dst, dst };
	case BPF_MOV:
		return (struct use){ src, dst };
	}
	return (struct use){ dst | src, dst };
}

static struct use use_of_jump(const struct bpf_insn *i)
{
	switch (BPF_OP(i->code)) {
	case BPF_JA:
	case ABI_JCOND:
		return (struct use){ 0, 0 };
	case BPF_EXIT:
		return (struct use){ R(0), 0 };
	case BPF_CALL:
		return (struct use){ isa_is_helper_call(i) ? helper_args(i->imm) : ARGUMENTS, CALLER_SAVED };
	}
	return (struct use){ R(i->dst_reg) | (BPF_SRC(i->code) == BPF_X ? R(i->src_reg) : 0), 0 };
}

static struct use use_of(const struct bpf_insn *i)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_LD:
		return use_of_load(i);
	case BPF_LDX:
		return (struct use){ R(i->src_reg), R(i->dst_reg) };
	case BPF_ST:
		return (struct use){ R(i->dst_reg), 0 };
	case BPF_STX:
		if (BPF_MODE(i->code) == BPF_ATOMIC)
			return use_of_atomic(i);
		return (struct use){ R(i->dst_reg) | R(i->src_reg), 0 };
	case BPF_ALU:
	case BPF_ALU64:
		return use_of_alu(i);
	}
	return use_of_jump(i);
}

int live_registers(struct verifier *v)
{
	struct use *use = calloc(v->n_insns, sizeof(*use));
	bool changed = true;

	if (!use)
		return -ENOMEM;
	for (u32 i = 0; i < v->n_insns; i++)
		use[i] = v->info[i].kfunc ? use_of_kfunc(v->info[i].kfunc) : use_of(&v->insns[i]);
	while (changed) {
		changed = false;
		for (u32 k = 0; k < v->n_postorder; k++) {
			u32 i = v->postorder[k], next[2], n = cfg_next(v, i, next);
			u16 live = 0;

			for (u32 e = 0; e < n; e++)
				live |= next[e] < v->n_insns ? v->info[next[e]].live_regs : 0;
			live = (live & ~use[i].writes) | use[i].reads;
			changed |= live != v->info[i].live_regs;
			v->info[i].live_regs = live;
		}
	}
	free(use);
	print_live_regs(v);
	return 0;
}
