/* What an operation costs: each program does one a thousand times, over keys in no order that a
 * cache would like. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define OPERATIONS 1000
#define KEYS	   8192 /* in each map, before */
#define ROLLED	   _Pragma("clang loop unroll(disable)")

#define MAP(name, kind, entries, k, v, ...)                                                        \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_##kind);                                                 \
		__uint(max_entries, entries);                                                      \
		__type(key, k);                                                                    \
		__type(value, v);                                                                  \
		__VA_ARGS__                                                                        \
	} name SEC(".maps")

struct prefix {
	__u32 bits, addr;
};

MAP(array, ARRAY, 2 * KEYS, __u32, __u64);
MAP(percpu_array, PERCPU_ARRAY, 2 * KEYS, __u32, __u64);
MAP(hash, HASH, 2 * KEYS, __u32, __u64);
MAP(percpu_hash, PERCPU_HASH, 2 * KEYS, __u32, __u64);
MAP(lru, LRU_HASH, 2 * KEYS, __u32, __u64);
MAP(full, LRU_HASH, KEYS, __u32, __u64);
MAP(lpm, LPM_TRIE, 2 * KEYS, struct prefix, __u64, __uint(map_flags, BPF_F_NO_PREALLOC););
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} ring SEC(".maps");

/* bench/maps.c goes through the same keys. */
#define EACH_KEY(key)                                                                              \
	__u32 state_ = 7, key;                                                                     \
	ROLLED for (int i = 0; i < OPERATIONS && (state_ = state_ * 1664525u + 1013904223u,        \
						  key = state_ >> 8 & (KEYS - 1), 1);              \
		    i++)

#define LOOKUP(map)                                                                                \
	SEC("xdp") int lookup_##map(struct xdp_md *ctx)                                            \
	{                                                                                          \
		__u64 sum = 0, *v;                                                                 \
                                                                                                   \
		EACH_KEY(key)                                                                      \
		{                                                                                  \
			v = bpf_map_lookup_elem(&map, &key);                                       \
			if (v)                                                                     \
				sum += *v;                                                         \
		}                                                                                  \
		return sum;                                                                        \
	}
#define UPDATE(map)                                                                                \
	SEC("xdp") int update_##map(struct xdp_md *ctx)                                            \
	{                                                                                          \
		__u64 value = 0;                                                                   \
		int failed = 0;                                                                    \
                                                                                                   \
		EACH_KEY(key)                                                                      \
		{                                                                                  \
			value = key;                                                               \
			failed += !!bpf_map_update_elem(&map, &key, &value, BPF_ANY);              \
		}                                                                                  \
		return failed;                                                                     \
	}

SEC("xdp")
int bare_exit(struct xdp_md *ctx)
{
	return XDP_DROP;
}

/* the loop by itself */
SEC("xdp")
int nothing(struct xdp_md *ctx)
{
	__u64 sum = 0;

	EACH_KEY(key)
	{
		asm volatile("" : "+r"(key));
		sum += key;
	}
	return sum;
}

/* the same without keys */
SEC("xdp")
int bare(struct xdp_md *ctx)
{
	__u64 sum = 0;

	ROLLED for (int i = 0; i < OPERATIONS; i++)
	{
		asm volatile("" : "+r"(sum));
		sum |= i;
	}
	return !sum;
}

LOOKUP(array)
LOOKUP(percpu_array)
LOOKUP(hash)
LOOKUP(percpu_hash)
LOOKUP(lru)
UPDATE(array)
UPDATE(percpu_array)
UPDATE(hash)
UPDATE(percpu_hash)
UPDATE(lru)

SEC("xdp")
int lookup_lpm(struct xdp_md *ctx)
{
	__u64 sum = 0, *v;

	EACH_KEY(key)
	{
		struct prefix p = {32, key};

		v = bpf_map_lookup_elem(&lpm, &p);
		if (v)
			sum += *v;
	}
	return sum;
}

/* a pair: an element comes and goes */
SEC("xdp")
int insert_delete_hash(struct xdp_md *ctx)
{
	__u64 value = 1;
	int failed = 0;

	EACH_KEY(key)
	{
		__u32 other = key + 100000;

		failed += !!bpf_map_update_elem(&hash, &other, &value, BPF_NOEXIST);
		failed += !!bpf_map_delete_elem(&hash, &other);
	}
	return failed;
}

/* always another key, so that an element has to go */
__u32 newest;

SEC("xdp")
int evict_lru(struct xdp_md *ctx)
{
	__u64 value = 1;
	__u32 next = newest;
	int failed = 0;

	EACH_KEY(key)
	{
		__u32 other = ++next << 14 | key;

		failed += !!bpf_map_update_elem(&full, &other, &value, BPF_ANY);
	}
	newest = next;
	return failed;
}

#define RESERVE(how)                                                                               \
	SEC("xdp") int reserve_##how(struct xdp_md *ctx)                                           \
	{                                                                                          \
		int lost = 0;                                                                      \
                                                                                                   \
		ROLLED for (int i = 0; i < OPERATIONS; i++)                                        \
		{                                                                                  \
			__u64 *sample = bpf_ringbuf_reserve(&ring, 16, 0);                         \
                                                                                                   \
			if (!sample) {                                                             \
				lost++;                                                            \
				continue;                                                          \
			}                                                                          \
			sample[0] = i;                                                             \
			bpf_ringbuf_##how(sample, BPF_RB_NO_WAKEUP);                               \
		}                                                                                  \
		return lost;                                                                       \
	}
RESERVE(submit)
RESERVE(discard)

SEC("xdp")
int output(struct xdp_md *ctx)
{
	__u64 sample[2] = {};
	int lost = 0;

	ROLLED for (int i = 0; i < OPERATIONS; i++)
	{
		sample[0] = i;
		lost += !!bpf_ringbuf_output(&ring, sample, sizeof(sample), BPF_RB_NO_WAKEUP);
	}
	return lost;
}

SEC("xdp")
int ktime(struct xdp_md *ctx)
{
	__u64 sum = 0;

	ROLLED for (int i = 0; i < OPERATIONS; i++) sum |= bpf_ktime_get_ns();
	return !sum;
}

SEC("xdp")
int random(struct xdp_md *ctx)
{
	__u64 sum = 0;

	ROLLED for (int i = 0; i < OPERATIONS; i++) sum |= bpf_get_prandom_u32();
	return !sum;
}

SEC("xdp")
int cpu(struct xdp_md *ctx)
{
	__u64 sum = 0;

	ROLLED for (int i = 0; i < OPERATIONS; i++) sum |= bpf_get_smp_processor_id() + 1;
	return !sum;
}

char _license[] SEC("license") = "GPL";
