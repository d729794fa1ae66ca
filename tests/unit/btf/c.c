/* btf: the dump of all types is C that a compiler takes, and that it lays out as the BTF says.
 *
 * usage: test-btf-c [BTF-FILE-OR-FOLDER...]   raw BTF; the kernel's own is added. What isn't BTF (other seeds of the
 * fuzz target) is passed over. Needs a C compiler: skips without. */
#include "base/log.h"
#include "btf/btf.h"
#include "tap.h"
#include <dirent.h>
#include <sys/wait.h>

static const char *compiler;

static bool runs(const char *command)
{
	int status = system(command);

	return status != -1 && WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool is_plain(const struct btf_types *b, u32 id, const char *name)
{
	const struct btf_type *t = btf_type(b, id);

	/* another tag of the name was first, or C can't say it */
	return name && *name && !strchr(name, '.') && btf_find(b, name, btf_kind_of(t)) == (s32)id &&
	       (btf_find(b, name, BTF_KIND_STRUCT) < 0) + (btf_find(b, name, BTF_KIND_UNION) < 0) +
		       (btf_find(b, name, BTF_KIND_ENUM) < 0) + (btf_find(b, name, BTF_KIND_ENUM64) < 0) == 3;
}

static bool is_whole_bytes(const struct btf_types *b, const struct btf_type *t, const struct btf_member *m)
{
	const struct btf_type *to = btf_skip(b, m->type, NULL);
	bool width = BTF_INFO_KFLAG(t->info) && BTF_MEMBER_BITFIELD_SIZE(m->offset);

	return !width && !(btf_kind_of(to) == BTF_KIND_INT && *(const u32 *)(to + 1) << 8 >> 8 != to->size * 8);
}

static u32 assert_layout(struct log *out, const struct btf_types *b, u32 id)
{
	const struct btf_type *t = btf_type(b, id);
	const struct btf_member *m = (const struct btf_member *)(t + 1);
	const char *tag = btf_kind_of(t) == BTF_KIND_STRUCT ? "struct" : "union", *name = btf_name(b, id);
	u32 n = 1;

	if ((btf_kind_of(t) != BTF_KIND_STRUCT && btf_kind_of(t) != BTF_KIND_UNION) || !is_plain(b, id, name))
		return 0;
	log_printf(out, "_Static_assert(sizeof(%s %s) == %u, \"%s\");\n", tag, name, t->size, name);
	for (u32 i = 0; i < btf_vlen_of(t); i++, m++) {
		const char *member = btf_str(b, m->name_off);

		if (!*member || !is_whole_bytes(b, t, m))
			continue;
		log_printf(out, "_Static_assert(__builtin_offsetof(%s %s, %s) == %u, \"%s.%s\");\n", tag, name, member,
			   (BTF_INFO_KFLAG(t->info) ? BTF_MEMBER_BIT_OFFSET(m->offset) : m->offset) / 8, name, member);
		n++;
	}
	return n;
}

static void check(const struct btf_types *b, const char *what)
{
	char path[] = "/tmp/skep-btf-XXXXXX.c", command[600];
	int fd = mkstemps(path, 2);
	u32 asserts = 0;
	struct log log;
	char *text;
	size_t n;

	log_init(&log, 256 << 20);
	btf_print_all(&log, b);
	for (u32 id = 1; id < btf_n_types(b); id++)
		asserts += assert_layout(&log, b, id);
	text = log_text(&log, &n);
	if (fd < 0 || !text || write(fd, text, n) != (ssize_t)n) {
		tap_ok(0, __FILE__, __LINE__, "a file in /tmp");
		return;
	}
	close(fd);
	snprintf(command, sizeof(command), "%s -std=gnu11 -w -fsyntax-only %s >&2", compiler, path);
	printf("# %s: %u types, %zu bytes of C, %u sizes and offsets\n", what, btf_n_types(b), n, asserts);
	tap_ok(runs(command), __FILE__, __LINE__, what);
	unlink(path);
	free(text);
	log_done(&log);
}

static u32 check_file(const char *path, const char *what)
{
	static u8 data[1 << 20];
	struct btf_types *b;
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(data, 1, sizeof(data), f) : 0;

	if (f)
		fclose(f);
	if (!n || data[0] != (BTF_MAGIC & 0xff) || !strncmp(what, "random", 6) || btf_parse(&b, data, n, NULL, NULL))
		return 0;
	check(b, what);
	btf_put(b);
	return 1;
}

static u32 check_path(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	u32 n = 0;

	if (!dir)
		return check_file(path, path);
	while ((e = readdir(dir))) {
		char file[600];

		snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
		n += check_file(file, e->d_name);
	}
	closedir(dir);
	return n;
}

int main(int argc, char **argv)
{
	u32 n = 0;

	compiler = runs("cc --version >/dev/null 2>&1") ? "cc" : runs("clang-19 --version >/dev/null 2>&1") ? "clang-19" : NULL;
	if (!compiler) {
		printf("1..0 # SKIP no C compiler\n");
		tap_finished = 1;
		return 0;
	}
	for (int i = 1; i < argc; i++)
		n += check_path(argv[i]);
	OK(n > 0 || argc < 2);
	if (btf_kernel())
		check(btf_kernel(), "kernel");
	return tap_done();
}
