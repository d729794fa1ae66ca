/* Helpers and instructions that copy bytes from and to the packet of an skb. */
#include "skb.h"
#include <linux/filter.h>

/* The bytes [off, off + n) of the packet; NULL: they are not all there. */
static u8 *bytes_at(struct env_skb *s, u32 off, u32 n)
{
	return (u64)off + n <= s->len ? s->frame.data + off : NULL;
}

HELPER(skb_load_bytes)
{
	u32 n = r4;
	const u8 *from = bytes_at(as_skb(r1), r2, n);

	if (!from) {
		memset(ptr_of(r3), 0, n);
		return r0_int(-EFAULT);
	}
	memmove(ptr_of(r3), from, n);
	return 0;
}

SKB_PROTO(skb_load_bytes, .arg = { HARG_CTX, HARG_ANYTHING, HARG_MEM | HARG_UNINIT | HARG_WRITE, HARG_SIZE });

/* Where a header that offsets may count from begins. */
static const u8 *header(const struct env_skb *s, u32 start)
{
	switch (start) {
	case BPF_HDR_START_MAC:
		return s->mac;
	case BPF_HDR_START_NET:
		return s->net;
	default:
		return NULL;
	}
}

HELPER(skb_load_bytes_relative)
{
	struct env_skb *s = as_skb(r1);
	const u8 *start = header(s, r5);
	u32 off = r2, n = r4;

	if (off > 0xffff || !start || (s64)off + n > s->frame.data_end - start) {
		memset(ptr_of(r3), 0, n);
		return r0_int(-EFAULT);
	}
	memmove(ptr_of(r3), start + off, n);
	return 0;
}

SKB_PROTO(skb_load_bytes_relative,
	  .arg = { HARG_CTX, HARG_ANYTHING, HARG_MEM | HARG_UNINIT | HARG_WRITE, HARG_SIZE, HARG_ANYTHING });

HELPER(skb_store_bytes)
{
	struct env_skb *s = as_skb(r1);
	u32 off = r2, n = r4;
	u8 *to;

	if (r5 & ~(u64)(BPF_F_RECOMPUTE_CSUM | BPF_F_INVALIDATE_HASH))
		return r0_int(-EINVAL);
	to = bytes_at(s, off, n);
	if (!to)
		return r0_int(-EFAULT);
	if (r5 & BPF_F_RECOMPUTE_CSUM)
		skb_csum_pull_at(s, to, n, off);
	memmove(to, ptr_of(r3), n);
	if (r5 & BPF_F_RECOMPUTE_CSUM)
		skb_csum_push(s, to, n, off);
	if (r5 & BPF_F_INVALIDATE_HASH)
		skb_clear_hash(s);
	return 0;
}

SKB_PROTO(skb_store_bytes, .changes_packet = true,
	  .arg = { HARG_CTX, HARG_ANYTHING, HARG_MEM | HARG_RDONLY, HARG_SIZE, HARG_ANYTHING });

/* The packet is linear already, so only whether it is that long is left. */
HELPER(skb_pull_data)
{
	return r0_int((u32)r2 > as_skb(r1)->len ? -ENOMEM : 0);
}

SKB_PROTO(skb_pull_data, .changes_packet = true, .arg = { HARG_CTX, HARG_ANYTHING });

/* Offsets below zero count from the L3 or L2 header; the rest of them is nowhere. */
static const u8 *load_abs_at(const struct env_skb *s, s32 off)
{
	if (off >= 0)
		return s->frame.data + off;
	if (off >= SKF_NET_OFF)
		return s->net + (off - SKF_NET_OFF);
	return off >= SKF_LL_OFF ? s->mac + (off - SKF_LL_OFF) : NULL;
}

bool helper_skb_load_abs(void *ctx, s64 off, u32 size, u64 *out, struct env *env)
{
	const struct env_skb *s = ctx;
	const u8 *p = load_abs_at(s, (s32)off);
	u64 value = 0;

	if (!p || p > s->frame.data_end || size > (u64)(s->frame.data_end - p))
		return false;
	for (u32 i = 0; i < size; i++)
		value = value << 8 | p[i];
	*out = value;
	return true;
}
