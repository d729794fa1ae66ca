/* Helpers on XDP frames: move the packet's ends, copy bytes, redirect.
 *
 * Bounds are compared as numbers, because an offset from the program may lead far outside the buffer. Invariant of a frame:
 * hard_start <= data_meta <= data <= data_end <= hard_end, and packet_end == data_end unless there are frags. */
#include "proto.h"
#include "skb.h"
#include <linux/bpf.h>

enum {
	ETH_HEADER = 14,  /* a packet never gets shorter than its Ethernet header */
	META_MAX = 255,	  /* meta_len of skb_shared_info is a byte */
	FRAG_SIZE = 4096, /* frags are pages, each filled before the next begins */
};

static struct env_frame *as_frame(u64 r)
{
	return ptr_of(r);
}

/* Move the beginning of what the program may touch. */
static void move_start(struct env_frame *f, s64 by)
{
	f->data_meta += by;
	if (f->data_meta < f->lowest)
		f->lowest = f->data_meta;
}

static bool has_frags(const struct env_frame *f)
{
	return f->packet_end > f->data_end;
}

HELPER(xdp_adjust_head)
{
	struct env_frame *f = as_frame(r1);
	size_t meta = f->data - f->data_meta;
	s64 by = (s32)r2;

	if (by < f->hard_start - f->data_meta || by > f->data_end - f->data - ETH_HEADER)
		return r0_int(-EINVAL);
	if (meta)
		memmove(f->data_meta + by, f->data_meta, meta);
	move_start(f, by);
	f->data += by;
	return 0;
}

PROTO(xdp_adjust_head) = {
	.fn = xdp_adjust_head,
	.ret = HRET_INTEGER,
	.arg = { HARG_CTX, HARG_ANYTHING },
	.changes_packet = true,
};

static int shrink_frags(struct env_frame *f, s64 by)
{
	if (by > INT32_MAX) /* the kernel negates an int: -2^31 stays negative there, and nothing happens */
		return 0;
	if (by > f->packet_end - f->data - ETH_HEADER)
		return -EINVAL;
	f->packet_end -= by;
	if (f->packet_end < f->data_end)
		f->data_end = f->packet_end;
	return 0;
}

static int grow_frags(struct env_frame *f, s64 by)
{
	s64 in_last = (f->packet_end - f->data_end - 1) % FRAG_SIZE + 1;

	if (by > FRAG_SIZE - in_last)
		return -EINVAL;
	memset(f->packet_end, 0, by);
	f->packet_end += by;
	return 0;
}

static int move_linear_end(struct env_frame *f, s64 by)
{
	if (by > f->hard_end - f->data_end || f->data_end - f->data + by < ETH_HEADER)
		return -EINVAL;
	if (by > 0)
		memset(f->data_end, 0, by);
	f->data_end += by;
	f->packet_end = f->data_end;
	return 0;
}

HELPER(xdp_adjust_tail)
{
	struct env_frame *f = as_frame(r1);
	s64 by = (s32)r2;

	if (!has_frags(f))
		return r0_int(move_linear_end(f, by));
	return r0_int(by < 0 ? shrink_frags(f, -by) : grow_frags(f, by));
}

PROTO(xdp_adjust_tail) = {
	.fn = xdp_adjust_tail,
	.ret = HRET_INTEGER,
	.arg = { HARG_CTX, HARG_ANYTHING },
	.changes_packet = true,
};

HELPER(xdp_adjust_meta)
{
	struct env_frame *f = as_frame(r1);
	s64 by = (s32)r2, meta = f->data - f->data_meta - by;

	if (!(f->flags & ENV_FRAME_META_OK))
		return r0_int(-ENOTSUPP_);
	if (meta < 0 || by < f->hard_start - f->data_meta)
		return r0_int(-EINVAL);
	if (meta % 4 || meta > META_MAX)
		return r0_int(-EACCES);
	move_start(f, by);
	return 0;
}

PROTO(xdp_adjust_meta) = {
	.fn = xdp_adjust_meta,
	.ret = HRET_INTEGER,
	.arg = { HARG_CTX, HARG_ANYTHING },
	.changes_packet = true,
};

HELPER(xdp_get_buff_len)
{
	struct env_frame *f = as_frame(r1);

	return f->packet_end - f->data;
}

PROTO(xdp_get_buff_len) = {
	.fn = xdp_get_buff_len,
	.ret = HRET_INTEGER,
	.arg = { HARG_CTX },
};

/* Bytes [off, off + len) of the whole packet, frags included. */
static int packet_bytes(struct env_frame *f, u32 off, u32 len, u8 **bytes)
{
	if (off > 0xffff || len > 0xffff)
		return -EFAULT;
	if (off + len > f->packet_end - f->data)
		return -EINVAL;
	*bytes = f->data + off;
	return 0;
}

HELPER(xdp_load_bytes)
{
	u8 *bytes;
	int err = packet_bytes(as_frame(r1), r2, r4, &bytes);

	if (!err)
		memmove(ptr_of(r3), bytes, (u32)r4); /* the destination may lie in the packet */
	return r0_int(err);
}

PROTO(xdp_load_bytes) = {
	.fn = xdp_load_bytes,
	.ret = HRET_INTEGER,
	.arg = { HARG_CTX, HARG_ANYTHING, HARG_MEM | HARG_UNINIT | HARG_WRITE, HARG_SIZE },
};

HELPER(xdp_store_bytes)
{
	u8 *bytes;
	int err = packet_bytes(as_frame(r1), r2, r4, &bytes);

	if (!err)
		memmove(bytes, ptr_of(r3), (u32)r4);
	return r0_int(err);
}

PROTO(xdp_store_bytes) = {
	.fn = xdp_store_bytes,
	.ret = HRET_INTEGER,
	.arg = { HARG_CTX, HARG_ANYTHING, HARG_MEM | HARG_RDONLY, HARG_SIZE },
};

/* Only noted down; who ran the program acts on it when r0 says XDP_REDIRECT. */
HELPER(redirect)
{
	if (env->frame->flags & ENV_FRAME_SKB)
		return skb_redirect(env, r1, r2);
	if (r2)
		return XDP_ABORTED;
	env->redirect = (struct env_redirect){ .set = true, .ifindex = (u32)r1 };
	return XDP_REDIRECT;
}

PROTO(redirect) = {
	.fn = redirect,
	.ret = HRET_INTEGER,
	.arg = { HARG_ANYTHING, HARG_ANYTHING },
};
