/* bpf_perf_event_output: a sample with the program's data and, for packets, as much of the packet as the flags say. */
#include "skb.h"
#include "map/map.h"

static bool is_packet(const struct env *env, const void *ctx)
{
	return env->frame && ctx == env->frame;
}

static u64 packet_len(const struct env_frame *f)
{
	return f->packet_end - f->data;
}

HELPER(perf_event_output)
{
	struct map_perf_part part[2] = { { ptr_of(r4), (u32)r5 } };
	u32 len = (r3 & BPF_F_CTXLEN_MASK) >> 32, n = 1;
	bool packet = is_packet(env, ptr_of(r1));

	if (r3 & ~((packet ? BPF_F_CTXLEN_MASK : 0) | BPF_F_INDEX_MASK))
		return r0_int(-EINVAL);
	if (packet && len > packet_len(env->frame))
		return r0_int(-EFAULT);
	if (len)
		part[n++] = (struct map_perf_part){ env->frame->data, len };
	return r0_int(map_perf_output(ptr_of(r2), r3, env, part, n));
}

PROTO(perf_event_output) = {
	.fn = perf_event_output,
	.ret = HRET_INTEGER,
	.arg = { HARG_CTX, HARG_CONST_MAP_PTR, HARG_ANYTHING, HARG_MEM | HARG_RDONLY, HARG_SIZE_OR_ZERO },
	.gpl_only = true,
};
