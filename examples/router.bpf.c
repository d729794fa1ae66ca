/* router: an XDP program that hands packets on to other programs by tail calls, one a protocol.
 *
 *   skep run router.bpf.o --prog router --in web.pcap
 *
 * `next` is filled by libbpf when the object is loaded. A tail call does not come back; where there is no program in the slot,
 * it falls through. VLAN tags are taken off one at a time: vlan() tail-calls the next program for what is behind the tag, and
 * the kernel ends chains of more than 33. How far the header is goes along in the packet's metadata. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

enum slot { IPV4, IPV6, VLAN, SLOTS };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS + 1);
	__type(key, __u32);
	__type(value, __u64);
} packets SEC(".maps");

int ipv4(struct xdp_md *ctx);
int ipv6(struct xdp_md *ctx);
int vlan(struct xdp_md *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, SLOTS);
	__uint(key_size, sizeof(__u32));
	__array(values, int(void *));
} next SEC(".maps") = {
	.values = { [IPV4] = (void *)&ipv4, [IPV6] = (void *)&ipv6, [VLAN] = (void *)&vlan },
};

static __always_inline void count(__u32 slot)
{
	__u64 *n = bpf_map_lookup_elem(&packets, &slot);

	if (n)
		__sync_fetch_and_add(n, 1);
}

static __always_inline void go(struct xdp_md *ctx, __be16 type)
{
	switch (bpf_ntohs(type)) {
	case ETH_P_IP:
		bpf_tail_call(ctx, &next, IPV4);
		break;
	case ETH_P_IPV6:
		bpf_tail_call(ctx, &next, IPV6);
		break;
	case ETH_P_8021Q:
	case ETH_P_8021AD:
		bpf_tail_call(ctx, &next, VLAN);
		break;
	}
}

/* Bytes of L2 header so far, in 4 bytes of metadata. NULL: there is none. */
static __always_inline __u32 *offset(struct xdp_md *ctx)
{
	__u32 *at = (void *)(long)ctx->data_meta;

	return (void *)(at + 1) > (void *)(long)ctx->data ? 0 : at;
}

SEC("xdp")
int router(struct xdp_md *ctx)
{
	struct ethhdr *eth;
	__u32 *at;

	if (bpf_xdp_adjust_meta(ctx, -(int)sizeof(*at)))
		return XDP_ABORTED;
	at = offset(ctx);
	eth = (void *)(long)ctx->data;
	if (!at || (void *)(eth + 1) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	*at = sizeof(*eth);
	go(ctx, eth->h_proto);
	count(SLOTS);
	return XDP_PASS;
}

SEC("xdp")
int vlan(struct xdp_md *ctx)
{
	struct { __be16 tci, type; } *tag;
	__u32 *at = offset(ctx);
	__u32 where;

	if (!at)
		return XDP_ABORTED;
	where = *at;
	tag = (void *)(long)ctx->data + (where & 0xff);
	if ((void *)(tag + 1) > (void *)(long)ctx->data_end)
		return XDP_DROP;
	count(VLAN);
	*at = where + sizeof(*tag);
	go(ctx, tag->type);
	return XDP_PASS;
}

/* IPv4 with options and fragments are dropped. */
SEC("xdp")
int ipv4(struct xdp_md *ctx)
{
	__u32 *at = offset(ctx);
	struct iphdr *ip;

	count(IPV4);
	if (!at)
		return XDP_ABORTED;
	ip = (void *)(long)ctx->data + (*at & 0xff);
	if ((void *)(ip + 1) > (void *)(long)ctx->data_end)
		return XDP_DROP;
	return ip->ihl != 5 || ip->frag_off & bpf_htons(0x3fff) ? XDP_DROP : XDP_PASS;
}

/* IPv6 with a hop limit of 1 goes back. */
SEC("xdp")
int ipv6(struct xdp_md *ctx)
{
	__u32 *at = offset(ctx);
	struct ipv6hdr *ip;

	count(IPV6);
	if (!at)
		return XDP_ABORTED;
	ip = (void *)(long)ctx->data + (*at & 0xff);
	if ((void *)(ip + 1) > (void *)(long)ctx->data_end)
		return XDP_DROP;
	return ip->hop_limit == 1 ? XDP_TX : XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
