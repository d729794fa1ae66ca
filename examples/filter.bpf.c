/* filter: drop packets whose source address is on a block list of prefixes.
 *
 *   skep run filter.bpf.o --in web.pcap --map blocked=block.txt --out passed.pcap
 *
 * The list is a longest-prefix-match trie over 128-bit addresses; IPv4 is ::ffff:0:0/96. A prefix's value says whether it
 * blocks or is an exception inside a wider prefix. Drops are counted per prefix, verdicts in `verdicts`. */
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

struct prefix {
	__u32 bits;		/* prefix length in bits, 0..128 */
	__u32 addr[4];		/* network byte order */
};

struct rule {
	__u32 block;		/* 1: drop, 0: exception, pass */
	__u32 hits;
};

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1024);
	__type(key, struct prefix);
	__type(value, struct rule);
} blocked SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 5);		/* by XDP action */
	__type(key, __u32);
	__type(value, __u64);
} verdicts SEC(".maps");

/* The source address as a full-length prefix; false when this is no whole IP header. */
static __always_inline bool source(void *at, void *end, struct prefix *p)
{
	struct ethhdr *eth = at;

	if ((void *)(eth + 1) > end)
		return false;
	p->bits = 128;
	if (eth->h_proto == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = (void *)(eth + 1);

		if ((void *)(ip + 1) > end)
			return false;
		p->addr[2] = bpf_htonl(0xffff);
		p->addr[3] = ip->saddr;
		return true;
	}
	if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = (void *)(eth + 1);

		if ((void *)(ip + 1) > end)
			return false;
		__builtin_memcpy(p->addr, &ip->saddr, sizeof(p->addr));
		return true;
	}
	return false;
}

SEC("xdp")
int filter(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 verdict = XDP_PASS;
	struct prefix from = {};
	struct rule *rule;
	__u64 *n;

	if (source(data, end, &from)) {
		rule = bpf_map_lookup_elem(&blocked, &from);
		if (rule) {
			__sync_fetch_and_add(&rule->hits, 1);
			if (rule->block)
				verdict = XDP_DROP;
		}
	}
	n = bpf_map_lookup_elem(&verdicts, &verdict);
	if (n)
		__sync_fetch_and_add(n, 1);
	return verdict;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
