/* States kept at prune points, and what becomes of them: matched, evicted when they never match, cleaned of what is dead.
 *
 * A kept state's `branches` counts the paths from it that are not finished. At 0 everything from it is proven, and a path that
 * arrives with an equal state can end. Above 0 the state is on the present path or on one that waits: meeting it again
 * means a loop. When to keep and when to evict follows the kernel's heuristics (is_state_visited), so that counts agree. */
#include "engine.h"
#include "prune.h"
#include "kfunc.h"

struct kept {
	struct kept *next, *prev;	/* in its bucket, or among the evicted */
	struct state state;
	u32 misses, hits;
	bool evicted;
};

struct explored {
	struct kept **bucket;	/* by instruction and call site, n_insns of them; newest first */
	struct kept *evicted;	/* no longer compared, but paths from them are under way */
	u32 n_kept, n_evicted;
};

/* With BPF_F_TEST_STATE_FREQ every prune point keeps a state; past this many only those that help, or a hostile caller could
 * have gigabytes of them. Not keeping one is always right. */
enum { MAX_TEST_STATES = 200000 };

enum verdict { MISS, HIT, HIT_LOOP, INFINITE };

static struct kept **bucket_of(struct verifier *v, const struct state *s, u32 insn)
{
	return &v->explored->bucket[(insn ^ (u32)s->frame[s->cur]->callsite) % v->n_insns];
}

static int make_explored(struct verifier *v)
{
	if (v->explored)
		return 0;
	v->explored = calloc(1, sizeof(*v->explored));
	if (!v->explored)
		return -ENOMEM;
	v->explored->bucket = calloc(v->n_insns, sizeof(*v->explored->bucket));
	return v->explored->bucket ? 0 : -ENOMEM;
}

static void kept_free(struct verifier *v, struct kept *k)
{
	struct verify_watch *w = v->in->watch;

	if (w && !w->all_precise)
		w->state(w, &k->state, k->state.insn, v->info[k->state.insn].live_regs, true);
	state_done(&k->state);
	free(k);
}

static void list_add(struct kept **head, struct kept *k)
{
	k->prev = NULL;
	k->next = *head;
	if (*head)
		(*head)->prev = k;
	*head = k;
}

static void list_del(struct kept **head, struct kept *k)
{
	if (k->prev)
		k->prev->next = k->next;
	else
		*head = k->next;
	if (k->next)
		k->next->prev = k->prev;
}

void prune_forget(struct verifier *v)
{
	struct explored *e = v->explored;

	loop_forget(v);
	if (!e)
		return;
	v->forgotten_states += e->n_kept + e->n_evicted;
	for (u32 i = 0; e->bucket && i <= v->n_insns; i++) {
		struct kept **head = i < v->n_insns ? &e->bucket[i] : &e->evicted;

		while (*head) {
			struct kept *k = *head;

			*head = k->next;
			kept_free(v, k);
		}
	}
	free(e->bucket);
	free(e);
	v->explored = NULL;
}

static void update_peak(struct verifier *v)
{
	/* those of functions judged before count as well: the kernel never takes them off its counter */
	u32 n = v->forgotten_states + v->explored->n_kept + v->explored->n_evicted + loop_backedges(v);

	v->peak_states = MAX(v->peak_states, n);
}

static void free_if_unused(struct verifier *v, struct kept *k)
{
	if (!k->evicted || k->state.branches || loop_is_open(v, &k->state))
		return;
	list_del(&v->explored->evicted, k);
	v->explored->n_evicted--;
	kept_free(v, k);
}

static void evict(struct verifier *v, struct kept **head, struct kept *k)
{
	list_del(head, k);
	list_add(&v->explored->evicted, k);
	k->evicted = true;
	v->explored->n_kept--;
	v->explored->n_evicted++;
	free_if_unused(v, k);
}

/* A path from s is finished. Parents are always kept states. */
int prune_branch_done(struct verifier *v, struct state *s)
{
	bool kept = false;

	while (s) {
		struct state *parent = s->parent;
		int err;

		if (--s->branches)
			return 0;
		if (v->loops) {
			err = loop_exit(v, s);
			if (err)
				return err;
		}
		if (kept)
			free_if_unused(v, container_of(s, struct kept, state));
		kept = true;
		s = parent;
	}
	return 0;
}

int state_insn_of(const struct state *s, u32 frameno)
{
	return frameno == s->cur ? (s32)s->insn : s->frame[frameno + 1]->callsite;
}

bool state_same_callsites(const struct state *a, const struct state *b)
{
	if (a->cur != b->cur)
		return false;
	for (u32 i = a->cur + 1; i--;)
		if (a->frame[i]->callsite != b->frame[i]->callsite)
			return false;
	return true;
}

