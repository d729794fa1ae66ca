/* Arguments of functions by their BTF: what a global function may assume of them, and whether a call keeps that promise.
 *
 * A global function is judged once, on its own, for any arguments that match its prototype (the kernel's
 * btf_prepare_func_args()); a static one is judged at each call with what is really passed. */
#include "engine.h"
#include "access.h"
#include "btf/btf.h"

#define RULE "subprog-args"

static const char *const kind_words[] = {
	"UNKNOWN", "INT", "PTR", "ARRAY", "STRUCT", "UNION", "ENUM", "FWD", "TYPEDEF", "VOLATILE", "CONST", "RESTRICT", "FUNC",
	"FUNC_PROTO", "VAR", "DATASEC", "FLOAT", "DECL_TAG", "TYPE_TAG", "ENUM64",
};

static const char *kind_word(const struct btf_type *t)
{
	u32 kind = btf_kind_of(t);

	return kind_words[kind < ARRAY_SIZE(kind_words) ? kind : 0];
}

/* Attributes of an argument, from __arg_ctx and friends: declaration tags "arg:NAME". */
enum { TAG_CTX = 1, TAG_NONNULL = 2 };
static const struct { const char *name; u32 tag; } arg_tags[] = {
	{ "ctx", TAG_CTX },
	{ "nonnull", TAG_NONNULL },
};

static bool is_int_or_enum(const struct btf_type *t)
{
	u32 kind = btf_kind_of(t);

	return kind == BTF_KIND_INT || kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64;
}

static int read_tag(struct verifier *v, const struct subprog *s, u32 i, const char *name, u32 *tags)
{
	if (!s->is_global)
		return verify_refuse(v, -EOPNOTSUPP, RULE, i + 1, "arg#%u type tag is not supported in static functions", i);
	for (u32 k = 0; k < ARRAY_SIZE(arg_tags); k++) {
		if (strcmp(arg_tags[k].name, name))
			continue;
		*tags |= arg_tags[k].tag;
		return 0;
	}
	if (!strcmp(name, "trusted") || !strcmp(name, "untrusted") || !strcmp(name, "nullable") || !strcmp(name, "arena"))
		return verify_refuse(v, -EOPNOTSUPP, "not-built", i + 1, "arg#%u: arguments tagged %s are not built yet", i, name);
	return verify_refuse(v, -EOPNOTSUPP, RULE, i + 1, "arg#%u has unsupported set of tags", i);
}

static int read_tags(struct verifier *v, const struct subprog *s, u32 i, u32 *tags)
{
	const struct btf_types *btf = v->in->btf;

	*tags = 0;
	for (u32 id = 1; id < btf_n_types(btf); id++) {
		const struct btf_type *t = btf_type(btf, id);
		const char *name;
		s32 component;
		int err;

		if (btf_kind_of(t) != BTF_KIND_DECL_TAG || t->type != s->type_id)
			continue;
		memcpy(&component, t + 1, sizeof(component));
		name = btf_name(btf, id);
		if (component != (s32)i || !name || strncmp(name, "arg:", 4))
			continue;
		err = read_tag(v, s, i, name + 4, tags);
		if (err)
			return err;
	}
	return 0;
}

/* The kernel's own struct behind a context is accepted under its name too. */
static bool names_ctx(const char *ctx, const char *name)
{
	return !strcmp(ctx, name) || (!strcmp(ctx, "xdp_md") && !strcmp(name, "xdp_buff")) ||
	       (!strcmp(ctx, "__sk_buff") && !strcmp(name, "sk_buff"));
}

static bool points_at_ctx(const struct verifier *v, const struct btf_type *ptr)
{
	const struct btf_type *t = btf_skip(v->in->btf, ptr->type, NULL);
	const char *name;

	if (!t || (btf_kind_of(t) != BTF_KIND_STRUCT && btf_kind_of(t) != BTF_KIND_UNION) || !v->in->kind->ctx_name)
		return false;
	name = btf_str(v->in->btf, t->name_off);
	return name && names_ctx(v->in->kind->ctx_name, name);
}

