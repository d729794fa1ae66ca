/* What an operation on a map costs: in a program, beside the kernel, and called directly without
 * the interpreter. Programs do a thousand a run (progs/maps.bpf.c); what the loop around costs by
 * itself is taken off. */
#include "bench.h"
#include "map/map.h"
#include "sys/sys.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>

enum {
	OPERATIONS = 1000,
	KEYS = 8192,
	RING_REPEAT = 80, /* so many runs fit into the ring */
};
#define RESOLUTION 1.0 /* ns: less is lost in the loop around, which runs meanwhile */

/* the keys of progs/maps.bpf.c */
#define EACH_KEY(key)                                                                              \
	u32 state_ = 7, key;                                                                       \
	for (u32 i = 0; i < OPERATIONS && (state_ = state_ * 1664525u + 1013904223u,               \
					  key = state_ >> 8 & (KEYS - 1), 1);                      \
	     i++)

static u64 keep; /* what is computed is wanted */

static void direct_nothing(struct map *m, struct env *env)
{
	EACH_KEY(key)
	{
		asm volatile("" : "+r"(key));
		keep += key;
	}
}

static void direct_lookup(struct map *m, struct env *env)
{
	EACH_KEY(key)
	{
		const u64 *v = m->ops->lookup(m, &key, env->cpu);

		if (v)
			keep += *v;
	}
}

static void direct_lpm(struct map *m, struct env *env)
{
	EACH_KEY(key)
	{
		u32 prefix[2] = {32, key};
		const u64 *v = m->ops->lookup(m, prefix, env->cpu);

		if (v)
			keep += *v;
	}
}

static void direct_update(struct map *m, struct env *env)
{
	EACH_KEY(key)
	{
		u64 value = key;

		m->ops->update(m, &key, &value, BPF_ANY, env->cpu);
	}
}

static void direct_pair(struct map *m, struct env *env)
{
	EACH_KEY(key)
	{
		u32 other = key + 100000;
		u64 value = 1;

		m->ops->update(m, &other, &value, BPF_NOEXIST, env->cpu);
		m->ops->delete (m, &other);
	}
}

static void direct_evict(struct map *m, struct env *env)
{
	static u32 newest;

	EACH_KEY(key)
	{
		u32 other = ++newest << 14 | key;
		u64 value = 1;

		m->ops->update(m, &other, &value, BPF_ANY, env->cpu);
	}
}

static void reserve(struct map *m, bool discard)
{
	for (u32 i = 0; i < OPERATIONS; i++) {
		u64 *sample = map_ring_reserve(m, 16);

		if (!sample)
			continue;
		*sample = i;
		map_ring_commit(sample, BPF_RB_NO_WAKEUP, discard);
	}
}

static void direct_submit(struct map *m, struct env *env)
{
	reserve(m, false);
}

static void direct_discard(struct map *m, struct env *env)
{
	reserve(m, true);
}

static void direct_output(struct map *m, struct env *env)
{
	u64 sample[2] = {0};

	for (u32 i = 0; i < OPERATIONS; i++) {
		sample[0] = i;
		map_ring_output(m, sample, sizeof(sample), BPF_RB_NO_WAKEUP);
	}
}

static void direct_ktime(struct map *m, struct env *env)
{
	for (u32 i = 0; i < OPERATIONS; i++)
		keep += env->world->ops->ktime(env->world, CLOCK_MONOTONIC);
}

static void direct_random(struct map *m, struct env *env)
{
	for (u32 i = 0; i < OPERATIONS; i++)
		keep += env->world->ops->random(env->world, env);
}

