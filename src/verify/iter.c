/* Things that live in stack slots of their own between a kernel function that makes them and one that ends them: open-coded
 * iterators, and the flags of interrupts switched off.
 *
 * bpf_iter_NAME_next() is walked twice: as the loop's end, where it gives NULL and the iterator is drained, and as one more
 * round, left on the stack of pending paths. Rounds end when the state is one that was met before (prune.c). */
#include "engine.h"
#include "kfunc.h"

enum { ACTIVE = 1, DRAINED = 2 };

static const char *const state_names[] = { "<invalid>", "active", "drained" };

const char *iter_state_name(const struct reg *r)
{
	return state_names[r->iter_state];
}

/* The slot at a stack pointer; -EINVAL: none (the log is told, the caller refuses), -ERANGE: beyond the stack used so far. All iterators built are of one slot. */
static int slot_at(struct verifier *v, const struct reg *r, const char *what)
{
	s64 off = (s64)r->v.bits.value + r->off, n;

	if (!value_is_const(&r->v)) {
		verify_line(v, "%s has to be at a constant offset", what);
		return -EINVAL;
	}
	n = (-off - 1) / 8;
	if (off % 8 || off >= 0) {
		verify_line(v, "cannot pass in %s at an offset=%d", what, (s32)off);
		return -EINVAL;
	}
	return n < access_frame(v, r)->n_slots ? (int)n : -ERANGE;
}

static bool is_type(const struct slot *s, enum slot_type type)
{
	for (u32 i = 0; i < sizeof(s->type); i++)
		if (s->type[i] != type)
			return false;
	return true;
}

static bool any_type(const struct slot *s, enum slot_type type)
{
	for (u32 i = 0; i < sizeof(s->type); i++)
		if (s->type[i] == type)
			return true;
	return false;
}

/* May an object of that type begin at regs[regno]? Then 8 bytes are written there, with what that ends. */
static int make_room(struct verifier *v, u32 regno, enum slot_type type, const char *what, struct slot **out)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	int n = slot_at(v, r, what), err;

	if ((n < 0 && n != -ERANGE) || (n >= 0 && any_type(&access_frame(v, r)->slots[n], type)))
		return -EEXIST;
	err = mem_access(v, v->insn_idx, regno, 0, 8, true, -1, false, false);
	if (err)
		return err;
	n = slot_at(v, r, what);
	if (n < 0)
		return n;
	*out = &access_frame(v, r)->slots[n];
	live_stack_write(v, r->frameno, 1ull << n);
	ptr_slot_scratched(v, (u32)n);
	return 0;
}

static void fill(struct slot *s, enum slot_type type, u32 ref)
{
	reg_mark_pointer(&s->spilled, REG_STACK);	/* no type of its own, as in the kernel */
	s->spilled.ref_id = ref;
	memset(s->type, type, sizeof(s->type));
}

static void empty(struct verifier *v, const struct reg *r, int n)
{
	struct slot *s = &access_frame(v, r)->slots[n];

	reg_mark_not_init(&s->spilled);
	memset(s->type, SLOT_INVALID, sizeof(s->type));
	live_stack_write(v, r->frameno, 1ull << n);
	ptr_slot_scratched(v, (u32)n);
}

static int iter_new(struct verifier *v, const struct kfunc *k, u32 regno)
{
	struct slot *s;
	u32 ref;
	int err = make_room(v, regno, SLOT_ITER, "iter", &s);

	if (err == -EEXIST)
		return verify_refuse(v, -EINVAL, "stack-object", regno, "expected uninitialized iter_%s as arg #%u", k->iter, regno - 1);
	if (err)
		return err;
	ref = call_acquire_ref(v, v->insn_idx);
	if (!ref)
		return verify_refuse(v, -ENOMEM, "memory", -1, "no memory for references");
	fill(s, SLOT_ITER, ref);
	s->spilled.iter_kind = k->iter;
	s->spilled.iter_state = ACTIVE;
	return 0;
}

static bool is_iter(const struct slot *s, const char *kind)
{
	return is_type(s, SLOT_ITER) && s->spilled.ref_id && !strcmp(s->spilled.iter_kind, kind);
}

int iter_arg(struct verifier *v, const struct kfunc *k, u32 regno)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	int n;

	if (r->type != REG_STACK)
		return verify_refuse(v, -EINVAL, "stack-object", regno, "arg#%u expected pointer to an iterator on stack", regno - 1);
	if (k->flags & KFUNC_ITER_NEW)
		return iter_new(v, k, regno);
	n = slot_at(v, r, "iter");
	if (n < 0 || !is_iter(&access_frame(v, r)->slots[n], k->iter))
		return verify_refuse(v, -EINVAL, "stack-object", regno, "expected an initialized iter_%s as arg #%u", k->iter, regno - 1);
	live_stack_read(v, r->frameno, 1ull << n);
	if (!(k->flags & KFUNC_ITER_DESTROY))
		return 0;
	if (call_release_ref(v, access_frame(v, r)->slots[n].spilled.ref_id))
		return -EINVAL;
	empty(v, r, n);
	return 0;
}

