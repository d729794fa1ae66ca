/* Helpers on maps: look-up, update, delete, and the tail call's prototype. */
#include "proto.h"
#include "map/map.h"

static struct map *as_map(u64 r)
{
	return ptr_of(r);
}

HELPER(map_lookup_elem)
{
	struct map *m = as_map(r1);

	return addr_of(m->ops->lookup(m, ptr_of(r2), env->cpu));
}

PROTO(map_lookup_elem) = {
	.fn = map_lookup_elem,
	.ret = HRET_MAP_VALUE | HRET_NULL_OK,
	.arg = { HARG_CONST_MAP_PTR, HARG_MAP_KEY },
	.pkt_access = true,
};

HELPER(map_update_elem)
{
	struct map *m = as_map(r1);

	return r0_int(m->ops->update(m, ptr_of(r2), ptr_of(r3), r4, env->cpu));
}

PROTO(map_update_elem) = {
	.fn = map_update_elem,
	.ret = HRET_INTEGER,
	.arg = { HARG_CONST_MAP_PTR, HARG_MAP_KEY, HARG_MAP_VALUE, HARG_ANYTHING },
	.pkt_access = true,
};

HELPER(map_delete_elem)
{
	struct map *m = as_map(r1);

	return r0_int(m->ops->delete(m, ptr_of(r2)));
}

PROTO(map_delete_elem) = {
	.fn = map_delete_elem,
	.ret = HRET_INTEGER,
	.arg = { HARG_CONST_MAP_PTR, HARG_MAP_KEY },
	.pkt_access = true,
};

HELPER(map_lookup_percpu_elem)
{
	struct map *m = as_map(r1);
	u32 cpu = r3;

	return cpu < env_possible_cpus() ? addr_of(m->ops->lookup(m, ptr_of(r2), cpu)) : 0;
}

PROTO(map_lookup_percpu_elem) = {
	.fn = map_lookup_percpu_elem,
	.ret = HRET_MAP_VALUE | HRET_NULL_OK,
	.arg = { HARG_CONST_MAP_PTR, HARG_MAP_KEY, HARG_ANYTHING },
	.pkt_access = true,
};

/* No function: prog/lower.c turns the call into the instruction ABI_TAIL_CALL. */
PROTO(tail_call) = {
	.ret = HRET_VOID,
	.arg = { HARG_CTX, HARG_CONST_MAP_PTR, HARG_ANYTHING },
};
