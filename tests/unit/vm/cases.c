/* cases DIR: run every DIR/NAME.case on all engines and, where bpf(2) is allowed, on the kernel.
 *Their agreement with what the file says is the assertion. Prints TAP.
 *
 * A case is lines "key: value", then "code:" and the program in assembler text:
 *	kind: xdp | socket	what the kernel loads it as; xdp when missing
 *	in: HEX			a run's input; starts a new run. All inputs of a case are equally
 *long, at least 14 bytes r0: NUMBER		the result; the kernel returns its lower 32 bits
 *	out: HEX		memory after the run; unchanged when missing
 *	kernel: refuses WORDS	the kernel does not load it, and its log says WORDS
 * An xdp program begins with r1 = address of the input and r2 = its length; for the kernel a
 *prologue loads and checks them. A socket program begins with r1 = context, and reads its input
 *with LD_ABS and LD_IND, from byte 14 on; the kernel's test run does not give back the same packet,
 *so only the result counts there. */
#include "kernel.h"
#include "program.h"
#include "base/vec.h"
#include "tap.h"
#include <dirent.h>

struct io {
	u8 *in, *out;
	u32 len;
	u64 r0;
};

struct test_case {
	char *text; /* the file */
	char *code,
	    *refused; /* refused: words of the kernel's log, NULL when it loads the program */
	bool socket;
	VEC(struct io) runs;
};

static void result(bool good, const char *name, const char *engine, const char *why)
{
	printf("%sok %d - %s [%s]%s%s\n", good ? "" : "not ", ++tap_n, name, engine,
	       *why ? " # " : "", why);
	tap_bad += !good;
}

