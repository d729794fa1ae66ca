/* bpf_spin_lock() and bpf_spin_unlock(): which lock an argument is, and that one lock is held at a time and given back.
 *
 * A lock is known by its map and by the id of the pointer to the value, which every look-up makes anew (0 for the one value of
 * a data section); null.c keeps that id for values with a lock. */
#include "call.h"
#include "base/vec.h"

bool lock_may_be_in(const struct reg *r)
{
	return r->type == REG_MAP_VALUE && map_has_fields(r->map, 1u << MAP_FIELD_SPIN_LOCK | 1u << MAP_FIELD_RES_SPIN_LOCK);
}

static int check_field(struct verifier *v, u32 regno, const struct reg *r)
{
	const struct map_field *f;
	s64 at = (s64)r->v.bits.value + r->off;

	if (!value_is_const(&r->v))
		return verify_refuse(v, -EINVAL, "lock-arg", regno,
				     "R%u doesn't have constant offset. bpf_spin_lock has to be at the constant offset", regno);
	if (!r->map->btf)
		return verify_refuse(v, -EINVAL, "lock-arg", regno, "map '%s' has to have BTF in order to use bpf_spin_lock",
				     r->map->name);
	f = map_field(r->map, MAP_FIELD_SPIN_LOCK);
	if (!f)
		return verify_refuse(v, -EINVAL, "lock-arg", regno, "map '%s' has no valid bpf_spin_lock", r->map->name);
	if (f->off != at)
		return verify_refuse(v, -EINVAL, "lock-arg", regno, "off %lld doesn't point to 'struct bpf_spin_lock' that is at %u",
				     (long long)at, f->off);
	return 0;
}

static struct ref *find(struct state *s)
{
	for (u32 i = 0; i < s->n_refs; i++)
		if (s->refs[i].type == REF_LOCK)
			return &s->refs[i];
	return NULL;
}

static int take(struct verifier *v, const struct reg *r)
{
	struct state *s = v->cur;

	if (s->active_locks)
		return verify_refuse(v, -EINVAL, "lock-held", -1, "Locking two bpf_spin_locks are not allowed");
	if (s->n_refs == s->refs_cap && !vec_grow((void **)&s->refs, &s->refs_cap, (u64)s->n_refs + 1, sizeof(*s->refs)))
		return verify_refuse(v, -ENOMEM, "memory", -1, "no memory for references");
	s->refs[s->n_refs++] = (struct ref){ .type = REF_LOCK, .id = r->id, .insn = v->insn_idx, .lock = r->map };
	s->active_locks++;
	return 0;
}

static int give_back(struct verifier *v, const struct reg *r)
{
	struct state *s = v->cur;
	struct ref *held = find(s);

	if (!held)
		return verify_refuse(v, -EINVAL, "lock-not-held", -1, "bpf_spin_unlock without taking a lock");
	if (held->id != r->id || held->lock != r->map)
		return verify_refuse(v, -EINVAL, "lock-not-held", -1, "bpf_spin_unlock of different lock");
	refs_remove(s, (u32)(held - s->refs));
	s->active_locks--;
	return 0;
}

int lock_arg(struct verifier *v, u32 regno, bool taken)
{
	const struct reg *r = &state_regs(v->cur)[regno];
	int err = check_field(v, regno, r);

	if (err)
		return err;
	return taken ? take(v, r) : give_back(v, r);
}

/* check_map_prog_compatibility(): programs that may run where a lock could already be held get none. */
static bool is_tracing(u32 prog_type)
{
	switch (prog_type) {
	case BPF_PROG_TYPE_KPROBE:
	case BPF_PROG_TYPE_TRACEPOINT:
	case BPF_PROG_TYPE_PERF_EVENT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE:
		return true;
	}
	return false;
}

int lock_check_map(struct verifier *v, const struct map *m)
{
	static const struct { u32 fields; const char *what; } barred[] = {
		{ 1u << MAP_FIELD_LIST_HEAD | 1u << MAP_FIELD_RB_ROOT, "bpf_{list_head,rb_root}" },
		{ 1u << MAP_FIELD_SPIN_LOCK | 1u << MAP_FIELD_RES_SPIN_LOCK, "bpf_spin_lock" },
		{ 1u << MAP_FIELD_TIMER, "bpf_timer" },
		{ 1u << MAP_FIELD_WQ, "bpf_wq" },
	};
	u32 type = v->in->kind->prog_type;

	for (u32 i = 0; i < ARRAY_SIZE(barred); i++) {
		if (!map_has_fields(m, barred[i].fields))
			continue;
		if (i == 1 && type == BPF_PROG_TYPE_SOCKET_FILTER)
			return verify_refuse(v, -EINVAL, "kind-map", -1, "socket filter progs cannot use bpf_spin_lock yet");
		if (is_tracing(type))
			return verify_refuse(v, -EINVAL, "kind-map", -1, "tracing progs cannot use %s yet", barred[i].what);
	}
	return 0;
}
