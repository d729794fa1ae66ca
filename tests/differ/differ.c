/* Random programs on the kernel and on skep: same verdict, same results; and skep against itself: the fast interpreter
 * against the observed one, and the observed run against the states that the verifier kept. Prints TAP and a summary.
 *
 *   differ [--count N] [--seed FIRST] [--seconds S] [--type xdp|tc|socket] [--caps all|bpf]      a campaign; with bpf the
 *             caller has no CAP_PERFMON: addresses must not leak, and accesses are masked against speculation
 *   differ --one SEED [--type T]                                        one program: disassembly, both logs, results
 *   differ --file INPUT                                                 the same for an input of tests/fuzz/insns.c
 *   differ --dump FOLDER [--count N] [--seed FIRST]                     programs as seeds for tests/fuzz/insns.c
 *
 * Without bpf(2) on the kernel only skep against itself is done. */
#include "env/env.h"
#include "floor.h"
#include "isa/isa.h"
#include "oracle.h"
#include "sys/sys.h"
#include "tap.h"
#include "verify/verify.h"
#include <getopt.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

enum { PACKETS = 3, PACKET_MAX = 400, SHOW = 12, STEPS = 2000000, RULES = 128 };

enum bad { FALSE_ACCEPT, OTHER_RESULT, OTHER_ENGINE, BROKEN_STATE, BROKEN_MEMORY, FALSE_REFUSAL, OTHER_ERRNO, OTHER_COUNT, N_BAD };
static const char *const bad_names[N_BAD] = {
	"false accepts", "different results", "fast and observed differ", "states broken", "memory broken", "false refusals",
	"other errno", "other count of verified instructions",
};

static struct {
	u64 programs, wild, both_accept, both_refuse, runs, too_heavy, dangerous, not_checked, observed, checks, steps_limited;
	u64 kernel_bugs;
	u64 bad[N_BAD], wild_differ;
	struct { const char *rule; u64 n, seed; } rule[RULES];
} sum;

static struct floor kernel, skep;
static bool has_kernel, show_all;
static struct run_buffer buffer;
static volatile u64 now_seed;
static char log_text_kernel[1 << 20];