static const struct op {
	const char *what, *prog, *map;
	void (*direct)(struct map *m, struct env *env);
	bool keys;	/* the loop makes keys */
	double at_most; /* ratio to the kernel that is asked for; 0: none */
} ops[] = {
    {"array look-up", "lookup_array", "array", direct_lookup, true, 1},
    {"percpu_array look-up", "lookup_percpu_array", "percpu_array", direct_lookup, true, 0},
    {"hash look-up", "lookup_hash", "hash", direct_lookup, true, 1.5},
    {"percpu_hash look-up", "lookup_percpu_hash", "percpu_hash", direct_lookup, true, 0},
    {"lru_hash look-up", "lookup_lru", "lru", direct_lookup, true, 0},
    {"lpm_trie look-up, 8,192 /32", "lookup_lpm", "lpm", direct_lpm, true, 1},
    {"array update", "update_array", "array", direct_update, true, 0},
    {"percpu_array update", "update_percpu_array", "percpu_array", direct_update, true, 0},
    {"hash update", "update_hash", "hash", direct_update, true, 1},
    {"percpu_hash update", "update_percpu_hash", "percpu_hash", direct_update, true, 0},
    {"lru_hash update", "update_lru", "lru", direct_update, true, 1},
    {"lru_hash insert when full", "evict_lru", "full", direct_evict, true, 0},
    {"hash insert and delete", "insert_delete_hash", "hash", direct_pair, true, 0},
    {"ring buffer reserve, submit", "reserve_submit", "ring", direct_submit, false, 1},
    {"ring buffer reserve, discard", "reserve_discard", "ring", direct_discard, false, 0},
    {"ring buffer output", "output", "ring", direct_output, false, 0},
    {"ktime_get_ns", "ktime", NULL, direct_ktime, false, 0},
    {"get_prandom_u32", "random", NULL, direct_random, false, 0},
    {"get_smp_processor_id", "cpu", NULL, NULL, false, 0},
    {"the loop", "nothing", NULL, direct_nothing, true, 0},
    {"the loop without keys", "bare", NULL, NULL, false, 0},
};
enum { N_OPS = ARRAY_SIZE(ops), LOOP = N_OPS - 2, BARE = N_OPS - 1 };

/* ---- jobs */

static int map_fd(struct bench_served *s, const char *name)
{
	return bpf_object__find_map_fd_by_name(s->o->obj, name);
}

static void fill(struct bench_served *s, const u64 arg[3], struct bench_answer *a)
{
	static const char *const names[] = {"array",	   "percpu_array", "hash",
					    "percpu_hash", "lru",	   "full"};
	u64 values[256];

	for (u32 key = 0; key < KEYS; key++) {
		u32 prefix[2] = {32, key};

		for (u32 i = 0; i < ARRAY_SIZE(values); i++)
			values[i] = key;
		for (u32 i = 0; i < ARRAY_SIZE(names); i++)
			if (bpf_map_update_elem(map_fd(s, names[i]), &key, values, BPF_ANY))
				a->error = -errno;
		if (bpf_map_update_elem(map_fd(s, "lpm"), prefix, values, BPF_ANY))
			a->error = -errno;
	}
}

