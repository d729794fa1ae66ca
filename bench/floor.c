/* A floor's process, and the one job that most figures are made of: running a program many times on
 * one packet. */
#include "bench.h"
#include "base/cleanup.h"
#include "prog/prog.h"
#include "sys/sys.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define SLICE_NS	4e6 /* one measurement lasts about this long */
#define KERNEL_SLICE_NS 8e6

struct question {
	bench_job job;
	u64 arg[3];
};

/* ---- in the floor's process */

static void list_programs(struct bench_served *s)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, s->o->obj)
	{
		const char *kind = libbpf_bpf_prog_type_str(bpf_program__type(p));
		struct bench_prog *b = &s->prog[s->n];

		if (s->n == BENCH_PROGS || bpf_program__fd(p) < 0)
			continue;
		snprintf(b->name, sizeof(b->name), "%s", bpf_program__name(p));
		snprintf(b->kind, sizeof(b->kind), "%s", kind ? kind : "?");
		b->prog_type = bpf_program__type(p);
		b->fd = bpf_program__fd(p);
		s->n++;
	}
}

static int load(struct bench_served *s, const char *object, const char *only, struct log *err)
{
	const struct load_opts opts = {.floor = s->floor, .prog = only};
	int rc = load_open(&s->o, object, &opts, err);

	if (!rc)
		rc = load_load(s->o, &opts, err);
	if (!rc)
		list_programs(s);
	return rc;
}

static void start_answer(struct bench_answer *a, int rc, const struct log *err)
{
	autofree char *why = log_text(err, NULL);

	*a = (struct bench_answer){.error = rc};
	snprintf(a->text, sizeof(a->text), "%s", why ? why : "");
}

static void serve(enum load_floor floor, const char *object, const char *only, int in, int out)
{
	struct bench_served s = {.floor = floor};
	struct question q;
	struct bench_answer a;
	struct log err;
	int rc = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sys_set_floor(floor == LOAD_USER ? SYS_FLOOR_USER : SYS_FLOOR_KERNEL);
	log_init(&err, 4096);
	if (object)
		rc = load(&s, object, only, &err);
	if (!rc && floor == LOAD_USER) {
		rc = run_buffer_init(&s.buffer, RUN_MAX_FRAME);
		env_init(&s.env, &env_host_world);
	}
	start_answer(&a, rc, &err);
	if (write(out, &a, sizeof(a)) != sizeof(a) ||
	    write(out, &s.n, sizeof(s.n)) != sizeof(s.n) ||
	    write(out, s.prog, sizeof(s.prog)) != sizeof(s.prog) || rc)
		_exit(1);
	while (read(in, &q, sizeof(q)) == sizeof(q) && q.job) {
		a = (struct bench_answer){0};
		q.job(&s, q.arg, &a);
		if (write(out, &a, sizeof(a)) != sizeof(a))
			break;
	}
	_exit(0);
}

void bench_prepare_packet(struct bench_served *s, u32 size)
{
	run_buffer_fill(&s->buffer, bench_packet(), size);
}

static void run_user(struct bench_served *s, const u64 arg[3], struct bench_answer *a)
{
	struct prog *p = sys_prog_of(s->prog[arg[0]].fd);
	u32 repeat = arg[2];
	double start;

	if (!p || !run_takes_packets(p->kind)) {
		a->error = -ENOTSUP;
		return;
	}
	bench_prepare_packet(s, arg[1]);
	env_enter(&s->env);
	start = bench_cpu_ns();
	for (u32 i = 0; i < repeat; i++)
		a->retval = run_packet(p, &s->env, &s->buffer);
	a->ns = a->cpu_ns = (bench_cpu_ns() - start) / repeat;
	env_leave(&s->env);
}

static void run_kernel(struct bench_served *s, const u64 arg[3], struct bench_answer *a)
{
	LIBBPF_OPTS(bpf_test_run_opts, t, .data_in = bench_packet(), .data_size_in = arg[1],
		    .repeat = arg[2]);
	double start = bench_cpu_ns();

	if (bpf_prog_test_run_opts(s->prog[arg[0]].fd, &t))
		a->error = -errno;
	a->cpu_ns = (bench_cpu_ns() - start) / arg[2];
	a->ns = t.duration;
	a->retval = t.retval;
}

/* arg: program, size of the packet, repeat. The clock's own cost is part of what a single run of
 * ours says, so nothing is. */
static void run_program(struct bench_served *s, const u64 arg[3], struct bench_answer *a)
{
	if (arg[0] >= s->n)
		a->error = -ENOENT;
	else if (s->floor == LOAD_USER)
		run_user(s, arg, a);
	else
		run_kernel(s, arg, a);
}

void bench_count_insns(struct bench_served *s, const u64 arg[3], struct bench_answer *a)
{
	struct prog *p = sys_prog_of(s->prog[arg[0]].fd);

	bench_prepare_packet(s, arg[1]);
	s->env.counting = true;
	s->env.insn_count = 0;
	env_enter(&s->env);
	a->retval = run_packet(p, &s->env, &s->buffer);
	env_leave(&s->env);
	s->env.counting = false;
	a->n[0] = s->env.insn_count;
}

/* ---- in the bench's process */

static bool take(int fd, void *to, size_t size)
{
	u8 *p = to;

	while (size) {
		ssize_t n = read(fd, p, size);

		if (n <= 0)
			return false;
		p += n;
		size -= n;
	}
	return true;
}

