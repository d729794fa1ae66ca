/* Whole programs: structure, functions, loops, pruning, precision, limits. Each file of tests/cases/verify holds cases:
 *
 *	== name [freq] [strict] [sleepable] [own-states] [own-answer]
 *	func: main static int(ctx)	function records, in order of their code; "f@7" puts one at instruction 7
 *	lines: 0 5			instructions that have line records
 *	patch: 3 off -1			a field of an assembled instruction (code, dst, src, off, imm)
 *	instructions			in isa_assemble()'s syntax; "repeat N {" ... "}" repeats lines, # in them is the turn
 *	> ok				or: > 22 last line of the log
 *	= 12 insns 1 states 1 peak 0 per insn
 *
 * skep's answer must be what stands there, and the running kernel's too (errno, last line, all four counts). With "record"
 * as the first argument the kernel's answers are printed in place of those in the files; with "show N" both logs of case N. */
#include "engine.h"
#include "isa/isa.h"
#include "tap.h"

static struct engine_case c;
static char code[1 << 20];
static bool kernel, record;
static int show = -1, n_case;

static void add_func(const char *text)
{
	struct engine_func *f = &c.func[c.n_funcs++];
	char linkage[16], ret[16], *at;

	memset(f, 0, sizeof(*f));
	if (sscanf(text, "%31s %15s %15[a-z](%127[^)])", f->name, linkage, ret, f->args) < 3) {
		printf("Bail out! func: %s\n", text);
		exit(1);
	}
	f->global = !strcmp(linkage, "global");
	f->returns_void = !strcmp(ret, "void");
	at = strchr(f->name, '@');
	if (at) {
		*at = 0;
		f->has_offset = true;
		f->offset = atoi(at + 1);
	}
}

static void add_lines(const char *text)
{
	int n;

	while (c.n_lines < MAX_LINES && sscanf(text, "%u%n", &c.line[c.n_lines], &n) == 1) {
		text += n;
		c.n_lines++;
	}
}

static struct { u32 at; char field[8]; s64 value; } patch[MAX_PATCHES];
static u32 n_patches;

static void apply_patches(void)
{
	for (u32 i = 0; i < n_patches; i++) {
		struct bpf_insn *in = &c.insns[patch[i].at];

		if (!strcmp(patch[i].field, "code"))
			in->code = patch[i].value;
		else if (!strcmp(patch[i].field, "dst"))
			in->dst_reg = patch[i].value;
		else if (!strcmp(patch[i].field, "src"))
			in->src_reg = patch[i].value;
		else if (!strcmp(patch[i].field, "off"))
			in->off = patch[i].value;
		else
			in->imm = patch[i].value;
	}
}

/* Lines between "repeat N {" and "}" N times; '#' becomes the number of the turn. */
static void expand(char *out, size_t room, const char *in)
{
	char *end = out + room - 64;

	while (*in && out < end) {
		const char *line_end = strchrnul(in, '\n'), *body, *close;
		u32 times;

		if (sscanf(in, " repeat %u {", &times) != 1 || !(close = strstr(line_end, "\n}"))) {
			out += sprintf(out, "%.*s\n", (int)(line_end - in), in);
			in = *line_end ? line_end + 1 : line_end;
			continue;
		}
		for (u32 t = 0; t < times; t++)
			for (body = line_end + 1; body <= close && out < end; body++)
				out += *body == '#' ? sprintf(out, "%u", t) : sprintf(out, "%c", *body);
		in = strchrnul(close + 1, '\n');
		in = *in ? in + 1 : in;
	}
	*out = 0;
}

static bool assemble(void)
{
	static char full[8 << 20];
	struct log err;
	char *said;
	int rc;

	expand(full, sizeof(full), code);
	log_init(&err, 300);
	rc = isa_assemble(full, &c.insns, &c.n, &err);
	said = log_text(&err, NULL);
	if (rc)
		printf("# %s: %s", c.name, said);
	free(said);
	log_done(&err);
	if (!rc)
		apply_patches();
	return !rc;
}

static bool same(const struct engine_answer *a, const struct engine_answer *b, bool counts)
{
	if (a->err != b->err || strcmp(a->text, b->text))
		return false;
	return !counts || (a->insns == b->insns && a->states == b->states && a->peak == b->peak && a->per_insn == b->per_insn);
}

