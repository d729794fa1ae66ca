/* Helper calls: may this program make the call, do the arguments fit, what is true after it.
 *
 * The prototype under each helper in helper/ says what is asked; this file and call_args.c enforce it. After the call r1-r5
 * are gone, r0 holds what the prototype promises, and pointers into a packet that may have moved are dead. */
#include "call.h"

enum { MAX_ERRNO = 4095 };

/* What callers without CAP_BPF may call (bpf_base_func_proto, before its first check). */
static const u16 unpriv_helpers[] = {
	BPF_FUNC_map_lookup_elem,     BPF_FUNC_map_update_elem,	  BPF_FUNC_map_delete_elem,
	BPF_FUNC_map_push_elem,	      BPF_FUNC_map_pop_elem,	  BPF_FUNC_map_peek_elem,
	BPF_FUNC_map_lookup_percpu_elem, BPF_FUNC_get_prandom_u32, BPF_FUNC_get_smp_processor_id,
	BPF_FUNC_get_numa_node_id,    BPF_FUNC_tail_call,	  BPF_FUNC_ktime_get_ns,
	BPF_FUNC_ktime_get_boot_ns,   BPF_FUNC_ktime_get_tai_ns,  BPF_FUNC_ringbuf_output,
	BPF_FUNC_ringbuf_reserve,     BPF_FUNC_ringbuf_submit,	  BPF_FUNC_ringbuf_discard,
	BPF_FUNC_ringbuf_query,	      BPF_FUNC_strncmp,		  BPF_FUNC_strtol,
	BPF_FUNC_strtoul,	      BPF_FUNC_get_current_pid_tgid, BPF_FUNC_get_ns_current_pid_tgid,
	BPF_FUNC_ktime_get_coarse_ns,
};

static bool caps_suffice(const struct verifier *v, u32 id, const struct helper_proto *proto)
{
	if (proto && proto->needs_perfmon && !(v->in->caps & VERIFY_CAP_PERFMON))
		return false;
	if (v->in->caps & VERIFY_CAP_BPF)
		return true;
	for (u32 i = 0; i < ARRAY_SIZE(unpriv_helpers); i++)
		if (unpriv_helpers[i] == id)
			return true;
	return false;
}

static int find_helper(struct verifier *v, u32 id, const struct helper_proto **out)
{
	const char *name = helper_name(id);
	const struct helper_proto *proto;

	if (id >= ABI_FUNC_MAX)
		return verify_refuse(v, -EINVAL, "helper-unknown", -1, "invalid func unknown#%d", (s32)id);
	proto = helper_get(id);
	if (!kind_allows(v->in->kind, id, v->in->attach_type) || !caps_suffice(v, id, proto))
		return verify_refuse(v, -EINVAL, "helper-not-allowed", -1,
				     "program of this type cannot use helper bpf_%s#%u", name ? name : "unspec", id);
	if (!proto)
		return verify_refuse(v, -EINVAL, "helper-not-built", -1, "helper bpf_%s#%u is not built into skep yet",
				     name, id);
	*out = proto;
	return 0;
}

static int check_context(struct verifier *v, const struct helper_proto *proto, u32 id)
{
	const struct state *s = v->cur;

	if (!v->in->gpl && proto->gpl_only)
		return verify_refuse(v, -EINVAL, "helper-gpl", -1,
				     "cannot call GPL-restricted function from non-GPL compatible program");
	if (!proto->might_sleep)
		return 0;
	if (!s->in_sleepable)
		return verify_refuse(v, -EINVAL, "helper-sleep", -1, "helper call might sleep in a non-sleepable prog");
	if (s->active_rcu_locks)
		return verify_refuse(v, -EINVAL, "helper-sleep", -1,
				     "sleepable helper bpf_%s#%u in rcu_read_lock region", helper_name(id), id);
	if (s->active_preempt_locks)
		return verify_refuse(v, -EINVAL, "helper-sleep", -1,
				     "sleepable helper bpf_%s#%u in non-preemptible region", helper_name(id), id);
	if (s->active_irq_id)
		return verify_refuse(v, -EINVAL, "helper-sleep", -1,
				     "sleepable helper bpf_%s#%u in IRQ-disabled region", helper_name(id), id);
	return 0;
}

/* What lower may rely on: the one map and the one key of all calls made here. */

