/* What a running program sees besides its registers: its frame (context), its world (clock, random numbers, CPU, task),
 * where its traces and redirects go, and the way back into a program for helpers that call one.
 *
 * BPF passes r1-r5; every helper gets `struct env *` as a hidden sixth argument. One env belongs to one thread while a
 * program runs. Nothing here allocates while a program runs. */
#ifndef ENV_ENV_H
#define ENV_ENV_H
#include "base/types.h"
#include <stdatomic.h>

struct env;
struct log;

/* ---- frame: one packet, one contiguous buffer with head and tail room; a program's ctx register points at it.
 * kind.def names these fields by offsetof, prog/lower.c turns context accesses into accesses of them. */
struct env_frame {
	u8 *data, *data_end;	/* linear part of the packet: data_end is what the program may reach */
	u8 *data_meta;		/* metadata before the packet; == data when there is none */
	u8 *hard_start;		/* first byte that adjust_head may reach (after the kernel's own reserve) */
	u8 *hard_end;		/* end of the room for the linear part: adjust_tail's bound */
	u8 *packet_end;		/* end of the whole packet; > data_end when there are frags (a boundary, not pieces) */
	u8 *lowest;		/* lowest data_meta since the packet was put in: head room below it was never in a program's reach */
	u32 ingress_ifindex, rx_queue_index, egress_ifindex;
	u32 flags;		/* ENV_FRAME_* */
	struct env *env;	/* whose frame this is while it runs */
};
#define ENV_FRAME_META_OK (1u << 0)	/* metadata is supported (data_meta may move) */
#define ENV_FRAME_FRAGS (1u << 1)	/* the packet has frags: packet_end > data_end possible */
#define ENV_FRAME_SKB (1u << 2)		/* it is the beginning of a struct env_skb */

/* ---- skb: what the kinds with a struct __sk_buff see of a packet. Always linear: data_end is the packet's end, and the room
 * around is [hard_start, hard_end). Field widths are those of the kernel's sk_buff, which programs notice. */
struct env_skb {
	struct env_frame frame;
	u8 *mac, *net;		/* where the L2 and L3 headers begin */
	void *sk;		/* socket; NULL: none */
	u64 tstamp, hwtstamp;	/* ns */
	_Alignas(8) u8 cb[20];	/* programs' own */
	u32 len;		/* data_end - data */
	u32 mark, priority, hash, wire_len, ifindex, napi_id, vlan_present;
	u16 protocol, vlan_proto;	/* network order */
	u16 vlan_tci, queue_mapping, tc_index, tc_classid, gso_segs, gso_size;
	/* How far the L4 header, once known, keeps bpf_skb_change_tail from cutting, depends on the kernel's own layout: its
	 * headers are 16-bit offsets from the beginning of its buffer, an unknown one (0xffff) wraps when that grows. */
	u16 transport, headroom;	/* of the kernel's buffer: where the L4 header is, and data */
	u16 mac_len;			/* as the kernel noted it last: not always net - mac */
	u8 pkt_type, tstamp_type;
	u8 ip_summed, csum_level;	/* CHECKSUM_*: enum env_csum */
	bool hash_set;			/* hash is known (by software or a program) */
	bool gso_typed;			/* gso_size > 0 with a type: translated between IPv4 and IPv6 */
	bool encapsulation;		/* a tunnel header was put around */
	u32 csum;			/* ENV_CSUM_COMPLETE: one's complement sum from the L3 header on */
	u64 cookie;			/* of the socket; 0: nobody asked yet */
	u8 tunnel_key[44];		/* struct bpf_tunnel_key that was set, when there is one */
	u16 tunnel_flags;		/* network order, as the key shows them when asked */
	u8 tunnel;			/* enum env_tunnel */
};
enum env_tunnel { ENV_TUNNEL_NONE, ENV_TUNNEL_IPV4, ENV_TUNNEL_IPV6 };
enum env_csum { ENV_CSUM_NONE, ENV_CSUM_UNNECESSARY, ENV_CSUM_COMPLETE };

