/* The kind "socket_filter": a program that decides how much of a packet a socket receives.
 *
 * Its context fields are not built yet: a program that reads none of them loads (libbpf probes bpf(2) with such programs),
 * any other is refused with the verifier's "invalid bpf_context access". */
#include "kind.h"
#include "lists.h"

static const u16 helpers[] = { KIND_SOCKET_HELPERS, 0 };

static struct kind_range returns(u32 attach_type)
{
	return (struct kind_range){ .checked = false };
}

const struct kind kind_socket_filter = {
	.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
	.name = "socket_filter",
	.ctx_size = sizeof(struct __sk_buff),
	.ctx_name = "__sk_buff",
	.helpers = helpers,
	.returns = returns,
};
