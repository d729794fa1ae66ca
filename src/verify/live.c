/* Which stack slots matter: reads and whole writes of slots are noted as instructions are judged, and flow backward along the
 * control flow of each function, per chain of calls (an `inst`).
 *
 *   live(i) = read(i) | (union of live(successors) & ~written(i))
 *
 * Path-insensitive like the kernel's 6.18 liveness: read is what any visit read, written is what every visit overwrote. A
 * query is made only about states all of whose paths were walked, so by then all reads are known. Facts change one
 * instruction at a time; a work list carries a change to the predecessors when a path ends or a function returns: until then
 * kept states, whose paths ended before, are cleaned without what the present path reads. Where this is imprecise it says
 * "live". */
#include "engine.h"
#include "base/vec.h"

enum {
	MEMORY_MAX = 256 << 20,
	N_BUCKETS = 1024,
	STEPS_MAX = 1 << 20,	/* of one update, before facts may only grow: a wave of less and one of more could chase each
				 * other around a loop for ever */
};

struct facts { u64 read, written, live; };

struct inst {			/* one chain of calls: the function running at its end */
	struct inst *up, *next;	/* the caller's; next in the hash bucket */
	s32 callsite;
	u32 subprog, depth, start, len;
	struct facts *frame[STATE_MAX_FRAMES];	/* of each frame on the chain, by instruction - start; NULL: never touched */
	u8 *visited;		/* by instruction - start: written is known */
};

struct change { struct inst *at; u32 frame, insn; };

struct liveness {
	struct inst *bucket[N_BUCKETS];
	struct inst *cur;	/* of the instruction being judged */
	u32 insn;
	u64 written[STATE_MAX_FRAMES];
	u32 *pred_from, *pred;	/* predecessors of i: pred[pred_from[i]] .. pred[pred_from[i + 1] - 1] */
	VEC(struct change) work;
	size_t memory;
	bool blind;		/* too much to keep: everything counts as live from now on */
};

static int build_predecessors(struct verifier *v, struct liveness *l)
{
	u32 n = v->n_insns, next[2];

	l->pred_from = calloc(n + 2, sizeof(u32));
	l->pred = calloc(2 * (size_t)n + 1, sizeof(u32));
	if (!l->pred_from || !l->pred)
		return -ENOMEM;
	for (u32 k = 0; k < v->n_postorder; k++)
		for (u32 e = cfg_next(v, v->postorder[k], next); e--;)
			if (next[e] < n)
				l->pred_from[next[e] + 2]++;
	for (u32 i = 2; i < n + 2; i++)
		l->pred_from[i] += l->pred_from[i - 1];
	for (u32 k = 0; k < v->n_postorder; k++)
		for (u32 e = cfg_next(v, v->postorder[k], next); e--;)
			if (next[e] < n)
				l->pred[l->pred_from[next[e] + 1]++] = v->postorder[k];
	return 0;
}

int live_init(struct verifier *v)
{
	v->liveness = calloc(1, sizeof(*v->liveness));
	return v->liveness ? build_predecessors(v, v->liveness) : -ENOMEM;
}

static void inst_free(struct inst *in)
{
	for (u32 i = 0; i < STATE_MAX_FRAMES; i++)
		free(in->frame[i]);
	free(in->visited);
	free(in);
}

void live_done(struct verifier *v)
{
	struct liveness *l = v->liveness;

	if (!l)
		return;
	for (u32 i = 0; i < N_BUCKETS; i++)
		while (l->bucket[i]) {
			struct inst *in = l->bucket[i];

			l->bucket[i] = in->next;
			inst_free(in);
		}
	free(l->pred_from);
	free(l->pred);
	VEC_DONE(&l->work);
	free(l);
	v->liveness = NULL;
}

static void *take(struct liveness *l, size_t n, size_t size)
{
	if (l->memory + n * size > MEMORY_MAX)
		return NULL;
	l->memory += n * size;
	return calloc(n, size);
}

static struct inst *inst_new(struct verifier *v, struct inst *up, s32 callsite, u32 subprog)
{
	struct liveness *l = v->liveness;
	const struct subprog *s = &v->subprog[subprog];
	struct inst *in = take(l, 1, sizeof(*in));

	if (!in)
		return NULL;
	in->len = s->end - s->start;
	in->visited = take(l, in->len, 1);
	if (!in->visited) {
		free(in);
		return NULL;
	}
	in->up = up;
	in->callsite = callsite;
	in->subprog = subprog;
	in->start = s->start;
	in->depth = up ? up->depth + 1 : 0;
	return in;
}

static struct inst *inst_get(struct verifier *v, struct inst *up, s32 callsite, u32 subprog)
{
	struct liveness *l = v->liveness;
	u64 key = (addr_of(up) >> 4) * 31 + (u32)callsite * 0x9e3779b1ull + subprog;
	struct inst **bucket = &l->bucket[(key ^ key >> 17) % N_BUCKETS], *in;

	for (in = *bucket; in; in = in->next)
		if (in->up == up && in->callsite == callsite && in->subprog == subprog)
			return in;
	in = inst_new(v, up, callsite, subprog);
	if (!in)
		return NULL;
	in->next = *bucket;
	*bucket = in;
	return in;
}

