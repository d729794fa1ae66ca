/* Recording the verifier's states, and the run that is compared with them. See oracle.h. */
#include "oracle.h"
#include "oracle_private.h"
#include "run/frame.h"
#include <stdarg.h>
#include <stdio.h>

/* ---- recording */

/* The states of the last oracle: megabytes that are good for the next. */
static struct seen *spare;
static u32 spare_cap;

static void record(struct verify_watch *w, const struct state *s, u32 insn, u16 live, bool kept)
{
	struct oracle *o = container_of(w, struct oracle, watch);
	const struct frame *f = s->frame[s->cur];
	struct seen *seen;

	if (o->n_seen == SEEN_MAX || insn >= o->p->n_loaded) {
		o->overflow = true;
		return;
	}
	if (o->n_seen == o->seen_cap) {
		u32 cap = o->seen_cap ? o->seen_cap * 2 : 256;
		struct seen *more = realloc(o->seen, cap * sizeof(*more));

		if (!more) {
			o->overflow = true;
			return;
		}
		o->seen = more;
		o->seen_cap = cap;
	}
	seen = &o->seen[o->n_seen++];
	*seen = (struct seen){ .next = o->first[insn], .depth = s->cur, .kept = kept, .live = live };
	memcpy(seen->regs, f->regs, sizeof(seen->regs));
	o->first[insn] = o->n_seen;
}

static struct oracle *new(struct prog *p)
{
	struct oracle *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->p = p;
	o->first = calloc(p->n_loaded, sizeof(*o->first));
	if (!o->first) {
		oracle_free(o);
		return NULL;
	}
	return o;
}

struct oracle *oracle_memory_only(struct prog *p)
{
	return new(p);
}

struct oracle *oracle_new(struct prog *p, u32 caps, bool all_precise, int (*use_map)(void *, s32, bool, struct map **), void *ctx,
			  int *err)
{
	struct oracle *o = new(p);
	struct refusal why = { 0 };
	struct proof proof = { 0 };
	struct verify_input in = {
		.insns = p->loaded, .n_insns = p->n_loaded, .kind = p->kind, .attach_type = p->attach_type,
		.prog_flags = p->flags, .caps = caps, .gpl = p->gpl, .btf = p->btf, .func_info = p->func_info,
		.n_func_info = p->n_func_info, .use_map = use_map, .ctx = ctx,
	};

	*err = -ENOMEM;
	if (!o)
		return NULL;
	o->seen = spare;
	o->seen_cap = spare_cap;
	spare = NULL;
	spare_cap = 0;
	o->has_states = true;
	o->watch = (struct verify_watch){ .state = record, .all_precise = all_precise };
	in.watch = &o->watch;
	*err = verify_program(&in, &proof, &why);
	if (!*err)
		verify_proof_done(&proof);
	if (*err || o->overflow) {
		oracle_free(o);
		return NULL;
	}
	return o;
}

void oracle_free(struct oracle *o)
{
	if (!o)
		return;
	if (o->seen_cap > spare_cap) {
		free(spare);
		spare = o->seen;
		spare_cap = o->seen_cap;
	} else {
		free(o->seen);
	}
	free(o->first);
	free(o);
}

const char *oracle_text(const struct oracle *o)
{
	return o->text;
}

u64 oracle_checks(const struct oracle *o)
{
	return o->checks;
}

/* ---- the run */

void oracle_broken(struct oracle *o, enum oracle_end how, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(o->text, sizeof(o->text), fmt, ap);
	va_end(ap);
	longjmp(o->out, how);
}

static void step(struct vm_observer *obs, u32 at, const u64 *regs, u32 depth)
{
	struct oracle *o = container_of(obs, struct oracle, observer);
	u32 insn;

	if (++o->steps > o->max_steps)
		longjmp(o->out, ORACLE_LIMIT);
	if (depth < ARRAY_SIZE(o->top))
		o->top[depth] = regs[10];
	if (obs->image != o->p->image)	/* went to another program by a tail call */
		return;
	if (at >= o->p->n_xlated)
		oracle_broken(o, ORACLE_MEMORY, "runs at %u, past the end", at);
	insn = o->p->origin[at];
	o->depth = depth;
	/* lowered instructions that were made of one: the state is that before the first */
	if (o->has_states && (at == 0 || o->p->origin[at - 1] != insn))
		oracle_check_state(o, insn, regs);
	oracle_check_memory(o, at, regs);
}

enum oracle_end oracle_run(struct oracle *o, struct env *env, struct run_buffer *b, u64 max_steps, u32 *r0)
{
	const struct prog *p = o->p;
	enum oracle_end end;

	o->frame = &b->frame;
	o->steps = 0;
	o->max_steps = max_steps;
	o->observer.step = step;
	oracle_memory_start(o);
	if (p->kind->prog_type != BPF_PROG_TYPE_XDP) {	/* as run_skb() */
		run_skb_build(&b->skb, p->kind, 1);
		b->frame.hard_start = b->mem;
		b->frame.hard_end = b->mem + b->size;
	}
	env->frame = &b->frame;
	b->frame.env = env;
	env->tail_calls = 0;
	env->redirect.set = false;
	end = setjmp(o->out);
	if (end)
		return end;
	*r0 = vm_run_observed(p->image, env, &b->frame, &o->observer);
	return ORACLE_OK;
}
