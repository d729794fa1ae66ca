/* Memory access and helper calls: small programs whose answers were recorded from the kernel (access.cases).
 *
 *   access FILE           skep must answer as recorded; where bpf(2) is allowed, so must the kernel
 *   access FILE record    print FILE with the running kernel's answers
 *   access FILE show NAME both logs of one case (NAME "random SEED" too)
 *   access FILE random FROM TO   random programs: skep must answer as the kernel */
#include "access_random.h"
#include "helper/helper.h"
#include "isa/isa.h"
#include "tap.h"

struct text {
	char buf[65536];
	size_t n;
	bool tail;
};

static void put(struct text *t, const char *fmt, ...) PRINTF(2, 3);
static void put(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->n += (size_t)vsnprintf(t->buf + t->n, sizeof(t->buf) - t->n, fmt, ap);
	va_end(ap);
	assert(t->n < sizeof(t->buf));
}

static void add_tail(struct text *t)
{
	put(t, "out:\nr0 = 0\nexit\n");
	t->tail = true;
}

static void lookup(struct text *t, u32 map)
{
	put(t, "call 7\n*(u32 *)(r10 -4) = r0\nr1 = map_fd(%u)\nr2 = r10\nr2 += -4\ncall 1\n", map);
}

/* "@data 8" and the like */
static void expand(struct text *t, const char *line)
{
	char name[64];
	u32 n = 0;

	if (!strncmp(line, "@data", 5)) {
		put(t, "r2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\n");
		if (sscanf(line, "@data %u", &n) == 1)
			put(t, "r4 = r2\nr4 += %u\nif r4 > r3 goto out\n", n);
	} else if (sscanf(line, "@lookup %u", &n) == 1) {
		lookup(t, n);
	} else if (sscanf(line, "@value %u", &n) == 1) {
		lookup(t, n);
		put(t, "if r0 == 0 goto out\n");
	} else if (sscanf(line, "@reserve %u", &n) == 1) {
		put(t, "r1 = map_fd(2)\nr2 = %u\nr3 = 0\ncall 131\nif r0 == 0 goto out\n", n);
	} else if (!strncmp(line, "call bpf_", 9)) {
		snprintf(name, sizeof(name), "%.63s", line + 5);
		name[strcspn(name, "\n")] = 0;
		put(t, "call %d\n", helper_id(name));
	} else {
		if (!t->tail && (!strcmp(line, "fn:\n") || !strcmp(line, "cb:\n")))
			add_tail(t);
		put(t, "%s", line);
	}
}

/* Where the second function begins; 0: there is none. */
static u32 find_func(const struct access_case *c)
{
	for (u32 i = 0; i < c->n; i++)
		if (isa_is_pseudo_call(&c->insns[i]) || isa_is_pseudo_func(&c->insns[i]))
			return i + (u32)c->insns[i].imm + 1;
	return 0;
}

static bool assemble(struct access_case *c, struct text *t)
{
	struct log err;
	char *why;
	int rc;

	if (!t->tail && (t->n < 5 || strcmp(t->buf + t->n - 5, "exit\n") || strstr(t->buf, "goto out")))
		add_tail(t);
	log_init(&err, 1000);
	rc = isa_assemble(t->buf, &c->insns, &c->n, &err);
	if (rc) {
		why = log_text(&err, NULL);
		printf("# %s: %s", c->name, why);
		free(why);
	}
	log_done(&err);
	c->func = rc ? 0 : find_func(c);
	return !rc;
}

static void read_name(struct access_case *c, const char *line)
{
	char *flags;

	snprintf(c->name, sizeof(c->name), "%.79s", line + 3);
	c->name[strcspn(c->name, "\n")] = 0;
	flags = strchr(c->name, '[');
	if (!flags)
		return;
	c->strict = strstr(flags, "strict");
	c->nogpl = strstr(flags, "nogpl");
	c->socket = strstr(flags, "socket");
	c->ours = strstr(flags, "ours");
	c->unpriv = strstr(flags, "unpriv");
}

static void read_answer(struct access_case *c, const char *line)
{
	if (sscanf(line, "> %d %255[^\n]", &c->err, c->text) < 1)
		c->err = 0;
}

