/* Kernel functions: the table of those that are built, found by the kernel's BTF id, and the functions themselves. */
#include "dynptr.h"
#include "base/bits.h"
#include "btf/btf.h"

/* ---- iterators over numbers: struct bpf_iter_num_kern */

struct iter_num {
	s32 cur, end;
};

HELPER(iter_num_new)
{
	struct iter_num it = { 0 };
	s32 start = (s32)r2, end = (s32)r3;
	int err = 0;

	if (start > end)
		err = -EINVAL;
	else if ((s64)end - start > 8 * 1024 * 1024)
		err = -E2BIG;
	else /* one before the first: next() adds one; may wrap */
		it = (struct iter_num){ (s32)((u32)start - 1), end };
	memcpy(ptr_of(r1), &it, sizeof(it));
	return r0_int(err);
}

HELPER(iter_num_next)
{
	struct iter_num it;

	memcpy(&it, ptr_of(r1), sizeof(it));
	if ((s64)(s32)((u32)it.cur + 1) >= it.end) {
		memset(ptr_of(r1), 0, sizeof(it));
		return 0;
	}
	it.cur = (s32)((u32)it.cur + 1);
	memcpy(ptr_of(r1), &it, sizeof(it));
	return r1;
}

HELPER(iter_num_destroy)
{
	memset(ptr_of(r1), 0, sizeof(struct iter_num));
	return 0;
}

/* ---- regions: programs here are in one epoch all the time and are preempted by nobody that they could notice */

HELPER(nothing)
{
	return 0;
}

HELPER(irq_save)
{
	STORE(u64, ptr_of(r1), 0);
	return 0;
}

/* ---- dynptrs */

HELPER(dynptr_adjust)
{
	struct dynptr d;
	u32 start = r2, end = r3, size;

	memcpy(&d, ptr_of(r1), sizeof(d));
	size = d.size & DYNPTR_SIZE_MAX;
	if (!d.data || start > end)
		return r0_int(-EINVAL);
	if (start > size || end > size)
		return r0_int(-ERANGE);
	d.offset += start;
	d.size = (d.size & ~(u32)DYNPTR_SIZE_MAX) | (end - start);
	memcpy(ptr_of(r1), &d, sizeof(d));
	return 0;
}

HELPER(dynptr_is_null)
{
	return !LOAD(u64, ptr_of(r1));
}

HELPER(dynptr_is_rdonly)
{
	struct dynptr d;

	memcpy(&d, ptr_of(r1), sizeof(d));
	return d.data && d.size & DYNPTR_RDONLY;
}

HELPER(dynptr_size)
{
	struct dynptr d;

	memcpy(&d, ptr_of(r1), sizeof(d));
	return d.data ? d.size & DYNPTR_SIZE_MAX : (u32)-EINVAL;
}

HELPER(dynptr_clone)
{
	struct dynptr d;

	memcpy(&d, ptr_of(r1), sizeof(d));
	if (!d.data)
		memset(&d, 0, sizeof(d));
	memcpy(ptr_of(r2), &d, sizeof(d));
	return r0_int(d.data ? 0 : -EINVAL);
}

HELPER(dynptr_slice)
{
	struct dynptr d;

	memcpy(&d, ptr_of(r1), sizeof(d));
	return d.data ? addr_of(dynptr_part(&d, r2, r4)) : 0;
}

HELPER(dynptr_slice_rdwr)
{
	struct dynptr d;

	memcpy(&d, ptr_of(r1), sizeof(d));
	return d.data && !(d.size & DYNPTR_RDONLY) ? addr_of(dynptr_part(&d, r2, r4)) : 0;
}

/* ---- the table: all are the kernel's common_btf_ids, for programs of every type */

static const struct kfunc kfuncs[] = {
	{ "bpf_iter_num_new", iter_num_new, { KARG_ITER, KARG_SCALAR, KARG_SCALAR }, KRET_INT, .flags = KFUNC_ITER_NEW,
	  .size = 8, .iter = "num" },
	{ "bpf_iter_num_next", iter_num_next, { KARG_ITER }, KRET_MEM,
	  .flags = KFUNC_ITER_NEXT | KFUNC_RET_NULL | KFUNC_RDONLY, .size = 4, .iter = "num" },
	{ "bpf_iter_num_destroy", iter_num_destroy, { KARG_ITER }, KRET_VOID, .flags = KFUNC_ITER_DESTROY, .iter = "num" },
	{ "bpf_rcu_read_lock", nothing, { 0 }, KRET_VOID, KFUNC_RCU_LOCK },
	{ "bpf_rcu_read_unlock", nothing, { 0 }, KRET_VOID, KFUNC_RCU_UNLOCK },
	{ "bpf_preempt_disable", nothing, { 0 }, KRET_VOID, KFUNC_PREEMPT_DISABLE },
	{ "bpf_preempt_enable", nothing, { 0 }, KRET_VOID, KFUNC_PREEMPT_ENABLE },
	{ "bpf_local_irq_save", irq_save, { KARG_IRQ_FLAG }, KRET_VOID, KFUNC_IRQ_SAVE },
	{ "bpf_local_irq_restore", nothing, { KARG_IRQ_FLAG }, KRET_VOID, KFUNC_IRQ_RESTORE },
	{ "bpf_dynptr_adjust", dynptr_adjust, { KARG_DYNPTR, KARG_SCALAR, KARG_SCALAR }, KRET_INT },
	{ "bpf_dynptr_is_null", dynptr_is_null, { KARG_DYNPTR }, KRET_INT },
	{ "bpf_dynptr_is_rdonly", dynptr_is_rdonly, { KARG_DYNPTR }, KRET_INT },
	{ "bpf_dynptr_size", dynptr_size, { KARG_DYNPTR }, KRET_INT },
	{ "bpf_dynptr_clone", dynptr_clone, { KARG_DYNPTR, KARG_DYNPTR_UNINIT }, KRET_INT, KFUNC_DYNPTR_CLONE },
	{ "bpf_dynptr_slice", dynptr_slice, { KARG_DYNPTR, KARG_SCALAR, KARG_MEM_OPT, KARG_CONST }, KRET_SLICE,
	  .flags = KFUNC_RET_NULL | KFUNC_RDONLY },
	{ "bpf_dynptr_slice_rdwr", dynptr_slice_rdwr, { KARG_DYNPTR, KARG_SCALAR, KARG_MEM_OPT, KARG_CONST }, KRET_SLICE,
	  .flags = KFUNC_RET_NULL },
};

const struct kfunc *kfunc_by_name(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(kfuncs); i++)
		if (!strcmp(kfuncs[i].name, name))
			return &kfuncs[i];
	return NULL;
}

const struct kfunc *kfunc_get(u32 btf_id)
{
	const struct btf_types *kernel = btf_kernel();
	const struct btf_type *t = kernel && btf_id ? btf_type(kernel, btf_id) : NULL;
	const char *name = t && btf_kind_of(t) == BTF_KIND_FUNC ? btf_name(kernel, btf_id) : NULL;

	return name ? kfunc_by_name(name) : NULL;
}

u32 kfunc_args(const struct kfunc *k)
{
	u32 n = 0;

	while (n < ARRAY_SIZE(k->arg) && k->arg[n])
		n++;
	return n;
}
