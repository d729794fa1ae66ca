/* The kind "socket_filter": a program that decides how much of a packet a socket receives.
 *
 * It sees the packet through LD_ABS and bpf_skb_load_bytes only: the kernel's sk_filter_is_valid_access refuses data and
 * data_end. Any r0 is legal: the bytes to keep, 0 for none. */
#include "skb.h"

static const struct kind_field fields[] = {
	SKB_FIELDS(false),
	/* a pointer that struct kind_field can name but verify does not follow yet */
	SKB_FIELD(sk, KIND_SOCK_COMMON, sk),
};

/* Asked of kernel 6.18, one load per id. */
static const u16 helpers[] = {
	KIND_SOCKET_HELPERS,
	BPF_FUNC_perf_event_output,
	BPF_FUNC_skb_load_bytes,
	BPF_FUNC_get_socket_cookie,
	BPF_FUNC_get_socket_uid,
	BPF_FUNC_skb_load_bytes_relative,
	BPF_FUNC_get_netns_cookie,
	0,
};

static struct kind_range returns(u32 attach_type)
{
	return (struct kind_range){ .checked = false };
}

const struct kind kind_socket_filter = {
	.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
	.name = "socket_filter",
	.ctx_size = sizeof(struct __sk_buff),
	.ctx_name = "__sk_buff",
	.fields = fields,
	.n_fields = ARRAY_SIZE(fields),
	.helpers = helpers,
	.returns = returns,
};
