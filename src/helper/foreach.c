/* bpf_for_each_map_elem: call a function of the running program for every element, until it returns something. */
#include "proto.h"
#include "map/map.h"

struct walk {
	struct env *env;
	struct map *map;
	u64 fn, ctx;
};

static bool visit(void *arg, const void *key, void *value)
{
	struct walk *w = arg;

	return w->env->call(w->env, w->fn, addr_of(w->map), addr_of(key), addr_of(value), w->ctx, 0);
}

HELPER(for_each_map_elem)
{
	struct map *m = ptr_of(r1);
	struct walk w = { .env = env, .map = m, .fn = r2, .ctx = r3 };

	if (r4)
		return r0_int(-EINVAL);
	return r0_int(m->ops->each(m, env->cpu, visit, &w));
}

PROTO(for_each_map_elem) = {
	.fn = for_each_map_elem,
	.ret = HRET_INTEGER,
	.arg = { HARG_CONST_MAP_PTR, HARG_FUNC, HARG_STACK | HARG_NULL_OK, HARG_ANYTHING },
};
