/* Is everything that `cur` may do already proven by what was proven from `old`? Then the path at hand can end.
 *
 * Ids are compared by what they tie together, not by number: id_map pairs old ones with new ones as they are met. */
#include "engine.h"
#include "prune.h"

enum { MAX_IDS = (11 + VERIFY_MAX_STACK / 8) * STATE_MAX_FRAMES };

struct id_map {
	u32 tmp;		/* source of stand-ins for scalars without an id */
	u32 n;
	struct { u32 old, cur; } pair[MAX_IDS];
};

int equal_init(struct verifier *v)
{
	v->ids = calloc(1, sizeof(*v->ids));
	return v->ids ? 0 : -ENOMEM;
}

static bool ids_match(struct id_map *m, u32 old, u32 cur)
{
	if (!old != !cur)
		return false;
	if (!old)
		return true;
	for (u32 i = 0; i < m->n; i++) {
		if (m->pair[i].old == old)
			return m->pair[i].cur == cur;
		if (m->pair[i].cur == cur)
			return false;
	}
	if (m->n == MAX_IDS)
		return false;
	m->pair[m->n].old = old;
	m->pair[m->n++].cur = cur;
	return true;
}

/* A scalar without an id is tied to nothing: like one with an id of its own. */
static bool scalar_ids_match(struct id_map *m, u32 old, u32 cur)
{
	old = old ? old : ++m->tmp;
	cur = cur ? cur : ++m->tmp;
	return ids_match(m, old, cur);
}

static bool same_kind(const struct reg *a, const struct reg *b)
{
	return a->type == b->type && a->flags == b->flags;
}

static bool same_origin(const struct reg *a, const struct reg *b)
{
	return same_kind(a, b) && a->off == b->off && a->raw1 == b->raw1 && a->raw2 == b->raw2;
}

bool reg_same(const struct reg *a, const struct reg *b)
{
	return same_origin(a, b) && !memcmp(&a->v, &b->v, sizeof(a->v));
}

static bool reg_exact(struct id_map *m, const struct reg *old, const struct reg *cur)
{
	return reg_same(old, cur) && ids_match(m, old->id, cur->id) && ids_match(m, old->ref_id, cur->ref_id);
}

void equal_begin(struct verifier *v)
{
	v->ids->tmp = v->next_id;
	v->ids->n = 0;
}

bool equal_exact(struct verifier *v, const struct reg *old, const struct reg *cur)
{
	return reg_exact(v->ids, old, cur);
}

static bool scalar_safe(struct verifier *v, const struct reg *old, const struct reg *cur, enum exact exact)
{
	if (!old->precise && v->bpf_capable && exact == NOT_EXACT && !(v->in->watch && v->in->watch->all_precise))
		return true;
	/* a number that was tied to nothing then may be tied to others now: that only says more */
	if (old->id) {
		if ((old->id & REG_LINK_ADD_CONST) != (cur->id & REG_LINK_ADD_CONST))
			return false;
		if ((old->id & REG_LINK_ADD_CONST) && old->off != cur->off)
			return false;
		if (!scalar_ids_match(v->ids, old->id, cur->id))
			return false;
	}
	return value_within(&old->v, &cur->v);
}

/* At least as much must be proven of the packet as was then. */
static bool packet_safe(struct id_map *m, const struct reg *old, const struct reg *cur)
{
	if (((s32)old->range < 0 || (s32)cur->range < 0) && old->range != cur->range)
		return false;	/* at or past the end: comparisons are decided by it */
	return (s32)old->range <= (s32)cur->range && old->off == cur->off && ids_match(m, old->id, cur->id) &&
	       value_within(&old->v, &cur->v);
}

static bool reg_safe(struct verifier *v, const struct reg *old, const struct reg *cur, enum exact exact)
{
	if (exact == EXACT)
		return reg_exact(v->ids, old, cur);
	if (old->type == REG_NOT_INIT)
		return true;
	if (!same_kind(old, cur))
		return false;
	switch (old->type) {
	case REG_SCALAR:
		return scalar_safe(v, old, cur, exact);
	case REG_MAP_KEY:
	case REG_MAP_VALUE:
	case REG_MEM:
	case REG_BUF:
	case REG_TP_BUFFER:
		return same_origin(old, cur) && value_within(&old->v, &cur->v) && ids_match(v->ids, old->id, cur->id) &&
		       ids_match(v->ids, old->ref_id, cur->ref_id);
	case REG_PACKET:
	case REG_PACKET_META:
		return packet_safe(v->ids, old, cur);
	case REG_STACK:
		return reg_exact(v->ids, old, cur) && old->frameno == cur->frameno;
	case REG_ARENA:
		return true;
	}
	return reg_exact(v->ids, old, cur);
}

static bool slot_is(const struct slot *s, enum slot_type type)
{
	u64 all;

	memcpy(&all, s->type, sizeof(all));
	return all == type * 0x0101010101010101ull;
}