static int hear_start(struct bench_floor *f, struct log *err)
{
	struct bench_answer a;

	if (!take(f->answer, &a, sizeof(a)) || !take(f->answer, &f->n, sizeof(f->n)) ||
	    !take(f->answer, f->prog, sizeof(f->prog))) {
		log_printf(err, "the process of the floor ended");
		return -EPIPE;
	}
	if (a.error)
		log_printf(err, "%s", a.text);
	return a.error;
}

int bench_floor_start(struct bench_floor *f, enum load_floor floor, const char *object,
		      const char *only, struct log *err)
{
	int to[2], from[2], rc;

	*f = (struct bench_floor){.pid = -1, .ask = -1, .answer = -1};
	if (pipe(to))
		return -errno;
	if (pipe(from)) {
		close(to[0]);
		close(to[1]);
		return -EMFILE;
	}
	bench_packet();
	signal(SIGPIPE, SIG_IGN);
	fflush(NULL);
	f->pid = fork();
	if (!f->pid) {
		close(to[1]);
		close(from[0]);
		serve(floor, object, only, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	f->ask = to[1];
	f->answer = from[0];
	rc = f->pid < 0 ? -EAGAIN : hear_start(f, err);
	if (rc)
		bench_floor_stop(f);
	return rc;
}

void bench_floor_stop(struct bench_floor *f)
{
	const struct question end = {
	    0}; /* a process started later holds our end of the pipe, too: no end of file */

	if (f->ask >= 0) {
		(void)!write(f->ask, &end, sizeof(end));
		close(f->ask);
	}
	if (f->answer >= 0)
		close(f->answer);
	if (f->pid > 0)
		waitpid(f->pid, NULL, 0);
	*f = (struct bench_floor){.pid = -1, .ask = -1, .answer = -1};
}

int bench_ask(struct bench_floor *f, bench_job job, u64 a0, u64 a1, u64 a2, struct bench_answer *a)
{
	const struct question q = {job, {a0, a1, a2}};

	*a = (struct bench_answer){.error = -EPIPE};
	if (f->ask < 0 || write(f->ask, &q, sizeof(q)) != sizeof(q) ||
	    !take(f->answer, a, sizeof(*a)))
		a->error = -EPIPE;
	return a->error;
}

int bench_pair_start(struct bench_pair *p, const struct bench *b, const char *object)
{
	const char *name = strrchr(object, '/') ? strrchr(object, '/') + 1 : object;
	struct log err;
	int rc;

	log_init(&err, 1024);
	p->kernel = (struct bench_floor){.pid = -1, .ask = -1, .answer = -1};
	rc = bench_floor_start(&p->user, LOAD_USER, object, NULL, &err);
	p->with_kernel =
	    !rc && b->kernel && !bench_floor_start(&p->kernel, LOAD_KERNEL, object, NULL, &err);
	if (rc || (b->kernel && !p->with_kernel)) {
		autofree char *why = log_text(&err, NULL);

		bench_note((struct bench_report *)&b->report, "%s on %s floor: %s.", name,
			   rc ? "skep's" : "the kernel's", why ? why : strerror(-rc));
	}
	log_done(&err);
	return rc;
}

void bench_pair_stop(struct bench_pair *p)
{
	bench_floor_stop(&p->user);
	bench_floor_stop(&p->kernel);
}

static u32 repeats(double slice, double ns, u32 most)
{
	double n = slice / (ns > 1 ? ns : 1) + 1;

	return n < most ? n : most;
}

int bench_run_first(struct bench_pair *p, u32 i, u32 size, struct bench_figure *f, u32 repeat_max)
{
	struct bench_answer a, k;

	*f = (struct bench_figure){.repeat = 1};
	if (bench_ask(&p->user, run_program, i, size, 1, &a))
		return a.error;
	f->retval = a.retval;
	if (p->with_kernel) {
		if (bench_ask(&p->kernel, run_program, i, size, 1, &k))
			return k.error;
		if (k.retval != a.retval)
			return -EBADMSG;
		bench_ask(&p->kernel, run_program, i, size, MIN(200u, repeat_max), &k);
		f->kernel_repeat = repeats(KERNEL_SLICE_NS, k.ns, repeat_max);
	}
	bench_ask(&p->user, run_program, i, size, MIN(20u, repeat_max), &a);
	f->repeat = repeats(SLICE_NS, a.ns, repeat_max);
	return a.error;
}

void bench_run_round(struct bench_pair *p, u32 i, u32 size, struct bench_figure *f)
{
	struct bench_answer a;

	if (!f->repeat || f->rounds == BENCH_ROUNDS)
		return;
	bench_ask(&p->user, run_program, i, size, f->repeat, &a);
	f->user[f->rounds] = a.ns;
	f->unsteady |= a.error || a.retval != f->retval;
	if (f->kernel_repeat &&
	    !bench_ask(&p->kernel, run_program, i, size, f->kernel_repeat, &a)) {
		f->kernel[f->rounds] = a.ns;
		f->kernel_cpu[f->rounds] = a.cpu_ns;
		f->unsteady |= a.retval != f->retval;
	}
	f->rounds++;
}

/* The kernel's own duration is time on the wall in whole ns, the thread's includes 1 to 2 ms for
 * the call: the kernel gets the better of them. */
void bench_figure_done(struct bench_figure *f)
{
	f->ns = bench_median(f->user, f->rounds);
	f->kernel_ns =
	    MIN(bench_median(f->kernel, f->rounds), bench_median(f->kernel_cpu, f->rounds));
}