static u32 map_index(const struct verifier *v, const struct map *m)
{
	for (u32 i = 0; i < v->n_maps; i++)
		if (v->maps[i] == m)
			return i + 1;
	return VERIFY_MANY;
}

static bool changes_map(u32 id)
{
	return id == BPF_FUNC_map_delete_elem || id == BPF_FUNC_map_update_elem || id == BPF_FUNC_map_push_elem ||
	       id == BPF_FUNC_map_pop_elem;
}

static int note_map(struct verifier *v, const struct call *c)
{
	struct insn_info *info = &v->info[v->insn_idx];
	u32 index;

	if (!c->map)
		return 0;
	if (c->map->flags & BPF_F_RDONLY_PROG && changes_map(c->id))
		return verify_refuse(v, -EACCES, "map-readonly", BPF_REG_1, "write into map forbidden");
	index = map_index(v, c->map);
	if (!info->map_call)
		info->map_call = index;
	else if (info->map_call != index)
		info->map_call = VERIFY_MANY;
	return 0;
}

static void note_key(struct insn_info *info, bool known, u64 key)
{
	if (!known) {
		info->key_state = 2;
	} else if (!info->key_state) {
		info->key_state = 1;
		info->key = key;
	} else if (info->key != key) {
		info->key_state = 2;
	}
}

/* The slot of a tail call, the index of an array look-up. */
static int note_call_key(struct verifier *v, const struct call *c)
{
	const struct reg *r3 = &state_regs(v->cur)[BPF_REG_3];
	struct insn_info *info = &v->info[v->insn_idx];
	bool known;
	int err;

	if (c->id != BPF_FUNC_tail_call) {
		if (c->map && call_map_null_elidable(c->map))
			note_key(info, c->const_key >= 0 && c->const_key < c->map->max_entries, c->stored_key);
		return 0;
	}
	if (!c->map || c->map->type != BPF_MAP_TYPE_PROG_ARRAY)
		return verify_refuse(v, -EINVAL, "map-func", BPF_REG_2, "expected prog array map for tail call");
	known = r3->type == REG_SCALAR && value_is_const(&r3->v) && r3->v.bits.value < c->map->max_entries;
	err = known ? precise_mark(v, BPF_REG_3) : 0;
	if (!err)
		note_key(info, known, r3->v.bits.value);
	return err;
}

/* References given back by the call. */
static int release_arg(struct verifier *v, const struct call *c)
{
	int err = 0;

	if (!c->release_regno)
		return 0;
	if (c->dynptr_regno == c->release_regno)
		err = dynptr_release(v, c->release_regno);
	else if (c->ref_id)
		err = call_release_ref(v, c->ref_id);
	else if (!reg_is_const_zero(&state_regs(v->cur)[c->release_regno]))
		err = -EINVAL;
	if (!err)
		return 0;
	return verify_refuse(v, err, "ref-not-held", (int)c->release_regno,
			     "func bpf_%s#%u reference has not been acquired before", helper_name(c->id), c->id);
}

/* Callbacks. */

static void end_callback_args(struct frame *callee, u32 from)
{
	for (u32 r = from; r <= BPF_REG_5; r++)
		reg_mark_not_init(&callee->regs[r]);
	callee->in_callback = true;
	callee->callback_ret.min = 0;
	callee->callback_ret.max = 1;
}

/* bpf_loop(n, fn, ctx, flags): fn(index, ctx) */
static int set_loop_args(struct verifier *v, struct frame *caller, struct frame *callee, u32 insn)
{
	access_unknown(v, &callee->regs[BPF_REG_1]);
	callee->regs[BPF_REG_2] = caller->regs[BPF_REG_3];
	end_callback_args(callee, BPF_REG_3);
	return 0;
}

/* bpf_for_each_map_elem(map, fn, ctx, flags): fn(map, key, value, ctx) */
static int set_each_args(struct verifier *v, struct frame *caller, struct frame *callee, u32 insn)
{
	const struct reg *map = &caller->regs[BPF_REG_1];

	callee->regs[BPF_REG_1] = *map;
	reg_mark_pointer(&callee->regs[BPF_REG_2], REG_MAP_KEY);
	callee->regs[BPF_REG_2].map = map->map;
	reg_mark_pointer(&callee->regs[BPF_REG_3], REG_MAP_VALUE);
	callee->regs[BPF_REG_3].map = map->map;
	callee->regs[BPF_REG_4] = caller->regs[BPF_REG_3];
	end_callback_args(callee, BPF_REG_5);
	return 0;
}

