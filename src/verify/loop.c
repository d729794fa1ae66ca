/* Loops being explored. A path that meets a state of a loop which is itself not finished ends there as "the same again"; what
 * that state turns out to need (precise ranges) is known only when every path of the loop was walked. So such ends (back
 * edges) are kept with the loop until then, and the needs are carried around it until nothing changes.
 *
 * A loop under exploration (a `visit`) is a strongly connected component reached over one chain of calls. */
#include "engine.h"

enum { MAX_ROUNDS = 64 };	/* the kernel's MAX_BACKEDGE_ITERS */

struct chain_key { s32 callsite[STATE_MAX_FRAMES - 1]; u32 scc; };

struct backedge {
	struct backedge *next;
	struct state state;
};

struct visit {
	struct visit *next;
	struct chain_key key;
	struct state *entry;		/* the first kept state inside; NULL: not being explored */
	struct backedge *edges;
	u32 n_edges;
};

enum { N_BUCKETS = 256 };

struct loops {
	struct visit *bucket[N_BUCKETS];
	u32 n_edges;
};

/* The outermost frame that is in a loop says which one; false: none is. */
static bool key_of(const struct verifier *v, const struct state *s, struct chain_key *k)
{
	memset(k, 0, sizeof(*k));
	for (u32 i = 0; i <= s->cur; i++) {
		u32 insn = state_insn_of(s, i);

		k->scc = v->info[insn].scc;
		if (k->scc)
			return true;
		if (i < s->cur)
			k->callsite[i] = insn;
	}
	return false;
}

static struct visit **bucket_of(struct loops *l, const struct chain_key *k)
{
	u64 h = k->scc;

	for (u32 i = 0; i < ARRAY_SIZE(k->callsite); i++)
		h = h * 0x9e3779b97f4a7c15ull + (u32)k->callsite[i];
	return &l->bucket[(h ^ h >> 23) % N_BUCKETS];
}

static struct visit *find(struct verifier *v, const struct chain_key *k)
{
	if (!v->loops)
		return NULL;
	for (struct visit *i = *bucket_of(v->loops, k); i; i = i->next)
		if (!memcmp(&i->key, k, sizeof(*k)))
			return i;
	return NULL;
}

static struct visit *find_or_new(struct verifier *v, const struct chain_key *k)
{
	struct visit *i = find(v, k), **bucket;

	if (i)
		return i;
	if (!v->loops)
		v->loops = calloc(1, sizeof(*v->loops));
	i = v->loops ? calloc(1, sizeof(*i)) : NULL;
	if (!i)
		return NULL;
	bucket = bucket_of(v->loops, k);
	i->key = *k;
	i->next = *bucket;
	*bucket = i;
	return i;
}

static void say(struct verifier *v, const char *what, const struct chain_key *k)
{
	if (!v->log || !(v->log->level & ABI_LOG_LEVEL2))
		return;
	verify_say(v, ABI_LOG_LEVEL2, "SCC %s (", what);
	for (u32 i = 0; i < ARRAY_SIZE(k->callsite) && k->callsite[i]; i++)
		verify_say(v, ABI_LOG_LEVEL2, "%d,", k->callsite[i]);
	verify_say(v, ABI_LOG_LEVEL2, "%u)\n", k->scc);
}

int loop_enter(struct verifier *v, struct state *s)
{
	struct chain_key k;
	struct visit *i;

	if (!key_of(v, s, &k))
		return 0;
	i = find_or_new(v, &k);
	if (!i)
		return -ENOMEM;
	if (!i->entry) {
		i->entry = s;
		say(v, "enter", &k);
	}
	return 0;
}

static void drop_edges(struct visit *i)
{
	while (i->edges) {
		struct backedge *e = i->edges;

		i->edges = e->next;
		state_done(&e->state);
		free(e);
	}
	i->n_edges = 0;
}

static int carry_around(struct verifier *v, struct visit *i)
{
	bool changed = true;

	for (u32 round = 0; changed; round++) {
		changed = false;
		if (round > MAX_ROUNDS) {
			for (struct backedge *e = i->edges; e; e = e->next)
				precise_all(v, &e->state);
			return 0;
		}
		for (struct backedge *e = i->edges; e; e = e->next) {
			int err = precise_propagate(v, e->state.equal_state, &e->state, &changed);

			if (err)
				return err;
		}
	}
	return 0;
}

int loop_exit(struct verifier *v, struct state *s)
{
	struct chain_key k;
	struct visit *i;
	int err;

	if (!key_of(v, s, &k))
		return 0;
	i = find(v, &k);
	if (!i || i->entry != s)
		return 0;
	say(v, "exit", &k);
	i->entry = NULL;
	v->loops->n_edges -= i->n_edges;
	err = carry_around(v, i);
	drop_edges(i);
	return err;
}

bool loop_is_open(struct verifier *v, const struct state *s)
{
	struct chain_key k;
	struct visit *i;

	if (!v->loops || !key_of(v, s, &k))
		return false;
	i = find(v, &k);
	return i && i->edges;
}

int loop_add_backedge(struct verifier *v, struct state *equal, const struct state *cur, u32 insn)
{
	struct chain_key k;
	struct visit *i = key_of(v, equal, &k) ? find(v, &k) : NULL;
	struct backedge *e;

	if (!i)
		return verify_refuse(v, -EFAULT, "internal", -1, "back edge outside of any loop at insn %u", insn);
	e = calloc(1, sizeof(*e));
	if (!e || !state_copy(&e->state, cur)) {
		if (e)
			state_done(&e->state);
		free(e);
		return -ENOMEM;
	}
	e->state.equal_state = equal;
	e->state.insn = insn;
	e->next = i->edges;
	i->edges = e;
	i->n_edges++;
	v->loops->n_edges++;
	say(v, "backedge", &k);
	return 0;
}

u32 loop_backedges(const struct verifier *v)
{
	return v->loops ? v->loops->n_edges : 0;
}

void loop_forget(struct verifier *v)
{
	if (!v->loops)
		return;
	for (u32 b = 0; b < N_BUCKETS; b++)
		while (v->loops->bucket[b]) {
			struct visit *i = v->loops->bucket[b];

			v->loops->bucket[b] = i->next;
			drop_edges(i);
			free(i);
		}
	free(v->loops);
	v->loops = NULL;
}
