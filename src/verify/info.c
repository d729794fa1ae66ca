/* Function and line records that come with a program: they must agree with its BTF and its functions. Wording, order and
 * error numbers are those of the kernel's check_btf_info_early() and check_btf_info(). */
#include "engine.h"
#include "btf/btf.h"

#define RULE "btf-info"

/* Without func_info nothing is known of what a function returns, so it may not end early behind the caller's back. */
static int check_abnormal_return(struct verifier *v)
{
	for (u32 i = 1; i < v->n_subprogs; i++) {
		if (v->subprog[i].has_ld_abs)
			return verify_refuse(v, -EINVAL, RULE, -1, "LD_ABS is not allowed in subprogs without BTF");
		if (v->subprog[i].has_tail_call)
			return verify_refuse(v, -EINVAL, RULE, -1, "tail_call is not allowed in subprogs without BTF");
	}
	return 0;
}

static const struct bpf_func_info *func_info(const struct verifier *v)
{
	return v->in->func_info;
}

static int check_func_early(struct verifier *v, u32 i)
{
	const struct bpf_func_info *f = &func_info(v)[i];
	const struct btf_type *t;

	if (!i && f->insn_off)
		return verify_refuse(v, -EINVAL, RULE, -1, "nonzero insn_off %u for the first func info record", f->insn_off);
	if (i && f->insn_off <= f[-1].insn_off)
		return verify_refuse(v, -EINVAL, RULE, -1,
				     "same or smaller insn offset (%u) than previous func info record (%u)", f->insn_off,
				     f[-1].insn_off);
	t = btf_type(v->in->btf, f->type_id);
	if (!t || btf_kind_of(t) != BTF_KIND_FUNC)
		return verify_refuse(v, -EINVAL, RULE, -1, "invalid type id %u in func info", f->type_id);
	t = btf_type(v->in->btf, t->type);
	if (!t || btf_kind_of(t) != BTF_KIND_FUNC_PROTO)
		return verify_refuse(v, -EINVAL, RULE, -1, "invalid type id %u in func info", f->type_id);
	return 0;
}

int info_check_early(struct verifier *v)
{
	int err = 0;

	if (!v->in->n_func_info && !v->in->n_line_info)
		return check_abnormal_return(v);
	if (!v->in->btf)
		return verify_refuse(v, -EINVAL, RULE, -1, "function or line records without BTF");
	for (u32 i = 0; i < v->in->n_func_info && !err; i++)
		err = check_func_early(v, i);
	return err;
}

/* Does it return a value that fits a register whole: an integer up to 8 bytes of size 1, 2, 4, 8, or an enum? */
static bool returns_scalar(const struct btf_types *btf, const struct btf_type *proto)
{
	const struct btf_type *t = btf_skip(btf, proto->type, NULL);

	if (!t)
		return false;
	switch (btf_kind_of(t)) {
	case BTF_KIND_INT:
		return t->size <= 8 && t->size && !(t->size & (t->size - 1));
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return true;
	}
	return false;
}

static int check_func(struct verifier *v, u32 i)
{
	const struct btf_types *btf = v->in->btf;
	const struct bpf_func_info *f = &func_info(v)[i];
	const struct btf_type *t = btf_type(btf, f->type_id);
	struct subprog *s = &v->subprog[i];
	bool scalar;

	if (s->start != f->insn_off)
		return verify_refuse(v, -EINVAL, RULE, -1, "func_info BTF section doesn't match subprog layout in BPF program");
	s->type_id = f->type_id;
	s->is_global = btf_vlen_of(t) == BTF_FUNC_GLOBAL;
	scalar = returns_scalar(btf, btf_type(btf, t->type));
	if (i && !scalar && s->has_ld_abs)
		return verify_refuse(v, -EINVAL, RULE, -1, "LD_ABS is only allowed in functions that return 'int'.");
	if (i && !scalar && s->has_tail_call)
		return verify_refuse(v, -EINVAL, RULE, -1, "tail_call is only allowed in functions that return 'int'.");
	return 0;
}

static int check_funcs(struct verifier *v)
{
	int err = 0;

	if (!v->in->n_func_info)
		return check_abnormal_return(v);
	if (v->in->n_func_info != v->n_subprogs)
		return verify_refuse(v, -EINVAL, RULE, -1, "number of funcs in func_info doesn't match number of subprogs");
	for (u32 i = 0; i < v->n_subprogs && !err; i++)
		err = check_func(v, i);
	return err;
}

/* Line records are in order of instructions, and each function begins with one. *next: the function whose turn it is. */
static int check_line(struct verifier *v, u32 i, u32 *next)
{
	const struct bpf_line_info *lines = v->in->line_info;
	u32 off = lines[i].insn_off, before = i ? lines[i - 1].insn_off : 0;

	if ((i && off <= before) || off >= v->n_insns)
		return verify_refuse(v, -EINVAL, RULE, -1, "Invalid line_info[%u].insn_off:%u (prev_offset:%u prog->len:%u)", i,
				     off, before, v->n_insns);
	if (!v->insns[off].code)
		return verify_refuse(v, -EINVAL, RULE, -1, "Invalid insn code at line_info[%u].insn_off", i);
	if (!btf_str(v->in->btf, lines[i].line_off) || !btf_str(v->in->btf, lines[i].file_name_off))
		return verify_refuse(v, -EINVAL, RULE, -1, "Invalid line_info[%u].line_off or .file_name_off", i);
	if (*next == v->n_subprogs)
		return 0;
	if (off == v->subprog[*next].start)
		++*next;
	else if (v->subprog[*next].start < off)
		return verify_refuse(v, -EINVAL, RULE, -1, "missing bpf_line_info for func#%u", *next);
	return 0;
}

static int check_lines(struct verifier *v)
{
	u32 next = 0;
	int err = 0;

	if (!v->in->n_line_info)
		return 0;
	for (u32 i = 0; i < v->in->n_line_info && !err; i++)
		err = check_line(v, i, &next);
	if (err || next == v->n_subprogs)
		return err;
	return verify_refuse(v, -EINVAL, RULE, -1, "missing bpf_line_info for %u funcs starting from func#%u",
			     v->n_subprogs - next, next);
}

int info_check(struct verifier *v)
{
	int err;

	if (!v->in->n_func_info && !v->in->n_line_info)
		return check_abnormal_return(v);
	err = check_funcs(v);
	return err ? err : check_lines(v);
}
