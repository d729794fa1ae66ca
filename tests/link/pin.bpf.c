/* A map that is pinned by its name, a queue, a map of maps whose place is filled when the object is loaded. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} shared SEC(".maps");

struct inner {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
} left SEC(".maps"), right SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 4);
	__type(key, __u32);
	__array(values, struct inner);
} outer SEC(".maps") = {
	.values = { [1] = &left, [2] = &right },
};

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 4);
	__type(value, __u64);
} queue SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(int));
	__uint(value_size, sizeof(int));
} samples SEC(".maps");

SEC("xdp")
int count(struct xdp_md *ctx)
{
	__u32 key = 7;
	__u64 one = 1, *value = bpf_map_lookup_elem(&shared, &key);

	if (value)
		(*value)++;
	else
		bpf_map_update_elem(&shared, &key, &one, BPF_ANY);
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