static PRINTF(3, 4) void found(enum bad what, u64 seed, const char *fmt, ...)
{
	va_list ap;

	if (sum.bad[what]++ >= SHOW && !show_all)
		return;
	printf("# %s: seed %llu: ", bad_names[what], (unsigned long long)seed);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

/* ---- inputs */

static u32 make_packet(u8 *packet, u64 seed, u32 n)
{
	u64 rnd = seed * 31 + n;
	u32 size = 14 + gen_rnd64(&rnd) % (n == 1 ? 60 : PACKET_MAX - 14);

	if (!n)		/* just as long as programs check for: one byte too far is outside */
		size = (u32[]){ 14, 20, 34, 54 }[size % 4];
	for (u32 i = 0; i < size; i += 8) {
		u64 x = gen_rnd64(&rnd), shape = x >> 61;

		if (shape < 2)
			x &= 0x0707070707070707ull;
		else if (shape == 2)
			x = 0;
		else if (shape == 3)
			x = ~0ull;
		memcpy(packet + i, &x, MIN(8u, size - i));
	}
	if (n == 2 && size >= 54)
		memcpy(packet + 12, rnd & 1 ? "\x08\x00\x45" : "\x86\xdd\x60", 3);
	return size;
}

/* ---- skep's observed run */

static int use_map(void *ctx, s32 fd, bool fd_is_index, struct map **map)
{
	struct prog *p = ctx;
	struct map *m = fd_is_index ? NULL : sys_map_of(fd);

	for (u32 i = 0; i < p->n_maps; i++)
		if (p->maps[i] == m) {
			*map = m;
			return (int)i;
		}
	return -EBADF;
}

static enum oracle_end observe(struct oracle *o, u32 type, const u8 *packet, u32 size, struct floor_run *r)
{
	enum oracle_end end;
	struct env env;
	u32 l2;

	run_buffer_fill(&buffer, packet, size);
	env_init(&env, &env_host_world);
	env_enter(&env);
	end = oracle_run(o, &env, &buffer, STEPS, &r->retval);
	env_leave(&env);
	r->err = 0;
	/* a socket filter's packet begins behind the Ethernet header, which TEST_RUN gives back empty */
	l2 = type == BPF_PROG_TYPE_SOCKET_FILTER ? 14 : 0;
	r->size = (u32)(buffer.frame.packet_end - buffer.frame.data_meta) + l2;
	memset(r->data, 0, l2);
	if (r->size <= sizeof(r->data))
		memcpy(r->data + l2, buffer.frame.data_meta, r->size - l2);
	return end;
}

static bool same(const struct floor_run *a, const struct floor_run *b)
{
	if (a->err || b->err)
		return a->err == b->err;
	return a->retval == b->retval && a->size == b->size && !memcmp(a->data, b->data, MIN(a->size, 4096u));
}

static void digests(struct floor *f, u32 maps, u64 *out)
{
	for (u32 m = 0; m < GEN_MAPS; m++)
		out[m] = maps >> m & 1 ? floor_digest(f, m) : 0;
}

/* What the programs did, packet after packet. */
struct history {
	struct floor_run run[PACKETS];
	u64 maps[GEN_MAPS];
};

static void say_difference(enum bad what, const struct gen_program *p, const struct history *a, const struct history *b)
{
	for (u32 i = 0; i < PACKETS; i++)
		if (!same(&a->run[i], &b->run[i])) {
			const struct floor_run *x = &a->run[i], *y = &b->run[i];
			u32 at = 0;

			while (at < MIN(MIN(x->size, y->size), 4095u) && x->data[at] == y->data[at])
				at++;
			found(what, p->seed, "packet %u: err %d/%d retval %#x/%#x size %u/%u, first other byte at %u: %02x/%02x", i,
			      x->err, y->err, x->retval, y->retval, x->size, y->size, at, x->data[at], y->data[at]);
			return;
		}
	for (u32 m = 0; m < GEN_MAPS; m++)
		if (a->maps[m] != b->maps[m])
			found(what, p->seed, "map %s differs", gen_maps[m].name);
}

static bool histories_same(const struct history *a, const struct history *b)
{
	for (u32 i = 0; i < PACKETS; i++)
		if (!same(&a->run[i], &b->run[i]))
			return false;
	return !memcmp(a->maps, b->maps, sizeof(a->maps));
}

static void run_all(struct floor *f, int prog, const struct gen_program *p, struct history *h)
{
	u8 packet[PACKET_MAX + 8];

	floor_reset_maps(f, p->maps);
	for (u32 i = 0; i < PACKETS; i++) {
		u32 size = make_packet(packet, p->seed, i);

		floor_test_run(f, prog, packet, size, &h->run[i]);
	}
	digests(f, p->maps, h->maps);
}

/* false: it could not be observed to its end. */
static bool observe_all(struct prog *prog, const struct gen_program *p, bool all_precise, struct history *h)
{
	int err;
	struct oracle *o = oracle_new(prog, skep.caller->caps, all_precise, use_map, prog, &err);
	u8 packet[PACKET_MAX + 8];
	bool ended = true;

	if (!o) {
		sum.not_checked++;
		return false;
	}
	floor_reset_maps(&skep, p->maps);
	for (u32 i = 0; i < PACKETS && ended; i++) {
		u32 size = make_packet(packet, p->seed, i);
		enum oracle_end end;

		if (!run_test_takes(prog->kind, packet, size)) {
			h->run[i] = (struct floor_run){ .err = -EINVAL };
			continue;
		}
		end = observe(o, p->type, packet, size, &h->run[i]);

		ended = end == ORACLE_OK;
		sum.observed++;
		sum.steps_limited += end == ORACLE_LIMIT;
		if (end == ORACLE_STATE || end == ORACLE_MEMORY)
			found(end == ORACLE_STATE ? BROKEN_STATE : BROKEN_MEMORY, p->seed, "%s: %s",
			      all_precise ? "all precise" : "as pruned", oracle_text(o));
	}
	sum.checks += oracle_checks(o);
	oracle_free(o);
	digests(&skep, p->maps, h->maps);
	return ended;
}

/* ---- one program */

static void count_refusal(const struct gen_program *p)
{
	const struct refusal *why = sys_last_refusal();
	const char *rule = why && why->rule ? why->rule : "?";

	for (u32 i = 0; i < RULES; i++) {
		if (!sum.rule[i].rule)
			sum.rule[i].rule = rule, sum.rule[i].seed = p->seed;
		if (!strcmp(sum.rule[i].rule, rule)) {
			sum.rule[i].n++;
			break;
		}
	}
	found(FALSE_REFUSAL, p->seed, "%s: insn %u: %s", rule, why ? why->insn : 0, why ? why->text : "");
}

static bool too_heavy(int skep_fd)
{
	const struct refusal *why = skep_fd < 0 ? sys_last_refusal() : NULL;

	return why && why->rule && (!strcmp(why->rule, "complexity") || !strcmp(why->rule, "memory"));
}

static void compare_verdicts(const struct gen_program *p, int ours, int theirs)
{
	if (ours >= 0 && theirs >= 0) {
		u32 a = floor_verified_insns(&skep, ours), b = floor_verified_insns(&kernel, theirs);

		sum.both_accept++;
		if (a != b)
			found(OTHER_COUNT, p->seed, "skep %u, kernel %u", a, b);
	} else if (ours < 0 && theirs < 0) {
		sum.both_refuse++;
		if (ours != theirs)
			found(OTHER_ERRNO, p->seed, "skep %d, kernel %d", ours, theirs);
	} else if (ours >= 0 && theirs == -EFAULT) {
		sum.kernel_bugs++;	/* "verifier bug: ...", says its log: no verdict on the program */
	} else if (ours >= 0) {
		found(FALSE_ACCEPT, p->seed, "kernel says %d%s", theirs, p->wild ? " (wild)" : "");
	} else {
		count_refusal(p);
	}
}

static void run_and_compare(const struct gen_program *p, int ours, int theirs)
{
	static struct history a, b, c, d;
	struct prog *prog = sys_prog_of(ours);

	run_all(&skep, ours, p, &a);
	sum.runs += PACKETS;
	if (theirs >= 0) {
		run_all(&kernel, theirs, p, &b);
		if (!histories_same(&a, &b)) {
			/* what a damaged program reads may never have been written */
			if (p->wild)
				sum.wild_differ++;
			else
				say_difference(OTHER_RESULT, p, &a, &b);
		}
	}
	if (!prog)
		return;
	if (observe_all(prog, p, false, &c) && !p->wild && !histories_same(&a, &c))
		say_difference(OTHER_ENGINE, p, &a, &c);
	observe_all(prog, p, true, &d);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + t.tv_nsec / 1e9;
}

static void try_program(const struct gen_program *p)
{
	int ours, theirs = -ENOSYS;
	double start = now_s();

	now_seed = p->seed;
	sum.programs++;
	sum.wild += p->wild;
	ours = floor_load(&skep, p, NULL, 0, 0);
	if (too_heavy(ours) || now_s() - start > 2) {	/* nor will the kernel be quicker */
		sum.too_heavy++;
		if (ours >= 0)
			floor_drop(&skep, ours);
		return;
	}
	if (gen_is_dangerous(p)) {
		sum.dangerous++;
	} else if (has_kernel) {
		theirs = floor_load(&kernel, p, NULL, 0, 0);
		compare_verdicts(p, ours, theirs);
	}
	if (ours >= 0)
		run_and_compare(p, ours, theirs);
	if (theirs >= 0)
		floor_drop(&kernel, theirs);
	if (ours >= 0)
		floor_drop(&skep, ours);
}

/* ---- showing one */

static void show_log(const char *who, int fd, const char *text)
{
	printf("---- %s: %s\n%s", who, fd < 0 ? strerror(-fd) : "accepted", text);
}

static struct gen_program p;

/* An input of tests/fuzz/insns.c: its options say the type. */
static bool read_program(const char *path)
{
	FILE *f = fopen(path, "rb");
	int options = f ? fgetc(f) : EOF;

	if (options == EOF) {
		perror(path);
		return false;
	}
	p.type = options & 16 ? BPF_PROG_TYPE_SCHED_CLS : options & 32 ? BPF_PROG_TYPE_SOCKET_FILTER : BPF_PROG_TYPE_XDP;
	p.flags = options & 4 ? ABI_F_TEST_STATE_FREQ : 0;
	p.n = (u32)fread(p.insn, sizeof(p.insn[0]), GEN_INSNS, f);
	p.wild = true;
	fclose(f);
	p.n_funcs = 1;
	for (u32 i = 1; i < p.n; i++)
		for (u32 k = 0; k < p.n; k++) {
			const struct bpf_insn *c = &p.insn[k];

			if ((!isa_is_pseudo_call(c) && !isa_is_pseudo_func(c)) || k + 1 + c->imm != i || p.n_funcs == GEN_FUNCS)
				continue;
			p.func[p.n_funcs].start = i;
			p.func[p.n_funcs++].kind = isa_is_pseudo_func(c) ? GEN_CALLBACK : GEN_STATIC;
			p.needs_btf = true;
			break;
		}
	for (u32 k = 0; k < p.n; k++)
		if (isa_is_ld_imm64(&p.insn[k]) && (p.insn[k].src_reg == 1 || p.insn[k].src_reg == 2))
			p.insn[k].imm = (u32)p.insn[k].imm % GEN_MAPS, p.maps |= 1u << p.insn[k].imm;
	return true;
}

static void show(void)
{
	static char text[1 << 20];
	u64 seed = p.seed;
	int ours, theirs;

	show_all = true;
	printf("seed %llu: %u instructions, %u functions, flags %#x%s%s\n", (unsigned long long)seed, p.n, p.n_funcs, p.flags,
	       p.wild ? ", wild" : "", gen_is_dangerous(&p) ? ", not for the kernel" : "");
	for (u32 i = 0; i < p.n; i++) {
		struct log line;
		char *t;

		log_init(&line, 512);
		isa_print_insn(&line, &p.insn[i], i, NULL);
		t = log_text(&line, NULL);
		printf("%3u: %s\n", i, t ? t : "");
		free(t);
		log_done(&line);
		i += isa_is_ld_imm64(&p.insn[i]);
	}
	fflush(stdout);
	ours = floor_load(&skep, &p, text, sizeof(text), 2);
	show_log("skep", ours, text);
	if (has_kernel && !gen_is_dangerous(&p) && !too_heavy(ours)) {
		theirs = floor_load(&kernel, &p, log_text_kernel, sizeof(log_text_kernel), 2);
		show_log("kernel", theirs, log_text_kernel);
		if (theirs >= 0)
			floor_drop(&kernel, theirs);
	}
	if (ours >= 0)
		floor_drop(&skep, ours);
	try_program(&p);
}

/* ---- seeds */

static int dump(const char *folder, u32 type, u64 first, u64 count)
{
	for (u64 i = 0; i < count; i++) {
		char path[4096];
		FILE *f;

		gen_make(&p, type, first + i);
		snprintf(path, sizeof(path), "%s/gen-%llu", folder, (unsigned long long)(first + i));
		f = fopen(path, "wb");
		if (!f) {
			perror(path);
			return 1;
		}
		fputc((int)(i & 15) | (type == BPF_PROG_TYPE_SCHED_CLS ? 16 : type == BPF_PROG_TYPE_SOCKET_FILTER ? 32 : 0), f);
		fwrite(p.insn, sizeof(p.insn[0]), p.n, f);
		fclose(f);
	}
	return 0;
}

/* ---- rights */

/* Only CAP_BPF and CAP_NET_ADMIN are left, here and for the kernel. */
static bool drop_rights(struct sys_caller *caller)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = { 0 };

	caller->caps = VERIFY_CAP_BPF | VERIFY_CAP_NET_ADMIN;
	if (syscall(SYS_capget, &h, d))
		return false;
	d[0].effective = d[0].permitted & 1u << CAP_NET_ADMIN;
	d[1].effective = d[1].permitted & 1u << (CAP_BPF - 32);
	d[0].permitted = d[0].effective;
	d[1].permitted = d[1].effective;
	return !syscall(SYS_capset, &h, d);
}

