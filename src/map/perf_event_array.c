/* PERF_EVENT_ARRAY: slots (slots.h) that hold perf events, by custom one a CPU. Programs write
 * samples to them (event.c). Without BPF_F_PRESERVE_ELEMS it is emptied when its last descriptor
 * goes. */
#include "slots.h"

/* perf_event_array_map_ops of kernel/bpf/arraymap.c: as fd_array_map_alloc_check, and the flag that
 * others lack */
static int perf_event_array_check(const struct map_attr *attr)
{
	struct map_attr a = *attr;

	a.flags &= ~BPF_F_PRESERVE_ELEMS;
	return map_slots_check(&a);
}

static int perf_event_array_new(struct map **out, const struct map_attr *attr)
{
	return map_slots_new(out, attr, &map_perf_event_array_ops);
}

static void perf_event_array_unused(struct map *m)
{
	if (!(m->flags & BPF_F_PRESERVE_ELEMS))
		map_slots_empty(m);
}

static void *perf_event_array_lookup(struct map *m, const void *key, u32 cpu)
{
	return NULL; /* programs reach it through perf_event_output and the like; the verifier
			refuses the rest */
}

int map_perf_set(struct map *m, u32 index, struct map_event *e)
{
	assert(m->type == BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	map_event_look(e);
	return map_slots_set(m, index, &e->obj, e);
}

/* __bpf_perf_event_output() of kernel/trace/bpf_trace.c */
int map_perf_output(struct map *m, u64 flags, struct env *env, const struct map_perf_part *part,
		    u32 n)
{
	u64 index = flags & BPF_F_INDEX_MASK;
	struct map_event *e;

	if (index == BPF_F_CURRENT_CPU)
		index = env->cpu;
	if (index >= m->max_entries)
		return -E2BIG;
	e = slot_get(m, index);
	return e ? map_event_output(e, env, part, n) : -ENOENT;
}

const struct map_ops map_perf_event_array_ops = {
    .check = perf_event_array_check,
    .new = perf_event_array_new,
    .free = map_slots_free,
    .unused = perf_event_array_unused,
    .lookup = perf_event_array_lookup,
    .update = map_slots_no_update,
    .delete = map_slots_delete,
    .next_key = map_array_next_key,
    .meta_equal = map_meta_equal,
    .memory = map_slots_memory,
};