/* ---- forgetting what is dead */

static void clean_frame(struct verifier *v, struct state *s, u32 n)
{
	struct frame *f = s->frame[n];
	u16 live = v->info[state_insn_of(s, n)].live_regs;
	u64 slots = f->n_slots ? live_slots(v, s, n) : 0;

	for (u32 r = 0; r < BPF_REG_10; r++)
		if (!(live >> r & 1))
			reg_mark_not_init(&f->regs[r]);
	for (u32 i = 0; i < f->n_slots; i++) {
		if (slots >> i & 1)
			continue;
		reg_mark_not_init(&f->slots[i].spilled);
		memset(f->slots[i].type, SLOT_INVALID, sizeof(f->slots[i].type));
	}
}

static void clean_kept(struct verifier *v, struct kept *head, u32 insn)
{
	for (struct kept *k = head; k; k = k->next) {
		if (k->state.branches || k->state.cleaned || k->state.insn != insn ||
		    !state_same_callsites(&k->state, v->cur) || loop_is_open(v, &k->state))
			continue;
		for (u32 i = 0; i <= k->state.cur; i++)
			clean_frame(v, &k->state, i);
		k->state.cleaned = true;
	}
}

/* ---- loops */

struct state *prune_previous_entry(struct verifier *v, const struct state *cur, u32 insn)
{
	if (!v->explored)
		return NULL;
	for (struct kept *k = *bucket_of(v, cur, insn); k; k = k->next)
		if (k->state.insn == insn && k->state.branches && state_same_callsites(&k->state, cur) &&
		    k->state.dfs_depth < cur->dfs_depth)
			return &k->state;
	return NULL;
}

static void widen_reg(struct verifier *v, const struct reg *old, struct reg *cur)
{
	if (old->type != REG_SCALAR || cur->type != REG_SCALAR || old->precise || cur->precise)
		return;
	if (!equal_exact(v, old, cur))
		reg_mark_unknown(cur);
}

static bool is_spill(const struct slot *s)
{
	return s->type[7] == SLOT_SPILL;
}

/* Numbers that nothing depended on so far and that change each time around may become anything: the loop converges then. */
void prune_widen(struct verifier *v, const struct state *old, struct state *cur)
{
	equal_begin(v);
	for (s32 n = old->cur; n >= 0; n--) {
		const struct frame *from = old->frame[n];
		struct frame *to = cur->frame[n];

		for (u32 r = 0; r < ARRAY_SIZE(to->regs); r++)
			widen_reg(v, &from->regs[r], &to->regs[r]);
		for (u32 i = 0; i < MIN(from->n_slots, to->n_slots); i++)
			if (is_spill(&from->slots[i]) && is_spill(&to->slots[i]))
				widen_reg(v, &from->slots[i].spilled, &to->slots[i].spilled);
	}
}

/* A cheap look before the thorough one. */
static bool maybe_looping(const struct state *old, const struct state *cur)
{
	const struct frame *a = old->frame[old->cur], *b = cur->frame[cur->cur];

	if (old->cur != cur->cur)
		return false;
	for (u32 r = 0; r < ARRAY_SIZE(a->regs); r++)
		if (!reg_same(&a->regs[r], &b->regs[r]) || a->regs[r].id != b->regs[r].id ||
		    a->regs[r].ref_id != b->regs[r].ref_id)
			return false;
	return true;
}

static bool is_may_goto(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | ABI_JCOND) && i->src_reg == 0;
}

static int refuse_infinite(struct verifier *v, struct state *old, u32 insn)
{
	int err;

	print_source_line(v, insn);
	err = verify_refuse(v, -EINVAL, "infinite-loop", -1, "infinite loop detected at insn %u", insn);
	verify_say(v, ~0u, "cur state:");
	print_state(v, v->cur, v->cur->cur, true);
	verify_say(v, ~0u, "old state:");
	print_state(v, old, v->cur->cur, true);
	return err;
}

/* Back at a state whose paths are not all finished. */
static enum verdict meet_unfinished(struct verifier *v, struct state *old, u32 insn)
{
	struct state *cur = v->cur;