/* ---- the campaign */

static void on_signal(int sig)
{
	char line[96];
	int n = snprintf(line, sizeof(line), "# signal %d while at seed %llu\n", sig, (unsigned long long)now_seed);

	if (write(1, line, (size_t)n) < 0)
		_exit(3);
	tap_died(sig);
}

static void summary(double seconds, u32 type, const char *type_name)
{
	printf("# %s: %llu programs in %.1f s (%.0f/s): %llu accepted by both, %llu refused by both; %llu wild; %llu runs compared\n",
	       type_name, (unsigned long long)sum.programs, seconds, sum.programs / MAX(seconds, 0.001),
	       (unsigned long long)sum.both_accept, (unsigned long long)sum.both_refuse, (unsigned long long)sum.wild,
	       (unsigned long long)sum.runs);
	printf("# not put to the kernel: %llu too heavy, %llu dangerous; wild programs with other results: %llu; EFAULT of the "
	       "kernel: %llu\n", (unsigned long long)sum.too_heavy, (unsigned long long)sum.dangerous,
	       (unsigned long long)sum.wild_differ, (unsigned long long)sum.kernel_bugs);
	printf("# observed runs: %llu (%llu registers compared; %llu ended by the limit of steps; %llu programs not checked)\n",
	       (unsigned long long)sum.observed, (unsigned long long)sum.checks, (unsigned long long)sum.steps_limited,
	       (unsigned long long)sum.not_checked);
	for (u32 i = 0; i < N_BAD; i++)
		printf("# %s: %llu\n", bad_names[i], (unsigned long long)sum.bad[i]);
	for (u32 i = 0; i < RULES && sum.rule[i].rule; i++)
		printf("#   refused for %s: %llu, e.g. seed %llu\n", sum.rule[i].rule, (unsigned long long)sum.rule[i].n,
		       (unsigned long long)sum.rule[i].seed);
}

