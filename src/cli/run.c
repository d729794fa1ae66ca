/* skep run: an object, a capture, and what the program did with it. */
#include "show.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include "env/env.h"
#include "sys/sys.h"
#include <bpf/libbpf.h>
#include <sys/stat.h>

const struct cli_option cli_run_options[] = {
	{ "in", 'r', "CAPTURE", "packets: a pcap or pcapng file, - for standard input" },
	{ "data", 'd', "HEX", "one packet, as hexadecimal digits" },
	{ "prog", 'p', "NAME", "the program, when the object holds several" },
	{ "out", 'w', "CAPTURE", "write the packets that passed, as changed (.pcapng: that format)" },
	{ "count", 'c', "N", "stop after N packets" },
	{ "filter", 'f', "EXPR", "only packets that match a tcpdump expression" },
	{ "repeat", 0, "N", "run each packet N times (the packet is not reset, as in the kernel's TEST_RUN)" },
	{ "reset", 0, NULL, "with --repeat: put the packet in anew before each run" },
	{ "ctx", 0, "FIELD=VALUE,...", "fields of the context that each packet comes with (mark=5,priority=2); shows it afterwards" },
	{ "stats", 0, NULL, "instructions per packet (p50, p99, most) and ns per packet" },
	{ "floor", 0, "user|kernel", "where to run: skep's own bpf(2) (default) or the kernel's" },
	{ "against", 0, "kernel", "run every packet on both floors as well and compare; exit 1 on a difference" },
	{ "set", 's', "VAR=VALUE", "set a global variable before loading (repeatable)" },
	{ "map", 'm', "NAME=FILE", "fill a map from a file of lines KEY VALUE (repeatable)" },
	{ "event", 'e', "MAP=TYPE", "type of a ring buffer's records (repeatable; guessed by size otherwise)" },
	{ "json", 'j', NULL, "one JSON document" },
	{ "verbose", 'v', NULL, "show all that libbpf and the verifier say" },
	{ 0 },
};

struct args {
	const char *object, *in, *data, *prog, *out, *filter, *ctx;
	u64 count, repeat;
	enum load_floor floor;
	bool against, json, verbose, reset, stats;
	VEC(const char *) set, map, event;
};

static int set_option(void *ctx, const struct cli_option *o, const char *value)
{
	struct args *a = ctx;

#define IS(n) (!strcmp(o->name, n))
	if (IS("in"))
		a->in = value;
	else if (IS("data"))
		a->data = value;
	else if (IS("prog"))
		a->prog = value;
	else if (IS("out"))
		a->out = value;
	else if (IS("filter"))
		a->filter = value;
	else if (IS("ctx"))
		a->ctx = value;
	else if (IS("reset"))
		a->reset = true;
	else if (IS("stats"))
		a->stats = true;
	else if (IS("count"))
		return cli_number("count", value, 1, UINT64_MAX, &a->count) ? CLI_OK : CLI_USAGE;
	else if (IS("repeat"))
		return cli_number("repeat", value, 1, 1000000000, &a->repeat) ? CLI_OK : CLI_USAGE;
	else if (IS("set"))
		return VEC_PUSH(&a->set, value) ? CLI_OK : CLI_LIMIT;
	else if (IS("map"))
		return VEC_PUSH(&a->map, value) ? CLI_OK : CLI_LIMIT;
	else if (IS("event"))
		return VEC_PUSH(&a->event, value) ? CLI_OK : CLI_LIMIT;
	else if (IS("json"))
		a->json = true;
	else if (IS("verbose"))
		a->verbose = true;
	else if (IS("floor") && (!strcmp(value, "user") || !strcmp(value, "kernel")))
		a->floor = *value == 'u' ? LOAD_USER : LOAD_KERNEL;
	else if (IS("against") && !strcmp(value, "kernel"))
		a->against = true;
	else {
		fprintf(stderr, "skep run: --%s %s: only %s\n", o->name, value, o->arg);
		return CLI_USAGE;
	}
#undef IS
	return CLI_OK;
}

