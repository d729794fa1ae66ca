/* What the helpers on a struct env_skb share. Private to helper/.
 *
 * The packet is linear in [data, data_end) with room around. Whoever moves an end goes through these functions, which keep
 * len, the header pointers and the checksum true. Positions of headers are pointers, so moving the packet moves them. */
#ifndef HELPER_SKB_H
#define HELPER_SKB_H
#include "proto.h"
#include "base/abi.h"
#include "base/csum.h"
#include <arpa/inet.h>

enum {
	SKB_ETH = 14, SKB_VLAN = 4, SKB_IPV4 = 20, SKB_IPV6 = 40, SKB_PAD = 64,
	SKB_MAX_LEN = 16064,	/* SKB_MAX_ALLOC: four pages less skb_shared_info */
	SKB_ETH_IPV4 = 0x0800, SKB_ETH_IPV6 = 0x86dd, SKB_ETH_8021Q = 0x8100, SKB_ETH_8021AD = 0x88a8,
};

static inline struct env_skb *as_skb(u64 r)
{
	return ptr_of(r);
}
static inline bool skb_is_vlan(u16 proto)	/* network order */
{
	return proto == htons(SKB_ETH_8021Q) || proto == htons(SKB_ETH_8021AD);
}
/* Place for a header in front: 0, or -ENOMEM. The packet may move. */
int skb_need_head(struct env_skb *s, u32 n);
/* The beginning moves up (by > 0: room that must be there) or down; header pointers stay where they are. */
void skb_push(struct env_skb *s, u32 by);
void skb_pull(struct env_skb *s, u32 by);
static inline u16 skb_net_offset(const struct env_skb *s)	/* as s->transport counts */
{
	return s->headroom + (s->net - s->frame.data);
}
static inline void skb_note_mac_len(struct env_skb *s)
{
	s->mac_len = s->net - s->mac;
}
int skb_set_len(struct env_skb *s, u32 len);	/* at the tail; new bytes are zero. -ENOMEM */
void skb_clear_hash(struct env_skb *s);

/* Bytes that come into or go out of what csum covers, `off` bytes from its beginning. */
void skb_csum_push(struct env_skb *s, const void *p, u32 n, u32 off);
void skb_csum_pull_at(struct env_skb *s, const void *p, u32 n, u32 off);
void skb_csum_pull(struct env_skb *s, const void *p, u32 n);	/* for good, from an even place */

void skb_csum_reset(struct env_skb *s);	/* the card's word about checksums is no longer true */
u64 skb_redirect(struct env *env, u32 ifindex, u64 flags);	/* bpf_redirect as tc programs get it */

enum { SKB_F_IPV6 = 1 << 7 };	/* BPF_F_IPV6: newer than the system's header */

#define SKB_PROTO(name, ...) PROTO(name) = { .fn = name, .ret = HRET_INTEGER, __VA_ARGS__ }

#endif
