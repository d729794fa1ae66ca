/* Loops: strongly connected components of each function's control flow (Tarjan), as numbers from 1 in info[].scc.
 *
 * An instruction is in a loop when its component has two members, when it follows itself, or when it calls a function that
 * calls back (those are loops too: the walk comes back to the call). Numbers differ across functions. */
#include "engine.h"

enum { DONE_RANK = 0x7fffffff };

struct tarjan {
	struct verifier *v;
	u32 *low, *pre;		/* by instruction; pre 0: not visited */
	u32 *members, n_members;	/* visited, component not closed yet */
	struct { u32 insn; u8 edge; } *path;
	u32 n_path, rank, n_scc;
};

/* t's component is complete: it and all members above it. */
static void close_component(struct tarjan *w, u32 t)
{
	struct verifier *v = w->v;
	u32 next[2], n = cfg_next(v, t, next);
	bool loop = w->members[w->n_members - 1] != t || v->info[t].calls_callback;
	u32 i;

	for (u32 k = 0; k < n; k++)
		loop |= next[k] == t;
	if (loop)
		w->n_scc++;
	do {
		i = w->members[--w->n_members];
		w->low[i] = DONE_RANK;
		v->info[i].scc = loop ? w->n_scc : 0;
	} while (i != t);
}

static void open(struct tarjan *w, u32 t)
{
	w->pre[t] = w->low[t] = ++w->rank;
	w->members[w->n_members++] = t;
	w->path[w->n_path].insn = t;
	w->path[w->n_path++].edge = 0;
}

static void explore(struct tarjan *w, u32 root)
{
	open(w, root);
	while (w->n_path) {
		u32 t = w->path[w->n_path - 1].insn, next[2], n = cfg_next(w->v, t, next);
		u8 *edge = &w->path[w->n_path - 1].edge;

		if (*edge < n) {
			u32 to = next[(*edge)++];

			if (to >= w->v->n_insns)
				continue;
			if (!w->pre[to])
				open(w, to);
			else
				w->low[t] = MIN(w->low[t], w->low[to]);
			continue;
		}
		w->n_path--;
		if (w->low[t] == w->pre[t])
			close_component(w, t);
		if (w->n_path) {
			u32 up = w->path[w->n_path - 1].insn;

			w->low[up] = MIN(w->low[up], w->low[t]);
		}
	}
}

int scc_compute(struct verifier *v)
{
	struct tarjan w = { .v = v };
	int err = -ENOMEM;

	w.low = calloc(v->n_insns, sizeof(*w.low));
	w.pre = calloc(v->n_insns, sizeof(*w.pre));
	w.members = calloc(v->n_insns, sizeof(*w.members));
	w.path = calloc(v->n_insns, sizeof(*w.path));
	if (w.low && w.pre && w.members && w.path) {
		for (u32 i = 0; i < v->n_subprogs; i++)
			explore(&w, v->subprog[i].start);
		err = 0;
	}
	free(w.low);
	free(w.pre);
	free(w.members);
	free(w.path);
	return err;
}