static int check_tagged_ctx(struct verifier *v, const struct btf_type *ptr, u32 i)
{
	const char *ctx = v->in->kind->ctx_name;
	const struct btf_type *t = btf_skip(v->in->btf, ptr->type, NULL);
	const char *name = t ? btf_str(v->in->btf, t->name_off) : NULL;

	if (!t || !ptr->type || !ctx)
		return 0;
	if (btf_kind_of(t) == BTF_KIND_STRUCT && name && !strcmp(ctx, name))
		return 0;
	return verify_refuse(v, -EINVAL, RULE, i + 1, "arg#%u should be pointer to struct %s", i, ctx);
}

static int prepare_pointer(struct verifier *v, struct subprog *s, u32 i, const struct btf_type *ptr, u32 tags)
{
	const struct btf_types *btf = v->in->btf;
	struct sub_arg *arg = &s->arg[i];
	const struct btf_type *t;
	const char *name;
	u32 id;
	s64 size;

	if ((tags & TAG_CTX) || points_at_ctx(v, ptr)) {
		if (tags & ~TAG_CTX)
			return verify_refuse(v, -EINVAL, RULE, i + 1, "arg#%u has invalid combination of tags", i);
		arg->kind = SUB_ARG_CTX;
		return (tags & TAG_CTX) ? check_tagged_ctx(v, ptr, i) : 0;
	}
	t = btf_skip(btf, ptr->type, &id);
	name = t ? btf_str(btf, t->name_off) : NULL;
	if (name && !strcmp(name, "bpf_dynptr")) {
		if (tags)
			return verify_refuse(v, -EINVAL, RULE, i + 1, "arg#%u has invalid combination of tags", i);
		arg->kind = SUB_ARG_DYNPTR;
		return 0;
	}
	if (!s->is_global)
		return -EINVAL;
	size = ptr->type && t ? btf_size(btf, id) : -EINVAL;
	if (size < 0 || size > INT32_MAX)
		return verify_refuse(v, -EINVAL, RULE, i + 1, "arg#%u reference type('%s %s') size cannot be determined: %d", i,
				     ptr->type && t ? kind_word(t) : "UNKNOWN", name ? name : "", -EINVAL);
	arg->kind = SUB_ARG_MEM;
	arg->null_ok = !(tags & TAG_NONNULL);
	arg->mem_size = size;
	return 0;
}

static int prepare_arg(struct verifier *v, struct subprog *s, u32 i, const struct btf_param *p, const char *func)
{
	const struct btf_type *t;
	u32 tags;
	int err = read_tags(v, s, i, &tags);

	if (err)
		return err;
	t = btf_skip(v->in->btf, p->type, NULL);
	if (!t)
		return -EINVAL;
	if (btf_kind_of(t) == BTF_KIND_PTR)
		return prepare_pointer(v, s, i, t, tags);
	if (tags)
		return verify_refuse(v, -EINVAL, RULE, i + 1, "arg#%u has pointer tag, but is not a pointer type", i);
	if (is_int_or_enum(t)) {
		s->arg[i].kind = SUB_ARG_SCALAR;
		return 0;
	}
	if (!s->is_global)
		return -EINVAL;
	return verify_refuse(v, -EINVAL, RULE, i + 1, "Arg#%u type %s in %s() is not supported yet.", i, kind_word(t), func);
}

int args_prepare(struct verifier *v, u32 n)
{
	struct subprog *s = &v->subprog[n];
	const struct btf_types *btf = v->in->btf;
	const char *name = subprog_name(v, n);
	const struct btf_type *proto, *ret;
	u32 n_args;
	int err = 0;

	if (s->args_known)
		return 0;
	if (!s->type_id || s->unreliable)
		return -EFAULT;
	proto = btf_type(btf, btf_type(btf, s->type_id)->type);
	n_args = btf_vlen_of(proto);
	if (n_args > ARRAY_SIZE(s->arg)) {
		if (!s->is_global)
			return -EINVAL;
		return verify_refuse(v, -EINVAL, RULE, -1, "Global function %s() with %u > %u args. Buggy compiler.", name,
				     n_args, (u32)ARRAY_SIZE(s->arg));
	}
	ret = btf_skip(btf, proto->type, NULL);
	if (!ret || !is_int_or_enum(ret)) {
		if (!s->is_global)
			return -EINVAL;
		return verify_refuse(v, -EINVAL, RULE, -1,
				     "Global function %s() doesn't return scalar. Only those are supported.", name);
	}
	for (u32 i = 0; i < n_args && !err; i++)
		err = prepare_arg(v, s, i, (const struct btf_param *)(proto + 1) + i, name);
	if (err)
		return err;
	s->n_args = n_args;
	s->args_known = true;
	return 0;
}

