/* What an instruction costs in the interpreter, beside the kernel's machine code, on programs that
 * compute. How many there are is counted by the counting instance. */
#include "bench.h"
#include <math.h>

static void show(struct bench *b, const struct bench_prog *prog, struct bench_figure *f, u64 insns)
{
	bench_row(&b->report, "%s|%llu|%s|%.3f|%s|%s", prog->name, (unsigned long long)insns,
		  bench_ns(f->ns), f->ns / insns, bench_ns(f->kernel_ns),
		  bench_ratio(f->ns, f->kernel_ns));
}

static void measure(struct bench *b, struct bench_pair *p)
{
	static struct bench_figure f[BENCH_PROGS];
	double worst = 0, sum = 0, sum_ratio = 0;
	u64 insns[BENCH_PROGS];
	u32 n = 0, n_ratio = 0;

	for (u32 i = 0; i < p->user.n; i++) {
		struct bench_answer a;
		int rc = bench_run_first(p, i, BENCH_PACKET, &f[i], 1000000);

		if (rc)
			bench_failure(&b->report, "%s: %s", p->user.prog[i].name,
				      rc == -EBADMSG ? "the floors' results differ"
						     : strerror(-rc));
		bench_ask(&p->user, bench_count_insns, i, BENCH_PACKET, 0, &a);
		insns[i] = a.n[0];
	}
	for (u32 r = 0; r < b->rounds; r++)
		for (u32 i = 0; i < p->user.n; i++)
			bench_run_round(p, i, BENCH_PACKET, &f[i]);
	bench_table(&b->report, "program|instructions|ns|ns/instruction|kernel ns|ratio");
	for (u32 i = 0; i < p->user.n; i++) {
		if (!f[i].rounds || !insns[i])
			continue;
		bench_figure_done(&f[i]);
		show(b, &p->user.prog[i], &f[i], insns[i]);
		if (insns[i] < 100) /* the cost of a run, not of its instructions */
			continue;
		worst = MAX(worst, f[i].ns / insns[i]);
		sum += log(f[i].ns / insns[i]);
		n++;
		if (f[i].kernel_ns > 0) {
			sum_ratio += log(f[i].ns / f[i].kernel_ns);
			n_ratio++;
		}
	}
	bench_table_end(&b->report);
	if (!n)
		return;
	bench_note(&b->report,
		   "Geometric mean over the %u that compute: %.3f ns per instruction; to the "
		   "kernel's machine code %s.",
		   n, exp(sum / n), n_ratio ? bench_ratio(exp(sum_ratio / n_ratio), 1) : "-");
	bench_target(&b->report, "interpreter, ns per instruction, the worst program", worst, 2,
		     false);
	bench_target(&b->report, "interpreter, ns per instruction, geometric mean (goal)",
		     exp(sum / n), 1, false);
}

void bench_interp(struct bench *b)
{
	struct bench_pair p;

	bench_section(&b->report, "Interpreter",
		      "Six programs that compute, on a packet of 1,280 bytes, and two that show "
		      "what a run costs by itself.");
	if (bench_pair_start(&p, b, bench_object(b, "compute"))) {
		bench_failure(&b->report, "compute.bpf.o does not load");
		return;
	}
	measure(b, &p);
	bench_pair_stop(&p);
}
