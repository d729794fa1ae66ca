/* Rows that the kinds with a struct __sk_buff share. Private to kind/.
 *
 * Which offsets, sizes and directions the kernel takes was asked of 6.18 field by field; tests/unit/kind/skb.c asks again,
 * every offset, every size. Where a field is narrower in struct env_skb than in __sk_buff, loads are widened with zeros and
 * stores cut, as in the kernel's sk_buff. */
#ifndef KIND_SKB_H
#define KIND_SKB_H
#include "lists.h"
#include "env/env.h"

enum { SKB_NO_QUEUE = 0xffff };	/* NO_QUEUE_MAPPING: a store of this or more changes nothing */

#define SKB_FIELD(member, what, ours, ...)                                                         \
	{ .name = #member,                                                                         \
	  .off = offsetof(struct __sk_buff, member),                                               \
	  .size = sizeof(((struct __sk_buff *)0)->member),                                         \
	  .gives = what,                                                                           \
	  .frame_off = offsetof(struct env_skb, ours),                                             \
	  .frame_size = sizeof(((struct env_skb *)0)->ours),                                       \
	  __VA_ARGS__ }
/* a number that may be read in parts */
#define SKB_PART(member, ours, ...) SKB_FIELD(member, KIND_SCALAR, ours, .narrow_read = true, __VA_ARGS__)

/* tc: also to be written */
#define SKB_FIELDS(tc)                                                                             \
	SKB_PART(len, len),                                                                        \
	SKB_PART(pkt_type, pkt_type),                                                              \
	SKB_PART(mark, mark, .write = tc),                                                         \
	SKB_PART(queue_mapping, queue_mapping, .write = tc, .write_below = SKB_NO_QUEUE),          \
	SKB_PART(protocol, protocol),                                                              \
	SKB_PART(vlan_present, vlan_present),                                                      \
	SKB_PART(vlan_tci, vlan_tci),                                                              \
	SKB_PART(vlan_proto, vlan_proto),                                                          \
	SKB_PART(priority, priority, .write = tc),                                                 \
	SKB_PART(ingress_ifindex, frame.ingress_ifindex),                                          \
	SKB_PART(ifindex, ifindex),                                                                \
	SKB_PART(tc_index, tc_index, .write = tc),                                                 \
	SKB_FIELD(cb, KIND_SCALAR, cb, .write = true, .bytes = true),                              \
	SKB_PART(hash, hash),                                                                      \
	SKB_PART(napi_id, napi_id),                                                                \
	SKB_PART(gso_segs, gso_segs),                                                              \
	SKB_PART(gso_size, gso_size)

#endif