/* The kernel turns bpf_loop with constant zero flags and one callback into a loop of instructions, and that the flags are
 * zero must then hold on every path. Nothing rests on it here, but states must be as hard to match as the kernel's. */
static int note_loop_flags(struct verifier *v, u32 subprog)
{
	u32 *seen = &v->info[v->insn_idx].loop_inline_state;
	bool zero = reg_is_const_zero(&state_regs(v->cur)[BPF_REG_4]);
	bool first = !*seen;

	if (*seen == VERIFY_MANY)
		return 0;
	*seen = zero && (first || *seen == subprog + 1) ? subprog + 1 : VERIFY_MANY;
	return zero ? precise_mark(v, BPF_REG_4) : 0;
}

static int push_loop(struct verifier *v, const struct call *c)
{
	struct frame *f = state_frame(v->cur);
	int err = note_loop_flags(v, c->subprog);

	if (err)
		return err;
	if (f->regs[BPF_REG_1].type != REG_SCALAR) /* nothing asked for a number; errno and words are the kernel's */
		return verify_refuse(v, -EFAULT, "helper-arg-type", BPF_REG_1, "verifier bug: backtracking misuse");
	err = precise_mark(v, BPF_REG_1); /* how many rounds are left decides */
	if (err)
		return err;
	if (f->callback_depth < f->regs[BPF_REG_1].v.umax)
		return walk_push_callback(v, v->insn_idx, c->subprog, set_loop_args);
	f->callback_depth = 0;
	verify_say(v, ABI_LOG_LEVEL2, "frame%u bpf_loop iteration limit reached\n", v->cur->cur);
	return 0;
}

static int check_dynptr_memory(struct verifier *v)
{
	const struct reg *r1 = &state_regs(v->cur)[BPF_REG_1];
	char type[64];

	if (r1->type == REG_MAP_VALUE)
		return 0;
	return verify_refuse(v, -EACCES, "dynptr", BPF_REG_1, "Unsupported reg type %s for bpf_dynptr_from_mem data",
			     print_reg_type(r1, type));
}

static int call_special(struct verifier *v, struct call *c)
{
	const struct reg *d;

	switch (c->id) {
	case BPF_FUNC_dynptr_from_mem:
		return check_dynptr_memory(v);
	case BPF_FUNC_dynptr_data:
		d = dynptr_known(v, c->dynptr_regno);
		c->dynptr_id = d->id;
		c->ref_id = d->ref_id;
		return 0;
	case BPF_FUNC_tail_call:
		return call_check_no_refs(v, false, "tail_call");
	case BPF_FUNC_loop:
		return push_loop(v, c);
	case BPF_FUNC_for_each_map_elem:
		if (!c->map->ops->each)
			return verify_refuse(v, -ENOTSUPP_, "callback", BPF_REG_2, "callback function not allowed for map");
		return walk_push_callback(v, v->insn_idx, c->subprog, set_each_args);
	case BPF_FUNC_timer_set_callback:
	case BPF_FUNC_find_vma:
	case BPF_FUNC_user_ringbuf_drain:
		return verify_refuse(v, -EINVAL, "not-built", -1, "callbacks of bpf_%s are not built yet",
				     helper_name(c->id));
	default:
		return 0;
	}
}

/* The result. */

static void return_map_value(const struct call *c, struct reg *r0)
{
	bool there = call_map_null_elidable(c->map) && c->const_key >= 0 && c->const_key < c->map->max_entries;

	reg_mark_pointer(r0, REG_MAP_VALUE);
	r0->map = c->map;
	r0->map_uid = c->map_uid;
	if (c->proto->ret & HRET_NULL_OK && !(c->id == BPF_FUNC_map_lookup_elem && there))
		r0->flags = REGF_NULL;
}

