/* What a call from user space costs: PROG_TEST_RUN of a program that does nothing, and the commands
 * on elements, through libbpf on both floors. In process skep answers without entering the kernel.
 */
#include "bench.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

enum { KEYS = 8192, BATCH = 256 };

static int prog_fd(struct bench_served *s, const char *name)
{
	for (u32 i = 0; i < s->n; i++)
		if (!strcmp(s->prog[i].name, name))
			return s->prog[i].fd;
	return -1;
}

/* ---- one call each; i counts them. 0 or -1 with errno, as libbpf has it */

static int test_run(int prog, int map, u32 i)
{
	LIBBPF_OPTS(bpf_test_run_opts, t, .data_in = bench_packet(), .data_size_in = 64,
		    .repeat = 1);

	return bpf_prog_test_run_opts(prog, &t);
}

static int test_run_out(int prog, int map, u32 i)
{
	static u8 out[4096];
	LIBBPF_OPTS(bpf_test_run_opts, t, .data_in = bench_packet(), .data_size_in = BENCH_PACKET,
		    .data_out = out, .data_size_out = sizeof(out), .repeat = 1);

	return bpf_prog_test_run_opts(prog, &t);
}

static int lookup(int prog, int map, u32 i)
{
	u32 key = i * 2654435761u >> 19;
	u64 value;

	return bpf_map_lookup_elem(map, &key, &value);
}

static int update(int prog, int map, u32 i)
{
	u32 key = i * 2654435761u >> 19;
	u64 value = i;

	return bpf_map_update_elem(map, &key, &value, BPF_ANY);
}

static int insert_delete(int prog, int map, u32 i)
{
	u32 key = KEYS + (i & 1023);
	u64 value = i;

	return bpf_map_update_elem(map, &key, &value, BPF_NOEXIST)
		   ?: bpf_map_delete_elem(map, &key);
}

static int next_key(int prog, int map, u32 i)
{
	u32 key = i * 2654435761u >> 19, next;

	return bpf_map_get_next_key(map, &key, &next) && errno != ENOENT ? -1 : 0;
}

static int lookup_batch(int prog, int map, u32 i)
{
	static u32 keys[BATCH];
	static u64 values[BATCH];
	u32 next, n = BATCH;

	return bpf_map_lookup_batch(map, NULL, &next, keys, values, &n, NULL);
}

static const struct call {
	const char *what;
	int (*fn)(int prog, int map, u32 i);
	const char *map;
	u32 elements;	/* of one call */
	double at_most; /* ns that are asked for */
} calls[] = {
    {"PROG_TEST_RUN, 64 bytes", test_run, NULL, 1, 150},
    {"PROG_TEST_RUN, 1,280 bytes in and out", test_run_out, NULL, 1, 0},
    {"MAP_LOOKUP_ELEM, array", lookup, "array", 1, 0},
    {"MAP_LOOKUP_ELEM, hash", lookup, "hash", 1, 0},
    {"MAP_UPDATE_ELEM, array", update, "array", 1, 0},
    {"MAP_UPDATE_ELEM, hash", update, "hash", 1, 0},
    {"MAP_UPDATE_ELEM and MAP_DELETE_ELEM, hash", insert_delete, "hash", 1, 0},
    {"MAP_GET_NEXT_KEY, hash", next_key, "hash", 1, 0},
    {"MAP_LOOKUP_BATCH of 256, array, an element", lookup_batch, "array", BATCH, 0},
    {"MAP_LOOKUP_BATCH of 256, hash, an element", lookup_batch, "hash", BATCH, 0},
};
enum { N = ARRAY_SIZE(calls) };

/* ---- jobs */

static void fill(struct bench_served *s, const u64 arg[3], struct bench_answer *a)
{
	static const char *const names[] = {"array", "hash"};

	for (u32 key = 0; key < KEYS; key++) {
		u64 value = key;

		for (u32 i = 0; i < ARRAY_SIZE(names); i++)
			if (bpf_map_update_elem(
				bpf_object__find_map_fd_by_name(s->o->obj, names[i]), &key, &value,
				0))
				a->error = -errno;
	}
}

/* arg: call, how many */
static void repeat(struct bench_served *s, const u64 arg[3], struct bench_answer *a)
{
	const struct call *c = &calls[arg[0]];
	int prog = prog_fd(s, "bare_exit"),
	    map = c->map ? bpf_object__find_map_fd_by_name(s->o->obj, c->map) : -1;
	double start;

	if (c->fn(prog, map, 0)) {
		a->error = -errno;
		return;
	}
	start = bench_cpu_ns();
	for (u32 i = 0; i < arg[1]; i++)
		c->fn(prog, map, i);
	a->cpu_ns = (bench_cpu_ns() - start) / arg[1];
}

/* ---- */

static void show(struct bench *b, const struct call *c, double user, double kernel)
{
	char what[80];

	bench_row(&b->report, "%s|%s|%s|%s", c->what, bench_ns(user / c->elements),
		  bench_ns(kernel / c->elements), bench_ratio(user, kernel));
	if (!c->at_most)
		return;
	snprintf(what, sizeof(what), "%s, ns in process", c->what);
	bench_target(&b->report, what, user, c->at_most, false);
}

static void measure(struct bench *b, struct bench_pair *p)
{
	static double user[N][BENCH_ROUNDS], kernel[N][BENCH_ROUNDS];
	struct bench_answer a;

	for (u32 r = 0; r < b->rounds; r++) {
		for (u32 i = 0; i < N; i++) {
			u32 n = 4000 / (calls[i].elements > 1 ? 20 : 1);

			if (bench_ask(&p->user, repeat, i, n * 4, 0, &a) && !r)
				bench_failure(&b->report, "%s: %s", calls[i].what,
					      strerror(-a.error));
			user[i][r] = a.cpu_ns;
			if (p->with_kernel && bench_ask(&p->kernel, repeat, i, n, 0, &a) && !r)
				bench_failure(&b->report, "%s: %s (kernel)", calls[i].what,
					      strerror(-a.error));
			kernel[i][r] = p->with_kernel ? a.cpu_ns : 0;
		}
	}
	bench_table(&b->report, "call|ns|kernel ns|ratio");
	for (u32 i = 0; i < N; i++)
		show(b, &calls[i], bench_median(user[i], b->rounds),
		     bench_median(kernel[i], b->rounds));
	bench_table_end(&b->report);
}

void bench_calls(struct bench *b)
{
	struct bench_answer a;
	struct bench_pair p;

	bench_section(
	    &b->report, "Calls from user space",
	    "Through libbpf, in the process itself; on the kernel's floor each is a system call.");
	if (bench_pair_start(&p, b, bench_object(b, "maps"))) {
		bench_failure(&b->report, "maps.bpf.o does not load");
		return;
	}
	if (bench_ask(&p.user, fill, 0, 0, 0, &a) ||
	    (p.with_kernel && bench_ask(&p.kernel, fill, 0, 0, 0, &a)))
		bench_failure(&b->report, "filling the maps: %s", strerror(-a.error));
	measure(b, &p);
	bench_pair_stop(&p);
}
