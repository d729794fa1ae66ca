/* Calls of kernel functions. The table of helper/kfunc.c says what each takes and gives; the kernel's words differ from those
 * for helpers, and so does the order of the checks (check_kfunc_call). */
#include "engine.h"
#include "kfunc.h"
#include "btf/btf.h"

struct kcall {
	const struct kfunc *k;
	u32 iter_frame, iter_slot;	/* KARG_ITER */
	u64 constant;		/* KARG_CONST */
	u32 dynptr_id;		/* KARG_DYNPTR: id, type and reference of it */
	u32 dynptr_ref;
	u8 dynptr_type;
};

static const char *name_of(const struct bpf_insn *i)
{
	const char *name = btf_kernel() ? btf_name(btf_kernel(), (u32)i->imm) : NULL;

	return name ? name : "?";
}

int kfunc_collect(struct verifier *v, u32 insn)
{
	const struct bpf_insn *i = &v->insns[insn];
	const struct btf_type *t;

	if (!v->in->gpl)
		return verify_refuse(v, -EINVAL, "kfunc", -1, "cannot call kernel function from non-GPL compatible program");
	if (!btf_kernel())
		return verify_refuse(v, -ENOTSUPP_, "kfunc", -1, "calling kernel function is not supported without CONFIG_DEBUG_INFO_BTF");
	if (!i->imm && !i->off)
		return 0;
	if (i->off)
		return verify_refuse(v, -EOPNOTSUPP, "not-built", -1, "functions of kernel modules are not built yet");
	t = btf_type(btf_kernel(), (u32)i->imm);
	if (!t || btf_kind_of(t) != BTF_KIND_FUNC)
		return verify_refuse(v, -EINVAL, "kfunc", -1, "kernel btf_id %d is not a function", i->imm);
	v->info[insn].kfunc = kfunc_get((u32)i->imm);
	return 0;
}

static int arg_scalar(struct verifier *v, struct kcall *c, u32 regno, bool constant)
{
	const struct reg *r = &state_regs(v->cur)[regno];

	if (r->type != REG_SCALAR)
		return verify_refuse(v, -EINVAL, "helper-arg-type", regno, "R%u is not a scalar", regno);
	if (!constant)
		return 0;
	if (!value_is_const(&r->v))
		return verify_refuse(v, -EINVAL, "helper-arg-const", regno, "R%u must be a known constant", regno);
	c->constant = r->v.bits.value;
	return precise_mark(v, regno);
}

static int arg_dynptr(struct verifier *v, struct kcall *c, u32 regno, bool uninit)
{
	const struct reg *r = &state_regs(v->cur)[regno], *d;
	u32 arg = HARG_DYNPTR;
	int err;

	if (r->type == REG_DYNPTR) {
		err = mem_unmoved(v, r, regno, false);
		if (err)
			return err;
		arg |= HARG_RDONLY;
	}
	if (uninit)
		return dynptr_clone(v, regno, c->dynptr_type, c->dynptr_ref);
	err = dynptr_arg(v, regno, arg);
	if (err)
		return err;
	d = dynptr_known(v, regno);
	c->dynptr_id = d->id;
	c->dynptr_ref = d->ref_id;
	c->dynptr_type = d->dynptr_type;
	return 0;
}

/* A buffer or NULL, and its size in the next register, which may be 0. */
static int arg_memory(struct verifier *v, u32 regno)
{
	const struct reg *r = &state_regs(v->cur)[regno], *n = &state_regs(v->cur)[regno + 1];
	int err;

	if (reg_is_const_zero(r))
		return 0;
	if (n->type != REG_SCALAR)
		return verify_refuse(v, -EINVAL, "helper-arg-type", regno + 1, "R%u is not a scalar", regno + 1);
	err = mem_helper_sized(v, regno, false, true, NULL);
	if (!err)
		err = mem_helper_sized(v, regno, true, true, NULL);
	if (!err)
		return 0;
	memset(v->why, 0, sizeof(*v->why)); /* that was said; the last word is about the pair */
	return verify_refuse(v, err, "mem-bounds", regno, "arg#%u arg#%u memory, len pair leads to invalid memory access",
			     regno - 1, regno);
}

static int arg_irq(struct verifier *v, const struct kcall *c, u32 regno)
{
	if (state_regs(v->cur)[regno].type != REG_STACK)
		return verify_refuse(v, -EINVAL, "stack-object", regno, "arg#%u doesn't point to an irq flag on stack", regno - 1);
	return c->k->special == KFUNC_IRQ_SAVE ? iter_irq_save(v, regno) : iter_irq_restore(v, regno);
}

static int check_arg(struct verifier *v, struct kcall *c, u32 regno)
{
	switch ((enum kfunc_arg)c->k->arg[regno - 1]) {
	case KARG_SCALAR:
		return arg_scalar(v, c, regno, false);
	case KARG_CONST:
		return arg_scalar(v, c, regno, true);
	case KARG_DYNPTR:
		return arg_dynptr(v, c, regno, false);
	case KARG_DYNPTR_UNINIT:
		return arg_dynptr(v, c, regno, true);
	case KARG_ITER:
		return iter_arg(v, c->k, regno);
	case KARG_IRQ_FLAG:
		return arg_irq(v, c, regno);
	case KARG_MEM_OPT:
		return arg_memory(v, regno);
	default:
		return verify_refuse(v, -EINVAL, "not-built", regno, "argument %u of %s is not built yet", regno, c->k->name);
	}
}

