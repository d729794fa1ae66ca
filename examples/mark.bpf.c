/* mark: a tc classifier that marks packets by their destination port and sorts them into classes.
 *
 *   skep run mark.bpf.o --in web.pcap --map ports=ports.txt --out kept.pcap
 *
 * `ports` says for each port: the mark (which routing and nftables see), the class (for the qdisc), and whether to drop.
 * `hits` counts by class. Direct action: the result is a TC_ACT_*. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

struct rule {
	__u32 mark;
	__u16 class, drop;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u16);		/* destination port */
	__type(value, struct rule);
} ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 8);
	__type(key, __u32);		/* class; 0: no rule */
	__type(value, __u64);
} hits SEC(".maps");

struct ports {
	__be16 source, dest;		/* TCP and UDP begin with them */
};

/* Offset of the L4 header, 0 when it is neither TCP nor UDP. */
static __always_inline __u32 l4_offset(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	struct ethhdr *eth = data;
	__u8 proto;
	__u32 at;

	if ((void *)(eth + 1) > end)
		return 0;
	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = (void *)(eth + 1);

		if ((void *)(ip + 1) > end || ip->frag_off & bpf_htons(0x1fff))
			return 0;
		proto = ip->protocol;
		at = sizeof(*eth) + ip->ihl * 4;
	} else if (skb->protocol == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = (void *)(eth + 1);

		if ((void *)(ip + 1) > end)
			return 0;
		proto = ip->nexthdr;
		at = sizeof(*eth) + sizeof(*ip);
	} else {
		return 0;
	}
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP ? at : 0;
}

static __always_inline void count(__u32 class)
{
	__u64 *n = bpf_map_lookup_elem(&hits, &class);

	if (n)
		__sync_fetch_and_add(n, 1);
}

SEC("tc")
int mark(struct __sk_buff *skb)
{
	__u32 at = l4_offset(skb);
	struct rule *r = 0;
	struct ports p;

	if (at && !bpf_skb_load_bytes(skb, at, &p, sizeof(p))) {
		__u16 port = bpf_ntohs(p.dest);

		r = bpf_map_lookup_elem(&ports, &port);
	}
	if (!r) {
		count(0);
		return TC_ACT_OK;
	}
	skb->mark = r->mark;
	skb->tc_classid = r->class;
	count(r->class & 7);
	return r->drop ? TC_ACT_SHOT : TC_ACT_OK;
}

char LICENSE[] SEC("license") = "GPL";
