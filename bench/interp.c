/* interp OBJECT [ROUNDS]: what an instruction costs in the interpreter, beside the kernel's machine
 * code.
 *
 * Every program of the object runs on the user floor, timed by this thread's CPU clock, and, where
 * root may, in the kernel by PROG_TEST_RUN, which times itself. The two take turns, round by round;
 * medians are printed, and their ratio. The number of instructions is counted by the observed
 * interpreter. Floors that disagree about a result end it with status 1. Before comparing: sysctl
 * kernel.bpf_stats_enabled must be 0 (it adds some 30 ns to each of the kernel's runs). */
#include "env/env.h"
#include "load/load.h"
#include "prog/prog.h"
#include "run/run.h"
#include "sys/sys.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#define PACKET	   1280
#define MAX_PROGS  32
#define MAX_ROUNDS 101
#define SLICE_NS   4000000.0 /* one measurement lasts about this long */

struct figure {
	const char *name;
	int fd;
	u64 insns;
	u32 repeat, retval;
	double user[MAX_ROUNDS], kernel[MAX_ROUNDS];
};

struct answer { /* of the kernel floor's process, to one program's turn */
	u32 ns, retval;
	int error;
};

static u8 packet[PACKET];

static void make_packet(void)
{
	u64 x = 88172645463325252ull;

	for (u32 i = 0; i < PACKET; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		packet[i] = x >> 40;
	}
	memcpy(packet + 12, "\x08\x00\x45", 3);
	packet[22] = 64;
	packet[23] = 6;
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, u32 n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

static struct load_object *load(const char *path, enum load_floor floor, struct log *err)
{
	const struct load_opts opts = {.floor = floor};
	struct load_object *o = NULL;

	if (load_open(&o, path, &opts, err))
		return NULL;
	if (load_load(o, &opts, err)) {
		load_close(o);
		return NULL;
	}
	return o;
}

static u32 programs(const struct load_object *o, struct figure *f)
{
	struct bpf_program *p;
	u32 n = 0;

	bpf_object__for_each_program(p, o->obj)
	{
		if (n == MAX_PROGS)
			break;
		f[n++] = (struct figure){.name = bpf_program__name(p), .fd = bpf_program__fd(p)};
	}
	return n;
}

/* ---- the kernel's floor: a process of its own, since libbpf serves one floor a process */

static void serve(const char *path, int in, int out)
{
	static struct figure f[MAX_PROGS];
	struct load_object *o;
	struct log err;
	u32 ask[2], n;

	log_init(&err, 4096);
	o = load(path, LOAD_KERNEL, &err);
	n = o ? programs(o, f) : 0;
	while (read(in, ask, sizeof(ask)) == sizeof(ask)) {
		struct answer a = {.error = -ENOENT};

		if (ask[0] < n) {
			LIBBPF_OPTS(bpf_test_run_opts, t, .data_in = packet, .data_size_in = PACKET,
				    .repeat = ask[1]);

			a.error = bpf_prog_test_run_opts(f[ask[0]].fd, &t);
			a.ns = t.duration;
			a.retval = t.retval;
		}
		if (write(out, &a, sizeof(a)) != sizeof(a))
			break;
	}
	load_close(o);
	log_done(&err);
	_exit(0);
}

struct kernel {
	pid_t pid;
	int ask, answer;
};

static bool kernel_start(struct kernel *k, const char *path)
{
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		return false;
	k->pid = fork();
	if (!k->pid) {
		close(to[1]);
		close(from[0]);
		serve(path, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	k->ask = to[1];
	k->answer = from[0];
	return k->pid > 0;
}

static void kernel_stop(struct kernel *k)
{
	close(k->ask);
	close(k->answer);
	if (k->pid > 0)
		waitpid(k->pid, NULL, 0);
}

static int kernel_run(struct kernel *k, u32 prog, u32 repeat, struct answer *a)
{
	u32 ask[2] = {prog, repeat};

	if (write(k->ask, ask, sizeof(ask)) != sizeof(ask) ||
	    read(k->answer, a, sizeof(*a)) != sizeof(*a))
		return -EPIPE;
	return a->error;
}

/* ---- the user's floor */

static void ignore(struct vm_observer *o, u32 insn, const u64 *regs, u32 depth)
{
}

static void count(struct figure *f, struct env *env, struct run_buffer *b)
{
	struct vm_observer nobody = {.step = ignore};
	double start;

	env->insn_count = 0;
	f->retval = vm_run_observed(sys_prog_of(f->fd)->image, env, &b->frame, &nobody);
	f->insns = env->insn_count;
	run_xdp(sys_prog_of(f->fd), env, b);
	start = cpu_ns();
	run_xdp(sys_prog_of(f->fd), env, b);
	f->repeat = SLICE_NS / (cpu_ns() - start + 20) + 1;
}

static double user_run(const struct figure *f, struct env *env, struct run_buffer *b)
{
	struct prog *p = sys_prog_of(f->fd);
	double start = cpu_ns();

	for (u32 i = 0; i < f->repeat; i++)
		run_xdp(p, env, b);
	return (cpu_ns() - start) / f->repeat;
}

static int measure(struct figure *f, u32 n, u32 rounds, struct kernel *k, bool *with_kernel)
{
	struct run_buffer b;
	struct answer a;
	struct env env;
	int rc = run_buffer_init(&b, PACKET);

	if (rc)
		return rc;
	run_buffer_fill(&b, packet, PACKET);
	env_init(&env, &env_host_world);
	env_enter(&env);
	for (u32 i = 0; i < n; i++)
		count(&f[i], &env, &b);
	/* the copying program has changed the frame: what counts is a fresh one, as the kernel's */
	for (u32 i = 0; i < n && !rc; i++) {
		run_buffer_fill(&b, packet, PACKET);
		f[i].retval = run_xdp(sys_prog_of(f[i].fd), &env, &b);
		*with_kernel = *with_kernel && !kernel_run(k, i, 1, &a);
		if (*with_kernel && a.retval != f[i].retval) {
			fprintf(stderr, "interp: %s: kernel %u, skep %u\n", f[i].name, a.retval,
				f[i].retval);
			rc = -EBADMSG;
		}
	}
	for (u32 r = 0; r < rounds && !rc; r++) {
		for (u32 i = 0; i < n; i++) {
			f[i].user[r] = user_run(&f[i], &env, &b);
			if (*with_kernel && !kernel_run(k, i, f[i].repeat * 2, &a))
				f[i].kernel[r] = a.ns;
		}
	}
	env_leave(&env);
	run_buffer_done(&b);
	return rc;
}

static void print(struct figure *f, u32 n, u32 rounds, bool with_kernel)
{
	printf("%-12s %8s %10s %9s %10s %7s\n", "program", "insns", "ns", "ns/insn", "kernel ns",
	       "ratio");
	for (u32 i = 0; i < n; i++) {
		double user = median(f[i].user, rounds), kernel = median(f[i].kernel, rounds);

		printf("%-12s %8llu %10.1f %9.3f", f[i].name, (unsigned long long)f[i].insns, user,
		       user / f[i].insns);
		if (with_kernel && kernel > 0)
			printf(" %10.0f %7.2f\n", kernel, user / kernel);
		else
			printf(" %10s %7s\n", "-", "-");
	}
	printf("medians of %u rounds; %s\n", rounds,
	       with_kernel ? "kernel: machine code, PROG_TEST_RUN"
			   : "the kernel was not asked: it lets only root load");
}

int main(int argc, char **argv)
{
	static struct figure f[MAX_PROGS];
	u32 rounds = argc > 2 ? atoi(argv[2]) : 15, n;
	bool with_kernel = true;
	struct load_object *o;
	struct kernel k = {-1, -1, -1};
	struct log err;
	int rc;

	if (argc < 2 || rounds < 1 || rounds > MAX_ROUNDS) {
		fprintf(stderr, "usage: interp OBJECT [ROUNDS]\n");
		return 2;
	}
	make_packet();
	with_kernel = kernel_start(&k, argv[1]);
	log_init(&err, 4096);
	o = load(argv[1], LOAD_USER, &err);
	n = o ? programs(o, f) : 0;
	rc = n ? measure(f, n, rounds, &k, &with_kernel) : -ENOEXEC;
	if (!rc)
		print(f, n, rounds, with_kernel);
	else
		fprintf(stderr, "interp: %s: %s\n%s\n", argv[1], strerror(-rc),
			log_text(&err, NULL));
	kernel_stop(&k);
	load_close(o);
	log_done(&err);
	return rc != 0;
}
