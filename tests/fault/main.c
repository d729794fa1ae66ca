/* Each scene once for every call it makes, with that call failing; and once more with all calls from there on failing. Each time:
 * either the operation works all the same or it answers with a fitting error, later ones are right, and when the descriptors are
 * closed nothing is left: no object, descriptor, memory or mapping.
 *
 *	test-fault [-s SCENE] [-n N] [-r] OBJECT	one scene, one call, the rest too */
#include "fault.h"
#include "tap.h"
#include "env/env.h"
#include "sys/handle.h"
#include <dirent.h>

enum { MAX_TOLD = 12 };

static int fds[64];
static u32 n_fds;
static u32 told;	/* complaints in this scene */
static bool ended;
static struct state { long allocated, mapped, fds, objects; } before;
extern char __executable_start;

long bpf(int cmd, union abi_attr *a)
{
	return sys_bpf(sys_self(), cmd, (uintptr_t)a, sizeof(*a));
}

int own(int fd)
{
	if (fd >= 0 && n_fds < ARRAY_SIZE(fds))
		fds[n_fds++] = fd;
	return fd;
}

static void tell(const char *wrong, const char *what, int line, long r)
{
	if (told++ < MAX_TOLD)
		printf("# call %ld%s (%s from +0x%lx): %s: %s, line %d, answer %ld\n", faults.chosen, faults.rest ? " and the rest" : "",
		       faults.what ? faults.what : "none", (char *)faults.caller - &__executable_start, wrong, what, line, r);
}

void must(bool ok, const char *what, int line)
{
	if (!ok)
		tell("wrong result", what, line, 0);
}

bool step(const char *what, int line, long r, long wanted, long fired)
{
	bool good = wanted ? r == wanted : r >= 0;

	if (good)
		return true;
	ended = true;
	if (r >= 0)
		tell("works although it must not", what, line, r);
	else if ((r == -EOPNOTSUPP || r == -EACCES) && faults.copied)
		return false; /* a perf event whose attr could not be read was taken for the kernel's, which nobody may open */
	else if (faults.fired == fired)
		tell("fails although nothing failed", what, line, r);
	else if (r == -EBUSY && !strcmp(faults.what, "fcntl64"))
		return false; /* seals */
	else if (r != -ENOMEM && r != -EMFILE && r != -ENFILE && r != -ENOSPC && !(r == -EFAULT && faults.copied))
		tell("not a fitting error", what, line, r);
	return false;
}

static long count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	long n = 0;

	while (d && readdir(d))
		n++;
	closedir(d);
	return n;
}

/* What is dropped is gone for good after this. */
static struct state settle(void)
{
	static const int next[] = { BPF_MAP_GET_NEXT_ID, BPF_PROG_GET_NEXT_ID, BPF_BTF_GET_NEXT_ID };

	faults.armed = false;
	for (u32 i = 0; i < ARRAY_SIZE(next); i++) {
		union abi_attr a = { 0 };

		while (!bpf(next[i], &a))
			a.id.start_id = a.id.next_id;
	}
	for (u32 i = 0; i < 4; i++)
		sys_close(dup(0)); /* looks after objects without ids */
	env_synchronize();
	return (struct state){ faults.allocated, faults.mapped, count_fds(), atomic_load(&sys_live) };
}

static void play(const struct scene *s, long chosen, bool rest)
{
	faults = (struct faults){ .chosen = chosen, .rest = rest, .allocated = faults.allocated, .mapped = faults.mapped };
	n_fds = 0;
	ended = false;
	faults.armed = true;
	s->run();
	faults.armed = !rest;
	if (s->after) {
		bool armed = faults.armed;

		faults.armed = false;
		s->after();
		faults.armed = armed;
	}
	while (n_fds)
		sys_close(fds[--n_fds]);
}

static void compare(const struct state *now)
{
	const long *a = &before.allocated, *b = &now->allocated;
	static const char *const what[] = { "memory left behind", "mappings left behind", "descriptors left behind", "objects left behind" };

	for (u32 i = 0; i < ARRAY_SIZE(what); i++)
		if (a[i] != b[i])
			tell(what[i], "at the end", __LINE__, b[i] - a[i]);
	before = *now;
}

static long play_all(const struct scene *s, bool rest, u32 *failed)
{
	long n = 0;

	do {
		struct state now;

		play(s, ++n, rest);
		now = settle();
		compare(&now);
		*failed += ended;
	} while (faults.fired);
	return n - 1;
}

static void try_scene(const struct scene *s)
{
	char line[128];
	u32 failed = 0;
	long n;

	told = 0;
	for (u32 i = 0; i < 3; i++) { /* what is kept for ever is made now */
		play(s, 0, false);
		before = settle();
	}
	if (ended)
		tell("does not work at all", s->name, __LINE__, 0);
	n = play_all(s, false, &failed);
	play_all(s, true, &failed);
	snprintf(line, sizeof(line), "%s: each of its calls fails", s->name);
	tap_ok(!told && n > 0, __FILE__, __LINE__, line);
	printf("# %ld calls; %u of %ld runs ended with an error\n", n, failed, 2 * n);
}

int main(int argc, char **argv)
{
	const char *only = NULL;
	long one = 0;
	bool rest = false;
	int opt;

	while ((opt = getopt(argc, argv, "s:n:r")) != -1) {
		if (opt == 's')
			only = optarg;
		else if (opt == 'n')
			one = atol(optarg);
		else if (opt == 'r')
			rest = true;
		else
			return 2;
	}
	if (!OK(argc - optind == 1 && program_record(argv[optind])))
		return tap_done();
	for (const struct scene *s = scenes; s->name; s++) {
		if (only && strcmp(only, s->name))
			continue;
		if (!one) {
			try_scene(s);
			continue;
		}
		play(s, 0, false);
		before = settle();
		play(s, one, rest);
		before = settle();
	}
	program_done();
	return tap_done();
}
