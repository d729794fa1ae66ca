/* Thousands of spoiled objects and captures through the command. Each run must end by itself, within bounds of time and memory,
 * with a documented status, and say why when it fails.
 *
 *   test-hostile [-n RUNS] [-s SEED] [-k DIR] SKEP OBJECT CAPTURE
 * RUNS per way of spoiling (default 16: some seconds); -k keeps what failed. The first packets of CAPTURE are made a pcap, a
 * pcapng and a compressed file to spoil. */
#include "mutate.h"
#include "tap.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum {
	WORKERS = 2,
	MAX_KEPT = 16,
	SAID = 200,
#ifdef SANITIZED
	SECONDS = 120, MEGABYTES = 2048,
#else
	SECONDS = 30, MEGABYTES = 512,
#endif
};

struct failure {
	uint32_t nr;
	char why[64], said[SAID];
};

/* Shared with the workers. */
struct tally {
	uint32_t runs, accepted, refused, failed;
	long most_kb, most_ms;
	struct failure kept[MAX_KEPT];
};

struct campaign {
	const char *skep, *keep, *object, *capture;
	char dir[64];
	uint32_t runs;
	uint64_t seed;
};
extern char **environ;

static struct bytes read_file(const char *path)
{
	struct bytes b = { 0 };
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) || !(b.v = malloc(st.st_size + 1)) || read(fd, b.v, st.st_size) != st.st_size) {
		printf("Bail out! %s: %s\n", path, strerror(errno));
		exit(1);
	}
	b.n = st.st_size;
	close(fd);
	return b;
}

static void write_file(const char *path, const struct bytes *b)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, b->v, b->n) != (ssize_t)b->n) {
		printf("Bail out! %s: %s\n", path, strerror(errno));
		exit(1);
	}
	close(fd);
}

/* What a run did wrong, or NULL. */
static const char *judge(int status, const char *said, bool late)
{
	static char text[64];

	if (late)
		return "did not end in time";
	if (WIFSIGNALED(status)) {
		snprintf(text, sizeof(text), "died of signal %d", WTERMSIG(status));
		return text;
	}
	if (WEXITSTATUS(status) > 5) {
		snprintf(text, sizeof(text), "exit status %d", WEXITSTATUS(status));
		return text;
	}
	if (WEXITSTATUS(status) && strncmp(said, "skep", 4))
		return "failed without a sentence";
	return NULL;
}

/* Run to the end or the deadline; the first bytes of standard error go to `said`. */
static const char *run(char **argv, char *said, struct tally *t, const char *err_path)
{
	posix_spawn_file_actions_t fa;
	struct timespec t0, t1;
	struct rusage use;
	const char *wrong;
	pid_t pid, got;
	long ms = 0;
	int status = 0, fd;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 2, err_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	if (posix_spawn(&pid, argv[0], &fa, NULL, argv, environ))
		return "could not be started";
	posix_spawn_file_actions_destroy(&fa);
	while ((got = wait4(pid, &status, ms < SECONDS * 1000 ? WNOHANG : 0, &use)) == 0) {
		usleep(ms < 20 ? 500 : 5000);
		clock_gettime(CLOCK_MONOTONIC, &t1);
		ms = (t1.tv_sec - t0.tv_sec) * 1000 + (t1.tv_nsec - t0.tv_nsec) / 1000000;
		if (ms >= SECONDS * 1000)
			kill(pid, SIGKILL);
	}
	fd = open(err_path, O_RDONLY | O_CLOEXEC);
	memset(said, 0, SAID);
	if (fd < 0 || read(fd, said, SAID - 1) < 0)
		said[0] = 0;
	close(fd);
	if (use.ru_maxrss > t->most_kb)
		t->most_kb = use.ru_maxrss;
	if (ms > t->most_ms)
		t->most_ms = ms;
	wrong = judge(status, said, ms >= SECONDS * 1000);
	if (!wrong && use.ru_maxrss > MEGABYTES * 1024L)
		wrong = "took too much memory";
	if (!wrong)
		__atomic_fetch_add(status ? &t->refused : &t->accepted, 1, __ATOMIC_RELAXED);
	return wrong;
}

static void note(struct tally *t, uint32_t nr, const char *why, const char *said)
{
	uint32_t at = __atomic_fetch_add(&t->failed, 1, __ATOMIC_RELAXED);

	if (at >= MAX_KEPT)
		return;
	t->kept[at].nr = nr;
	snprintf(t->kept[at].why, sizeof(t->kept[at].why), "%s", why);
	snprintf(t->kept[at].said, SAID, "%s", said);
}

/* The ways to use a spoiled object take turns. */
static void fill_argv(const struct campaign *c, char **argv, uint32_t nr, bool object, char *spoiled)
{
	char *const forms[][8] = {
		{ "run", spoiled, "--in", (char *)c->capture, "-c", "50" },
		{ "dump", spoiled },
		{ "run", spoiled, "--data", "00112233445566778899aabb08004500001c", "-j" },
		{ "run", (char *)c->object, "--in", spoiled },
		{ "run", (char *)c->object, "--in", spoiled, "-j", "--stats", "--out", "/dev/null" },
		{ "run", (char *)c->object, "--in", spoiled, "--filter", "tcp", "--repeat", "2" },
	};

	memset(argv, 0, 10 * sizeof(*argv));
	argv[0] = (char *)c->skep;
	memcpy(argv + 1, forms[nr % 3 + (object ? 0 : 3)], sizeof(forms[0]));
}

