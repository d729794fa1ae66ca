/* Helpers that make an skb longer or shorter: at its tail, before it, and behind its L2 or L3 header. */
#include "skb.h"

static int mac_len(const struct env_skb *s)
{
	return s->net - s->mac;
}

static int net_offset(const struct env_skb *s)
{
	return s->net - s->frame.data;
}

/* ---- tail */

/* Headers that were found stay. */
static u32 min_len(const struct env_skb *s)
{
	s32 off = s->transport != 0xffff ? s->transport - s->headroom : 0;

	if (off > 0)
		return off;
	return net_offset(s) > 0 ? net_offset(s) : 0;
}

static int change_tail(struct env_skb *s, u32 len, u64 flags)
{
	u32 old = s->len;
	int err;

	if (flags || len > SKB_MAX_LEN || len < min_len(s))
		return -EINVAL;
	if (s->encapsulation)
		return -ENOTSUPP_;
	err = skb_set_len(s, len);
	if (len != old && s->ip_summed == ENV_CSUM_COMPLETE)
		s->ip_summed = ENV_CSUM_NONE;
	if (!err && s->gso_size)
		s->gso_size = s->gso_segs = s->gso_typed = 0;
	return err;
}

HELPER(skb_change_tail)
{
	return r0_int(change_tail(as_skb(r1), r2, r3));
}

SKB_PROTO(skb_change_tail, .changes_packet = true, .arg = { HARG_CTX, HARG_ANYTHING, HARG_ANYTHING });

/* ---- head: a new L2 header, all else stays */

static int change_head(struct env_skb *s, u32 by, u64 flags)
{
	u32 len = s->len + by;
	int err;

	if (flags || (s32)by < 0 || (!s->gso_size && len > SKB_MAX_LEN) || len < s->len)
		return -EINVAL;
	err = skb_need_head(s, by);
	if (err)
		return err;
	skb_push(s, by);
	memset(s->frame.data, 0, by);
	s->mac = s->frame.data;
	skb_note_mac_len(s);
	return 0;
}

HELPER(skb_change_head)
{
	return r0_int(change_head(as_skb(r1), r2, r3));
}

SKB_PROTO(skb_change_head, .changes_packet = true, .arg = { HARG_CTX, HARG_ANYTHING, HARG_ANYTHING });

/* ---- the middle: the first `off` bytes move apart from the rest, or together */

static int widen(struct env_skb *s, u32 off, u32 by)
{
	bool follows = s->transport == skb_net_offset(s);
	int err = skb_need_head(s, by);

	if (err)
		return err;
	/* A packet that ends before `off` gets what lies behind it in the kernel, zeros here. */
	off = MIN(off, s->len);
	skb_push(s, by);
	memmove(s->frame.data, s->frame.data + by, off);
	memset(s->frame.data + off, 0, by);
	s->mac -= by;
	s->net -= by;
	if (follows)
		s->transport = skb_net_offset(s);
	return 0;
}

static int narrow(struct env_skb *s, u32 off, u32 by)
{
	bool follows = s->transport == skb_net_offset(s);
	u8 *old = s->frame.data;

	if (off + by > s->len)
		return -ENOMEM;
	skb_pull(s, by);
	skb_csum_pull(s, old + off, by);
	memmove(s->frame.data, old, off);
	s->mac += by;
	s->net += by;
	if (follows)
		s->transport = skb_net_offset(s);
	return 0;
}

static bool is_ipv4(const struct env_skb *s)
{
	return s->protocol == htons(SKB_ETH_IPV4);
}

static bool is_ipv6(const struct env_skb *s)
{
	return s->protocol == htons(SKB_ETH_IPV6);
}

static int change_proto(struct env_skb *s, u16 to, u64 flags)
{
	int err = -ENOTSUPP_;

	if (flags)
		return -EINVAL;
	if (is_ipv4(s) && to == htons(SKB_ETH_IPV6))
		err = widen(s, mac_len(s), SKB_IPV6 - SKB_IPV4);
	else if (is_ipv6(s) && to == htons(SKB_ETH_IPV4))
		err = narrow(s, mac_len(s), SKB_IPV6 - SKB_IPV4);
	if (err)
		return err;
	s->protocol = to;
	s->gso_typed |= s->gso_size > 0;
	skb_clear_hash(s);
	return 0;
}

HELPER(skb_change_proto)
{
	return r0_int(change_proto(as_skb(r1), r2, r3));
}

SKB_PROTO(skb_change_proto, .changes_packet = true, .arg = { HARG_CTX, HARG_ANYTHING, HARG_ANYTHING });

/* ---- adjust_room */

