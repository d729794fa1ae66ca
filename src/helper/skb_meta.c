/* Helpers on what is known about a packet rather than on its bytes. */
#include "skb.h"
#include <linux/if_packet.h>

HELPER(skb_change_type)
{
	struct env_skb *s = as_skb(r1);

	if (s->pkt_type > PACKET_OTHERHOST || (u32)r2 > PACKET_OTHERHOST)
		return r0_int(-EINVAL);
	s->pkt_type = r2;
	return 0;
}

SKB_PROTO(skb_change_type, .arg = { HARG_CTX, HARG_ANYTHING });

/* ---- hash */

HELPER(set_hash)
{
	struct env_skb *s = as_skb(r1);

	s->hash = r2;
	s->hash_set = true;
	return 0;
}

SKB_PROTO(set_hash, .arg = { HARG_CTX, HARG_ANYTHING });

HELPER(set_hash_invalid)
{
	skb_clear_hash(as_skb(r1));
	return 0;
}

SKB_PROTO(set_hash_invalid, .arg = { HARG_CTX });

/* Any function of what identifies a flow will do: the kernel's has a key of its own at each boot. */
static u32 mix(u32 h, const u8 *p, u32 n)
{
	while (n--)
		h = (h ^ *p++) * 16777619u;
	return h;
}

static bool has_ports(u8 l4)
{
	return l4 == IPPROTO_TCP || l4 == IPPROTO_UDP || l4 == IPPROTO_SCTP;
}

static u32 flow_hash(const struct env_skb *s)
{
	bool v6 = s->protocol == htons(SKB_ETH_IPV6);
	u32 h = mix(2166136261u, (const u8 *)&s->protocol, 2), header = v6 ? SKB_IPV6 : SKB_IPV4;
	const u8 *ip = s->net;

	if ((v6 || s->protocol == htons(SKB_ETH_IPV4)) && s->frame.data_end - ip >= header) {
		u8 l4 = ip[v6 ? 6 : 9];

		h = mix(h, ip + (v6 ? 8 : 12), v6 ? 32 : 8);
		h = mix(h, &l4, 1);
		if (!v6)
			header = MAX((ip[0] & 15u) * 4, (u32)SKB_IPV4);
		if (has_ports(l4) && s->frame.data_end - ip >= header + 4)
			h = mix(h, ip + header, 4);
	}
	return h ? h : 1;
}

HELPER(get_hash_recalc)
{
	struct env_skb *s = as_skb(r1);

	if (!s->hash_set) {
		s->hash = flow_hash(s);
		s->hash_set = true;
	}
	return s->hash;
}

SKB_PROTO(get_hash_recalc, .arg = { HARG_CTX });

/* ---- time */

HELPER(skb_set_tstamp)
{
	struct env_skb *s = as_skb(r1);
	u32 type = r3;

	if (s->protocol != htons(SKB_ETH_IPV4) && s->protocol != htons(SKB_ETH_IPV6))
		return r0_int(-EOPNOTSUPP);
	/* the real-time clock's (0) may be taken away; monotonic (1) and TAI (2) times exist */
	if (type > 2 || (type && !r2))
		return r0_int(-EINVAL);
	s->tstamp = r2;
	s->tstamp_type = type;
	return 0;
}

SKB_PROTO(skb_set_tstamp, .arg = { HARG_CTX, HARG_ANYTHING, HARG_ANYTHING });

/* ---- congestion */

enum { ECN_MASK = 3, ECN_CE = 3 };

static u16 add16(u16 a, u16 b)
{
	a += b;
	return a + (a < b);
}

static u64 mark_ipv4(u8 *ip)
{
	u8 tos = ip[1], ecn = (tos + 1) & ECN_MASK;

	if (!(ecn & 2)) /* not capable of it (0), or marked already (3) */
		return !ecn;
	ip[1] = tos | ECN_CE;
	STORE(u16, ip + 10, add16(LOAD(u16, ip + 10), add16(htons(0xfffb), htons(ecn))));
	return 1;
}

static u64 mark_ipv6(struct env_skb *s, u8 *ip)
{
	u32 from = LOAD(u32, ip), to = from | htonl(ECN_CE << 20);

	if (!(ntohl(from) >> 20 & ECN_MASK))
		return 0;
	STORE(u32, ip, to);
	if (s->ip_summed == ENV_CSUM_COMPLETE)
		s->csum = csum_add(csum_sub(s->csum, from), to);
	return 1;
}

/* The protocol behind all VLAN tags in the packet; 0: the packet ends among them, or there are too many. */
static u16 inner_protocol(const struct env_skb *s)
{
	u32 at = s->mac_len ? s->mac_len - SKB_VLAN : SKB_ETH, depth = 8;
	u16 proto = s->protocol;

	if (skb_is_vlan(proto) && s->mac_len && s->mac_len < SKB_VLAN)
		return 0;
	while (skb_is_vlan(proto)) {
		if (at + SKB_VLAN > s->len || !--depth)
			return 0;
		proto = LOAD(u16, s->frame.data + at + 2);
		at += SKB_VLAN;
	}
	return proto;
}

HELPER(skb_ecn_set_ce)
{
	struct env_skb *s = as_skb(r1);
	s64 left = s->frame.data_end - s->net;
	u16 proto = inner_protocol(s);

	if (proto == htons(SKB_ETH_IPV4) && left >= SKB_IPV4)
		return mark_ipv4(s->net);
	if (proto == htons(SKB_ETH_IPV6) && left >= SKB_IPV6)
		return mark_ipv6(s, s->net);
	return 0;
}

SKB_PROTO(skb_ecn_set_ce, .arg = { HARG_CTX });

/* ---- socket, class and route: TEST_RUN's socket belongs to nobody, there is no route and no net_cls class */

static _Atomic u64 cookies;

HELPER(get_socket_cookie)
{
	struct env_skb *s = as_skb(r1);

	if (!s->cookie)
		s->cookie = atomic_fetch_add(&cookies, 1) + 1;
	return s->cookie;
}

SKB_PROTO(get_socket_cookie, .arg = { HARG_CTX });

HELPER(get_socket_uid)
{
	return 0;
}

SKB_PROTO(get_socket_uid, .arg = { HARG_CTX });

HELPER(get_cgroup_classid)
{
	return 0;
}

SKB_PROTO(get_cgroup_classid, .arg = { HARG_CTX });

HELPER(skb_cgroup_classid)
{
	return 0;
}

SKB_PROTO(skb_cgroup_classid, .arg = { HARG_CTX });

HELPER(get_route_realm)
{
	return 0;
}

SKB_PROTO(get_route_realm, .arg = { HARG_CTX });
