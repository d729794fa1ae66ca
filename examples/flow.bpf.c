/* flow: count packets and bytes per flow, and announce each new flow on a ring buffer.
 *
 *   skep run flow.bpf.o --in web.pcap
 *   skep run flow.bpf.o --in web.pcap --set only_proto=17 --set announce=false
 *
 * IPv4 and IPv6 (IPv4 addresses as ::ffff:a.b.c.d), up to two VLAN tags, TCP/UDP ports or ICMP type and code. Packets that
 * hold no flow are counted by reason in `skipped`. Every packet passes. */
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "flow.h"

const volatile __u8 only_proto = 0;	/* IP protocol to count; 0: all */
const volatile bool announce = true;	/* send an event for each new flow */

__u32 next_event = 1;	/* .data: the number that the next event gets */
__u64 seen;		/* .bss: packets that reached the program */
__u64 lost_events;	/* .bss: new flows whose event found the ring full */
__u64 skipped[SKIP_REASONS];

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct flow_key);
	__type(value, struct flow_count);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} events SEC(".maps");

/* Where the parser stands in the packet. */
struct cursor {
	void *at, *end;
};

/* The EtherType behind up to two VLAN tags; 0 when the packet ends before it. */
static __always_inline __u16 parse_ethernet(struct cursor *c)
{
	struct ethhdr *eth = c->at;
	__u16 proto;

	if ((void *)(eth + 1) > c->end)
		return 0;
	proto = eth->h_proto;
	c->at = eth + 1;
	for (int i = 0; i < 2; i++) {
		if (proto != bpf_htons(ETH_P_8021Q) && proto != bpf_htons(ETH_P_8021AD))
			break;
		if (c->at + 4 > c->end)
			return 0;
		proto = *(__u16 *)(c->at + 2);
		c->at += 4;
	}
	return proto;
}

static __always_inline int parse_ip4(struct cursor *c, struct flow_key *key)
{
	struct iphdr *ip = c->at;

	if ((void *)(ip + 1) > c->end)
		return SKIP_SHORT;
	if (ip->version != 4 || ip->ihl < 5)
		return SKIP_BAD_IP;
	key->src.word[2] = key->dst.word[2] = bpf_htonl(0xffff);
	key->src.word[3] = ip->saddr;
	key->dst.word[3] = ip->daddr;
	key->proto = ip->protocol;
	if (ip->frag_off & bpf_htons(0x1fff))
		return SKIP_FRAGMENT;
	c->at += ip->ihl * 4;
	return COUNT;
}

static __always_inline int parse_ip6(struct cursor *c, struct flow_key *key)
{
	struct ipv6hdr *ip = c->at;

	if ((void *)(ip + 1) > c->end)
		return SKIP_SHORT;
	if (ip->version != 6)
		return SKIP_BAD_IP;
	__builtin_memcpy(&key->src, &ip->saddr, sizeof(key->src));
	__builtin_memcpy(&key->dst, &ip->daddr, sizeof(key->dst));
	key->proto = ip->nexthdr;
	c->at = ip + 1;
	return COUNT;
}

/* Ports, or ICMP type and code; left 0 for other protocols. */
static __always_inline int parse_ports(struct cursor *c, struct flow_key *key)
{
	__u16 *port = c->at;
	__u8 *icmp = c->at;

	switch (key->proto) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
		if ((void *)(port + 2) > c->end)
			return SKIP_SHORT;
		key->sport = bpf_ntohs(port[0]);
		key->dport = bpf_ntohs(port[1]);
		return COUNT;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		if ((void *)(icmp + 2) > c->end)
			return SKIP_SHORT;
		key->sport = icmp[0];
		key->dport = icmp[1];
		return COUNT;
	default:
		return COUNT;
	}
}

/* A subprogram of its own: it is verified and called as one. Naming struct flow_event among its parameters also keeps that
 * type in the object's BTF, from which `skep run` prints the events. */
static __noinline void describe(struct flow_event *e, const struct flow_key *key, __u32 size)
{
	e->number = __sync_fetch_and_add(&next_event, 1);
	e->first_size = size;
	e->key = *key;
}

static __always_inline void announce_flow(const struct flow_key *key, __u32 size)
{
	struct flow_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		__sync_fetch_and_add(&lost_events, 1);
		return;
	}
	describe(e, key, size);
	bpf_ringbuf_submit(e, 0);
}

static __always_inline void count(const struct flow_key *key, __u32 size)
{
	struct flow_count *have = bpf_map_lookup_elem(&flows, key), one = { 1, size };

	if (have) {
		have->packets++;
		have->bytes += size;
		return;
	}
	if (bpf_map_update_elem(&flows, key, &one, BPF_NOEXIST) == 0 && announce)
		announce_flow(key, size);
}

SEC("xdp")
int flow(struct xdp_md *ctx)
{
	struct cursor c = { (void *)(long)ctx->data, (void *)(long)ctx->data_end };
	__u32 size = c.end - c.at;
	struct flow_key key = {};
	int why;

	__sync_fetch_and_add(&seen, 1);
	switch (parse_ethernet(&c)) {
	case 0:
		why = SKIP_SHORT;
		break;
	case bpf_htons(ETH_P_IP):
		why = parse_ip4(&c, &key);
		break;
	case bpf_htons(ETH_P_IPV6):
		why = parse_ip6(&c, &key);
		break;
	default:
		why = SKIP_NOT_IP;
	}
	if (why == COUNT)
		why = parse_ports(&c, &key);
	if (why == COUNT && only_proto && key.proto != only_proto)
		why = SKIP_OTHER_PROTO;
	if (why == COUNT)
		count(&key, size);
	else if (why < SKIP_REASONS)
		__sync_fetch_and_add(&skipped[why], 1);
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