static int set_result(struct verifier *v, const struct call *c)
{
	struct reg *r0 = &state_regs(v->cur)[BPF_REG_0];
	u32 ret = c->proto->ret, id;

	r0->subreg_def = 0; /* helpers return 64 bits */
	switch (ret & HRET_BASE_MASK) {
	case HRET_INTEGER:
		access_unknown(v, r0);
		return 0;
	case HRET_VOID:
		return 0;
	case HRET_MAP_VALUE:
		if (!c->map)
			return verify_refuse(v, -EINVAL, "internal", -1, "kernel subsystem misconfigured verifier");
		return_map_value(c, r0);
		break;
	case HRET_MEM:
	case HRET_DYNPTR_MEM:
	case HRET_RINGBUF_MEM:
		reg_mark_pointer(r0, REG_MEM);
		/* the kernel keeps 32 bits of it; the helpers give nothing for more */
		r0->mem_size = (u32)c->alloc_size;
		r0->flags = ret & HRET_NULL_OK ? REGF_NULL : 0;
		if ((ret & HRET_BASE_MASK) == HRET_DYNPTR_MEM) {
			r0->dynptr_id = c->dynptr_id;
			r0->ref_id = c->ref_id;
		}
		if ((ret & HRET_BASE_MASK) == HRET_RINGBUF_MEM)
			r0->flags |= REGF_RINGBUF;
		break;
	default:
		return verify_refuse(v, -EINVAL, "not-built", -1, "the result of bpf_%s is not built yet",
				     helper_name(c->id));
	}
	if (r0->flags & REGF_NULL || lock_may_be_in(r0))
		r0->id = ++v->next_id;
	if ((ret & HRET_BASE_MASK) != HRET_RINGBUF_MEM)
		return 0;
	id = call_acquire_ref(v, v->insn_idx);
	if (!id)
		return verify_refuse(v, -ENOMEM, "memory", -1, "no memory for references");
	r0->id = r0->ref_id = id;
	return 0;
}

/* Helpers whose result is known to lie in a range. */
static void refine_result(struct verifier *v, const struct call *c)
{
	struct value *x = &state_regs(v->cur)[BPF_REG_0].v;
	s64 min, max;

	switch (c->id) {
	case BPF_FUNC_get_stack:
	case BPF_FUNC_get_task_stack:
	case BPF_FUNC_probe_read_str:
	case BPF_FUNC_probe_read_kernel_str:
	case BPF_FUNC_probe_read_user_str:
		x->smin = x->s32min = -MAX_ERRNO;
		x->smax = (s64)c->max_size;
		x->s32max = (s32)c->max_size;
		break;
	case BPF_FUNC_get_smp_processor_id:
		min = 0;
		max = (s64)env_possible_cpus() - 1;
		*x = (struct value){ .bits = x->bits, .smin = min, .smax = max, .umin = (u64)min, .umax = (u64)max,
				     .s32min = (s32)min, .s32max = (s32)max, .u32min = (u32)min,
				     .u32max = (u32)max };
		break;
	default:
		return;
	}
	value_sync(x);
}

/* A tail call either fails and falls through, or its program ends in place of this function. For the main program that is
 * the end; a called function's caller goes on, with a packet that may have moved. */
static int after_tail_call(struct verifier *v, u32 *next_insn)
{
	if (!v->cur->cur)
		return 0;
	if (!walk_push(v, *next_insn, v->insn_idx))
		return v->why->err ? v->why->err : -ENOMEM;
	v->changes_packet = true;
	ptr_kill_packets(v);
	return func_tail_called(v, next_insn);
}

int call_helper(struct verifier *v, const struct bpf_insn *i, u32 *next_insn)
{
	struct call c = { .id = (u32)i->imm, .const_key = -1 };
	int err = find_helper(v, c.id, &c.proto);

	if (!err)
		err = check_context(v, c.proto, c.id);
	if (!err)
		err = call_check_args(v, &c);
	if (!err)
		err = note_map(v, &c);
	if (!err)
		err = note_call_key(v, &c);
	if (!err)
		err = mem_raw_write(v, &c.raw);
	if (!err)
		err = release_arg(v, &c);
	if (!err)
		err = call_special(v, &c);
	if (err)
		return err;

	ptr_clobber_caller_saved(v, state_frame(v->cur));
	err = set_result(v, &c);
	if (err)
		return err;
	refine_result(v, &c);
	err = call_check_map(v, &c);
	if (err)
		return err;
	if (c.id == BPF_FUNC_tail_call)
		return after_tail_call(v, next_insn);
	if (c.proto->changes_packet) {
		v->changes_packet = true;
		ptr_kill_packets(v);
	}
	return 0;
}
