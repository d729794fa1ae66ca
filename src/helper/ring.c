/* Helpers on ring buffers. A reservation is written in place and then submitted or discarded. */
#include "proto.h"
#include "map/map.h"

#define WAKEUP_FLAGS ((u64)BPF_RB_NO_WAKEUP | BPF_RB_FORCE_WAKEUP)

HELPER(ringbuf_output)
{
	if (r4 & ~WAKEUP_FLAGS)
		return r0_int(-EINVAL);
	return r0_int(map_ring_output(ptr_of(r1), ptr_of(r2), r3, r4));
}

PROTO(ringbuf_output) = {
	.fn = ringbuf_output,
	.ret = HRET_INTEGER,
	.arg = { HARG_CONST_MAP_PTR, HARG_MEM | HARG_RDONLY, HARG_SIZE_OR_ZERO, HARG_ANYTHING },
};

HELPER(ringbuf_reserve)
{
	return r3 ? 0 : addr_of(map_ring_reserve(ptr_of(r1), r2));
}

PROTO(ringbuf_reserve) = {
	.fn = ringbuf_reserve,
	.ret = HRET_RINGBUF_MEM | HRET_NULL_OK,
	.arg = { HARG_CONST_MAP_PTR, HARG_CONST_ALLOC_SIZE_OR_ZERO, HARG_ANYTHING },
};

HELPER(ringbuf_submit)
{
	map_ring_commit(ptr_of(r1), r2, false);
	return 0;
}

PROTO(ringbuf_submit) = {
	.fn = ringbuf_submit,
	.ret = HRET_VOID,
	.arg = { HARG_RINGBUF_MEM | HARG_RELEASE, HARG_ANYTHING },
};

HELPER(ringbuf_discard)
{
	map_ring_commit(ptr_of(r1), r2, true);
	return 0;
}

PROTO(ringbuf_discard) = {
	.fn = ringbuf_discard,
	.ret = HRET_VOID,
	.arg = { HARG_RINGBUF_MEM | HARG_RELEASE, HARG_ANYTHING },
};

HELPER(ringbuf_query)
{
	return map_ring_query(ptr_of(r1), r2);
}

PROTO(ringbuf_query) = {
	.fn = ringbuf_query,
	.ret = HRET_INTEGER,
	.arg = { HARG_CONST_MAP_PTR, HARG_ANYTHING },
};
