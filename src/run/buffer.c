/* Buffers for packets: a head room, the linear part, and directly behind it what the kernel would keep in frags.
 *
 * Offsets are the kernel's (one page: 256 bytes of head room, 320 kept at the end), because programs see them: how far
 * bpf_xdp_adjust_head and _tail may go. The head room is zero, as in a fresh TEST_RUN; what lies behind a
 * packet is cleared when adjust_tail makes it part of the packet. */
#include "frame.h"

enum { LINEAR_END = RUN_PAGE - RUN_TAILROOM };

int run_buffer_init(struct run_buffer *b, size_t max_packet)
{
	if (max_packet > RUN_MAX_FRAME)
		return -EINVAL;
	/* a page of its own for the last frag, which adjust_tail may fill */
	*b = (struct run_buffer){ .size = RUN_HEADROOM + ROUND_UP(MAX(max_packet, RUN_PAGE), RUN_PAGE) + RUN_PAGE };
	b->mem = calloc(1, b->size);
	b->frame.lowest = b->mem + RUN_HEADROOM;
	return b->mem ? 0 : -ENOMEM;
}

void run_buffer_done(struct run_buffer *b)
{
	free(b->mem);
	b->mem = NULL;
}

u8 *run_buffer_place(struct run_buffer *b, u32 meta, u32 linear, u32 total)
{
	u8 *start = b->mem + RUN_HEADROOM - meta;

	/* head room is zero again where the last packet or its program left something */
	if (b->frame.lowest < start)
		memset(b->frame.lowest, 0, start - b->frame.lowest);
	b->frame = (struct env_frame){
		.lowest = start,
		.data_meta = start,
		.data = start + meta,
		.data_end = start + linear,
		.packet_end = start + total,
		.hard_start = b->mem + RUN_HEAD_RESERVE,
		.hard_end = b->mem + LINEAR_END,
		.ingress_ifindex = 1,
		.flags = ENV_FRAME_META_OK | (total > linear ? ENV_FRAME_FRAGS : 0),
	};
	return start;
}

int run_buffer_fill(struct run_buffer *b, const void *packet, u32 size)
{
	if (size < 14)
		return -EINVAL;
	if (size > b->size - RUN_HEADROOM - RUN_PAGE)
		return -EMSGSIZE;
	memcpy(run_buffer_place(b, 0, MIN(size, LINEAR_END - RUN_HEADROOM), size), packet, size);
	return 0;
}
