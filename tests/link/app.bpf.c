/* What an application's BPF looks like: all three kinds of static data, a hash, a per-CPU array, a
 * ring buffer. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "app.h"

const volatile __u32 step = 1;
const volatile char greeting[8] = "hello";
__u32 sequence = 100; /* .data */
__u64 wake_flags = 1;
__u64 seen, lost; /* .bss */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} runs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events SEC(".maps");

static __noinline void send(__u32 key)
{
	struct event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		lost++;
		return;
	}
	e->sequence = sequence++;
	e->key = key;
	e->letter = greeting[key & 7];
	bpf_ringbuf_submit(e, wake_flags);
}

SEC("xdp")
int count(struct xdp_md *ctx)
{
	unsigned char *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 key, zero = 0;
	__u64 one = step, *value;

	if (data + 1 > end)
		return XDP_ABORTED;
	key = data[0];
	seen++;
	value = bpf_map_lookup_elem(&counts, &key);
	if (value)
		*value += step;
	else
		bpf_map_update_elem(&counts, &key, &one, BPF_NOEXIST);
	value = bpf_map_lookup_elem(&runs, &zero);
	if (value)
		(*value)++;
	send(key);
	return key & 1 ? XDP_DROP : XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
