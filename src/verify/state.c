/* States: making, copying and giving back.
 *
 * A state is copied at every conditional jump and every checkpoint, so copies reuse what the target already has and frames
 * come from a pool. */
#include "verifier.h"

enum { POOL_KEEP = 4096 };	/* free frames kept at most, about 6 MiB */

static struct frame *frame_new(struct state_pool *p)
{
	struct frame *f = p->frames;

	if (f) {
		p->frames = f->next_free;
		p->n_frames--;
		return f;
	}
	return calloc(1, sizeof(*f));
}

static void frame_destroy(struct frame *f)
{
	free(f->slots);
	free(f);
}

void state_frame_free(struct state_pool *p, struct frame *f)
{
	if (!f)
		return;
	if (p->n_frames >= POOL_KEEP) {
		frame_destroy(f);
		return;
	}
	f->next_free = p->frames;
	p->frames = f;
	p->n_frames++;
}

void state_pool_done(struct state_pool *p)
{
	while (p->frames) {
		struct frame *f = p->frames;

		p->frames = f->next_free;
		frame_destroy(f);
	}
	p->n_frames = 0;
}

static bool slots_room(struct frame *f, u32 n)
{
	struct slot *slots;
	u32 cap = f->slots_cap ? f->slots_cap : 4;

	if (n <= f->slots_cap)
		return true;
	while (cap < n)
		cap *= 2;
	slots = realloc(f->slots, cap * sizeof(*slots));
	if (!slots)
		return false;
	f->slots = slots;
	f->slots_cap = cap;
	return true;
}

bool state_stack_room(struct frame *f, u32 bytes)
{
	u32 n = (bytes + 7) / 8;

	if (n <= f->n_slots)
		return true;
	if (!slots_room(f, n))
		return false;
	memset(f->slots + f->n_slots, 0, (n - f->n_slots) * sizeof(*f->slots));
	f->n_slots = n;
	return true;
}

static bool frame_copy(struct frame *to, const struct frame *from)
{
	struct slot *slots = to->slots;
	u32 cap;

	if (!slots_room(to, from->n_slots))
		return false;
	slots = to->slots;
	cap = to->slots_cap;
	*to = *from;
	to->slots = slots;
	to->slots_cap = cap;
	if (from->n_slots)
		memcpy(slots, from->slots, from->n_slots * sizeof(*slots));
	return true;
}

static bool refs_copy(struct state *to, const struct state *from)
{
	if (from->n_refs > to->refs_cap) {
		struct ref *refs = realloc(to->refs, from->n_refs * sizeof(*refs));

		if (!refs)
			return false;
		to->refs = refs;
		to->refs_cap = from->n_refs;
	}
	if (from->n_refs)
		memcpy(to->refs, from->refs, from->n_refs * sizeof(*to->refs));
	return true;
}

static bool history_copy(struct state *to, const struct state *from)
{
	if (from->n_history > to->history_cap) {
		struct jump_history *h = realloc(to->history, from->n_history * sizeof(*h));

		if (!h)
			return false;
		to->history = h;
		to->history_cap = from->n_history;
	}
	if (from->n_history)
		memcpy(to->history, from->history, from->n_history * sizeof(*to->history));
	return true;
}

/* Everything of `to` but the memory it owns becomes what `from` has. */
static void scalars_copy(struct state *to, const struct state *from)
{
	struct state keep = *to;

	*to = *from;
	memcpy(to->frame, keep.frame, sizeof(to->frame));
	to->refs = keep.refs;
	to->refs_cap = keep.refs_cap;
	to->history = keep.history;
	to->history_cap = keep.history_cap;
}

bool state_copy(struct state *to, const struct state *from)
{
	to->pool = from->pool;
	if (!refs_copy(to, from) || !history_copy(to, from))
		return false;
	for (u32 i = from->cur + 1; i < STATE_MAX_FRAMES; i++) {
		state_frame_free(to->pool, to->frame[i]);
		to->frame[i] = NULL;
	}
	for (u32 i = 0; i <= from->cur; i++) {
		if (!to->frame[i])
			to->frame[i] = frame_new(to->pool);
		if (!to->frame[i] || !frame_copy(to->frame[i], from->frame[i]))
			return false;
	}
	scalars_copy(to, from);
	return true;
}

void state_done(struct state *s)
{
	for (u32 i = 0; i < STATE_MAX_FRAMES; i++)
		if (s->frame[i])
			state_frame_free(s->pool, s->frame[i]);
	free(s->refs);
	free(s->history);
	memset(s, 0, sizeof(*s));
}

struct frame *state_frame_new(struct state_pool *p, u32 frameno, u32 subprog, s32 callsite)
{
	struct frame *f = frame_new(p);
	struct slot *slots;
	u32 cap;

	if (!f)
		return NULL;
	slots = f->slots;
	cap = f->slots_cap;
	memset(f, 0, sizeof(*f));
	f->slots = slots;
	f->slots_cap = cap;
	f->frameno = frameno;
	f->subprog = subprog;
	f->callsite = callsite;
	for (u32 i = 0; i < ARRAY_SIZE(f->regs); i++)
		reg_mark_not_init(&f->regs[i]);
	reg_mark_pointer(&f->regs[BPF_REG_10], REG_STACK);
	f->regs[BPF_REG_10].frameno = frameno;
	return f;
}

/* What marks a register leaves subreg_def alone: it says which instruction wrote the register, not what is in it. */
static void reg_set(struct reg *r, enum reg_type type, struct value v)
{
	*r = (struct reg){ .type = type, .v = v, .subreg_def = r->subreg_def };
}

void reg_mark_unknown(struct reg *r)
{
	reg_set(r, REG_SCALAR, value_unknown());
}

/* As the kernel's: the type apart, a register that was never written looks like any number. */
void reg_mark_not_init(struct reg *r)
{
	reg_set(r, REG_NOT_INIT, value_unknown());
}

void reg_mark_const(struct reg *r, u64 value)
{
	reg_set(r, REG_SCALAR, value_const(value));
}

void reg_mark_pointer(struct reg *r, enum reg_type type)
{
	reg_set(r, type, value_const(0));
}

bool reg_is_const_zero(const struct reg *r)
{
	return r->type == REG_SCALAR && value_is_const(&r->v) && !r->v.bits.value;
}

void state_each_reg(struct state *s, void (*fn)(struct reg *r, void *arg), void *arg)
{
	for (u32 i = 0; i <= s->cur; i++) {
		struct frame *f = s->frame[i];

		for (u32 r = 0; r < ARRAY_SIZE(f->regs); r++)
			fn(&f->regs[r], arg);
		for (u32 k = 0; k < f->n_slots; k++)
			if (f->slots[k].type[7] == SLOT_SPILL)
				fn(&f->slots[k].spilled, arg);
	}
}