/* The consumer has seen everything: its position becomes the producer's. */
static void drain(struct bench_served *s, const u64 arg[3], struct bench_answer *a)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = map_fd(s, "ring");
	u64 *to = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	const u64 *from = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, page);

	if (to == MAP_FAILED || from == MAP_FAILED) {
		a->error = -errno;
		return;
	}
	__atomic_store_n(to, __atomic_load_n(from, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
	munmap(to, page);
	munmap((void *)from, page);
}

/* arg: operation, repeat */
static void direct(struct bench_served *s, const u64 arg[3], struct bench_answer *a)
{
	const struct op *op = &ops[arg[0]];
	struct map *m = op->map ? sys_map_of(map_fd(s, op->map)) : NULL;
	double start;

	if (op->map && !m) {
		a->error = -ENOENT;
		return;
	}
	env_enter(&s->env);
	op->direct(m, &s->env);
	start = bench_cpu_ns();
	for (u32 i = 0; i < arg[1]; i++)
		op->direct(m, &s->env);
	a->cpu_ns = (bench_cpu_ns() - start) / arg[1];
	env_leave(&s->env);
}

/* ---- */

static bool is_ring(const struct op *op)
{
	return op->map && !strcmp(op->map, "ring");
}

static void drain_both(struct bench_pair *p, const struct op *op)
{
	struct bench_answer a;

	if (!is_ring(op))
		return;
	bench_ask(&p->user, drain, 0, 0, 0, &a);
	if (p->with_kernel)
		bench_ask(&p->kernel, drain, 0, 0, 0, &a);
}

static u32 program(const struct bench_pair *p, const char *name)
{
	for (u32 i = 0; i < p->user.n; i++)
		if (!strcmp(p->user.prog[i].name, name))
			return i;
	return BENCH_PROGS;
}

struct figures {
	struct bench_figure f[N_OPS];
	double direct[N_OPS][BENCH_ROUNDS], direct_ns[N_OPS];
};

static void measure(struct bench *b, struct bench_pair *p, struct figures *x)
{
	struct bench_answer a;

	for (u32 i = 0; i < N_OPS; i++) {
		int rc = bench_run_first(p, program(p, ops[i].prog), 64, &x->f[i],
					 is_ring(&ops[i]) ? RING_REPEAT : 10000);

		drain_both(p, &ops[i]);
		if (rc)
			bench_failure(&b->report, "%s: %s", ops[i].prog,
				      rc == -EBADMSG ? "the floors' results differ"
						     : strerror(-rc));
	}
	for (u32 r = 0; r < b->rounds; r++) {
		for (u32 i = 0; i < N_OPS; i++) {
			bench_run_round(p, program(p, ops[i].prog), 64, &x->f[i]);
			drain_both(p, &ops[i]);
			if (ops[i].direct &&
			    !bench_ask(&p->user, direct, i, is_ring(&ops[i]) ? RING_REPEAT : 100, 0,
				       &a))
				x->direct[i][r] = a.cpu_ns;
			drain_both(p, &ops[i]);
		}
	}
	for (u32 i = 0; i < N_OPS; i++) {
		bench_figure_done(&x->f[i]);
		x->direct_ns[i] = bench_median(x->direct[i], b->rounds);
		if (x->f[i].unsteady)
			bench_failure(&b->report, "%s failed in some of its runs", ops[i].prog);
	}
}

static double net(double ns, double loop)
{
	return ns > 0 && loop > 0 ? MAX((ns - loop) / OPERATIONS, RESOLUTION) : 0;
}

static void show(struct bench *b, const struct figures *x)
{
	bench_table(&b->report, "operation|ns in a program|kernel ns|ratio|called directly, ns");
	for (u32 i = 0; i < LOOP; i++) {
		const struct bench_figure *loop = &x->f[ops[i].keys ? LOOP : BARE];
		double user = net(x->f[i].ns, loop->ns),
		       kernel = net(x->f[i].kernel_ns, loop->kernel_ns);
		double called = x->direct_ns[i] - (ops[i].keys ? x->direct_ns[LOOP] : 0);
		char what[80];

		bench_row(&b->report, "%s|%s|%s|%s|%s", ops[i].what, bench_ns(user),
			  bench_ns(kernel), bench_ratio(user, kernel),
			  bench_ns(called / OPERATIONS));
		if (!ops[i].at_most || kernel <= 0)
			continue;
		snprintf(what, sizeof(what), "%s in a program, ratio to the kernel%s", ops[i].what,
			 ops[i].at_most > 1 ? "" : " (goal)");
		bench_target(&b->report, what, user / kernel, ops[i].at_most, false);
	}
	bench_table_end(&b->report);
	bench_note(
	    &b->report,
	    "The loop that was taken off: %s ns a turn with keys, kernel %s; without keys %s, "
	    "kernel %s.",
	    bench_ns(x->f[LOOP].ns / OPERATIONS), bench_ns(x->f[LOOP].kernel_ns / OPERATIONS),
	    bench_ns(x->f[BARE].ns / OPERATIONS), bench_ns(x->f[BARE].kernel_ns / OPERATIONS));
}

void bench_maps(struct bench *b)
{
	static struct figures x;
	struct bench_answer a;
	struct bench_pair p;

	bench_section(&b->report, "Maps and helpers",
		      "One operation, in a program that does a thousand over 8,192 keys (4 bytes, "
		      "values of 8); what the loop costs is taken "
		      "off; less than 1 ns is lost in it and counts as 1. \"Called directly\" is "
		      "the same work without the interpreter.");
	if (bench_pair_start(&p, b, bench_object(b, "maps"))) {
		bench_failure(&b->report, "maps.bpf.o does not load");
		return;
	}
	if (bench_ask(&p.user, fill, 0, 0, 0, &a) ||
	    (p.with_kernel && bench_ask(&p.kernel, fill, 0, 0, 0, &a)))
		bench_failure(&b->report, "filling the maps: %s", strerror(-a.error));
	measure(b, &p, &x);
	show(b, &x);
	bench_pair_stop(&p);
}