static void keep(const struct campaign *c, const struct mutator *m, uint32_t nr, const struct bytes *b)
{
	char path[512];
	int n = snprintf(path, sizeof(path), "%s/%s-%u", c->keep, m->name, nr);

	for (int i = strlen(c->keep) + 1; i < n; i++)
		if (path[i] == ' ')
			path[i] = '_';
	write_file(path, b);
}

static void work(const struct campaign *c, const struct mutator *m, const struct bytes *good, bool object, uint32_t n,
		 uint32_t worker, struct tally *t)
{
	char path[128], err_path[128], said[SAID];
	struct bytes b = { malloc(good->n), 0 };

	snprintf(path, sizeof(path), "%s/in%u%s", c->dir, worker, object ? ".o" : "");
	snprintf(err_path, sizeof(err_path), "%s/err%u", c->dir, worker);
	for (uint32_t nr = worker; nr < n; nr += WORKERS) {
		uint64_t rnd = c->seed + nr * 0x10001ull;
		const char *wrong;
		char *argv[10];

		memcpy(b.v, good->v, good->n);
		b.n = good->n;
		m->make(&b, nr, &rnd);
		write_file(path, &b);
		fill_argv(c, argv, nr / 3 + nr, object, path);
		wrong = run(argv, said, t, err_path);
		__atomic_fetch_add(&t->runs, 1, __ATOMIC_RELAXED);
		if (!wrong)
			continue;
		note(t, nr, wrong, said);
		if (c->keep)
			keep(c, m, nr, &b);
	}
	free(b.v);
}

static void report(const struct campaign *c, const char *file, const char *what, const struct tally *t, uint32_t n)
{
	const char *slash = strrchr(file, '/');
	char line[256];

	snprintf(line, sizeof(line), "%s: %s", slash ? slash + 1 : file, what);
	tap_ok(t->runs == n && !t->failed, __FILE__, __LINE__, line);
	printf("# %u runs: %u accepted, %u refused, %u wrong; at most %ld MB, %ld ms; seed %llu\n", t->runs, t->accepted,
	       t->refused, t->failed, t->most_kb / 1024, t->most_ms, (unsigned long long)c->seed);
	for (uint32_t i = 0; i < t->failed && i < MAX_KEPT; i++) {
		printf("# mutant %u: %s: ", t->kept[i].nr, t->kept[i].why);
		for (const char *p = t->kept[i].said; *p; p++)
			putchar(*p == '\n' ? '|' : *p);
		putchar('\n');
	}
}

static void spoil(const struct campaign *c, const struct mutator *m, const char *file, const struct bytes *good, bool object)
{
	struct tally *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint32_t all = m->count ? m->count(good) : 0, n = all ? all : c->runs;

	for (uint32_t w = 0; w < WORKERS; w++) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid == 0) {
			work(c, m, good, object, n, w, t);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	report(c, file, m->name, t, n);
	munmap(t, sizeof(*t));
}

static void spoil_all(const struct campaign *c, const char *file, bool object)
{
	struct bytes good = read_file(file);

	for (const struct mutator *m = object ? object_mutators : capture_mutators; m->name; m++)
		spoil(c, m, file, &good, object);
	free(good.v);
}

/* Unspoiled it must pass, or nothing below means anything. */
static void check_good(const struct campaign *c)
{
	char *argv[10], said[SAID], err_path[128];
	struct tally t = { 0 };

	snprintf(err_path, sizeof(err_path), "%s/err", c->dir);
	for (uint32_t form = 0; form < 6; form++) {
		fill_argv(c, argv, form, form < 3, (char *)(form < 3 ? c->object : c->capture));
		if (!OK(!run(argv, said, &t, err_path)))
			printf("# %s\n", said);
	}
	EQ(t.accepted, 6);
}

enum { N_CAPTURES = 3 };

/* Small ones: what is spoiled should be seen by the reader, not lost in megabytes of packets. */
static void make_captures(const struct campaign *c, char paths[N_CAPTURES][128])
{
	static const char *const endings[N_CAPTURES] = { "pcap", "pcapng", "pcapng.gz" };
	char command[512];

	for (int i = 0; i < N_CAPTURES; i++)
		snprintf(paths[i], 128, "%s/good.%s", c->dir, endings[i]);
	for (int i = 0; i < 2; i++) {
		snprintf(command, sizeof(command), "'%s' run '%s' --in '%s' -c 20 --out %s > /dev/null", c->skep, c->object,
			 c->capture, paths[i]);
		OK(!system(command));
	}
	snprintf(command, sizeof(command), "gzip -c %s > %s", paths[1], paths[2]);
	OK(!system(command));
}

int main(int argc, char **argv)
{
	struct campaign c = { .runs = 16, .seed = 1, .dir = "/tmp/skep-hostile-XXXXXX" };
	char captures[N_CAPTURES][128], command[128];
	int opt;

	while ((opt = getopt(argc, argv, "n:s:k:")) != -1) {
		if (opt == 'n')
			c.runs = atoi(optarg);
		else if (opt == 's')
			c.seed = strtoull(optarg, NULL, 0);
		else if (opt == 'k')
			c.keep = optarg;
		else
			return 2;
	}
	if (argc - optind != 3 || !mkdtemp(c.dir))
		return 2;
	c.skep = argv[optind];
	c.object = argv[optind + 1];
	c.capture = argv[optind + 2];
	setenv("TMPDIR", c.dir, 1);
	check_good(&c);
	make_captures(&c, captures);
	spoil_all(&c, c.object, true);
	for (int i = 0; i < N_CAPTURES; i++)
		spoil_all(&c, captures[i], false);
	snprintf(command, sizeof(command), "rm -rf %s", c.dir);
	OK(!system(command));
	return tap_done();
}
