/* Verdicts, the comparison of floors, and why an object did not load. */
#include "show.h"
#include "base/abi.h"
#include "base/cleanup.h"
#include "sys/sys.h"
#include "verify/verify.h"
#include <bpf/libbpf.h>

static u64 per_second(const struct path_counts *c, u32 repeat)
{
	return c->cpu_ns ? (u64)((double)c->packets * repeat * 1e9 / c->cpu_ns) : 0;
}

static const char *const *verdict_names(const struct path_counts *c)
{
	return (c->kind ? c->kind : path_verdicts(BPF_PROG_TYPE_XDP))->name;
}

static void counts_json(struct json *j, const struct path_counts *c, u32 repeat)
{
	const char *const *names = verdict_names(c);

	json_number(j, "packets", c->packets);
	json_number(j, "bytes", c->bytes);
	json_number(j, "cpu_ns", c->cpu_ns);
	json_number(j, "packets_per_cpu_second", per_second(c, repeat));
	json_open(j, "verdicts", '{');
	for (u32 i = 0; i < PATH_VERDICTS && names[i]; i++)
		json_number(j, names[i], c->verdict[i]);
	json_close(j, '}');
	json_number(j, "written", c->written);
	json_open(j, "skipped", '{');
	json_number(j, "link_type", c->foreign);
	json_number(j, "refused", c->refused);
	json_number(j, "filter", c->filtered);
	json_close(j, '}');
}

void show_counts(struct show *s, const struct path_counts *c, u32 repeat)
{
	if (s->json) {
		counts_json(s->json, c, repeat);
		return;
	}
	printf("\n%llu packets, %llu bytes, %llu packets/s (CPU time of reading, running and writing)\n",
	       (unsigned long long)c->packets, (unsigned long long)c->bytes, (unsigned long long)per_second(c, repeat));
	for (u32 i = 0; i < PATH_VERDICTS; i++)
		if (c->verdict[i])
			printf("  %-13s %llu\n", verdict_names(c)[i], (unsigned long long)c->verdict[i]);
	if (c->foreign)
		printf("  not run: %llu of link type %u, %s; programs take Ethernet\n", (unsigned long long)c->foreign,
		       c->foreign_type, net_link_type_name(c->foreign_type));
	if (c->refused)
		printf("  not run: %llu too short or too long (first: %s)\n", (unsigned long long)c->refused, strerror(-c->refused_status));
	if (c->filtered)
		printf("  not run: %llu that the filter left out\n", (unsigned long long)c->filtered);
}

void show_stats(struct show *s, const struct path_stats *stats, const struct path_counts *c)
{
	u64 p50 = path_stats_quantile(stats, 0.5), p99 = path_stats_quantile(stats, 0.99);
	u64 ns = c->packets ? c->cpu_ns / c->packets : 0;

	if (s->json) {
		json_open(s->json, "stats", '{');
		json_number(s->json, "instructions_p50", p50);
		json_number(s->json, "instructions_p99", p99);
		json_number(s->json, "instructions_max", stats->max);
		json_number(s->json, "cpu_ns_per_packet", ns);
		json_close(s->json, '}');
		return;
	}
	printf("  instructions per packet: p50 %llu, p99 %llu, most %llu; %llu ns of CPU time per packet (counting)\n",
	       (unsigned long long)p50, (unsigned long long)p99, (unsigned long long)stats->max, (unsigned long long)ns);
}

static void comparison_json(struct json *j, const struct path_comparison *c, const char *lines)
{
	json_open(j, "against_kernel", '{');
	json_number(j, "equal", c->equal);
	json_number(j, "different", c->different);
	json_number(j, "not_comparable", c->not_comparable);
	json_number(j, "maps_equal", c->maps_equal);
	json_number(j, "maps_different", c->maps_different);
	json_number(j, "maps_not_comparable", c->maps_not_comparable);
	json_open(j, "reasons", '{');
	for (u32 i = 0; i < PATH_REASONS; i++)
		if (c->by_reason[i])
			json_number(j, path_reason_names[i], c->by_reason[i]);
	json_close(j, '}');
	json_string(j, "differences", lines, strlen(lines));
	json_close(j, '}');
}

void show_comparison(struct show *s, const struct path_comparison *c)
{
	autofree char *lines = log_text(&c->differences, NULL);

	if (s->json) {
		comparison_json(s->json, c, lines ? lines : "");
		return;
	}
	printf("\nagainst the kernel: %llu packets equal, %llu different, %llu not comparable; maps: %u equal, %u different, "
	       "%u not comparable\n",
	       (unsigned long long)c->equal, (unsigned long long)c->different, (unsigned long long)c->not_comparable, c->maps_equal,
	       c->maps_different, c->maps_not_comparable);
	for (u32 i = 0; i < PATH_REASONS; i++)
		if (c->by_reason[i])
			printf("  not comparable: %llu, %s\n", (unsigned long long)c->by_reason[i], path_reason_names[i]);
	if (c->foreign)
		printf("  not given to either floor: %llu of a link type that is not Ethernet\n", (unsigned long long)c->foreign);
	if (lines && *lines)
		printf("%s", lines);
}

/* Lines of libbpf's messages that only repeat that loading failed. */
static bool is_echo(const char *line)
{
	return strstr(line, "failed to load object") || strstr(line, "BEGIN PROG LOAD LOG") || strstr(line, "END PROG LOAD LOG");
}

enum { TAIL_LINES = 12 };

void show_load_failure(struct load_object *o, struct log *err, bool verbose)
{
	const struct refusal *why = sys_last_refusal();
	autofree char *text = log_text(&o->messages, NULL);
	u32 lines = 0, line = 0;
	char *save = NULL;

	cli_say(err);
	if (why && o->floor == LOAD_USER)
		fprintf(stderr, "refused: %s  [%s, instruction %u]\n", why->text, why->rule ? why->rule : "?", why->insn);
	for (const char *p = text; p && *p; p++)
		lines += *p == '\n';
	if (!verbose && lines > TAIL_LINES)
		fprintf(stderr, "(the last %u of %u lines that libbpf and the verifier said; -v shows all)\n", TAIL_LINES, lines);
	for (char *l = text ? strtok_r(text, "\n", &save) : NULL; l; l = strtok_r(NULL, "\n", &save), line++)
		if (verbose || (line + TAIL_LINES >= lines && !is_echo(l)))
			fprintf(stderr, "  %s\n", l);
}
