/* The kinds "sched_cls" and "sched_act": traffic control, on packets that come in or go out.
 *
 * Both see the same fields and may call the same helpers. Direct packet access; the kernel's tc_cls_act_is_valid_access.
 * Any r0 is legal: TC_ACT_*, or a class for an old classifier without direct action. */
#include "skb.h"

#define DATA(member, what, ours) SKB_FIELD(member, what, ours)

/* newer than the system's header: in a hole of its struct, one byte */
enum { TSTAMP_TYPE = 180 };
static_assert(TSTAMP_TYPE == offsetof(struct __sk_buff, gso_size) + 4, "tstamp_type lies behind gso_size");

static const struct kind_field fields[] = {
	SKB_FIELDS(true),
	SKB_PART(tc_classid, tc_classid, .write = true),
	DATA(data, KIND_PACKET, frame.data),
	DATA(data_end, KIND_PACKET_END, frame.data_end),
	DATA(data_meta, KIND_PACKET_META, frame.data_meta),
	SKB_FIELD(tstamp, KIND_SCALAR, tstamp, .write = true),
	SKB_PART(wire_len, wire_len),
	SKB_FIELD(sk, KIND_SOCK_COMMON, sk),
	{ .name = "tstamp_type", .off = TSTAMP_TYPE, .size = 1, .gives = KIND_SCALAR,
	  .frame_off = offsetof(struct env_skb, tstamp_type), .frame_size = 1 },
	SKB_FIELD(hwtstamp, KIND_SCALAR, hwtstamp),
};

/* Asked of kernel 6.18, one load per id. */
static const u16 helpers[] = {
	KIND_SOCKET_HELPERS,
	BPF_FUNC_skb_store_bytes,
	BPF_FUNC_l3_csum_replace,
	BPF_FUNC_l4_csum_replace,
	BPF_FUNC_clone_redirect,
	BPF_FUNC_skb_vlan_push,
	BPF_FUNC_skb_vlan_pop,
	BPF_FUNC_skb_get_tunnel_key,
	BPF_FUNC_skb_set_tunnel_key,
	BPF_FUNC_redirect,
	BPF_FUNC_get_route_realm,
	BPF_FUNC_perf_event_output,
	BPF_FUNC_skb_load_bytes,
	BPF_FUNC_csum_diff,
	BPF_FUNC_skb_get_tunnel_opt,
	BPF_FUNC_skb_set_tunnel_opt,
	BPF_FUNC_skb_change_proto,
	BPF_FUNC_skb_change_type,
	BPF_FUNC_skb_under_cgroup,
	BPF_FUNC_get_hash_recalc,
	BPF_FUNC_skb_change_tail,
	BPF_FUNC_skb_pull_data,
	BPF_FUNC_csum_update,
	BPF_FUNC_set_hash_invalid,
	BPF_FUNC_skb_change_head,
	BPF_FUNC_get_socket_cookie,
	BPF_FUNC_get_socket_uid,
	BPF_FUNC_set_hash,
	BPF_FUNC_skb_adjust_room,
	BPF_FUNC_skb_get_xfrm_state,
	BPF_FUNC_skb_load_bytes_relative,
	BPF_FUNC_fib_lookup,
	BPF_FUNC_skb_cgroup_id,
	BPF_FUNC_skb_ancestor_cgroup_id,
	BPF_FUNC_sk_lookup_tcp,
	BPF_FUNC_sk_lookup_udp,
	BPF_FUNC_sk_release,
	BPF_FUNC_sk_fullsock,
	BPF_FUNC_tcp_sock,
	BPF_FUNC_skb_ecn_set_ce,
	BPF_FUNC_get_listener_sock,
	BPF_FUNC_skc_lookup_tcp,
	BPF_FUNC_tcp_check_syncookie,
	BPF_FUNC_sk_storage_get,
	BPF_FUNC_sk_storage_delete,
	BPF_FUNC_tcp_gen_syncookie,
	BPF_FUNC_get_netns_cookie,
	BPF_FUNC_sk_assign,
	BPF_FUNC_csum_level,
	BPF_FUNC_skb_cgroup_classid,
	BPF_FUNC_redirect_neigh,
	BPF_FUNC_redirect_peer,
	BPF_FUNC_check_mtu,
	BPF_FUNC_skb_set_tstamp,
	BPF_FUNC_tcp_raw_gen_syncookie_ipv4,
	BPF_FUNC_tcp_raw_gen_syncookie_ipv6,
	BPF_FUNC_tcp_raw_check_syncookie_ipv4,
	BPF_FUNC_tcp_raw_check_syncookie_ipv6,
	0,
};

static struct kind_range returns(u32 attach_type)
{
	return (struct kind_range){ .checked = false };
}

#define TC(type, called)                                                                           \
	{                                                                                          \
		.prog_type = type, .name = called, .ctx_size = sizeof(struct __sk_buff),           \
		.ctx_name = "__sk_buff", .fields = fields, .n_fields = ARRAY_SIZE(fields),         \
		.helpers = helpers, .direct_packet_write = true, .returns = returns,               \
	}

const struct kind kind_sched_cls = TC(BPF_PROG_TYPE_SCHED_CLS, "sched_cls");
const struct kind kind_sched_act = TC(BPF_PROG_TYPE_SCHED_ACT, "sched_act");
