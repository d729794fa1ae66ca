/* bench: runs the sections, prints their tables, and writes the page docs/performance.md. `make
 * bench` calls it. */
#include "bench.h"
#include "base/cleanup.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sys/utsname.h>
#include <time.h>

static const struct section {
	const char *name;
	void (*run)(struct bench *b);
} sections[] = {
    {"interp", bench_interp}, {"packets", bench_packets}, {"replay", bench_replay},
    {"maps", bench_maps},     {"calls", bench_calls},	  {"verify", bench_verify},
};

static const char usage[] =
    "usage: bench [--rounds N] [--only NAME,...] [--objects DIR] [--examples DIR] [--capture "
    "FILE]\n"
    "             [--selftests DIR] [--alone] [--write FILE]\n"
    "sections: interp packets replay maps calls verify\n"
    "--selftests: compiled objects of the kernel's selftests, for verification\n"
    "--alone: the kernel is not asked\n"
    "--write: the page with all figures; only when the kernel could be asked as well\n";

const char *bench_object(const struct bench *b, const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s.bpf.o", b->objects, name);
	return path;
}

static bool chosen(const char *only, const char *name)
{
	size_t n = strlen(name);

	if (!only)
		return true;
	for (const char *p = only; (p = strstr(p, name)); p++)
		if ((p == only || p[-1] == ',') && (!p[n] || p[n] == ','))
			return true;
	return false;
}

static bool read_line(const char *path, const char *key, char *to, size_t size)
{
	FILE *f = fopen(path, "re");
	bool found = false;

	while (f && !found && fgets(to, size, f))
		found = !strncmp(to, key, strlen(key));
	if (f)
		fclose(f);
	to[strcspn(to, "\n")] = 0;
	return found;
}

/* With statistics on every run of the kernel's costs some 30 ns more. */
static int check_stats(void)
{
	char line[16] = "";

	if (!read_line("/proc/sys/kernel/bpf_stats_enabled", "", line, sizeof(line)) ||
	    !strcmp(line, "0"))
		return 0;
	fprintf(stderr,
		"bench: kernel.bpf_stats_enabled is %s: the kernel's figures would be wrong. Set "
		"it to 0.\n",
		line);
	return -EBUSY;
}

/* What the kernel does against speculation costs it at calls and returns; skep's calls within the
 * process pay nothing of that. */
static void mitigations(FILE *f)
{
	static const char *const names[] = {"spectre_v2", "retbleed", "spec_rstack_overflow",
					    "meltdown"};
	char path[80], line[160];
	const char *between = "";

	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/vulnerabilities/%s",
			 names[i]);
		if (!read_line(path, "", line, sizeof(line)) || !strncmp(line, "Not affected", 12))
			continue;
		fprintf(f, "%s%s (%.*s)", between, names[i], (int)strcspn(line, ";"), line);
		between = ", ";
	}
	if (!*between)
		fputs("none that matter", f);
}

static void head(struct bench *b, FILE *f, const char *command)
{
	char cpu[128] = "", load[64] = "", date[32];
	const char *model = "unknown processor";
	struct utsname u;
	time_t now = time(NULL);

	if (read_line("/proc/cpuinfo", "model name", cpu, sizeof(cpu)) && strchr(cpu, ':'))
		model = strchr(cpu, ':') + 2;
	read_line("/proc/loadavg", "", load, sizeof(load));
	load[strcspn(load, " ")] = 0;
	uname(&u);
	strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
	fprintf(
	    f,
	    "# Performance\n\n"
	    "This page is written by `%s`. Each figure of skep stands beside the kernel's for\n"
	    "the same work, measured in turns in the same run: CPU time of the thread, medians of\n"
	    "%u rounds. Ratio is skep's time by the kernel's: below 1 skep is faster. The kernel\n"
	    "compiles programs to machine code; skep interprets them so far.\n\n"
	    "%s, %ld processors, Linux %s, %s. Load when it began: %s; other work on the machine\n"
	    "makes all figures worse, ratios less so. What this kernel does about speculation,\n"
	    "which makes its calls and returns dear: ",
	    command, b->rounds, model, sysconf(_SC_NPROCESSORS_ONLN), u.release, date, load);
	mitigations(f);
	fputs(".\n", f);
}

