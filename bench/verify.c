/* What loading costs, and how many instructions the verifier went through, beside the kernel's.
 *
 * The linker turns libbpf's calls of bpf_prog_load() to ours (-Wl,--wrap): it loads the same
 * instructions several times, each time asking for the statistics that verifiers give with
 * BPF_LOG_STATS, and hands on the last descriptor. One process a floor and object: what one of them
 * does to its process, no other sees. */
#include "bench.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <math.h>

enum { REPEATS = 5, ROUNDS = 3, SETS = 64 };
#define LOG_STATS 4
#define ENOUGH_NS 300e6 /* of CPU time for one program in one process */

/* Larger programs of the kernel's selftests (a folder of compiled objects), in kinds that take
 * little of the kernel with them. limit: how many times the kernel's instructions ours may take, 0:
 * it is only shown. */
static const struct item {
	const char *object, *prog;
	double limit;
} items[] = {
    {"loop1", "nested_loops", 2},
    {"loop2", "while_true", 0},
    {"loop4", "combinations", 0},
    {"loop5", "while_true", 0},
    {"test_verif_scale1", "balancer_ingress", 2},
    {"test_verif_scale2", "balancer_ingress", 0},
    {"test_verif_scale3", "balancer_ingress", 0},
    {"test_l4lb", "balancer_ingress", 0},
    {"test_l4lb_noinline", "balancer_ingress", 0},
    {"test_l4lb_noinline_dynptr", "balancer_ingress", 0},
    {"test_xdp_noinline", "balancer_ingress_v4", 0},
    {"test_xdp_noinline", "balancer_ingress_v6", 0},
    {"test_xdp_loop", "_xdp_tx_iptunnel", 0},
    {"test_xdp", "_xdp_tx_iptunnel", 0},
    {"test_xdp_dynptr", "_xdp_tx_iptunnel", 0},
    {"test_cls_redirect", "cls_redirect", 0},
    {"test_cls_redirect_subprogs", "cls_redirect", 0},
    {"test_cls_redirect_dynptr", "cls_redirect", 0},
    {"xdp_synproxy_kern", "syncookie_xdp", 0},
    {"xdp_synproxy_kern", "syncookie_tc", 0},
    {"test_tcp_check_syncookie_kern", "check_syncookie_xdp", 0},
    {"test_tc_tunnel", "__encap_udp_eth", 0},
    {"test_tc_tunnel", "__encap_ip6vxlan_eth", 0},
    {"test_tc_edt", "tc_prog", 0},
    {"test_tc_dtime", "egress_host", 0},
    {"test_parse_tcp_hdr_opt", "xdp_ingress_v6", 0},
    {"xdping_kern", "xdping_client", 0},
    {"xdpwall", "edgewall", 0},
    {"twfw", "twfw_verifier", 0},
    {"test_pkt_access", "test_pkt_access", 0},
    {"netif_receive_skb", NULL, 0},
    {"pyperf50", "on_event", 0},
    {"pyperf180", "on_event", 0},
    {"pyperf600_nounroll", "on_event", 0},
    {"pyperf_subprogs", "on_event", 0},
    {"strobemeta", "on_event", 0},
    {"strobemeta_nounroll2", "on_event", 0},
    {"strobemeta_subprogs", "on_event", 0},
};

struct figures { /* of one program on one floor */
	char name[40];
	double load_ns; /* CPU time of the call; the time in the statistics is the wall's, and of no
			   use on a busy machine */
	u64 size, insns, states, peak;
};

/* ---- in the floor's process */

static struct {
	bool on;
	struct figures f[SETS];
	u32 n;
} loads;

int __real_bpf_prog_load(enum bpf_prog_type type, const char *name, const char *license,
			 const struct bpf_insn *insns, size_t n,
			 const struct bpf_prog_load_opts *opts);
int __wrap_bpf_prog_load(enum bpf_prog_type type, const char *name, const char *license,
			 const struct bpf_insn *insns, size_t n,
			 const struct bpf_prog_load_opts *opts);

static u64 number_after(const char *log, const char *word)
{
	const char *p = strstr(log, word);

	return p ? strtoull(p + strlen(word), NULL, 10) : 0;
}

static void read_stats(struct figures *f, const char *log)
{
	f->insns = number_after(log, "processed ");
	f->states = number_after(log, "total_states ");
	f->peak = number_after(log, "peak_states ");
}