/* A slot as the number that a load of it would give: a spilled 64-bit scalar, or anything at all. NULL: neither. */
static const struct reg *slot_scalar(const struct verifier *v, const struct slot *s, const struct reg *unknown)
{
	if (s->type[0] == SLOT_SPILL && s->type[7] == SLOT_SPILL && s->spilled.type == REG_SCALAR)
		return &s->spilled;
	if (v->allow_uninit_stack) {
		for (u32 i = 0; i < 8; i++)
			if (s->type[i] != SLOT_MISC && s->type[i] != SLOT_INVALID)
				return NULL;
		return unknown;
	}
	return slot_is(s, SLOT_MISC) ? unknown : NULL;
}

static bool byte_safe(const struct verifier *v, u8 old, u8 cur)
{
	if (old == SLOT_INVALID || (v->allow_uninit_stack && old == SLOT_MISC))
		return true;
	return old == cur || (old == SLOT_MISC && cur == SLOT_ZERO);
}

static bool slot_safe(struct verifier *v, const struct slot *old, const struct slot *cur, const struct reg *unknown,
		      enum exact exact)
{
	const struct reg *old_reg, *cur_reg;

	if (exact != NOT_EXACT && memcmp(old->type, cur->type, sizeof(old->type)))
		return false;
	if (slot_is(old, SLOT_INVALID) || (v->allow_uninit_stack && slot_is(old, SLOT_MISC)))
		return true;
	old_reg = slot_scalar(v, old, unknown);
	cur_reg = slot_scalar(v, cur, unknown);
	if (old_reg && cur_reg)
		return reg_safe(v, old_reg, cur_reg, exact);
	for (u32 i = 0; i < sizeof(old->type); i++)
		if (!byte_safe(v, old->type[i], cur->type[i]))
			return false;
	switch (old->type[7]) {
	case SLOT_SPILL:
		return reg_safe(v, &old->spilled, &cur->spilled, exact);
	case SLOT_DYNPTR:
		return old->spilled.dynptr_type == cur->spilled.dynptr_type &&
		       old->spilled.dynptr_first == cur->spilled.dynptr_first &&
		       ids_match(v->ids, old->spilled.ref_id, cur->spilled.ref_id);
	case SLOT_ITER:	/* depth does not matter: it keeps loops from looking infinite */
		return old->spilled.iter_kind == cur->spilled.iter_kind && old->spilled.iter_state == cur->spilled.iter_state &&
		       ids_match(v->ids, old->spilled.ref_id, cur->spilled.ref_id);
	case SLOT_IRQ_FLAG:
		return ids_match(v->ids, old->spilled.ref_id, cur->spilled.ref_id);
	case SLOT_MISC:
	case SLOT_ZERO:
	case SLOT_INVALID:
		return true;
	}
	return false;
}

/* The slot lies beyond the stack that cur has: it must not have mattered. */
static bool absent_slot_safe(const struct verifier *v, const struct slot *old)
{
	for (u32 i = 0; i < sizeof(old->type); i++)
		if (!byte_safe(v, old->type[i], SLOT_INVALID))
			return false;
	return true;
}

static bool stack_safe(struct verifier *v, const struct frame *old, const struct frame *cur, enum exact exact)
{
	struct reg unknown = { 0 };

	if (exact != NOT_EXACT && old->n_slots > cur->n_slots)
		return false;
	reg_mark_unknown(&unknown);
	for (u32 i = 0; i < old->n_slots; i++)
		if (i >= cur->n_slots ? !absent_slot_safe(v, &old->slots[i]) :
					!slot_safe(v, &old->slots[i], &cur->slots[i], &unknown, exact))
			return false;
	return true;
}

static bool refs_safe(struct id_map *m, const struct state *old, const struct state *cur)
{
	if (old->n_refs != cur->n_refs || old->active_locks != cur->active_locks ||
	    old->active_rcu_locks != cur->active_rcu_locks || old->active_preempt_locks != cur->active_preempt_locks ||
	    !ids_match(m, old->active_irq_id, cur->active_irq_id))
		return false;
	for (u32 i = 0; i < old->n_refs; i++) {
		const struct ref *a = &old->refs[i], *b = &cur->refs[i];

		if (a->type != b->type || a->lock != b->lock || !ids_match(m, a->id, b->id))
			return false;
	}
	return true;
}

static bool frames_safe(struct verifier *v, const struct frame *old, const struct frame *cur, u32 insn, enum exact exact)
{
	u16 live = v->info[insn].live_regs;

	if (old->callback_depth > cur->callback_depth)
		return false;
	for (u32 r = 0; r < ARRAY_SIZE(old->regs); r++)
		if ((live >> r & 1) && !reg_safe(v, &old->regs[r], &cur->regs[r], exact))
			return false;
	return stack_safe(v, old, cur, exact);
}

bool state_equal(struct verifier *v, struct state *old, struct state *cur, enum exact exact)
{
	if (old->cur != cur->cur || old->in_sleepable != cur->in_sleepable)
		return false;
	equal_begin(v);
	if (!refs_safe(v->ids, old, cur))
		return false;
	for (u32 i = 0; i <= old->cur; i++) {
		if (old->frame[i]->callsite != cur->frame[i]->callsite)
			return false;
		if (!frames_safe(v, old->frame[i], cur->frame[i], state_insn_of(old, i), exact))
			return false;
	}
	return true;
}
