/* The kind "xdp": a program run on each packet before the rest of the network stack sees it.
 *
 * Its context is struct xdp_md, read only and in whole 32-bit fields: the kernel's xdp_is_valid_access. (Writing
 * rx_queue_index is for programs offloaded to a card, which are not built.) Any r0 is legal: who runs the program decides
 * what a strange action means. */
#include "kind.h"
#include "lists.h"
#include "env/env.h"

#define FIELD(member, what, frame_member, ...)                                                     \
	{ .name = #member,                                                                         \
	  .off = offsetof(struct xdp_md, member),                                                  \
	  .size = sizeof(((struct xdp_md *)0)->member),                                            \
	  .gives = what,                                                                           \
	  .frame_off = offsetof(struct env_frame, frame_member),                                   \
	  .frame_size = sizeof(((struct env_frame *)0)->frame_member),                             \
	  __VA_ARGS__ }

static const struct kind_field fields[] = {
	FIELD(data, KIND_PACKET, data),
	FIELD(data_end, KIND_PACKET_END, data_end),
	FIELD(data_meta, KIND_PACKET_META, data_meta),
	FIELD(ingress_ifindex, KIND_SCALAR, ingress_ifindex),
	FIELD(rx_queue_index, KIND_SCALAR, rx_queue_index),
	FIELD(egress_ifindex, KIND_SCALAR, egress_ifindex, .attach_only = BPF_XDP_DEVMAP + 1),
};

/* Asked of kernel 6.18, one load per id. */
static const u16 helpers[] = {
	KIND_SOCKET_HELPERS,
	BPF_FUNC_redirect,
	BPF_FUNC_perf_event_output,
	BPF_FUNC_csum_diff,
	BPF_FUNC_xdp_adjust_head,
	BPF_FUNC_redirect_map,
	BPF_FUNC_xdp_adjust_meta,
	BPF_FUNC_xdp_adjust_tail,
	BPF_FUNC_fib_lookup,
	BPF_FUNC_sk_lookup_tcp,
	BPF_FUNC_sk_lookup_udp,
	BPF_FUNC_sk_release,
	BPF_FUNC_skc_lookup_tcp,
	BPF_FUNC_tcp_check_syncookie,
	BPF_FUNC_tcp_gen_syncookie,
	BPF_FUNC_check_mtu,
	BPF_FUNC_xdp_get_buff_len,
	BPF_FUNC_xdp_load_bytes,
	BPF_FUNC_xdp_store_bytes,
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

const struct kind kind_xdp = {
	.prog_type = BPF_PROG_TYPE_XDP,
	.name = "xdp",
	.ctx_size = sizeof(struct xdp_md),
	.ctx_name = "xdp_md",
	.fields = fields,
	.n_fields = ARRAY_SIZE(fields),
	.helpers = helpers,
	.direct_packet_write = true,
	.attach_ok = NULL, /* bpf_prog_load_check_attach has no row for XDP: every value is accepted */
	.returns = returns,
};
