/* References: things a helper handed out (a ring buffer reservation) that must be given back, and the regions in which some
 * things may not be done. */
#include "access.h"
#include "base/vec.h"

u32 call_acquire_ref(struct verifier *v, u32 insn)
{
	struct state *s = v->cur;
	u32 id = ++v->next_id;

	if (s->n_refs == s->refs_cap &&
	    !vec_grow((void **)&s->refs, &s->refs_cap, (u64)s->n_refs + 1, sizeof(*s->refs)))
		return 0;
	s->refs[s->n_refs++] = (struct ref){ .type = REF_POINTER, .id = id, .insn = insn };
	return id;
}

/* The others keep their order: interrupts are switched on again in the opposite order. */
void refs_remove(struct state *s, u32 i)
{
	memmove(&s->refs[i], &s->refs[i + 1], (s->n_refs - i - 1) * sizeof(*s->refs));
	s->n_refs--;
}

bool refs_forget(struct state *s, u32 id)
{
	for (u32 i = 0; i < s->n_refs; i++) {
		if (s->refs[i].type != REF_POINTER || s->refs[i].id != id)
			continue;
		refs_remove(s, i);
		return true;
	}
	return false;
}

struct released {
	struct verifier *v;
	u32 id;
};

static void invalidate_ref(struct reg *r, void *arg)
{
	const struct released *rel = arg;

	if (r->ref_id == rel->id)
		ptr_invalidate(rel->v, r);
}

/* The reference is given back: no copy of the pointer may be used any more. -EINVAL: it was not held. */
int call_release_ref(struct verifier *v, u32 ref_id)
{
	struct released rel = { .v = v, .id = ref_id };

	if (!refs_forget(v->cur, ref_id))
		return -EINVAL;
	state_each_reg(v->cur, invalidate_ref, &rel);
	return 0;
}

static int check_refs(struct verifier *v)
{
	const struct state *s = v->cur;
	int err = 0;

	if (s->cur)
		return 0; /* the caller may still release them */
	for (u32 i = 0; i < s->n_refs; i++) {
		if (s->refs[i].type != REF_POINTER)
			continue;
		verify_line(v, "Unreleased reference id=%u alloc_insn=%u", s->refs[i].id, s->refs[i].insn);
		err = -EINVAL;
	}
	return err;
}

/* May the program be left here (`where`, as the log says it: "tail_call")? at_exit: an exit instruction, which in a called
 * function only returns. */
int call_check_no_refs(struct verifier *v, bool at_exit, const char *where)
{
	const struct state *s = v->cur;
	bool check_regions = !at_exit || !s->cur;
	int err;

	if (check_regions && s->active_locks)
		return verify_refuse(v, -EINVAL, "lock-held", -1, "%s cannot be used inside bpf_spin_lock-ed region",
				     where);
	err = check_refs(v);
	if (err)
		return verify_refuse(v, err, "ref-leak", -1, "%s would lead to reference leak", where);
	if (check_regions && s->active_rcu_locks)
		return verify_refuse(v, -EINVAL, "context-region", -1,
				     "%s cannot be used inside bpf_rcu_read_lock-ed region", where);
	if (check_regions && s->active_irq_id)
		return verify_refuse(v, -EINVAL, "context-region", -1,
				     "%s cannot be used inside bpf_local_irq_save-ed region", where);
	if (check_regions && s->active_preempt_locks)
		return verify_refuse(v, -EINVAL, "context-region", -1,
				     "%s cannot be used inside bpf_preempt_disable-ed region", where);
	return 0;
}
