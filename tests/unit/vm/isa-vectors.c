/* isa-vectors FILE: run instruction tests on every engine, bypassing the verifier; prints TAP.
 *
 * FILE holds a line a test, columns separated by tabs: name, minimum ISA, program, memory, expected
 * r0, notes, and optionally memory after the run. '#' begins a comment. The program is hex, or
 * assembler text with ';' between instructions. r1 is the address of the memory and r2 its length,
 * both 0 when there is none. Helper 5 returns its r1, and the program ends at once when that is 0;
 * callx calls the helper whose number is in the register. */
#include "program.h"
#include "tap.h"

static const struct engine {
	const char *name;
	bool observed;
	u64 limit;
} engines[] = {
    {"fast", false, 0},
    {"counted", false, 100000000},
    {"observed", true, 100000000},
};

enum { NAME, VERSION, PROGRAM, MEMORY, RESULT, NOTES, AFTER, COLUMNS };

static u64 unwind(u64 r1, u64 r2, u64 r3, u64 r4, u64 r5, struct env *env)
{
	return r1;
}

static env_helper_fn by_number(u64 value)
{
	return value == 5 ? unwind : NULL;
}

static void report(bool good, const char *name, const char *engine, const char *why)
{
	printf("%sok %d - %s [%s]%s%s\n", good ? "" : "not ", ++tap_n, name, engine,
	       *why ? " # " : "", why);
	tap_bad += !good;
}

/* On one engine with its own copy of the memory; an empty sentence when all is as expected. */
static void run(const struct vm_image *img, const struct engine *e, char *const *col, char *why,
		size_t room)
{
	u32 len, after_len;
	u8 *mem = program_bytes(col[MEMORY], &len), *after = program_bytes(col[AFTER], &after_len);
	u64 r0 = 0, want = strtoull(col[RESULT], NULL, 0);
	struct env env;
	int rc = -EINVAL;

	*why = 0;
	env_init(&env, &env_host_world);
	env_enter(&env);
	if (mem && after)
		rc = vm_run_raw(img, &env, len ? addr_of(mem) : 0, len, e->limit, e->observed, &r0);
	env_leave(&env);
	if (rc)
		snprintf(why, room, "error %d", rc);
	else if (r0 != want)
		snprintf(why, room, "r0 is 0x%llx, expected 0x%llx", (unsigned long long)r0,
			 (unsigned long long)want);
	else if (*col[AFTER] && (after_len != len || memcmp(mem, after, len)))
		snprintf(why, room, "memory after differs");
	if (*why && mem && *col[AFTER]) {
		printf("# memory is ");
		for (u32 i = 0; i < len; i++)
			printf("%02x", mem[i]);
		printf("\n");
	}
	free(mem);
	free(after);
}

static void test(char *const *col)
{
	struct vm_image *img = NULL;
	struct program p;
	char why[256];
	struct log err;
	char *text;

	for (char *s = col[PROGRAM]; *s; s++)
		if (*s == ';')
			*s = '\n';
	log_init(&err, 200);
	if (program_read(&p, col[PROGRAM], &err)) {
		text = log_text(&err, NULL);
		report(false, col[NAME], "assembler", text);
		free(text);
	} else {
		program_helper(&p, 5, unwind, VM_AUX_END_ON_ZERO);
		if (program_image(&img, &p, by_number))
			report(false, col[NAME], "decode",
			       "an instruction the engine does not know");
		for (u32 i = 0; img && i < ARRAY_SIZE(engines); i++) {
			run(img, &engines[i], col, why, sizeof(why));
			report(!*why, col[NAME], engines[i].name, why);
		}
		vm_image_free(img);
		program_done(&p);
	}
	log_done(&err);
}

/* Cut a line at its tabs; missing columns are empty. */
static void split(char *line, char **col)
{
	for (u32 i = 0; i < COLUMNS; i++) {
		col[i] = line;
		line += strcspn(line, "\t");
		if (*line)
			*line++ = 0;
	}
}

int main(int argc, char **argv)
{
	char *line = NULL, *col[COLUMNS];
	size_t room = 0;
	ssize_t len;
	u32 rows = 0;
	FILE *f;

	f = argc == 2 ? fopen(argv[1], "r") : NULL;
	if (!f) {
		printf("Bail out! usage: isa-vectors FILE\n");
		tap_finished = 1;
		return 2;
	}
	while ((len = getline(&line, &room, f)) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (!*line || *line == '#')
			continue;
		split(line, col);
		if (!*col[RESULT])
			report(false, col[NAME], "file", "no result column");
		else
			test(col);
		rows++;
	}
	free(line);
	fclose(f);
	printf("# %u rows on %zu engines\n", rows, ARRAY_SIZE(engines));
	OK(rows > 0);
	return tap_done();
}
