/* Opening and loading an object with libbpf, and saying in one sentence what went wrong. */
#include "load.h"
#include "private.h"
#include "base/abi.h"
#include "base/cleanup.h"
#include "btf/btf.h"
#include "sys/sys.h"
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <sys/syscall.h>

/* libbpf's print function has no context argument: the object being worked on by this thread. */
static _Thread_local struct log *listening;

static int hear(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level != LIBBPF_DEBUG)
		log_vprintf(listening, fmt, ap);
	return 0;
}

/* As root every failure to stand in for bpf(2) is invisible, because the kernel answers: so ask who is there. */
static int check_floor(enum load_floor floor, struct log *err)
{
	bool skep;

	setenv("SKEP_FLOOR", floor == LOAD_USER ? "user" : "kernel", 1);
	skep = syscall(SYS_bpf, SYS_MAGIC_CMD, 0, 0) == SYS_MAGIC_ANSWER;
	if (skep == (floor == LOAD_USER))
		return 0;
	log_printf(err, skep ? "skep answers bpf(2), although the kernel floor was asked for" :
			       "skep does not answer bpf(2) in this process (linked or started wrongly); nothing was loaded");
	return -ENODEV;
}

/* As libbpf names an object after its file: what libbpf puts before ".bss" in the name of a map. */
static void name_after(char name[64], const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(name, 64, "%s", slash ? slash + 1 : path);
	name[strcspn(name, ".")] = 0;
}

static int open_object(struct load_object *o, const char *path, struct log *err)
{
	char name[64];
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = name);
	int rc = load_read_file(&o->file, path, err);

	if (!rc)
		rc = load_check(&o->file, path, err);
	if (rc)
		return rc;
	name_after(name, path);
	o->obj = bpf_object__open_mem(o->file.data, o->file.size, &opts);
	rc = libbpf_get_error(o->obj);
	if (rc) {
		autofree char *why = log_text(&o->messages, NULL);

		o->obj = NULL;
		log_printf(err, "%s: libbpf cannot open it: %s\n%s", path, strerror(-rc), why ? why : "");
		return -ENOEXEC;
	}
	return 0;
}

/* The object's types in our form, which knows how to print and parse values. */
static int read_types(struct load_object *o, const char *path)
{
	const struct btf *theirs = bpf_object__btf(o->obj);
	const void *raw;
	u32 size;
	int rc;

	if (!theirs)
		return 0;
	raw = btf__raw_data(theirs, &size);
	if (!raw)
		return -ENOMEM;
	rc = btf_parse(&o->btf, raw, size, NULL, NULL);
	if (rc && rc != -ENOMEM) { /* the kernel refuses some that clang makes, and libbpf goes on without */
		log_printf(&o->messages, "%s: its BTF is refused; values are shown as bytes\n", path);
		return 0;
	}
	return rc;
}

static void close_object(struct load_object **o)
{
	load_close(*o);
}

int load_open(struct load_object **out, const char *path, const struct load_opts *opts, struct log *err)
{
	CLEANUP(close_object) struct load_object *o = calloc(1, sizeof(*o));
	size_t len = strlen(path);
	int rc;

	if (!o)
		return -ENOMEM;
	o->floor = opts->floor;
	log_init(&o->messages, 16 << 20);
	listening = &o->messages;
	libbpf_set_print(hear);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	rc = check_floor(opts->floor, err);
	if (!rc && len > 2 && !strcmp(path + len - 2, ".c")) {
		rc = load_compile(&o->made_from, path, err);
		if (!rc)
			path = o->made_from;
	}
	if (!rc)
		rc = open_object(o, path, err);
	if (!rc)
		rc = read_types(o, path);
	if (rc)
		return rc;
	*out = TAKE(o);
	return 0;
}

void load_close(struct load_object *o)
{
	if (!o)
		return;
	bpf_object__close(o->obj);
	btf_put(o->btf);
	if (listening == &o->messages)
		listening = NULL;
	log_done(&o->messages);
	load_remove_compiled(o->made_from);
	free(o->file.data);
	free(o);
}

struct bpf_program *load_program(struct load_object *o, const char *name, struct log *err)
{
	struct bpf_program *p, *only = NULL;
	u32 n = 0;

	bpf_object__for_each_program(p, o->obj) {
		if (name && !strcmp(bpf_program__name(p), name))
			return p;
		only = p;
		n++;
	}
	if (!name && n == 1)
		return only;
	if (n == 0) {
		log_printf(err, "the object holds no program");
		return NULL;
	}
	if (name)
		log_printf(err, "no program is called %s; there %s:", name, n == 1 ? "is" : "are");
	else
		log_printf(err, "%u programs; choose one with --prog:", n);
	bpf_object__for_each_program(p, o->obj)
		log_printf(err, " %s", bpf_program__name(p));
	return NULL;
}

/* The chosen one, and those of its type, which prog_arrays of the object may hold. */
static int choose_programs(struct load_object *o, const char *name, struct log *err)
{
	struct bpf_program *p, *chosen = load_program(o, name, err);

	if (!chosen)
		return -EINVAL;
	bpf_object__for_each_program(p, o->obj)
		if (p != chosen && bpf_program__type(p) != bpf_program__type(chosen))
			bpf_program__set_autoload(p, false);
	bpf_program__set_autoload(chosen, true);
	return 0;
}

static int fill_maps(struct load_object *o, const struct load_opts *opts, struct log *err)
{
	int rc = 0;

	for (u32 i = 0; !rc && i < opts->n_map; i++) {
		const char *eq = strchr(opts->map[i], '=');
		autofree char *name = eq ? strndup(opts->map[i], eq - opts->map[i]) : NULL;

		if (!name) {
			log_printf(err, "--map %s: needs NAME=FILE", opts->map[i]);
			return -EINVAL;
		}
		rc = load_fill_map(o, name, eq + 1, err);
	}
	return rc;
}

int load_load(struct load_object *o, const struct load_opts *opts, struct log *err)
{
	int rc = opts->prog ? choose_programs(o, opts->prog, err) : 0;

	for (u32 i = 0; !rc && i < opts->n_set; i++)
		rc = load_set_global(o, opts->set[i], err);
	if (rc)
		return rc;
	listening = &o->messages;
	rc = bpf_object__load(o->obj);
	if (rc) {
		log_printf(err, "not loaded: %s", strerror(-rc));
		return rc;
	}
	o->loaded = true;
	return fill_maps(o, opts, err);
}

int load_test_run(int prog_fd, struct load_test *t)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = t->data_in, .data_size_in = t->size_in, .data_out = t->data_out,
		    .data_size_out = t->size_out, .repeat = t->repeat ? t->repeat : 1, .ctx_in = t->ctx_in,
		    .ctx_size_in = t->ctx_size_in, .ctx_out = t->ctx_out, .ctx_size_out = t->ctx_size_out);
	int rc = bpf_prog_test_run_opts(prog_fd, &opts);

	t->retval = opts.retval;
	t->size_out = opts.data_size_out;
	return rc ? -errno : 0;
}