/* What is read is mapped: to write over it would pull it away. */
static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return a && b && !stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int check_args(struct args *a, int argc, char **argv, int first)
{
	const char *wrong = NULL;

	if (argc - first != 1)
		wrong = argc == first ? "needs an object" : "takes one object";
	else if (!a->in == !a->data)
		wrong = a->in ? "takes --in or --data, not both" : "needs packets: --in CAPTURE or --data HEX";
	else if (same_file(a->in, a->out))
		wrong = "--out is the file that --in reads";
	else if (a->against && a->in && !strcmp(a->in, "-"))
		wrong = "--against kernel reads the packets more than once: standard input will not do";
	else if (a->against && a->floor == LOAD_KERNEL)
		wrong = "--against kernel compares the user floor with the kernel's: leave --floor kernel out";
	else if (a->stats && a->ctx)
		wrong = "--stats counts instructions of plain runs: leave --ctx out";
	else if (a->stats && a->floor == LOAD_KERNEL)
		wrong = "--stats counts instructions, which only the user floor can";
	if (wrong) {
		fprintf(stderr, "skep run: %s; `skep help run` tells how\n", wrong);
		return CLI_USAGE;
	}
	a->object = argv[first];
	return CLI_OK;
}

/* What is open during a run, in the order of closing. */
struct run {
	struct args *a;
	struct load_opts load;
	struct log err;
	struct json json;
	struct show show;
	struct env_trace trace;	/* must not move: the program's env points at it */
	struct load_object *o;
	struct bpf_program *p;
	struct path_runner *runner;
	struct path_rings *rings;
	struct net_source *in;
	struct net_sink *out;
	struct net_filter *filter;
	struct path_stats *stats;	/* owned; NULL: not asked for */
	struct path_comparison compared;
	struct path_counts counts;
};

static void on_event(void *ctx, struct bpf_map *ring, const void *data, u32 size)
{
	struct run *r = ctx;

	show_event(&r->show, ring, data, size);
}

static void on_trace(struct env_trace *t, const char *text, size_t len)
{
	struct run *r = container_of(t, struct run, trace);

	show_trace_line(&r->show, text, len);
}

static int fail(struct run *r, int rc)
{
	cli_say(&r->err);
	return cli_exit_of(rc);
}

/* Before anything else touches bpf(2) in this process: each floor gets a process of its own. */
static int compare(struct run *r)
{
	struct path_compare how = {
		.object = r->a->object, .capture = r->a->in, .data_hex = r->a->data, .load = r->load, .prog = r->a->prog,
		.count = r->a->count, .repeat = r->a->repeat, .reset = r->a->reset, .filter = r->a->filter, .ctx = r->a->ctx,
	};

	return path_compare(&how, &r->compared, &r->err);
}

static int open_input(struct run *r)
{
	int rc = r->a->data ? net_open_hex(&r->in, r->a->data, &r->err) : net_open_capture(&r->in, r->a->in, &r->err);

	if (rc) {
		fail(r, rc);
		return r->a->data ? CLI_USAGE : CLI_INPUT;
	}
	if (r->a->filter && net_filter_new(&r->filter, r->a->filter, &r->err)) {
		cli_say(&r->err);
		return CLI_USAGE;
	}
	return CLI_OK;
}

static int load(struct run *r)
{
	int rc = load_open(&r->o, r->a->object, &r->load, &r->err);

	if (rc)
		return fail(r, rc);
	r->p = load_program(r->o, r->a->prog, &r->err);
	if (!r->p) {
		cli_say(&r->err);
		return CLI_USAGE;
	}
	r->show = (struct show){ r->o, r->a->json ? &r->json : NULL, r->a->event.v, r->a->event.n };
	rc = show_check_event_types(&r->show, &r->err);
	if (rc) {
		cli_say(&r->err);
		return CLI_USAGE;
	}
	rc = load_load(r->o, &r->load, &r->err);
	if (rc) {
		show_load_failure(r->o, &r->err, r->a->verbose);
		return r->o->loaded ? cli_exit_of(rc) : CLI_FAILED;
	}
	return CLI_OK;
}

static int prepare(struct run *r)
{
	int rc;

	r->trace.line = on_trace;
	rc = path_runner_new(&r->runner, r->o, r->p, &r->trace, &r->err);
	if (!rc)
		rc = path_rings_new(&r->rings, r->o, on_event, r);
	if (!rc && r->a->ctx)
		rc = path_runner_set_context(r->runner, r->o, r->a->ctx, &r->err);
	if (!rc && r->a->stats) {
		r->stats = calloc(1, sizeof(*r->stats));
		rc = r->stats ? path_runner_count(r->runner) : -ENOMEM;
	}
	if (!rc && r->a->out)
		rc = net_create_capture(&r->out, r->a->out, 1, &r->err);
	return rc ? fail(r, rc) : CLI_OK;
}

