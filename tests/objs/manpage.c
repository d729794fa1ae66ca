/* A classifier in the manner of tc-bpf(8): no libbpf headers, no BTF, compiled without -g. */
#include <linux/bpf.h>

#define __section(x) __attribute__((section(x), used))

__section("classifier") int cls_main(struct __sk_buff *skb)
{
	return -1;
}

char __license[] __section("license") = "GPL";