/* ---- world: where answers about machine and task come from. A world is shared and constant while programs run. */
struct world_ops;
struct world {
	const struct world_ops *ops;
};
struct world_ops {
	u64 (*ktime)(const struct world *w, int clock);	/* ns of CLOCK_MONOTONIC, _BOOTTIME, _TAI, _MONOTONIC_COARSE */
	u64 (*jiffies)(const struct world *w);
	u32 (*random)(const struct world *w, struct env *env);
	u64 (*pid_tgid)(const struct world *w);
};
extern const struct world env_host_world;	/* the real machine */
u32 env_possible_cpus(void);			/* as /sys/devices/system/cpu/possible counts them, read once */

/* ---- redirect record: what bpf_redirect left behind for the driver of the program */
struct env_redirect {
	bool set;
	u32 ifindex;
	u64 flags;
	u32 map_type, map_id;	/* bpf_redirect_map: the map, 0 otherwise */
	u32 key;		/* and the element: a CPUMAP's CPU. With BPF_F_BROADCAST in flags all of them, and no ifindex */
};

/* ---- trace sink: receives each complete trace_printk line */
struct env_trace {
	void (*line)(struct env_trace *t, const char *text, size_t len);
};

/* ---- a call back into the running program (bpf_loop, for_each, timers): vm sets it while it runs */
typedef u64 (*env_call_fn)(struct env *env, u64 func, u64 r1, u64 r2, u64 r3, u64 r4, u64 r5);

/* A helper as the engines call it. Verified arguments: pointers are valid, sizes are in range. */
typedef u64 (*env_helper_fn)(u64 r1, u64 r2, u64 r3, u64 r4, u64 r5, struct env *env);

struct env {
	const struct world *world;
	u32 cpu;			/* leased CPU number, < env_possible_cpus() */
	u32 tail_calls;			/* tail calls done in this run; the engine stops at MAX (33) */
	bool counting;			/* count instructions into insn_count (a slower instance of the interpreter) */
	u64 insn_count;			/* instructions run, when the observed interpreter counts */
	struct env_frame *frame;	/* the frame of this run, NULL for kinds without packets */
	struct env_redirect redirect;
	struct env_redirect clone;	/* the last copy that bpf_clone_redirect sent */
	u64 clones;			/* how many */
	struct env_trace *trace;	/* may be NULL: trace_printk text is dropped */
	env_call_fn call;		/* engine's */
	void *engine;			/* engine's */
	u64 random_state[2];
	u64 scratch[8];			/* for helpers that need a per-run place (e.g. bpf_loop nesting); zeroed by env_init */
};

void env_init(struct env *env, const struct world *world);
/* Lease a CPU number for this thread and enter the epoch; nested enters keep the same number. Without a fence. */
void env_enter(struct env *env);
void env_leave(struct env *env);
/* The number this thread holds or held last; outside env_enter only a hint for choosing between per-CPU pools. */
u32 env_cpu_hint(void);
/* The epoch alone, without a CPU number (it never waits): for user-side operations that walk shared structures. Nests, also
 * with env_enter. */
void env_read_lock(void);
void env_read_unlock(void);

/* ---- reclamation by epochs: what readers inside env_enter..env_leave may still hold is freed later.
 * env_defer(fn, arg): call fn(arg) once every reader that was inside now has left. */
void env_defer(void (*fn)(void *arg), void *arg);
/* The same without an allocation: the node lies inside what is to be freed; fn finds it by container_of. */
struct env_deferred {
	struct env_deferred *next;
	void (*fn)(struct env_deferred *d);
	u64 epoch;
};
void env_defer_node(struct env_deferred *d, void (*fn)(struct env_deferred *d));
void env_synchronize(void);	/* wait for all current readers; runs what was deferred before */

/* ---- memory reader: "any kernel or user address" reads of probe_read and BTF pointers never touch host memory directly.
 * -EFAULT when the address is not readable. */
int env_read_memory(struct env *env, void *to, u64 addr, u32 size);

#endif
