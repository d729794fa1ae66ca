/* Decode a program into the form the interpreter runs (image.h): vm_image_new().
 *
 * The program was verified; what is checked here costs one pass and keeps a mistake above from
 * becoming a wild jump. */
#include "image.h"
#include "base/cleanup.h"

static s64 jump_distance(const struct bpf_insn *i, u8 form)
{
	return form == ISA_GOTOL || form == ISA_CALL || form == ISA_LD_IMM64 ? i->imm : i->off;
}

/* An instruction may go there: inside, and not the second slot of a ld_imm64. */
static bool is_start(const struct vm_code *code, s64 at)
{
	return at >= 0 && at < code->n_insns && code->insns[at].code;
}

static const struct vm_func *function_at(const struct vm_code *code, s64 start)
{
	u32 lo = 0, hi = code->n_funcs;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (code->funcs[mid].start < start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < code->n_funcs && code->funcs[lo].start == start ? &code->funcs[lo] : NULL;
}

static int decode_jump(struct vm_insn *o, const struct vm_code *code, u32 idx, u8 form)
{
	s64 distance = jump_distance(&code->insns[idx], form) + 1;

	if (!is_start(code, idx + distance) || distance > INT32_MAX / 16 ||
	    distance < INT32_MIN / 16)
		return -EINVAL;
	o->off = distance * (s64)sizeof(*o);
	return 0;
}

static int decode_call(struct vm_insn *o, const struct vm_code *code, u32 idx, u8 id)
{
	const struct bpf_insn *i = &code->insns[idx];
	const struct vm_func *f;

	if (id != ISA_ID_CALL_SUB) {
		if (!code->aux || !code->aux[idx].addr)
			return -EINVAL;
		o->op = code->aux[idx].flags & VM_AUX_END_ON_ZERO ? VM_OP_CALL_END : ISA_ID_CALL;
		o->imm = code->aux[idx].addr;
		return 0;
	}
	f = function_at(code, (s64)idx + 1 + i->imm);
	if (!f || decode_jump(o, code, idx, ISA_CALL))
		return -EINVAL;
	o->imm = ROUND_UP(f->stack, 8);
	return 0;
}

static int decode_ld_imm64(struct vm_insn *o, const struct vm_code *code, u32 idx,
			   struct vm_image *img)
{
	const struct bpf_insn *i = &code->insns[idx];
	const struct vm_func *f;

	if (idx + 1 >= code->n_insns || i[1].code)
		return -EINVAL;
	o->op = ISA_ID_LD_IMM64;
	o->imm = (u64)(u32)i[1].imm << 32 | (u32)i[0].imm;
	if (i->src_reg != BPF_PSEUDO_FUNC)
		return 0;
	f = function_at(code, (s64)idx + 1 + i->imm);
	if (!f)
		return -EINVAL;
	o->imm = addr_of(&img->entries[f - code->funcs]);
	return 0;
}

static int decode_load_abs(struct vm_insn *o, const struct vm_code *code, u32 idx)
{
	if (!code->aux || !code->aux[idx].addr)
		return -EINVAL;
	o->imm = code->aux[idx].addr;
	o->off = code->insns[idx].imm;
	return 0;
}

static int decode(struct vm_insn *o, const struct vm_code *code, u32 idx, struct vm_image *img)
{
	const struct bpf_insn *i = &code->insns[idx];
	const struct isa_op *op = isa_op(i);

	if (!op || i->dst_reg > 10 || (i->src_reg > 10 && op->form != ISA_LD_IMM64))
		return -EINVAL;
	*o = (struct vm_insn){op->id, i->dst_reg, i->src_reg, i->off, (s64)i->imm};
	if (BPF_CLASS(i->code) == BPF_ALU || BPF_CLASS(i->code) == BPF_JMP32)
		o->imm = (u32)i->imm;
	switch (op->form) {
	case ISA_JA:
	case ISA_GOTOL:
	case ISA_JCOND:
	case ISA_MAY_GOTO:
		return decode_jump(o, code, idx, op->form);
	case ISA_CALL:
		return decode_call(o, code, idx, op->id);
	case ISA_LD_IMM64:
		return decode_ld_imm64(o, code, idx, img);
	case ISA_LD_ABS:
	case ISA_LD_IND:
		return decode_load_abs(o, code, idx);
	case ISA_ADDR_SPACE_CAST: /* there are no arenas yet */
		return -EINVAL;
	default:
		return 0;
	}
}

static int decode_all(struct vm_image *img, const struct vm_code *code)
{
	const struct vm_insn trap = {.op = VM_OP_TRAP};
	int rc;

	for (u32 i = 0; i < code->n_insns; i++) {
		rc = decode(&img->insns[i], code, i, img);
		if (rc)
			return rc;
		if (isa_is_ld_imm64(&code->insns[i]))
			img->insns[++i] = trap;
	}
	img->insns[code->n_insns] = trap;
	vm_fuse(img);
	return 0;
}

static int add_entries(struct vm_image *img, const struct vm_code *code)
{
	for (u32 i = 0; i < code->n_funcs; i++) {
		const struct vm_func *f = &code->funcs[i];

		if (!is_start(code, f->start) || f->stack > VM_STACK ||
		    (i && f->start <= f[-1].start))
			return -EINVAL;
		img->entries[i] =
		    (struct vm_entry){&img->insns[f->start], img, ROUND_UP(f->stack, 8)};
	}
	return code->n_funcs && !code->funcs[0].start ? 0 : -EINVAL;
}

static void free_image(struct vm_image **img)
{
	vm_image_free(*img);
}

int vm_image_new(struct vm_image **out, const struct vm_code *code)
{
	struct vm_image *img CLEANUP(free_image) = calloc(1, sizeof(*img));
	int rc;

	if (!img)
		return -ENOMEM;
	img->n_insns = code->n_insns;
	img->n_entries = code->n_funcs;
	img->resolve = code->resolve;
	img->insns = calloc((size_t)code->n_insns + 1, sizeof(*img->insns));
	img->entries = calloc((size_t)code->n_funcs + 1, sizeof(*img->entries));
	if (!img->insns || !img->entries)
		return -ENOMEM;
	rc = add_entries(img, code);
	if (!rc)
		rc = decode_all(img, code);
	if (!rc)
		*out = TAKE(img);
	return rc;
}

void vm_image_free(struct vm_image *img)
{
	if (!img)
		return;
	free(img->insns);
	free(img->entries);
	free(img);
}