static int write_page(struct bench *b, const char *path, const char *head_text)
{
	FILE *f = fopen(path, "we");

	if (!f) {
		fprintf(stderr, "bench: %s: %s\n", path, strerror(errno));
		return -errno;
	}
	fprintf(f, "%s%s", head_text, b->report.page_text);
	if (fclose(f))
		return -EIO;
	printf("\nwritten: %s\n", path);
	return 0;
}

static void show_targets(struct bench_report *r)
{
	char *line, *rest;

	fclose(r->targets);
	bench_section(r, "Targets", "What DESIGN's budget and the issues ask for.");
	bench_table(r, "what|measured|at most|");
	rest = r->targets_text;
	while ((line = strsep(&rest, "\n")) && *line)
		bench_row(r, "%s", line);
	bench_table_end(r);
	free(r->targets_text);
}

/* May this process ask the kernel? Root may, and only bpf(2) itself knows who else. */
static bool kernel_answers(const struct bench *b)
{
	struct bench_floor f;
	struct log err;
	int rc;

	log_init(&err, 4096);
	rc = bench_floor_start(&f, LOAD_KERNEL, bench_object(b, "packets"), NULL, &err);
	log_done(&err);
	bench_floor_stop(&f);
	return !rc;
}

static int parse(struct bench *b, int argc, char **argv, const char **only, const char **page,
		 const char **command)
{
	static const struct option options[] = {
	    {"rounds", 1, NULL, 'r'},  {"only", 1, NULL, 'o'},
	    {"objects", 1, NULL, 'b'}, {"examples", 1, NULL, 'e'},
	    {"capture", 1, NULL, 'c'}, {"selftests", 1, NULL, 's'},
	    {"write", 1, NULL, 'w'},   {"command", 1, NULL, 'm'},
	    {"alone", 0, NULL, 'a'},   {0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'r':
			b->rounds = atoi(optarg);
			break;
		case 'o':
			*only = optarg;
			break;
		case 'b':
			b->objects = optarg;
			break;
		case 'e':
			b->examples = optarg;
			break;
		case 'c':
			b->capture = optarg;
			break;
		case 's':
			b->selftests = *optarg ? optarg : NULL;
			break;
		case 'w':
			*page = optarg;
			break;
		case 'a':
			b->alone = true;
			break;
		case 'm':
			*command = optarg;
			break;
		default:
			return -EINVAL;
		}
	}
	return b->objects && b->rounds > 0 && b->rounds <= BENCH_ROUNDS && optind == argc ? 0
											  : -EINVAL;
}

int main(int argc, char **argv)
{
	struct bench b = {.rounds = 11};
	const char *only = NULL, *page = NULL, *command = "make bench";
	autofree char *text = NULL;
	size_t size;
	FILE *f;
	int rc;

	if (parse(&b, argc, argv, &only, &page, &command)) {
		fputs(usage, stderr);
		return 2;
	}
	if (check_stats())
		return 1;
	b.kernel = !b.alone && kernel_answers(&b);
	bench_report_init(&b.report);
	f = open_memstream(&text, &size);
	if (!f)
		return 1;
	head(&b, f, command);
	fclose(f);
	fputs(text, stdout);
	if (!b.kernel)
		puts("\nThe kernel was not asked: it lets only root load programs. These are "
		     "skep's figures alone.");
	for (u32 i = 0; i < ARRAY_SIZE(sections); i++)
		if (chosen(only, sections[i].name))
			sections[i].run(&b);
	show_targets(&b.report);
	fclose(b.report.page);
	rc = b.report.failed ? -EBADMSG : 0;
	if (page && b.kernel && !only)
		rc = write_page(&b, page, text) ?: rc;
	else if (page)
		printf("\n%s was not written: %s.\n", page,
		       only ? "these were not all sections" : "the kernel's figures are missing");
	free(b.report.page_text);
	return rc != 0;
}