	if (is_may_goto(&v->insns[insn])) {
		if (old->may_goto_depth != cur->may_goto_depth && state_equal(v, old, cur, RANGE_WITHIN))
			return HIT_LOOP;
	}
	if (v->info[insn].kfunc && v->info[insn].kfunc->flags & KFUNC_ITER_NEXT)
		return state_equal(v, old, cur, RANGE_WITHIN) && iter_is_active(v) ? HIT_LOOP : MISS;
	if (v->info[insn].calls_callback)
		return state_equal(v, old, cur, RANGE_WITHIN) ? HIT_LOOP : MISS;
	if (maybe_looping(old, cur) && state_equal(v, old, cur, EXACT) && !iter_depths_differ(old, cur) &&
	    old->may_goto_depth == cur->may_goto_depth &&
	    old->callback_unroll_depth == cur->callback_unroll_depth)
		return INFINITE;
	return MISS;
}

/* ---- the visit */

struct look {
	u32 insn;
	bool force, add;	/* a state must / should be kept here */
	u32 seen;
};

/* Keeping a state costs; it pays after some work. Within a loop it pays less often, as every time around differs. */
static void decide_to_add(struct verifier *v, struct look *l)
{
	bool test = v->test_state_freq && v->explored->n_kept + v->explored->n_evicted < MAX_TEST_STATES;

	l->force = test || v->info[l->insn].force_checkpoint || v->cur->n_history > 40;
	l->add = l->force || (v->jumps_processed - v->prev_jumps_processed >= 2 &&
			      v->insns_processed - v->prev_insns_processed >= 8);
}

static void in_loop(const struct verifier *v, struct look *l)
{
	if (!l->force && v->jumps_processed - v->prev_jumps_processed < 20 &&
	    v->insns_processed - v->prev_insns_processed < 100)
		l->add = false;
}

/* The present path ends in `old`. What old needed to be precise must be precise on the way here too. */
static int end_in(struct verifier *v, struct kept *k, bool loop, u32 insn)
{
	bool changed = false;
	int err = 0;

	k->hits++;
	if (v->info[v->insn_idx].jump_point)
		err = precise_push_history(v, v->cur, 0, 0);
	if (!err)
		err = precise_propagate(v, &k->state, v->cur, &changed);
	if (!err && loop) {
		err = loop_add_backedge(v, &k->state, v->cur, insn);
		update_peak(v);
	}
	return err ? err : 1;
}

static void missed(struct verifier *v, struct kept **head, struct kept *k, const struct look *l)
{
	u32 n = v->info[l->insn].force_checkpoint && k->state.branches ? 64 : 3;

	if (l->add)
		k->misses++;
	if (k->misses > k->hits * n + n)
		evict(v, head, k);
}

static enum verdict meet(struct verifier *v, struct kept *k, struct look *l)
{
	bool open;

	if (k->state.branches) {
		enum verdict verdict = meet_unfinished(v, &k->state, l->insn);

		if (verdict == MISS)
			in_loop(v, l);
		return verdict;
	}
	open = loop_is_open(v, &k->state);
	if (state_equal(v, &k->state, v->cur, open ? RANGE_WITHIN : NOT_EXACT))
		return open ? HIT_LOOP : HIT;
	return MISS;
}

static int keep(struct verifier *v, struct kept **head, u32 insn)
{
	struct kept *k = calloc(1, sizeof(*k));
	struct state *cur = v->cur;
	int err;

	if (!k)
		return -ENOMEM;
	v->total_states++;
	v->explored->n_kept++;
	update_peak(v);
	v->prev_jumps_processed = v->jumps_processed;
	v->prev_insns_processed = v->insns_processed;
	if (v->bpf_capable)
		precise_none(cur);
	list_add(head, k);
	if (!state_copy(&k->state, cur))
		return -ENOMEM;
	k->state.insn = insn;
	err = loop_enter(v, &k->state);
	if (err)
		return err;
	cur->parent = &k->state;
	cur->first_insn = insn;
	cur->dfs_depth = k->state.dfs_depth + 1;
	cur->n_history = 0;
	return 0;
}

int prune_visit(struct verifier *v, u32 insn)
{
	struct look l = { .insn = insn };
	struct kept **head, *k, *next;

	if (make_explored(v))
		return -ENOMEM;
	head = bucket_of(v, v->cur, insn);
	decide_to_add(v, &l);
	clean_kept(v, *head, insn);
	for (k = *head; k; k = next) {
		enum verdict verdict;

		next = k->next;
		l.seen++;
		if (k->state.insn != insn)
			continue;
		verdict = meet(v, k, &l);
		if (verdict == INFINITE)
			return refuse_infinite(v, &k->state, insn);
		if (verdict != MISS)
			return end_in(v, k, verdict == HIT_LOOP, insn);
		missed(v, head, k, &l);
	}
	v->max_states_per_insn = MAX(v->max_states_per_insn, l.seen);
	if ((!v->bpf_capable && l.seen > 64) || !l.add)
		return 0;
	return keep(v, head, insn);
}
