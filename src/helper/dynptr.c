/* Dynptrs: memory with a size known at run time, and helpers that check every access against it. The 16 bytes on the program's
 * stack hold a struct dynptr, laid out as the kernel's struct bpf_dynptr_kern. */
#include "dynptr.h"
#include "map/map.h"

static void set(void *p, u8 *data, u32 size, u32 type)
{
	struct dynptr d = { .data = data, .size = size | type << DYNPTR_TYPE_SHIFT };

	memcpy(p, &d, sizeof(d));
}

static void set_null(void *p)
{
	memset(p, 0, sizeof(struct dynptr));
}

HELPER(dynptr_from_mem)
{
	u32 size = r2;

	if (size <= DYNPTR_SIZE_MAX && !r3) {
		set(ptr_of(r4), ptr_of(r1), size, DYNPTR_LOCAL);
		return 0;
	}
	set_null(ptr_of(r4));
	return r0_int(size > DYNPTR_SIZE_MAX ? -E2BIG : -EINVAL);
}

PROTO(dynptr_from_mem) = {
	.fn = dynptr_from_mem,
	.ret = HRET_INTEGER,
	.arg = { HARG_MEM | HARG_UNINIT | HARG_WRITE, HARG_SIZE_OR_ZERO, HARG_ANYTHING,
		 HARG_DYNPTR | HARG_UNINIT | HARG_WRITE | HARG_DYNPTR_OF(DYNPTR_LOCAL) },
};

HELPER(ringbuf_reserve_dynptr)
{
	u32 size = r2;
	u8 *sample;

	set_null(ptr_of(r4));
	if (r3)
		return r0_int(-EINVAL);
	if (size > DYNPTR_SIZE_MAX)
		return r0_int(-E2BIG);
	sample = map_ring_reserve(ptr_of(r1), size);
	if (!sample)
		return r0_int(-EINVAL);
	set(ptr_of(r4), sample, size, DYNPTR_RINGBUF);
	return 0;
}

PROTO(ringbuf_reserve_dynptr) = {
	.fn = ringbuf_reserve_dynptr,
	.ret = HRET_INTEGER,
	.arg = { HARG_CONST_MAP_PTR, HARG_ANYTHING, HARG_ANYTHING,
		 HARG_DYNPTR | HARG_UNINIT | HARG_WRITE | HARG_DYNPTR_OF(DYNPTR_RINGBUF) },
};

static u64 commit(void *p, u64 flags, bool discard)
{
	struct dynptr d;

	memcpy(&d, p, sizeof(d));
	if (d.data) {
		map_ring_commit(d.data, flags, discard);
		set_null(p);
	}
	return 0;
}

HELPER(ringbuf_submit_dynptr)
{
	return commit(ptr_of(r1), r2, false);
}

PROTO(ringbuf_submit_dynptr) = {
	.fn = ringbuf_submit_dynptr,
	.ret = HRET_VOID,
	.arg = { HARG_DYNPTR | HARG_RELEASE | HARG_DYNPTR_OF(DYNPTR_RINGBUF), HARG_ANYTHING },
};

HELPER(ringbuf_discard_dynptr)
{
	return commit(ptr_of(r1), r2, true);
}

PROTO(ringbuf_discard_dynptr) = {
	.fn = ringbuf_discard_dynptr,
	.ret = HRET_VOID,
	.arg = { HARG_DYNPTR | HARG_RELEASE | HARG_DYNPTR_OF(DYNPTR_RINGBUF), HARG_ANYTHING },
};

HELPER(dynptr_read)
{
	struct dynptr d;
	u8 *from;

	memcpy(&d, ptr_of(r3), sizeof(d));
	if (!d.data || r5)
		return r0_int(-EINVAL);
	from = dynptr_part(&d, r4, r2);
	if (!from)
		return r0_int(-E2BIG);
	memmove(ptr_of(r1), from, (u32)r2);
	return 0;
}

PROTO(dynptr_read) = {
	.fn = dynptr_read,
	.ret = HRET_INTEGER,
	.arg = { HARG_MEM | HARG_UNINIT | HARG_WRITE, HARG_SIZE_OR_ZERO, HARG_DYNPTR | HARG_RDONLY, HARG_ANYTHING,
		 HARG_ANYTHING },
};

HELPER(dynptr_write)
{
	struct dynptr d;
	u8 *to;

	memcpy(&d, ptr_of(r1), sizeof(d));
	if (!d.data || d.size & DYNPTR_RDONLY)
		return r0_int(-EINVAL);
	to = dynptr_part(&d, r2, r4);
	if (!to)
		return r0_int(-E2BIG);
	if (r5)
		return r0_int(-EINVAL);
	memmove(to, ptr_of(r3), (u32)r4);
	return 0;
}

PROTO(dynptr_write) = {
	.fn = dynptr_write,
	.ret = HRET_INTEGER,
	.arg = { HARG_DYNPTR | HARG_RDONLY, HARG_ANYTHING, HARG_MEM | HARG_RDONLY, HARG_SIZE_OR_ZERO, HARG_ANYTHING },
};

HELPER(dynptr_data)
{
	struct dynptr d;

	memcpy(&d, ptr_of(r1), sizeof(d));
	if (!d.data || d.size & DYNPTR_RDONLY)
		return 0;
	return addr_of(dynptr_part(&d, r2, r3));
}

PROTO(dynptr_data) = {
	.fn = dynptr_data,
	.ret = HRET_DYNPTR_MEM | HRET_NULL_OK,
	.arg = { HARG_DYNPTR | HARG_RDONLY, HARG_ANYTHING, HARG_CONST_ALLOC_SIZE_OR_ZERO },
};