static void begin_report(struct run *r)
{
	const char *name = bpf_program__name(r->p), *floor = r->a->floor == LOAD_USER ? "user" : "kernel";

	if (!r->a->json) {
		printf("%s: program %s on the %s floor\n\n", r->a->object, name, floor);
		return;
	}
	r->json.out = stdout;
	json_open(&r->json, NULL, '{');
	json_string(&r->json, "object", r->a->object, strlen(r->a->object));
	json_string(&r->json, "program", name, strlen(name));
	json_string(&r->json, "floor", floor, strlen(floor));
	json_open(&r->json, "output", '[');
}

static int end_report(struct run *r, int status)
{
	if (r->a->json)
		json_close(&r->json, ']');
	show_counts(&r->show, &r->counts, r->a->repeat);
	if (r->stats)
		show_stats(&r->show, r->stats, &r->counts);
	show_maps(&r->show);
	if (r->a->against)
		show_comparison(&r->show, &r->compared);
	if (r->a->json)
		json_close(&r->json, '}');
	if (status)
		return status;
	if (r->compared.different || r->compared.maps_different)
		return CLI_FAILED;
	if (!r->counts.packets && r->counts.foreign) {
		fprintf(stderr, "skep: %s: no packet was run: link type %u, %s, has no Ethernet header, with which programs begin\n",
			r->a->in, r->counts.foreign_type, net_link_type_name(r->counts.foreign_type));
		return CLI_UNSUPPORTED;
	}
	return CLI_OK;
}

static void on_context(void *ctx, const void *context, u32 size)
{
	struct run *r = ctx;

	show_context(&r->show, r->runner, context, size);
}

static void show_progress(void *ctx, const struct path_counts *c)
{
	fprintf(stderr, "\r%llu packets", (unsigned long long)c->packets);
	fflush(stderr);
}

static int replay(struct run *r)
{
	/* on a terminal that shows nothing else meanwhile: a pipe or file takes the output */
	bool watched = isatty(2) && !isatty(1);
	struct path_replay how = {
		.in = r->in, .out = r->out, .rings = r->rings, .count = r->a->count, .repeat = r->a->repeat, .reset = r->a->reset,
		.filter = r->filter, .stats = r->stats, .progress = watched ? show_progress : NULL,
		.on_context = r->a->ctx ? on_context : NULL, .ctx = r,
	};
	int status = CLI_OK, rc;

	begin_report(r);
	rc = path_replay(r->runner, &how, &r->counts, &r->err);
	if (watched)
		fprintf(stderr, "\r%*s\r", 40, "");
	if (rc) {
		cli_say(&r->err);
		status = rc == -EINVAL ? CLI_INPUT : cli_exit_of(rc);
	}
	rc = net_finish(TAKE(r->out));
	if (rc) {
		fprintf(stderr, "skep: %s: %s\n", r->a->out, strerror(-rc));
		status = CLI_FAILED;
	}
	return end_report(r, status);
}

static int run_all(struct run *r)
{
	int status = CLI_OK, rc;

	r->load = (struct load_opts){ r->a->floor, r->a->prog, r->a->set.v, r->a->map.v, r->a->set.n, r->a->map.n };
	status = open_input(r);
	if (!status && r->a->against) {
		rc = compare(r);
		if (rc)
			return rc == -EINVAL ? (cli_say(&r->err), CLI_FAILED) : fail(r, rc);
	}
	if (!status)
		status = load(r);
	if (!status)
		status = prepare(r);
	return status ? status : replay(r);
}

int cli_run(int argc, char **argv)
{
	struct args a = { .repeat = 1 };
	struct run r = { .a = &a };
	int first, status;

	log_init(&r.err, 256 * 1024);
	status = cli_parse(&cli_commands[0], argc, argv, set_option, &a, &first);
	if (!status)
		status = check_args(&a, argc, argv, first);
	if (!status)
		status = run_all(&r);
	net_finish(r.out);
	net_close(r.in);
	net_filter_free(r.filter);
	free(r.stats);
	path_rings_free(r.rings);
	path_runner_free(r.runner);
	load_close(r.o);
	path_comparison_done(&r.compared);
	log_done(&r.err);
	VEC_DONE(&a.set);
	VEC_DONE(&a.map);
	VEC_DONE(&a.event);
	return status;
}