static char *read_file(const char *dir, const char *name)
{
	char path[512], *text = calloc(1, 65536);
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	if (!f || !text || fread(text, 1, 65535, f) == 0) {
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

static const char *read_key(struct test_case *c, const char *key, char *value)
{
	struct io io = {0}, *last = c->runs.n ? &c->runs.v[c->runs.n - 1] : NULL;
	u32 len;

	if (!strcmp(key, "kind")) {
		c->socket = !strcmp(value, "socket");
		return c->socket || !strcmp(value, "xdp") ? NULL : "kind is xdp or socket";
	}
	if (!strcmp(key, "kernel")) {
		c->refused = value + strlen("refuses ");
		return strncmp(value, "refuses ", 8) ? "kernel is \"refuses WORDS\"" : NULL;
	}
	if (!strcmp(key, "in")) {
		io.in = program_bytes(value, &io.len);
		if (!io.in || io.len < 14 || (last && io.len != last->len))
			return "in is hex, at least 14 bytes, always as long";
		return VEC_PUSH(&c->runs, io) ? NULL : "no memory";
	}
	if (!last)
		return "in comes first";
	if (!strcmp(key, "r0")) {
		last->r0 = strtoull(value, NULL, 0);
		return NULL;
	}
	if (!strcmp(key, "out")) {
		last->out = program_bytes(value, &len);
		return last->out && len == last->len ? NULL : "out is hex, as long as in";
	}
	return "unknown key";
}

/* NULL, or what is wrong with the file. */
static const char *parse(struct test_case *c)
{
	const char *wrong;
	char *line, *colon;

	for (line = c->text; *line; line += strlen(line) + 1) {
		line[strcspn(line, "\n")] = 0;
		if (!*line || *line == '#')
			continue;
		colon = strchr(line, ':');
		if (!colon)
			return "a line without a colon";
		*colon++ = 0;
		if (!strcmp(line, "code")) {
			c->code = colon + strlen(colon) + 1;
			return c->runs.n ? NULL : "no in";
		}
		colon += strspn(colon, " \t");
		wrong = read_key(c, line, colon);
		if (wrong)
			return wrong;
		line = colon;
	}
	return "no code";
}

static void case_done(struct test_case *c)
{
	for (u32 i = 0; i < c->runs.n; i++) {
		free(c->runs.v[i].in);
		free(c->runs.v[i].out);
	}
	VEC_DONE(&c->runs);
	free(c->text);
}

/* Socket programs: r6 is the context, here the struct io; a packet starts behind its Ethernet
 * header. */
static bool load_abs(void *ctx, s64 off, u32 size, u64 *out, struct env *env)
{
	const struct io *io = ctx;

	*out = 0;
	if (off < 0 || off + size > io->len - 14)
		return false;
	for (u32 i = 0; i < size; i++)
		*out = *out << 8 | io->in[14 + off + i];
	return true;
}

static void check(const struct io *io, u64 r0, const u8 *mem, char *why, size_t room)
{
	if (r0 != io->r0) {
		snprintf(why, room, "r0 is 0x%llx", (unsigned long long)r0);
	} else if (memcmp(mem, io->out ? io->out : io->in, io->len)) {
		u32 n = snprintf(why, room, "memory is ");

		for (u32 i = 0; i < io->len && n + 2 < room; i++)
			n += snprintf(why + n, room - n, "%02x", mem[i]);
	}
}

static void on_vm(const struct test_case *c, const struct vm_image *img, const char *name,
		  bool observed)
{
	char why[256] = "";

	for (u32 i = 0; i < c->runs.n && !*why; i++) {
		struct io *io = &c->runs.v[i];
		u8 *mem = malloc(io->len);
		struct env env;
		u64 r0;
		int rc;

		memcpy(mem, io->in, io->len);
		env_init(&env, &env_host_world);
		env_enter(&env);
		rc = vm_run_raw(img, &env, c->socket ? addr_of(io) : addr_of(mem),
				c->socket ? 0 : io->len, observed ? 100000000 : 0, observed, &r0);
		env_leave(&env);
		if (rc)
			snprintf(why, sizeof(why), "error %d", rc);
		else
			check(io, r0, mem, why, sizeof(why));
		free(mem);
	}
	result(!*why, name, observed ? "observed" : "fast", why);
}

static void on_kernel(const struct test_case *c, const char *name)
{
	char why[4096] = "";
	int fd = -1, rc;

	if (!kernel_allows()) {
		snprintf(why, sizeof(why), "SKIP %s", kernel_why_not());
		result(true, name, "kernel", why);
		return;
	}
	rc = kernel_load(&fd, c->socket, c->code, c->runs.v[0].len, why, sizeof(why));
	if (c->refused) {
		result(rc && strstr(why, c->refused), name, "kernel", rc ? "refused" : "loaded");
		if (!rc)
			close(fd);
		return;
	}
	for (u32 i = 0; i < c->runs.n && !rc && !*why; i++) {
		struct io *io = &c->runs.v[i];
		u8 *mem = malloc(io->len);
		u32 r0;

		rc = kernel_run(fd, io->in, mem, io->len, &r0);
		if (rc)
			snprintf(why, sizeof(why), "test run: %s", strerror(-rc));
		else
			check(&(struct io){io->in, io->out, c->socket ? 0 : io->len, (u32)io->r0},
			      r0, mem, why, sizeof(why));
		free(mem);
	}
	if (fd >= 0)
		close(fd);
	for (char *s = why; *s; s++)
		if (*s == '\n')
			*s = ' ';
	result(!*why, name, "kernel", why);
}

static void run_case(const char *dir, const char *name)
{
	struct test_case c = {.text = read_file(dir, name)};
	const char *wrong = c.text ? parse(&c) : "not readable";
	struct vm_image *img = NULL;
	struct program p = {0};
	struct log err;
	char *text;

	log_init(&err, 200);
	if (!wrong && program_read(&p, c.code, &err)) {
		text = log_text(&err, NULL);
		result(false, name, "assembler", text);
		free(text);
	} else if (wrong) {
		result(false, name, "file", wrong);
	} else {
		for (u32 i = 0; i < p.n; i++)
			if (BPF_CLASS(p.insns[i].code) == BPF_LD &&
			    BPF_MODE(p.insns[i].code) != BPF_IMM)
				p.aux[i].addr = addr_of((void *)load_abs);
		if (program_image(&img, &p, NULL)) {
			result(false, name, "decode", "an instruction the engine does not know");
		} else {
			on_vm(&c, img, name, false);
			on_vm(&c, img, name, true);
			on_kernel(&c, name);
		}
	}
	vm_image_free(img);
	program_done(&p);
	log_done(&err);
	case_done(&c);
}

static int is_case(const struct dirent *d)
{
	const char *dot = strrchr(d->d_name, '.');

	return dot && !strcmp(dot, ".case");
}

int main(int argc, char **argv)
{
	struct dirent **list = NULL;
	int n = argc == 2 ? scandir(argv[1], &list, is_case, alphasort) : -1;

	for (int i = 0; i < n; i++) {
		run_case(argv[1], list[i]->d_name);
		free(list[i]);
	}
	free(list);
	printf("# %d cases\n", n);
	OK(n > 0);
	return tap_done();
}