static int check_args(struct verifier *v, struct kcall *c)
{
	u32 n = kfunc_args(c->k);
	int err = 0;

	for (u32 regno = BPF_REG_1; regno <= n && !err; regno++) {
		err = ptr_check_reg_arg(v, regno, false);
		if (!err)
			err = check_arg(v, c, regno);
	}
	if (!err && c->k->arg[0] == KARG_ITER && c->k->flags & KFUNC_ITER_NEXT)
		iter_place(v, &c->iter_frame, &c->iter_slot);
	return err;
}

static void leave_rcu(struct reg *r, void *arg)
{
	if (r->flags & REGF_RCU)
		r->flags = (u16)((r->flags & ~(REGF_RCU | REGF_NULL)) | REGF_UNTRUSTED);
}

/* Regions that a call enters or leaves. */
static int move_region(struct verifier *v, const struct kfunc *k)
{
	struct state *s = v->cur;

	switch (k->special) {
	case KFUNC_RCU_LOCK:
		if (s->active_rcu_locks)
			return verify_refuse(v, -EINVAL, "context-region", -1, "nested rcu read lock (kernel function %s)", k->name);
		s->active_rcu_locks = 1;
		return 0;
	case KFUNC_RCU_UNLOCK:
		if (!s->active_rcu_locks)
			return verify_refuse(v, -EINVAL, "context-region", -1, "unmatched rcu read unlock (kernel function %s)", k->name);
		state_each_reg(s, leave_rcu, NULL);
		s->active_rcu_locks = 0;
		return 0;
	case KFUNC_PREEMPT_DISABLE:
		s->active_preempt_locks++;
		return 0;
	case KFUNC_PREEMPT_ENABLE:
		if (!s->active_preempt_locks)
			return verify_refuse(v, -EINVAL, "context-region", -1,
					     "unmatched attempt to enable preemption (kernel function %s)", k->name);
		s->active_preempt_locks--;
		return 0;
	}
	return 0;
}

static int set_result(struct verifier *v, const struct kcall *c)
{
	struct reg *r0 = &state_regs(v->cur)[BPF_REG_0];
	bool is_int = c->k->ret == KRET_INT;

	switch ((enum kfunc_ret)c->k->ret) {
	case KRET_VOID:
		return 0;
	case KRET_INT:
	case KRET_LONG:
		access_unknown(v, r0);
		break;
	case KRET_MEM:
	case KRET_SLICE:
		if (c->k->ret == KRET_SLICE && !(c->k->flags & KFUNC_RDONLY)) {
			if (!v->in->kind->direct_packet_write)
				return verify_refuse(v, -EINVAL, "packet-write", -1,
						     "the prog does not allow writes to packet data");
			v->seen_direct_write = true;
		}
		reg_mark_pointer(r0, REG_MEM);
		r0->mem_size = c->k->ret == KRET_MEM ? c->k->size : (u32)c->constant;
		/* the end of a dynptr of a map's value does not end its slices; the kernel forgets those of other dynptrs, too */
		if (c->k->ret == KRET_SLICE && c->dynptr_type != DYNPTR_LOCAL)
			r0->dynptr_id = c->dynptr_id;
		if (c->k->flags & KFUNC_RDONLY)
			r0->flags |= REGF_RDONLY;
		if (c->k->flags & KFUNC_RET_NULL) {
			r0->flags |= REGF_NULL;
			r0->id = ++v->next_id;
		}
		break;
	}
	r0->subreg_def = is_int ? (s32)v->insn_idx + 1 : 0;
	return 0;
}

static bool allowed_under_lock(const struct kfunc *k)
{
	return k->iter && !strcmp(k->iter, "num");
}

int kfunc_call(struct verifier *v, const struct bpf_insn *i)
{
	struct kcall c = { .k = v->info[v->insn_idx].kfunc };
	int err;

	if (v->cur->active_locks && (i->off || !c.k || !allowed_under_lock(c.k)))
		return verify_refuse(v, -EINVAL, "lock-held", -1, "function calls are not allowed while holding a lock");
	if (!i->imm)
		return verify_refuse(v, -EINVAL, "not-built", -1, "a call that libbpf left out (kernel function 0) is not built yet");
	if (!c.k)
		return verify_refuse(v, -EOPNOTSUPP, "not-built", -1, "kernel function %s is not built into skep yet", name_of(i));
	err = check_args(v, &c);
	if (!err)
		err = move_region(v, c.k);
	if (err)
		return err;
	ptr_clobber_caller_saved(v, state_frame(v->cur));
	err = set_result(v, &c);
	if (err || !(c.k->flags & KFUNC_ITER_NEXT))
		return err;
	return iter_next(v, c.iter_frame, c.iter_slot);
}
