/* Packets end to end: a capture through a program on one floor, or on both with a comparison. */
#ifndef PATH_PATH_H
#define PATH_PATH_H
#include "load/load.h"
#include "net/net.h"

struct prog;
struct env_trace;

/* ---- one program on one floor, ready for packets */
struct path_runner;
struct path_result {
	int status;		/* 0, or -errno of TEST_RUN: the packet was not run */
	u32 verdict;		/* r0 */
	const u8 *data;		/* the packet afterwards; valid until the next packet */
	u32 size;
	u32 redirect_ifindex;	/* of a redirect on the user floor, else 0 */
	u64 insns;		/* of all runs, when counting */
	const void *ctx;	/* the context afterwards, when one was set; else NULL */
	u32 ctx_size;
};
/* The program must be loaded. trace may be NULL. -ENOTSUP: packets mean nothing to this kind, said in err. */
int path_runner_new(struct path_runner **out, struct load_object *o, struct bpf_program *p, struct env_trace *trace, struct log *err);
void path_runner_free(struct path_runner *r);
/* Run it `repeat` times; the packet is put in anew before each run with reset, else once, as in the kernel's TEST_RUN. */
const struct btf_types *path_runner_context_type(const struct path_runner *r, u32 *id);	/* NULL: no context was set */
void path_run(struct path_runner *r, const struct net_packet *p, u32 repeat, bool reset, struct path_result *result);
/* Run every packet as a PROG_TEST_RUN with this context: text is fields, "mark=5,priority=2" or "{.mark = 5}", typed by the
 * object's BTF (or the kernel's). -EINVAL with a sentence. The context afterwards is in each result. */
int path_runner_set_context(struct path_runner *r, struct load_object *o, const char *text, struct log *err);
/* Count instructions from now on (user floor). -ENOTSUP on the kernel's. */
int path_runner_count(struct path_runner *r);
const struct path_verdicts *path_runner_verdicts(const struct path_runner *r);
bool path_runner_takes(const struct path_runner *r, u32 link_type);
/* Leave out what the kernel's TEST_RUN would refuse (status -EINVAL), so that both floors' maps see the same packets. */
void path_runner_as_test(struct path_runner *r);

/* ---- ring buffers of an object */
struct path_rings;
typedef void (*path_event_fn)(void *ctx, struct bpf_map *map, const void *data, u32 size);
int path_rings_new(struct path_rings **out, struct load_object *o, path_event_fn fn, void *ctx);	/* *out NULL: no rings */
void path_rings_drain(struct path_rings *r);
void path_rings_free(struct path_rings *r);

/* ---- instructions per packet */
enum { PATH_BUCKETS = 10752 };
struct path_stats {
	u64 n, max;
	u64 bucket[PATH_BUCKETS];
};
void path_stats_add(struct path_stats *s, u64 insns);
u64 path_stats_quantile(const struct path_stats *s, double q);	/* q in 0..1; exact below 4,096, else within 1 % */

/* ---- replay */
enum { PATH_VERDICTS = 11 };
struct path_verdicts {			/* what r0 means to a kind */
	const char *name[PATH_VERDICTS];	/* NULL from the last one on */
	u32 (*which)(u32 r0);		/* index of the name */
	u32 pass;			/* bits by that index: the packet goes on, to the output */
};
const struct path_verdicts *path_verdicts(u32 prog_type);	/* XDP's for kinds that take no packets */
struct path_counts {
	const struct path_verdicts *kind;	/* set by path_replay; NULL: XDP's */
	u64 packets, bytes;		/* run */
	u64 verdict[PATH_VERDICTS];	/* by kind->which(r0) */
	u64 foreign;			/* not run: of a link type that this kind does not take */
	u32 foreign_type;		/* the first of them */
	u64 refused;			/* not run: TEST_RUN of the kernel floor refused them */
	int refused_status;		/* -errno of the first of them */
	u64 written;			/* to the output */
	u64 filtered;			/* not run: the filter did not match */
	u64 cpu_ns;			/* CPU time of reading, running and writing */
};
struct path_replay {
	struct net_source *in;
	struct net_sink *out;		/* may be NULL */
	struct path_rings *rings;	/* may be NULL */
	u64 count;			/* packets at most; 0: all */
	u32 repeat;			/* runs of each packet, at least 1 */
	bool reset;			/* put the packet in anew before each of them */
	struct net_filter *filter;	/* may be NULL */
	void (*on_context)(void *ctx, const void *context, u32 size);	/* after each packet; may be NULL */
	struct path_stats *stats;	/* may be NULL; the runner must be counting */
	/* called about five times a second with what was done so far; may be NULL */
	void (*progress)(void *ctx, const struct path_counts *so_far);
	void *ctx;
};
/* 0; -EINVAL: the capture is damaged (what came before it was run); -errno of writing. The sentence is in err. */
int path_replay(struct path_runner *r, const struct path_replay *how, struct path_counts *counts, struct log *err);

/* ---- comparison of the two floors, a child process each */
enum path_reason {
	PATH_TOO_SHORT,		/* below the 14 bytes that the kernel's TEST_RUN takes */
	PATH_TOO_LONG,		/* above what it takes */
	PATH_TIME_OR_RANDOM,	/* differs, and the program asks for time or random numbers */
	PATH_LRU_CHOICE,	/* differs in a map whose kind chooses what to evict */
	PATH_MALFORMED,		/* called IP, but too short for an IP header: the kernel's TEST_RUN of skb kinds takes no such */
	PATH_REASONS,
};
extern const char *const path_reason_names[PATH_REASONS];
struct path_comparison {
	u64 equal, different, not_comparable;		/* packets: verdict, bytes, and events in order */
	u64 by_reason[PATH_REASONS];
	u64 foreign;					/* packets of a link type that neither floor was given */
	u32 maps_equal, maps_different, maps_not_comparable;
	struct log differences;				/* a line for each of the first ones */
};
struct path_compare {
	const char *object, *capture, *data_hex;	/* capture or data_hex */
	struct load_opts load;				/* floor is set for each child */
	const char *prog;
	u64 count;
	u32 repeat;
	bool reset;
	const char *filter;	/* an expression; NULL: none */
	const char *ctx;	/* fields of the context; NULL: none */
};
/* 0 whatever was found; -errno when one of the floors could not do its part, with the sentence in err. */
int path_compare(const struct path_compare *how, struct path_comparison *found, struct log *err);
void path_comparison_done(struct path_comparison *found);

#endif