int __wrap_bpf_prog_load(enum bpf_prog_type type, const char *name, const char *license,
			 const struct bpf_insn *insns, size_t n,
			 const struct bpf_prog_load_opts *opts)
{
	static char log[65536];
	struct bpf_prog_load_opts o;
	double ns[REPEATS], start, spent = 0;
	struct figures *f = &loads.f[loads.n];
	u32 repeats = 0;
	int fd = -1;

	if (!loads.on || !name || !opts || n < 4 ||
	    loads.n == SETS) /* libbpf also tries what the kernel can do */
		return __real_bpf_prog_load(type, name, license, insns, n, opts);
	*f = (struct figures){.size = n};
	snprintf(f->name, sizeof(f->name), "%s", name);
	o = *opts;
	o.log_level = LOG_STATS;
	o.log_buf = log;
	o.log_size = sizeof(log);
	while (repeats < REPEATS && spent < ENOUGH_NS) {
		if (fd >= 0)
			close(fd);
		start = bench_cpu_ns();
		fd = __real_bpf_prog_load(type, name, license, insns, n, &o);
		ns[repeats] = bench_cpu_ns() - start;
		if (fd < 0)
			return __real_bpf_prog_load(type, name, license, insns, n, opts);
		spent += ns[repeats++];
		read_stats(f, log);
	}
	f->load_ns = bench_median(ns, repeats);
	loads.n++;
	return fd;
}

/* Of all that libbpf and the verifier said: the verifier's last word, or libbpf's first. */
static void say_why(char *to, size_t size, char *text)
{
	char *end = strstr(text, "\nprocessed "), *start = text;

	if (end) {
		*end = 0;
		start = strrchr(text, '\n');
		start = start ? start + 1 : text;
	}
	snprintf(to, size, "%.*s", (int)strcspn(start, "\n"), start);
}

static const char *path_of; /* set before the process starts */

/* arg: item, or -1: all programs. n[0]: how many were loaded. text: why not */
static void load_item(struct bench_served *s, const u64 arg[3], struct bench_answer *a)
{
	const struct load_opts opts = {.floor = s->floor};
	const char *only = arg[0] < ARRAY_SIZE(items) ? items[arg[0]].prog : NULL;
	struct bpf_program *p;
	struct log err;
	char *why;

	log_init(&err, 1024);
	a->error = load_open(&s->o, path_of, &opts, &err);
	if (!a->error && only)
		bpf_object__for_each_program(p, s->o->obj)
		    bpf_program__set_autoload(p, !strcmp(bpf_program__name(p), only));
	loads.on = true;
	if (!a->error)
		a->error = load_load(s->o, &opts, &err);
	loads.on = false;
	a->n[0] = loads.n;
	if (!a->error && !loads.n)
		a->error = -ENOENT;
	why = a->error && s->o ? log_text(&s->o->messages, NULL) : NULL;
	if (why)
		say_why(a->text, sizeof(a->text), why);
	free(why);
	log_done(&err);
}

/* arg: which. What was measured, in cpu_ns, n and text */
static void tell(struct bench_served *s, const u64 arg[3], struct bench_answer *a)
{
	const struct figures *f = &loads.f[arg[0]];

	a->cpu_ns = f->load_ns;
	a->n[0] = f->size;
	a->n[1] = f->insns;
	a->n[2] = f->states;
	a->n[3] = f->peak;
	snprintf(a->text, sizeof(a->text), "%s", f->name);
}

/* ---- in the bench's */

struct outcome { /* of one object on one floor, all rounds */
	int error;
	char why[80];
	u32 n, rounds;
	struct figures f[SETS];
	double load[SETS][ROUNDS];
};

static void put_line(char *to, size_t size, const char *text)
{
	size_t n = strcspn(text, "\n|");

	n = MIN(n, size - 1);
	memcpy(to, text, n);
	to[n] = 0;
}

static void one_round(struct outcome *o, enum load_floor floor, u64 item)
{
	struct bench_floor f;
	struct bench_answer a;
	struct log err;

	log_init(&err, 256);
	o->error = bench_floor_start(&f, floor, NULL, NULL, &err);
	if (!o->error) {
		o->error = bench_ask(&f, load_item, item, 0, 0, &a);
		o->n = a.n[0];
		put_line(o->why, sizeof(o->why), a.text);
	}
	for (u32 i = 0; !o->error && i < o->n; i++) {
		bench_ask(&f, tell, i, 0, 0, &a);
		o->f[i] = (struct figures){
		    .size = a.n[0], .insns = a.n[1], .states = a.n[2], .peak = a.n[3]};
		put_line(o->f[i].name, sizeof(o->f[i].name), a.text);
		o->load[i][o->rounds] = a.cpu_ns;
	}
	if (!o->error)
		o->rounds++;
	bench_floor_stop(&f);
	log_done(&err);
}

struct total {
	FILE *refused; /* a line each */
	u32 n, n_refused;
	double log_load;
	double load, kernel_load;
	u64 insns, kernel_insns;
};

