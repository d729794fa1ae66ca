/* Give a program its input: PROG_TEST_RUN for every kind, frames for packet kinds. */
#ifndef RUN_RUN_H
#define RUN_RUN_H
#include "env/env.h"
#include "prog/prog.h"

#define RUN_HEADROOM 256u	/* XDP_PACKET_HEADROOM */
#define RUN_PAGE 4096u
#define RUN_TAILROOM 320u	/* skb_shared_info: linear room is PAGE - HEADROOM - TAILROOM = 3520 */
#define RUN_MAX_FRAME (256u * 1024u)
#define RUN_HEAD_RESERVE 40u	/* struct xdp_frame, which adjust_head may not overwrite */
#define RUN_MIN_PACKET 14u	/* ETH_HLEN */
#define RUN_MAX_FRAGS 17u	/* MAX_SKB_FRAGS, of a page each: TEST_RUN takes at most 3520 + 17 * 4096 bytes */
#define RUN_MAX_TEST (RUN_PAGE - RUN_HEADROOM - RUN_TAILROOM + RUN_MAX_FRAGS * RUN_PAGE)

/* PROG_TEST_RUN, attributes copied in by sys. Sizes in bytes; duration in ns (average over repeat). */
struct run_test {
	const void *data_in;
	u32 data_size_in;
	void *data_out;		/* NULL: not wanted */
	u32 data_out_room;
	u32 data_size_out;	/* out: size of the packet after the run, whatever the room */
	const void *ctx_in;
	u32 ctx_size_in;
	void *ctx_out;
	u32 ctx_out_room, ctx_size_out;
	u32 repeat, flags, cpu, batch_size;
	u32 retval, duration;	/* out */
	bool ran;		/* out: retval, duration and data_size_out are to be written back (also with -ENOSPC) */
	bool ctx_written;	/* out: ctx_size_out is to be written back */
	struct env_trace *trace;	/* may be NULL */
	struct env_redirect redirect;	/* out: of the last run */
};
/* 0, or the kernel's errno for the kind: -EINVAL (sizes, flags), -ENOSPC (data_out too small: copied what fits), -ENOTSUPP_.
 * As in the kernel data_out_room 0 with a data_out means: whatever the size is. */
int run_test(struct prog *p, struct run_test *t);

/* One buffer that packets are put into, with head and tail room. */
struct run_buffer {
	u8 *mem;		/* owned */
	size_t size;
	union {
		struct env_frame frame;
		struct env_skb skb;	/* when frame.flags has ENV_FRAME_SKB */
	};
};
int run_buffer_init(struct run_buffer *b, size_t max_packet);	/* -EINVAL above RUN_MAX_FRAME, -ENOMEM */
void run_buffer_done(struct run_buffer *b);
/* Copy a packet in as the kernel's TEST_RUN lays it out: linear part up to 3520 bytes, the rest beyond the boundary. Arrived
 * on interface 1 (loopback), queue 0. -EINVAL below 14 bytes, -EMSGSIZE when it is larger than the buffer was made for. */
int run_buffer_fill(struct run_buffer *b, const void *packet, u32 size);

/* Run an XDP program on a filled buffer: returns the XDP action (r0). The env carries redirect and trace. */
u32 run_xdp(struct prog *p, struct env *env, struct run_buffer *b);

/* Can programs of this kind be given packets? */
bool run_takes_packets(const struct kind *k);
/* Would TEST_RUN of the kind take this packet (without a context)? run_packet() takes larger ones. */
bool run_test_takes(const struct kind *k, const void *packet, u32 size);
/* Run a program of any such kind on a filled buffer, as its kind's TEST_RUN does; returns r0. Run again without filling it, the
 * program sees what it left. */
u32 run_packet(struct prog *p, struct env *env, struct run_buffer *b);

#endif
