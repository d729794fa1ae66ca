/* Helpers on maps without keys: push, pop, peek. */
#include "proto.h"
#include "map/map.h"

HELPER(map_push_elem)
{
	struct map *m = ptr_of(r1);

	return r0_int(m->ops->push(m, ptr_of(r2), r3));
}

PROTO(map_push_elem) = {
	.fn = map_push_elem,
	.ret = HRET_INTEGER,
	.arg = { HARG_CONST_MAP_PTR, HARG_MAP_VALUE, HARG_ANYTHING },
	.pkt_access = true,
};

HELPER(map_pop_elem)
{
	struct map *m = ptr_of(r1);

	return r0_int(m->ops->pop(m, ptr_of(r2)));
}

PROTO(map_pop_elem) = {
	.fn = map_pop_elem,
	.ret = HRET_INTEGER,
	.arg = { HARG_CONST_MAP_PTR, HARG_MAP_VALUE | HARG_UNINIT | HARG_WRITE },
};

HELPER(map_peek_elem)
{
	struct map *m = ptr_of(r1);

	return r0_int(m->ops->peek(m, ptr_of(r2)));
}

PROTO(map_peek_elem) = {
	.fn = map_peek_elem,
	.ret = HRET_INTEGER,
	.arg = { HARG_CONST_MAP_PTR, HARG_MAP_VALUE | HARG_UNINIT | HARG_WRITE },
};