/* Is in the chain that leads to frame n of s? */
static bool is_chain_of(const struct inst *in, const struct state *s, u32 n)
{
	if (!in || in->depth != n)
		return false;
	for (;; in = in->up, n--) {
		if (in->callsite != s->frame[n]->callsite || in->subprog != s->frame[n]->subprog)
			return false;
		if (!n)
			return true;
	}
}

static struct inst *inst_of(struct verifier *v, const struct state *s, u32 n)
{
	struct liveness *l = v->liveness;
	struct inst *in = NULL;

	if (is_chain_of(l->cur, s, n))
		return l->cur;
	for (u32 i = 0; i <= n; i++) {
		in = inst_get(v, in, s->frame[i]->callsite, s->frame[i]->subprog);
		if (!in) {
			l->blind = true;
			return NULL;
		}
	}
	return in;
}

static struct facts *facts_at(struct liveness *l, struct inst *in, u32 frame, u32 insn)
{
	if (!in->frame[frame])
		in->frame[frame] = take(l, in->len, sizeof(struct facts));
	if (!in->frame[frame]) {
		l->blind = true;
		return NULL;
	}
	return &in->frame[frame][insn - in->start];
}

static void changed(struct liveness *l, struct inst *in, u32 frame, u32 insn)
{
	if (!VEC_PUSH(&l->work, (struct change){ in, frame, insn }))
		l->blind = true;
}

static void note_read(struct liveness *l, struct inst *in, u32 frame, u32 insn, u64 slots)
{
	struct facts *f = facts_at(l, in, frame, insn);

	if (!f || !(slots & ~f->read))
		return;
	f->read |= slots;
	changed(l, in, frame, insn);
}

void live_begin_insn(struct verifier *v, u32 insn)
{
	struct liveness *l = v->liveness;

	l->insn = insn;
	if (!l->blind)
		l->cur = inst_of(v, v->cur, v->cur->cur);
	memset(l->written, 0, sizeof(l->written[0]) * (v->cur->cur + 1));
}

void live_stack_read(struct verifier *v, u32 frame, u64 slots)
{
	struct liveness *l = v->liveness;

	if (!l->blind && slots)
		note_read(l, l->cur, frame, l->insn, slots);
}

void live_stack_write(struct verifier *v, u32 frame, u64 slots)
{
	v->liveness->written[frame] |= slots;
}

/* `frame` had facts before this visit or gets them now: written is what all visits wrote. */
static void commit(struct liveness *l, u32 frame, bool first)
{
	struct facts *f;
	u64 slots = l->written[frame];

	if (!l->cur->frame[frame] && !slots)
		return;
	f = facts_at(l, l->cur, frame, l->insn);
	if (!f)
		return;
	if (!first)
		slots &= f->written;
	if (slots == f->written)
		return;
	f->written = slots;
	changed(l, l->cur, frame, l->insn);
}

void live_end_insn(struct verifier *v)
{
	struct liveness *l = v->liveness;
	u8 *visited;
	bool first;

	if (l->blind)
		return;
	visited = &l->cur->visited[l->insn - l->cur->start];
	first = !*visited;
	*visited = 1;
	for (u32 i = 0; i <= l->cur->depth; i++)
		commit(l, i, first);
}

static void flow(struct verifier *v, struct liveness *l, const struct change *c, bool only_grow)
{
	struct facts *all = c->at->frame[c->frame], *f = &all[c->insn - c->at->start];
	u32 next[2], n = cfg_next(v, c->insn, next);
	u64 live = 0;

	for (u32 e = 0; e < n; e++)
		if (next[e] - c->at->start < c->at->len)
			live |= all[next[e] - c->at->start].live;
	live = (live & ~f->written) | f->read | (only_grow ? f->live : 0);
	if (live == f->live)
		return;
	f->live = live;
	if (c->insn == c->at->start && c->frame < c->at->depth)
		note_read(l, c->at->up, c->frame, c->at->callsite, live);
	for (u32 p = l->pred_from[c->insn]; p < l->pred_from[c->insn + 1]; p++)
		changed(l, c->at, c->frame, l->pred[p]);
}

void live_update(struct verifier *v)
{
	struct liveness *l = v->liveness;

	for (u32 steps = 0; l->work.n && !l->blind; steps++) {
		struct change c = l->work.v[--l->work.n];

		flow(v, l, &c, steps > STEPS_MAX);
	}
}

static u64 live_before(const struct inst *in, u32 frame, u32 insn)
{
	if (!in->frame[frame] || insn - in->start >= in->len)
		return 0;
	return in->frame[frame][insn - in->start].live;
}

/* What is live at the end of the chain, or after each call on the way there (before it, when the call comes back to itself
 * because it is the helper that calls the function). */
u64 live_slots(struct verifier *v, const struct state *s, u32 frame)
{
	struct inst *in = v->liveness->blind ? NULL : inst_of(v, s, s->cur);
	u32 insn = s->insn;
	u64 live = 0;

	if (!in)
		return ~0ull;
	for (; in && in->depth >= frame; in = in->up) {
		live |= live_before(in, frame, insn);
		if (in->callsite >= 0)
			insn = v->info[in->callsite].calls_callback ? in->callsite : in->callsite + 1;
		if (!in->depth)
			break;
	}
	return live;
}