static void campaign(u32 type, const char *type_name, u64 first, u64 count, double seconds)
{
	double start = now_s(), said = start;

	for (u64 i = 0; i < count && (!seconds || now_s() - start < seconds); i++) {
		alarm(600);
		gen_make(&p, type, first + i);
		try_program(&p);
		if (now_s() - said > 60) {
			said = now_s();
			printf("# ... %llu programs\n", (unsigned long long)sum.programs);
			fflush(stdout);
		}
	}
	alarm(0);
	summary(now_s() - start, type, type_name);
	EQ(sum.bad[BROKEN_STATE], 0);
	EQ(sum.bad[BROKEN_MEMORY], 0);
	EQ(sum.bad[OTHER_ENGINE], 0);
	OK(sum.checks > 0);
	if (!has_kernel) {
		printf("ok %d - compared with the kernel # SKIP no bpf(2) here\n", ++tap_n);
		return;
	}
	EQ(sum.bad[FALSE_ACCEPT], 0);
	EQ(sum.bad[OTHER_RESULT], 0);
	if (skep.caller->caps & VERIFY_CAP_PERFMON)
		OK(sum.both_accept * 2 > sum.programs);
	/* none is known; a new one is worth a look, but it is no danger */
	OK(sum.bad[FALSE_REFUSAL] * 1000 <= sum.programs);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "count", 1, 0, 'n' }, { "seed", 1, 0, 's' }, { "seconds", 1, 0, 't' },
						 { "one", 1, 0, '1' }, { "file", 1, 0, 'f' }, { "caps", 1, 0, 'c' }, { "dump", 1, 0, 'd' }, { "type", 1, 0, 'k' }, { 0 } };
	static const struct { const char *name; u32 type; } types[] = {
		{ "xdp", BPF_PROG_TYPE_XDP }, { "tc", BPF_PROG_TYPE_SCHED_CLS }, { "socket", BPF_PROG_TYPE_SOCKET_FILTER },
	};
	u64 first = 1, count = 2000, one = 0;
	u32 type = 0;
	const char *folder = NULL, *file = NULL;
	struct sys_caller caller = *sys_self();
	bool few_rights = false;
	double seconds = 0;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'n': count = strtoull(optarg, NULL, 0); break;
		case 's': first = strtoull(optarg, NULL, 0); break;
		case 't': seconds = atof(optarg); break;
		case 'd': folder = optarg; break;
		case 'c': few_rights = !strcmp(optarg, "bpf"); break;
		case 'f': file = optarg; break;
		case '1': one = strtoull(optarg, NULL, 0); break;
		case 'k':
			for (type = 0; type < ARRAY_SIZE(types) && strcmp(types[type].name, optarg); type++)
				;
			break;
		default: type = ARRAY_SIZE(types);
		}
		if (type == ARRAY_SIZE(types)) {
			fprintf(stderr, "usage: differ [--count N] [--seed N] [--seconds S] [--type xdp|tc|socket] [--caps all|bpf] [--one SEED | --file INPUT]\n");
			tap_finished = 1;
			return 2;
		}
	}
	if (folder) {
		tap_finished = 1;
		return dump(folder, types[type].type, first, count);
	}
	if (!__sanitizer_set_death_callback) {
		signal(SIGSEGV, on_signal);
		setrlimit(RLIMIT_AS, &(struct rlimit){ 2ull << 30, 2ull << 30 });	/* what needs more is too heavy */
	}
	signal(SIGALRM, on_signal);
	if (file && !read_program(file))
		return 2;
	if (few_rights && !OK(drop_rights(&caller)))
		return tap_done();
	if (!OK(!floor_open(&skep, false, file ? p.type : types[type].type, &caller)) || !OK(!run_buffer_init(&buffer, PACKET_MAX + 8)))
		return tap_done();
	has_kernel = !floor_open(&kernel, true, file ? p.type : types[type].type, NULL);
	if (one)
		gen_make(&p, types[type].type, one);
	if (one || file)
		show();
	else
		campaign(types[type].type, types[type].name, first, count, seconds);
	if (has_kernel)
		floor_close(&kernel);
	floor_close(&skep);
	run_buffer_done(&buffer);
	return tap_done();
}