/* The next case of the file; lines outside cases go to `copy` if it is there. */
static bool next_case(FILE *f, struct access_case *c, char *pending, size_t room, struct text *source, bool *bad)
{
	static struct text t;
	char line[512];

	memset(c, 0, sizeof(*c));
	t.n = source->n = 0;
	t.tail = false;
	while (!pending[0])
		if (!fgets(pending, (int)room, f))
			return false;
		else if (strncmp(pending, "== ", 3)) {
			put(source, "%s", pending);
			pending[0] = 0;
		}
	put(source, "%s", pending);
	read_name(c, pending);
	pending[0] = 0;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "== ", 3)) {
			snprintf(pending, room, "%s", line);
			break;
		}
		if (line[0] == '>') {
			read_answer(c, line);
			continue;
		}
		if (line[0] == '\n')
			continue;
		put(source, "%s", line);
		expand(&t, line);
	}
	*bad = !assemble(c, &t);
	return true;
}

static void check(const struct access_case *c, bool kernel)
{
	struct access_answer a;

	access_skep(c, &a, false);
	if (!tap_ok(a.err == c->err && (!c->err || !strcmp(a.text, c->text)), __FILE__, __LINE__, c->name))
		printf("# want %d %s\n# skep %d %s\n", c->err, c->text, a.err, a.text);
	if (!kernel || c->ours || (c->unpriv && !access_kernel_unpriv()))
		return;
	access_kernel(c, &a, false);
	if (a.err != c->err || (c->err && strcmp(a.text, c->text))) {
		tap_ok(0, __FILE__, __LINE__, "the kernel answers as recorded");
		printf("# want %d %s\n# kernel %d %s\n", c->err, c->text, a.err, a.text);
	}
}

static void record(const struct access_case *c, const struct text *source)
{
	struct access_answer a = { .err = c->err };

	snprintf(a.text, sizeof(a.text), "%s", c->text);
	if (!c->ours && (!c->unpriv || access_kernel_unpriv()))
		access_kernel(c, &a, false);
	printf("%s", source->buf);
	if (a.err)
		printf("> %d %s\n\n", a.err, a.text);
	else
		printf("> ok\n\n");
}

static void show(const struct access_case *c)
{
	struct access_answer a;

	access_kernel(c, &a, true);
	access_skep(c, &a, true);
}

/* Programs FROM .. TO - 1. False accepts are counted apart: they are the worst. */
static void compare_random(u64 from, u64 to)
{
	u32 accepted = 0, false_accepts = 0, false_refusals = 0, texts = 0;
	struct access_answer ours, theirs;
	struct access_case c;

	for (u64 seed = from; seed < to; seed++) {
		access_random(&c, seed);
		access_kernel(&c, &theirs, false);
		access_skep(&c, &ours, false);
		accepted += !theirs.err;
		if (theirs.err && !ours.err)
			false_accepts++;
		else if (!theirs.err && ours.err)
			false_refusals++;
		else if (theirs.err != ours.err || (theirs.err && strcmp(theirs.text, ours.text)))
			texts++;
		if (theirs.err != ours.err || (theirs.err && strcmp(theirs.text, ours.text)))
			printf("# %s%s\n#   kernel %d %s\n#   skep   %d %s\n", c.name,
			       theirs.err && !ours.err ? " FALSE ACCEPT" : "", theirs.err, theirs.text, ours.err, ours.text);
		free(c.insns);
	}
	printf("# %llu random programs, %u accepted by the kernel\n", (unsigned long long)(to - from), accepted);
	EQ(false_accepts, 0);
	EQ(false_refusals, 0);
	EQ(texts, 0);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[2] : "check";
	static struct text source;
	static char pending[512];
	struct access_case c;
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
	bool kernel = access_kernel_open(), bad;

	OK(f);
	if (!f)
		return tap_done();
	while (next_case(f, &c, pending, sizeof(pending), &source, &bad)) {
		if (bad) {
			OK(!"the case assembles");
		} else if (!strcmp(mode, "record")) {
			record(&c, &source);
		} else if (!strcmp(mode, "check")) {
			check(&c, kernel);
		} else if (argc > 3 && !strcmp(c.name, argv[3])) {
			show(&c);
		}
		free(c.insns);
	}
	fclose(f);
	if (kernel && argc == 2)
		compare_random(0, 3000);
	if (argc > 4 && !strcmp(mode, "random"))
		compare_random(strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
	if (argc > 3 && !strcmp(mode, "show") && !strncmp(argv[3], "random ", 7)) {
		access_random(&c, strtoull(argv[3] + 7, NULL, 10));
		show(&c);
		free(c.insns);
	}
	if (!kernel)
		printf("# bpf(2) is not allowed here: only compared with the recorded answers\n");
	return tap_done();
}