/* The flags as numbers: the newest are missing in older headers. */
enum {
	FIXED_GSO = 1 << 0, OUTER_IPV4 = 1 << 1, OUTER_IPV6 = 1 << 2, OUTER_GRE = 1 << 3, OUTER_UDP = 1 << 4,
	NO_CSUM_RESET = 1 << 5, INNER_ETH = 1 << 6, INNER_IPV4 = 1 << 7, INNER_IPV6 = 1 << 8,
	OUTER = OUTER_IPV4 | OUTER_IPV6, INNER = INNER_IPV4 | INNER_IPV6,
	INNER_L2_SHIFT = 56, MAX_BY = 0xfff,
};
static const u64 room_flags = FIXED_GSO | OUTER | OUTER_GRE | OUTER_UDP | NO_CSUM_RESET | INNER_ETH | INNER |
			      0xffull << INNER_L2_SHIFT;

static int check_tunnel(const struct env_skb *s, u32 by, u64 flags)
{
	u8 inner_l2 = flags >> INNER_L2_SHIFT;

	if ((flags & OUTER) == OUTER)
		return -EINVAL;
	if (flags & OUTER_GRE && flags & OUTER_UDP)
		return -EINVAL;
	if (flags & INNER_ETH && inner_l2 < SKB_ETH)
		return -EINVAL;
	if (s->encapsulation)
		return -EALREADY;
	return inner_l2 > by ? -EINVAL : 0;
}

static void make_tunnel(struct env_skb *s, u32 l2, u64 flags)
{
	s->encapsulation = true;
	s->net = s->frame.data + l2;
	if (flags & (OUTER_GRE | OUTER_UDP))
		s->transport = skb_net_offset(s) + (flags & OUTER_IPV6 ? SKB_IPV6 : SKB_IPV4);
	if (is_ipv4(s) && flags & OUTER_IPV6)
		s->protocol = htons(SKB_ETH_IPV6);
	else if (is_ipv6(s) && flags & OUTER_IPV4)
		s->protocol = htons(SKB_ETH_IPV4);
}

static int grow(struct env_skb *s, u32 off, u32 by, u64 flags)
{
	u32 l2 = mac_len(s);
	int err;

	if (s->gso_size) /* of no type that the kernel knows how to grow */
		return -ENOTSUPP_;
	err = flags & OUTER ? check_tunnel(s, by, flags) : 0;
	err = err ?: widen(s, off, by);
	if (!err && flags & OUTER)
		make_tunnel(s, l2, flags);
	return err;
}

static int shrink(struct env_skb *s, u32 off, u32 by, u64 flags)
{
	int err;

	if (flags & ~(u64)(FIXED_GSO | INNER | NO_CSUM_RESET))
		return -EINVAL;
	if (s->gso_size)
		return -ENOTSUPP_;
	err = narrow(s, off, by);
	if (err)
		return err;
	if (is_ipv4(s) && flags & INNER_IPV6)
		s->protocol = htons(SKB_ETH_IPV6);
	else if (is_ipv6(s) && flags & INNER_IPV4)
		s->protocol = htons(SKB_ETH_IPV4);
	return 0;
}

/* How short the packet may get from its L3 header on; -EINVAL: the flags contradict each other. */
static int shortest(u32 header, bool shrinks, u64 flags)
{
	if (!(flags & INNER))
		return header;
	if (!shrinks || (flags & INNER) == INNER)
		return -EINVAL;
	return flags & INNER_IPV4 ? SKB_IPV4 : SKB_IPV6;
}

static int adjust_room(struct env_skb *s, s32 diff, u32 mode, u64 flags)
{
	u32 by = diff < 0 ? -(u32)diff : diff, header, off, len;
	int min;

	if (flags & ~room_flags)
		return -EINVAL;
	if (by > MAX_BY)
		return -EFAULT;
	if (!is_ipv4(s) && !is_ipv6(s))
		return -ENOTSUPP_;
	if (mode != BPF_ADJ_ROOM_NET && mode != BPF_ADJ_ROOM_MAC)
		return -ENOTSUPP_;
	header = is_ipv4(s) ? SKB_IPV4 : SKB_IPV6;
	off = mac_len(s) + (mode == BPF_ADJ_ROOM_NET ? header : 0);
	min = shortest(header, diff < 0, flags);
	if (min < 0)
		return min;
	len = s->len - net_offset(s);
	if (diff < 0 && (by >= len || len - by < min))
		return -ENOTSUPP_;
	if (diff >= 0 && s->len + by > SKB_MAX_LEN && !s->gso_size)
		return -ENOTSUPP_;
	return diff < 0 ? shrink(s, off, by, flags) : grow(s, off, by, flags);
}

HELPER(skb_adjust_room)
{
	struct env_skb *s = as_skb(r1);
	int err = adjust_room(s, r2, r3, r4);

	if (!err && !(r4 & NO_CSUM_RESET))
		skb_csum_reset(s);
	return r0_int(err);
}

SKB_PROTO(skb_adjust_room, .changes_packet = true,
	  .arg = { HARG_CTX, HARG_ANYTHING, HARG_ANYTHING, HARG_ANYTHING });