static void show(struct bench *b, const char *object, struct outcome *u, struct outcome *k, u32 i,
		 double limit, struct total *t)
{
	const struct figures *f = &u->f[i], *kf = &k->f[i];
	double load = bench_median(u->load[i], u->rounds),
	       kload = bench_median(k->load[i], k->rounds);
	char what[120];

	bench_row(&b->report, "%s/%s|%llu|%llu|%s|%s|%llu|%s|%s|%s|%s", object, f->name,
		  (unsigned long long)f->size, (unsigned long long)f->insns, bench_count(kf->insns),
		  bench_ratio(f->insns, kf->insns), (unsigned long long)f->states,
		  bench_count(kf->states), bench_ms(load), bench_ms(kload),
		  bench_ratio(load, kload));
	if (!k->rounds)
		return;
	t->n++;
	t->load += load;
	t->kernel_load += kload;
	t->insns += f->insns;
	t->kernel_insns += kf->insns;
	t->log_load += log(load / kload);
	if (!limit)
		return;
	snprintf(what, sizeof(what),
		 "%s/%s, instructions that the verifier went through, ratio to the kernel", object,
		 f->name);
	bench_target(&b->report, what, (double)f->insns / kf->insns, limit, true);
}

static void object(struct bench *b, const char *path, const char *name, u64 item, double limit,
		   struct total *t)
{
	static struct outcome u, k;
	u32 rounds = MIN(b->rounds, (u32)ROUNDS);

	if (access(path, R_OK))
		return;
	path_of = path;
	u.rounds = k.rounds = u.n = k.n = 0;
	for (u32 r = 0; r < rounds; r++) {
		if (b->kernel)
			one_round(&k, LOAD_KERNEL, item);
		one_round(&u, LOAD_USER, item);
		if (u.error || (b->kernel && k.error))
			break;
	}
	if (b->kernel && k.error)
		return; /* not for this kernel */
	if (u.error) {
		t->n_refused++;
		fprintf(t->refused, "- %s%s%s: %s\n", name,
			item < ARRAY_SIZE(items) && items[item].prog ? "/" : "",
			item < ARRAY_SIZE(items) && items[item].prog ? items[item].prog : "",
			u.why);
		if (limit && b->kernel)
			bench_failure(&b->report, "%s has a limit, and does not load", name);
		return;
	}
	for (u32 i = 0; i < u.n; i++)
		show(b, name, &u, &k, i, limit, t);
}

static void selftests(struct bench *b, struct total *t)
{
	char path[512];

	for (u32 i = 0; i < ARRAY_SIZE(items); i++) {
		snprintf(path, sizeof(path), "%s/%s.bpf.o", b->selftests, items[i].object);
		object(b, path, items[i].object, i, items[i].limit, t);
	}
}

static void own(struct bench *b, struct total *t)
{
	static const char *const names[] = {"flow", "filter"};
	char path[512];

	for (u32 i = 0; b->examples && i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s.bpf.o", b->examples, names[i]);
		object(b, path, names[i], UINT64_MAX, 0, t);
	}
	object(b, bench_object(b, "packets"), "packets", UINT64_MAX, 0, t);
	object(b, bench_object(b, "compute"), "compute", UINT64_MAX, 0, t);
}

static void sum_up(struct bench *b, const struct total *t)
{
	bench_note(&b->report,
		   "%u programs, all together: %llu instructions, the kernel %llu; %.0f ms, the "
		   "kernel %.0f ms. Geometric mean of the "
		   "times' ratios: %.2f.",
		   t->n, (unsigned long long)t->insns, (unsigned long long)t->kernel_insns,
		   t->load / 1e6, t->kernel_load / 1e6, exp(t->log_load / t->n));
	bench_target(&b->report, "time of a load, ratio to the kernel, geometric mean",
		     exp(t->log_load / t->n), 1, false);
	bench_target(&b->report, "time of all loads together, ratio to the kernel",
		     t->load / t->kernel_load, 1, false);
}

void bench_verify(struct bench *b)
{
	struct total t = {0};
	char *refused;
	size_t size;

	t.refused = open_memstream(&refused, &size);
	if (!t.refused)
		abort();
	bench_section(&b->report, "The verifier",
		      "Instructions and states as the verifiers' own statistics have them; load is "
		      "the CPU time of the whole PROG_LOAD in "
		      "ms, which on the kernel's floor includes making machine code.");
	bench_table(&b->report,
		    "program|size|instructions|kernel|ratio|states|kernel|load, ms|kernel|ratio");
	own(b, &t);
	if (b->selftests)
		selftests(b, &t);
	bench_table_end(&b->report);
	fclose(t.refused);
	if (!b->selftests)
		bench_note(&b->report,
			   "The larger programs are the kernel's selftests: --selftests DIR.");
	if (t.n)
		sum_up(b, &t);
	if (t.n_refused)
		bench_note(&b->report, "%u that the kernel loads skep does not yet:\n\n%s",
			   t.n_refused, refused);
	free(refused);
}
