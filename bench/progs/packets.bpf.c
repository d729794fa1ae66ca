/* What a packet costs: nothing at all, a count by 5-tuple, a load balancer that rewrites addresses.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define MAP(name, kind, entries, k, v)                                                             \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_##kind);                                                 \
		__uint(max_entries, entries);                                                      \
		__type(key, k);                                                                    \
		__type(value, v);                                                                  \
	} name SEC(".maps")

struct flow {
	__u32 src, dst;
	__be16 sport, dport;
	__u32 proto;
};
struct service {
	__u32 addr;
	__be16 port;
	__u16 proto;
};
struct backend {
	__u8 mac[6];
	__u16 weight;
};
struct traffic {
	__u64 packets, bytes;
};

MAP(flows, HASH, 16384, struct flow, __u64);
MAP(services, HASH, 256, struct service, __u32);
MAP(connections, LRU_HASH, 16384, struct flow, __u32);
MAP(table, ARRAY, 4093, __u32, __u32);
MAP(backends, ARRAY, 64, __u32, struct backend);
MAP(served, PERCPU_ARRAY, 64, __u32, struct traffic);

SEC("xdp")
int drop(struct xdp_md *ctx)
{
	return XDP_DROP;
}

/* TCP or UDP over IPv4, a VLAN tag or none; NULL: something else. */
static __always_inline struct iphdr *parse(void *data, void *end, struct flow *f)
{
	struct ethhdr *eth = data;
	__be16 proto;
	struct iphdr *ip;
	__be16 *ports;

	if ((void *)(eth + 1) > end)
		return 0;
	proto = eth->h_proto;
	data = eth + 1;
	if (proto == bpf_htons(ETH_P_8021Q)) {
		if (data + 4 > end)
			return 0;
		proto = *(__be16 *)(data + 2);
		data += 4;
	}
	ip = data;
	if (proto != bpf_htons(ETH_P_IP) || (void *)(ip + 1) > end || ip->ihl < 5)
		return 0;
	if (ip->protocol != IPPROTO_TCP && ip->protocol != IPPROTO_UDP)
		return 0;
	ports = data + ip->ihl * 4;
	if ((void *)(ports + 2) > end)
		return 0;
	*f = (struct flow){ip->saddr, ip->daddr, ports[0], ports[1], ip->protocol};
	return ip;
}

SEC("xdp")
int count(struct xdp_md *ctx)
{
	struct flow f;
	__u64 *n, one = 1;

	if (!parse((void *)(long)ctx->data, (void *)(long)ctx->data_end, &f))
		return XDP_PASS;
	n = bpf_map_lookup_elem(&flows, &f);
	if (n)
		__sync_fetch_and_add(n, 1);
	else
		bpf_map_update_elem(&flows, &f, &one, BPF_ANY);
	return XDP_PASS;
}

static __always_inline __u32 spread(const struct flow *f)
{
	__u64 x = ((__u64)f->src << 32 | f->dst) * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 32 ^ ((__u32)f->sport << 16 | f->dport)) * 0xbf58476d1ce4e5b9ull;
	return x >> 33;
}

/* The connection's backend, or the one that its hash stands for. */
static __always_inline __u32 choose(const struct flow *f)
{
	__u32 slot, chosen, *known = bpf_map_lookup_elem(&connections, f);

	if (known)
		return *known;
	slot = spread(f) % 4093;
	known = bpf_map_lookup_elem(&table, &slot);
	chosen = known ? *known : 0;
	bpf_map_update_elem(&connections, f, &chosen, BPF_ANY);
	return chosen;
}

/* A router's step: one hop less, and the checksum adjusted. What arrives with one hop left is given
 * a new lease, so that the packet can come again. */
static __always_inline void hop(struct iphdr *ip)
{
	__u32 sum = ip->check + bpf_htons(0x0100);

	ip->check = sum + (sum >= 0xffff);
	if (!--ip->ttl)
		ip->ttl = 64;
}

SEC("xdp")
int balance(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct service service = {};
	struct ethhdr *eth = data;
	struct backend *to;
	struct traffic *t;
	struct iphdr *ip;
	struct flow f;
	__u32 which;

	ip = parse(data, end, &f);
	if (!ip)
		return XDP_PASS;
	service.addr = f.dst;
	service.port = f.dport;
	service.proto = f.proto;
	if (!bpf_map_lookup_elem(&services, &service))
		return XDP_PASS;
	which = choose(&f);
	to = bpf_map_lookup_elem(&backends, &which);
	if (!to)
		return XDP_DROP;
	__builtin_memcpy(eth->h_source, eth->h_dest, 6);
	__builtin_memcpy(eth->h_dest, to->mac, 6);
	hop(ip);
	t = bpf_map_lookup_elem(&served, &which);
	if (t) {
		t->packets++;
		t->bytes += end - data;
	}
	return XDP_TX;
}

char _license[] SEC("license") = "GPL";
