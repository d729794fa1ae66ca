/* share: two tc programs that call the same subprogram.
 *
 *   skep run share.bpf.o --prog police --in web.pcap
 *   skep run share.bpf.o --prog rewrite --in web.pcap --out rewritten.pcap
 *
 * libbpf appends a copy of find_ipv4() to each program. `police` drops IPv4 packets with a low TTL, `rewrite` lowers the TTL of
 * all of them and mends the checksum, as a router does. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

enum { LOWEST = 32 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 256);
	__type(key, __u32);		/* TTL */
	__type(value, __u64);
} ttls SEC(".maps");

/* TTL of an IPv4 packet, counted; negative: it is none. */
static __noinline int find_ipv4(struct __sk_buff *skb)
{
	struct iphdr ip;
	__u64 *n;
	__u32 ttl;

	if (skb->protocol != bpf_htons(ETH_P_IP) || bpf_skb_load_bytes(skb, ETH_HLEN, &ip, sizeof(ip)))
		return -1;
	ttl = ip.ttl;
	n = bpf_map_lookup_elem(&ttls, &ttl);
	if (n)
		__sync_fetch_and_add(n, 1);
	return ttl;
}

SEC("tc")
int police(struct __sk_buff *skb)
{
	int ttl = find_ipv4(skb);

	return ttl >= 0 && ttl < LOWEST ? TC_ACT_SHOT : TC_ACT_OK;
}

SEC("tc")
int rewrite(struct __sk_buff *skb)
{
	const __u32 at = ETH_HLEN + __builtin_offsetof(struct iphdr, ttl);
	int ttl = find_ipv4(skb);
	__u8 less = ttl - 1;

	if (ttl < 0)
		return TC_ACT_OK;
	if (ttl <= 1)
		return TC_ACT_SHOT;
	/* the TTL is the first byte of its 16-bit word */
	if (bpf_l3_csum_replace(skb, ETH_HLEN + __builtin_offsetof(struct iphdr, check), bpf_htons(ttl << 8),
				bpf_htons(less << 8), 2))
		return TC_ACT_SHOT;
	return bpf_skb_store_bytes(skb, at, &less, sizeof(less), 0) ? TC_ACT_SHOT : TC_ACT_OK;
}

char LICENSE[] SEC("license") = "GPL";
