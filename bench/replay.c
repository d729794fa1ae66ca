/* A capture through a program: reading, running and counting, as `skep run --in` does it; on the
 * kernel's floor each packet is a PROG_TEST_RUN. The capture is the repo's, many times over, in a
 * temporary folder. */
#include "bench.h"
#include "base/cleanup.h"
#include "path/path.h"
#include <bpf/libbpf.h>

enum { TIMES = 300, ROUNDS = 7 };

static const char *capture; /* set before the floors start */

static int copy_packets(struct net_sink *sink, const char *from, struct log *err)
{
	struct net_packet batch[64];
	struct net_source *in = NULL;
	int n = net_open_capture(&in, from, err);

	if (n)
		return n;
	while ((n = net_read(in, batch, 64, err)) > 0)
		for (int i = 0; i < n; i++)
			net_write(sink, &batch[i]);
	net_close(in);
	return n;
}

static int make_capture(const char *from, const char *to, struct log *err)
{
	struct net_sink *sink;
	int rc = net_create_capture(&sink, to, 1, err);

	if (rc)
		return rc;
	for (u32 i = 0; i < TIMES && !rc; i++)
		rc = copy_packets(sink, from, err);
	return net_finish(sink) ?: rc;
}

static struct bpf_program *find(struct bench_served *s, const char *name)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p,
				     s->o->obj) if (!strcmp(bpf_program__name(p), name)) return p;
	return NULL;
}

/* arg: program. n: packets, bytes, verdicts mixed into one number */
static void replay(struct bench_served *s, const u64 arg[3], struct bench_answer *a)
{
	struct path_runner *r = NULL;
	struct net_source *in = NULL;
	struct path_counts c = {0};
	struct log err;

	log_init(&err, 256);
	a->error = path_runner_new(&r, s->o, find(s, s->prog[arg[0]].name), NULL, &err)
		       ?: net_open_capture(&in, capture, &err);
	if (!a->error)
		a->error = path_replay(r, &(struct path_replay){.in = in, .repeat = 1}, &c, &err);
	if (!a->error && !c.packets)
		a->error = -ENODATA;
	if (!a->error) {
		a->cpu_ns = (double)c.cpu_ns / c.packets;
		a->n[0] = c.packets;
		a->n[1] = c.bytes;
		for (u32 i = 0; i < PATH_VERDICTS; i++)
			a->n[2] = a->n[2] * 1000003 + c.verdict[i];
	}
	net_close(in);
	path_runner_free(r);
	log_done(&err);
}

static void one_program(struct bench *b, struct bench_pair *p, u32 i)
{
	double user[ROUNDS], kernel[ROUNDS], ns, kernel_ns;
	u32 rounds = MIN(b->rounds, (u32)ROUNDS);
	struct bench_answer a = {0}, k = {0};
	const char *name = p->user.prog[i].name;
	char what[80];

	for (u32 r = 0; r < rounds; r++) {
		if (bench_ask(&p->user, replay, i, 0, 0, &a) ||
		    (p->with_kernel && bench_ask(&p->kernel, replay, i, 0, 0, &k))) {
			bench_failure(&b->report, "%s: %s", name,
				      strerror(a.error ? -a.error : -k.error));
			return;
		}
		user[r] = a.cpu_ns;
		kernel[r] = k.cpu_ns;
	}
	if (p->with_kernel && memcmp(a.n, k.n, sizeof(a.n)))
		bench_failure(&b->report, "%s: the floors' verdicts differ", name);
	ns = bench_median(user, rounds);
	kernel_ns = bench_median(kernel, rounds);
	bench_row(&b->report, "%s|%llu|%llu|%s|%s|%s", name, (unsigned long long)a.n[0],
		  (unsigned long long)(a.n[1] / a.n[0]), bench_ns(ns), bench_ns(kernel_ns),
		  bench_ratio(ns, kernel_ns));
	snprintf(what, sizeof(what), "capture through %s, ratio to the kernel (goal)", name);
	if (kernel_ns > 0)
		bench_target(&b->report, what, ns / kernel_ns, 0.2, false);
}

static bool wanted(const char *name)
{
	return !strcmp(name, "drop") || !strcmp(name, "count") || !strcmp(name, "flow") ||
	       !strcmp(name, "filter");
}

static void object(struct bench *b, const char *path)
{
	struct bench_pair p;

	if (bench_pair_start(&p, b, path))
		return;
	for (u32 i = 0; i < p.user.n; i++)
		if (wanted(p.user.prog[i].name))
			one_program(b, &p, i);
	bench_pair_stop(&p);
}

static void measure(struct bench *b)
{
	static const char *const examples[] = {"flow", "filter"};
	char path[512];

	bench_table(&b->report, "program|packets|mean size|ns a packet|kernel ns|ratio");
	object(b, bench_object(b, "packets"));
	for (u32 i = 0; b->examples && i < ARRAY_SIZE(examples); i++) {
		snprintf(path, sizeof(path), "%s/%s.bpf.o", b->examples, examples[i]);
		object(b, path);
	}
	bench_table_end(&b->report);
}

void bench_replay(struct bench *b)
{
	char dir[256], path[300];
	const char *tmp = getenv("TMPDIR");
	struct log err;

	if (!b->capture)
		return;
	bench_section(&b->report, "A capture",
		      "The repo's capture three hundred times over, read, run and counted packet "
		      "by packet; on the kernel's floor each is "
		      "one PROG_TEST_RUN that gives the packet back.");
	snprintf(dir, sizeof(dir), "%s/skep-bench-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir)) {
		bench_failure(&b->report, "%s: %s", dir, strerror(errno));
		return;
	}
	snprintf(path, sizeof(path), "%s/big.pcap", dir);
	capture = path;
	log_init(&err, 1024);
	if (make_capture(b->capture, path, &err)) {
		autofree char *why = log_text(&err, NULL);

		bench_failure(&b->report, "%s", why ? why : "no capture");
	} else {
		measure(b);
	}
	log_done(&err);
	unlink(path);
	rmdir(dir);
}