static void print_answer(const char *before, const struct engine_answer *a)
{
	if (a->err)
		printf("%s> %d %s\n", before, -a->err, a->text);
	else
		printf("%s> ok\n", before);
	printf("%s= %u insns %u states %u peak %u per insn\n", before, a->insns, a->states, a->peak, a->per_insn);
}

static void check(const char *who, const struct engine_answer *a, bool counts)
{
	char what[160];

	snprintf(what, sizeof(what), "%s: %s", who, c.name);
	if (tap_ok(same(a, &c.want, counts), __FILE__, __LINE__, what))
		return;
	print_answer("# got  ", a);
	print_answer("# want ", &c.want);
}

static void run_case(void)
{
	struct engine_answer a;
	u32 level = show == n_case ? 2 : 4;	/* 4: only what is said at the end; more could overrun the buffer */

	if (!c.name[0])
		return;
	if (!assemble()) {
		tap_ok(0, __FILE__, __LINE__, c.name);
	} else if (record) {
		if (c.own_answer || c.own_states)
			engine_skep(&c, &a, level);
		else
			engine_kernel(&c, &a, level);
		print_answer("", &a);
		printf("\n");
	} else {
		engine_skep(&c, &a, level);
		check("skep", &a, true);
		if (kernel && !c.own_answer) {
			engine_kernel(&c, &a, level);
			check("kernel", &a, !c.own_states);
		}
	}
	free(c.insns);
	free(c.func_info);
	n_case++;
}

static void begin_case(const char *line)
{
	memset(&c, 0, sizeof(c));
	code[0] = 0;
	n_patches = 0;
	snprintf(c.name, sizeof(c.name), "%.95s", line + 3);
	c.name[strcspn(c.name, "\n")] = 0;
	if (strstr(line, "[freq]"))
		c.flags |= ABI_F_TEST_STATE_FREQ;
	if (strstr(line, "[strict]"))
		c.flags |= ABI_F_STRICT_ALIGNMENT;
	if (strstr(line, "[sleepable]"))
		c.flags |= ABI_F_SLEEPABLE;
	c.own_states = strstr(line, "[own-states]");
	c.own_answer = strstr(line, "[own-answer]");
}

/* true: the line belongs to the program. */
static bool read_line(char *line)
{
	struct engine_answer *w = &c.want;

	if (line[0] == '>') {
		if (sscanf(line, "> %d", &w->err) == 1) {
			w->err = -w->err;
			sscanf(line, "> %*d %255[^\n]", w->text);
		}
	} else if (line[0] == '=') {
		sscanf(line, "= %u insns %u states %u peak %u", &w->insns, &w->states, &w->peak, &w->per_insn);
	} else if (!strncmp(line, "func: ", 6)) {
		add_func(line + 6);
	} else if (!strncmp(line, "lines: ", 7)) {
		add_lines(line + 7);
	} else if (!strncmp(line, "patch: ", 7) && n_patches < MAX_PATCHES) {
		long long value;

		sscanf(line, "patch: %u %7s %lli", &patch[n_patches].at, patch[n_patches].field, &value);
		patch[n_patches++].value = value;
	} else {
		return true;
	}
	return false;
}

static void run_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[512];

	if (!f) {
		printf("Bail out! %s: no such file\n", path);
		exit(1);
	}
	c.name[0] = 0;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "== ", 3)) {
			run_case();
			begin_case(line);
		} else if (!c.name[0] || line[0] == '\n') {
			if (record && !c.name[0])
				fputs(line, stdout);
			continue;
		} else if (line[0] != '#' && read_line(line)) {
			strcat(code, line);
		}
		if (record && line[0] != '>' && line[0] != '=')
			fputs(line, stdout);
		else if (record && line[1] == '=')
			fputs(line, stdout);
	}
	run_case();
	c.name[0] = 0;
	fclose(f);
}

int main(int argc, char **argv)
{
	int i = 1;

	record = argc > 1 && !strcmp(argv[1], "record");
	i += record;
	if (argc > 2 && !strcmp(argv[1], "show")) {
		show = atoi(argv[2]);
		i += 2;
	}
	kernel = engine_kernel_open();
	if (!kernel && !record)
		printf("# the kernel does not let this user load programs: skep alone\n");
	for (; i < argc; i++)
		run_file(argv[i]);
	tap_finished = record;
	return record ? 0 : tap_done();
}
