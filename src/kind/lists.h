/* Shared by the files of kind/: the kinds that are built, and lists of helper ids that several kinds use.
 * A list is an array of u16 ended by 0. */
#ifndef KIND_LISTS_H
#define KIND_LISTS_H
#include "kind.h"

extern const struct kind kind_raw_tracepoint, kind_sched_act, kind_sched_cls, kind_socket_filter, kind_tracepoint, kind_xdp;

/* Helpers of every kind that sees sockets or packets, beside the base: the kernel's bpf_sk_base_func_proto. */
#define KIND_SOCKET_HELPERS                                                                        \
	BPF_FUNC_ktime_get_coarse_ns, BPF_FUNC_skc_to_tcp6_sock, BPF_FUNC_skc_to_tcp_sock, BPF_FUNC_skc_to_tcp_timewait_sock,    \
		BPF_FUNC_skc_to_tcp_request_sock, BPF_FUNC_skc_to_udp6_sock,                       \
		BPF_FUNC_skc_to_unix_sock, BPF_FUNC_skc_to_mptcp_sock

#endif