int args_enter(struct verifier *v, u32 n, struct reg *regs)
{
	struct subprog *s = &v->subprog[n];
	int err = args_prepare(v, n);

	for (u32 i = 0; i < s->n_args && !err; i++) {
		struct reg *r = &regs[BPF_REG_1 + i];

		switch (s->arg[i].kind) {
		case SUB_ARG_SCALAR:
			reg_mark_unknown(r);
			break;
		case SUB_ARG_CTX:
			reg_mark_pointer(r, REG_CTX);
			break;
		case SUB_ARG_DYNPTR:
			dynptr_mark_reg(v, r, DYNPTR_LOCAL);
			break;
		case SUB_ARG_MEM:
			reg_mark_pointer(r, REG_MEM);
			r->mem_size = s->arg[i].mem_size;
			if (s->arg[i].null_ok) {
				r->flags |= REGF_NULL;
				r->id = ++v->next_id;
			}
			break;
		}
	}
	return err;
}

static int check_mem_arg(struct verifier *v, const struct sub_arg *arg, u32 regno)
{
	struct reg *r = &state_regs(v->cur)[regno], saved = *r;
	int err = 0;

	if (!reg_is_const_zero(r)) {
		if (r->flags & REGF_NULL)
			ptr_mark_not_null(r);
		err = mem_helper_access(v, regno, (s32)arg->mem_size, false, true, NULL);
		if (!err)
			err = mem_helper_access(v, regno, (s32)arg->mem_size, true, true, NULL);
		state_regs(v->cur)[regno] = saved;
	}
	if (err)
		return -EINVAL;
	if (!arg->null_ok && (saved.flags & REGF_NULL))
		return verify_refuse(v, -EINVAL, RULE, regno, "arg#%u is expected to be non-NULL", regno - 1);
	return 0;
}

static int check_ctx_arg(struct verifier *v, u32 regno)
{
	const struct reg *r = &state_regs(v->cur)[regno];

	if (r->type != REG_CTX)
		return verify_refuse(v, -EINVAL, RULE, regno, "arg#%u expects pointer to ctx", regno - 1);
	if (r->off || !value_is_const(&r->v) || r->v.bits.value)
		return verify_refuse(v, -EACCES, "ctx-modified", regno, "dereference of modified ctx ptr R%u off=%d disallowed",
				     regno, r->off);
	return 0;
}

static int check_args(struct verifier *v, struct subprog *s)
{
	int err = 0;

	for (u32 i = 0; i < s->n_args && !err; i++) {
		u32 regno = BPF_REG_1 + i;

		switch (s->arg[i].kind) {
		case SUB_ARG_SCALAR:
			if (state_regs(v->cur)[regno].type != REG_SCALAR)
				err = verify_refuse(v, -EINVAL, RULE, regno, "R%u is not a scalar", regno);
			break;
		case SUB_ARG_CTX:
			err = check_ctx_arg(v, regno);
			break;
		case SUB_ARG_DYNPTR:
			if (state_regs(v->cur)[regno].type == REG_DYNPTR)
				err = mem_unmoved(v, &state_regs(v->cur)[regno], regno, false);
			if (!err)
				err = dynptr_arg(v, regno, HARG_DYNPTR | HARG_RDONLY);
			break;
		case SUB_ARG_MEM:
			err = check_mem_arg(v, &s->arg[i], regno);
			break;
		}
	}
	return err;
}

/* A mismatch is fatal for global functions only: compilers drop arguments of static ones, whose real arguments are judged
 * anyway. -EFAULT: no BTF to go by. */
int args_check_call(struct verifier *v, u32 n)
{
	struct subprog *s = &v->subprog[n];
	int err;

	if (!s->type_id || s->unreliable)
		return -EINVAL;
	err = args_prepare(v, n);
	if (!err)
		err = check_args(v, s);
	if (err)
		s->unreliable = true;
	if (err && !s->is_global)
		memset(v->why, 0, sizeof(*v->why));
	return err;
}