/* The iterator that r1 of an iterator's next function names, in state s of the running frame. */
static struct reg *iter_of(struct state *s, u32 frameno, u32 slot)
{
	return &s->frame[frameno]->slots[slot].spilled;
}

int iter_next(struct verifier *v, u32 frameno, u32 slot)
{
	struct state *s = v->cur, *before, *more;
	struct reg *it = iter_of(s, frameno, slot), *next;

	if (it->iter_state == ACTIVE) {
		before = s->parent ? prune_previous_entry(v, s->parent, v->insn_idx) : NULL;
		more = walk_push(v, v->insn_idx + 1, v->insn_idx);
		if (!more)
			return v->why->err ? v->why->err : -ENOMEM;
		next = iter_of(more, frameno, slot);
		next->iter_state = ACTIVE;
		next->iter_depth++;
		if (before)
			prune_widen(v, before, more);
		ptr_mark_not_null(&state_regs(more)[BPF_REG_0]);
	}
	it->iter_state = DRAINED;
	reg_mark_const(&state_regs(s)[BPF_REG_0], 0);
	state_regs(s)[BPF_REG_0].precise = !v->bpf_capable;
	return 0;
}

/* Where is the iterator that regs[1] names? The argument was checked. */
void iter_place(struct verifier *v, u32 *frameno, u32 *slot)
{
	const struct reg *r = &state_regs(v->cur)[BPF_REG_1];

	*frameno = r->frameno;
	*slot = (u32)((-((s64)r->v.bits.value + r->off) - 1) / 8);
}

/* prune.c: does the iterator of the next call at hand go on? Then meeting an equal state is the loop closing. */
bool iter_is_active(struct verifier *v)
{
	u32 frameno, slot;

	iter_place(v, &frameno, &slot);
	return iter_of(v->cur, frameno, slot)->iter_state == ACTIVE;
}

/* Two states that differ in how far an iterator went are no infinite loop. */
bool iter_depths_differ(const struct state *old, const struct state *cur)
{
	for (u32 i = 0; i <= old->cur && i <= cur->cur; i++) {
		const struct frame *a = old->frame[i], *b = cur->frame[i];

		for (u32 k = 0; k < a->n_slots && k < b->n_slots; k++) {
			if (a->slots[k].type[7] != SLOT_ITER || b->slots[k].type[7] != SLOT_ITER)
				continue;
			if (a->slots[k].spilled.iter_state == ACTIVE && a->slots[k].spilled.iter_depth != b->slots[k].spilled.iter_depth)
				return true;
		}
	}
	return false;
}

/* ---- interrupts */

int iter_irq_save(struct verifier *v, u32 regno)
{
	struct slot *s;
	u32 ref;
	int err = make_room(v, regno, SLOT_IRQ_FLAG, "irq_flag", &s);

	if (err == -EEXIST)
		return verify_refuse(v, -EINVAL, "stack-object", regno, "expected uninitialized irq flag as arg#%u", regno - 1);
	if (err)
		return err;
	ref = call_acquire_ref(v, v->insn_idx);
	if (!ref)
		return verify_refuse(v, -ENOMEM, "memory", -1, "no memory for references");
	v->cur->refs[v->cur->n_refs - 1].type = REF_IRQ;
	v->cur->active_irq_id = ref;
	fill(s, SLOT_IRQ_FLAG, ref);
	return 0;
}

/* The flags are given back in the opposite order, so the one before becomes the active one. */
static int release_irq(struct verifier *v, u32 id)
{
	struct state *s = v->cur;
	u32 prev = 0, at = s->n_refs;

	if (id != s->active_irq_id) {
		u32 insn = 0;

		for (u32 i = 0; i < s->n_refs; i++)
			if (s->refs[i].id == s->active_irq_id)
				insn = s->refs[i].insn;
		return verify_refuse(v, -EACCES, "context-region", -1,
				     "cannot restore irq state out of order, expected id=%u acquired at insn_idx=%u",
				     s->active_irq_id, insn);
	}
	for (u32 i = 0; i < s->n_refs; i++) {
		if (s->refs[i].type != REF_IRQ)
			continue;
		if (s->refs[i].id == id)
			at = i;
		else
			prev = s->refs[i].id;
	}
	if (at == s->n_refs)
		return -EINVAL;
	refs_remove(s, at);
	s->active_irq_id = prev;
	return 0;
}

int iter_irq_restore(struct verifier *v, u32 regno)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	int n = slot_at(v, r, "irq_flag"), err;
	struct slot *s = n < 0 ? NULL : &access_frame(v, r)->slots[n];

	if (!s || !is_type(s, SLOT_IRQ_FLAG) || !s->spilled.ref_id)
		return verify_refuse(v, -EINVAL, "stack-object", regno, "expected an initialized irq flag as arg#%u", regno - 1);
	live_stack_read(v, r->frameno, 1ull << n);
	err = release_irq(v, s->spilled.ref_id);
	if (err)
		return err;
	empty(v, r, n);
	return 0;
}
