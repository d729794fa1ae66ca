/* protocols: a socket filter that counts packets by what they carry and lets the socket have the headers of IP packets only.
 *
 *   skep run protocols.bpf.o --in web.pcap
 *
 * A socket filter begins at the L3 header. It reads the packet as classic BPF did, with LD_ABS: a load outside of the packet
 * ends the program with 0, so that no bounds need checking. Offsets below zero count from the L2 header. */
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

enum { HEADERS = 128 };		/* bytes that an accepted packet keeps */

unsigned long long load_byte(void *skb, unsigned long long off) asm("llvm.bpf.load.byte");
unsigned long long load_half(void *skb, unsigned long long off) asm("llvm.bpf.load.half");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u32);		/* Ethernet type << 8 | IP protocol */
	__type(value, __u64);
} packets SEC(".maps");

static __always_inline void count(__u32 key)
{
	__u64 one = 1, *n = bpf_map_lookup_elem(&packets, &key);

	if (n)
		__sync_fetch_and_add(n, 1);
	else
		bpf_map_update_elem(&packets, &key, &one, BPF_ANY);
}

SEC("socket")
int protocols(struct __sk_buff *skb)
{
	__u32 type = load_half(skb, SKF_LL_OFF + 12), key = type << 8;

	if (type != ETH_P_IP && type != ETH_P_IPV6) {
		count(key);
		return 0;
	}
	key |= load_byte(skb, type == ETH_P_IP ? 9 : 6);
	count(key);
	return HEADERS;
}

char LICENSE[] SEC("license") = "GPL";
