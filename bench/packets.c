/* What a packet costs: the bench's own programs and all the examples, on one packet of 64 bytes in
 * a buffer that stands ready, as the packet path has it; the kernel by PROG_TEST_RUN with many
 * repeats. */
#include "bench.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <linux/bpf.h>

enum { SIZE = 64, REPEAT = 1000000 };

/* ns in a program of this name that DESIGN's budget allows, as a ratio of the kernel's; 0: none is
 * stated */
static double budget(const char *name)
{
	static const struct {
		const char *name;
		double ratio;
	} rows[] = {{"drop", 0.5}, {"count", 0.8}, {"balance", 0.8}};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(name, rows[i].name))
			return rows[i].ratio;
	return 0;
}

static bool packets(u32 type)
{
	return type == BPF_PROG_TYPE_XDP || type == BPF_PROG_TYPE_SCHED_CLS ||
	       type == BPF_PROG_TYPE_SCHED_ACT || type == BPF_PROG_TYPE_SOCKET_FILTER;
}

static int put(struct bench_served *s, const char *map, const void *key, const void *value)
{
	return bpf_map_update_elem(bpf_object__find_map_fd_by_name(s->o->obj, map), key, value,
				   BPF_ANY);
}

/* What the load balancer needs in its maps: the service that the packet asks for, and backends. */
static void fill_balancer(struct bench_served *s, const u64 arg[3], struct bench_answer *a)
{
	u8 service[8] = {0}, backend[8] = {2, 0, 0, 0, 1};
	u32 proto = 6, zero = 0;

	memcpy(service, bench_packet() + 30, 4);
	memcpy(service + 4, bench_packet() + 36, 2);
	memcpy(service + 6, &proto, 2);
	a->error = put(s, "services", service, &zero);
	for (u32 i = 0; i < 64; i++) {
		backend[5] = i;
		a->error |= put(s, "backends", &i, backend);
	}
	for (u32 i = 0; i < 4093; i++) {
		u32 which = i % 64;

		a->error |= put(s, "table", &i, &which);
	}
}

static void show(struct bench *b, struct bench_pair *p, u32 i, struct bench_figure *f, bool own)
{
	const struct bench_prog *prog = &p->user.prog[i];
	struct bench_answer a;
	char what[80];

	bench_figure_done(f);
	bench_ask(&p->user, bench_count_insns, i, SIZE, 0, &a);
	bench_row(&b->report, "%s|%s|%llu|%s|%s|%s", prog->name, prog->kind,
		  (unsigned long long)a.n[0], bench_ns(f->ns), bench_ns(f->kernel_ns),
		  bench_ratio(f->ns, f->kernel_ns));
	if (!own || !budget(prog->name) || f->kernel_ns <= 0)
		return;
	snprintf(what, sizeof(what), "XDP %s, ratio to the kernel (goal, compiled)", prog->name);
	bench_target(&b->report, what, f->ns / f->kernel_ns, budget(prog->name), false);
}

static char *left_out; /* names of programs whose packet is another one after each run */
static size_t left_out_size;
static FILE *leave_out;

static void object(struct bench *b, const char *path, bool own)
{
	static struct bench_figure f[BENCH_PROGS];
	struct bench_pair p;

	if (bench_pair_start(&p, b, path))
		return;
	if (own) {
		struct bench_answer a;

		bench_ask(&p.user, fill_balancer, 0, 0, 0, &a);
		if (p.with_kernel)
			bench_ask(&p.kernel, fill_balancer, 0, 0, 0, &a);
	}
	for (u32 i = 0; i < p.user.n; i++) {
		int rc = packets(p.user.prog[i].prog_type)
			     ? bench_run_first(&p, i, SIZE, &f[i], REPEAT)
			     : -ENOTSUP;

		if (rc == -EBADMSG)
			bench_failure(&b->report, "%s: the floors' results differ",
				      p.user.prog[i].name);
		else if (rc && rc != -ENOTSUP)
			bench_failure(&b->report, "%s: %s", p.user.prog[i].name, strerror(-rc));
		if (rc)
			f[i] = (struct bench_figure){0};
	}
	for (u32 r = 0; r < b->rounds; r++)
		for (u32 i = 0; i < p.user.n; i++)
			bench_run_round(&p, i, SIZE, &f[i]);
	for (u32 i = 0; i < p.user.n; i++)
		if (f[i].unsteady)
			fprintf(leave_out, " %s", p.user.prog[i].name);
		else if (f[i].rounds)
			show(b, &p, i, &f[i], own);
	bench_pair_stop(&p);
}

static int is_object(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 6 && !strcmp(e->d_name + n - 6, ".bpf.o");
}

static void examples(struct bench *b)
{
	struct dirent **list = NULL;
	int n = scandir(b->examples, &list, is_object, alphasort);
	char path[512];

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", b->examples, list[i]->d_name);
		object(b, path, false);
		free(list[i]);
	}
	free(list);
}

void bench_packets(struct bench *b)
{
	bench_section(&b->report, "A packet",
		      "drop, count and balance are the bench's own; the others are the examples. "
		      "One packet of 64 bytes, in a buffer that "
		      "stands ready; the kernel by PROG_TEST_RUN with up to a million repeats.");
	leave_out = open_memstream(&left_out, &left_out_size);
	if (!leave_out)
		abort();
	bench_table(&b->report, "program|kind|instructions|ns|kernel ns|ratio");
	object(b, bench_object(b, "packets"), true);
	if (b->examples)
		examples(b);
	bench_table_end(&b->report);
	fclose(leave_out);
	if (*left_out)
		bench_note(&b->report,
			   "Left out, because they leave their packet such that another run of it "
			   "has another "
			   "result:%s.",
			   left_out);
	free(left_out);
}
