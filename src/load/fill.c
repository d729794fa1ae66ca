/* Values from text into globals and maps, typed by the object's BTF. */
#include "private.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "btf/btf.h"
#include "map/map.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <ctype.h>
#include <stdio.h>

static struct bpf_map *section_map(struct load_object *o, const char *section)
{
	struct bpf_map *m;

	/* libbpf puts the object's name in front: "flow.rodata" stands for ".rodata"; custom sections keep theirs */
	bpf_object__for_each_map(m, o->obj)
		if (bpf_map__is_internal(m)) {
			const char *name = bpf_map__name(m), *dot = strchr(name, '.');

			if (!strcmp(name, section) || (dot && !strcmp(dot, section)))
				return m;
		}
	return NULL;
}

/* Where a global variable lies: its section's name and its place in it. NULL: there is none of this name. */
static const struct btf_var_secinfo *find_global(const struct btf_types *b, const char *name, const char **section)
{
	for (u32 id = 1; id < btf_n_types(b); id++) {
		const struct btf_type *t = btf_type(b, id);
		const struct btf_var_secinfo *v = (const void *)(t + 1);

		if (btf_kind_of(t) != BTF_KIND_DATASEC)
			continue;
		for (u32 i = 0; i < btf_vlen_of(t); i++)
			if (!strcmp(btf_name(b, v[i].type), name)) {
				*section = btf_str(b, t->name_off);
				return &v[i];
			}
	}
	return NULL;
}

int load_set_global(struct load_object *o, const char *text, struct log *err)
{
	const char *eq = strchr(text, '='), *section = NULL;
	autofree char *name = eq ? strndup(text, eq - text) : NULL;
	const struct btf_var_secinfo *v;
	struct bpf_map *m;
	size_t size = 0;
	u64 mark = err ? err->total : 0;
	const void *initial;
	autofree char *memory = NULL;

	if (!name || !*name) {
		log_printf(err, "--set %s: needs VAR=VALUE", text);
		return -EINVAL;
	}
	log_printf(err, "--set %s: ", name);
	if (!o->btf) {
		log_printf(err, "the object has no BTF to say what it is (compile with -g)");
		return -EINVAL;
	}
	v = find_global(o->btf, name, &section);
	if (!v) {
		log_printf(err, "the object has no such global variable");
		return -EINVAL;
	}
	m = section_map(o, section);
	initial = m ? bpf_map__initial_value(m, &size) : NULL;
	if (!initial || v->offset > size || v->size > size - v->offset) {
		log_printf(err, "its section %s has no initial value there", section);
		return -EINVAL;
	}
	memory = malloc(size);
	if (!memory)
		return -ENOMEM;
	memcpy(memory, initial, size);
	if (btf_parse_value(o->btf, btf_type(o->btf, v->type)->type, eq + 1, memory + v->offset, v->size, err))
		return -EINVAL;
	log_reset(err, mark);
	return bpf_map__set_initial_value(m, memory, size);
}

/* ---- maps from files */

#define MAX_LINE (32u << 20)

static int parse_hex(const char *text, u8 *to, u32 size, struct log *err)
{
	u32 n = 0;

	for (const char *p = text; *p; p++) {
		if (isspace((unsigned char)*p) || *p == ':')
			continue;
		if (!isxdigit((unsigned char)p[0]) || !isxdigit((unsigned char)p[1]) || n == size) {
			log_printf(err, "\"%s\" is not %u bytes in hexadecimal (the map has no BTF type)", text, size);
			return -EINVAL;
		}
		to[n++] = strtoul((char[]){ p[0], p[1], 0 }, NULL, 16);
		p++;
	}
	if (n == size)
		return 0;
	log_printf(err, "\"%s\" is %u bytes in hexadecimal; %u are needed", text, n, size);
	return -EINVAL;
}

static int parse_typed(struct load_object *o, u32 type, const char *text, void *to, u32 size, struct log *err)
{
	memset(to, 0, size);
	if (!o->btf || !type)
		return parse_hex(text, to, size, err);
	return btf_parse_value(o->btf, type, text, to, size, err);
}

/* Split "KEY VALUE" at the first blank outside of braces and quotes; NULL: there is none. */
static char *split(char *line)
{
	int depth = 0;
	char quote = 0;

	for (char *p = line; *p; p++) {
		if (quote) {
			if (*p == '\\' && p[1])
				p++;
			else if (*p == quote)
				quote = 0;
		} else if (*p == '"' || *p == '\'') {
			quote = *p;
		} else if (strchr("{[(", *p)) {
			depth++;
		} else if (strchr("}])", *p)) {
			depth--;
		} else if (isspace((unsigned char)*p) && !depth) {
			*p++ = 0;
			while (isspace((unsigned char)*p))
				p++;
			return *p ? p : NULL;
		}
	}
	return NULL;
}

struct filler {
	struct load_object *o;
	struct bpf_map *map;
	u8 *key, *value; /* value: for per-CPU kinds one a CPU */
	u32 copies;
};

static int fill_line(struct filler *f, char *line, struct log *err)
{
	u32 value_size = bpf_map__value_size(f->map), step = ROUND_UP(value_size, 8);
	char *value = split(line);
	int rc;

	if (!value) {
		log_printf(err, "needs KEY VALUE");
		return -EINVAL;
	}
	rc = parse_typed(f->o, bpf_map__btf_key_type_id(f->map), line, f->key, bpf_map__key_size(f->map), err);
	if (!rc)
		rc = parse_typed(f->o, bpf_map__btf_value_type_id(f->map), value, f->value, value_size, err);
	for (u32 i = 1; !rc && i < f->copies; i++)
		memcpy(f->value + i * step, f->value, value_size);
	if (!rc && bpf_map_update_elem(bpf_map__fd(f->map), f->key, f->value, BPF_ANY)) {
		rc = -errno;
		log_printf(err, "update: %s", rc == -E2BIG ? "the map is full or the index is beyond its end" : strerror(-rc));
	}
	return rc;
}

static void close_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

/* One line of the file, already without its blanks at both ends. */
static int fill_numbered(struct filler *f, const char *path, u32 n, char *line, struct log *err)
{
	u64 mark = err ? err->total : 0, sentence;
	int rc;

	log_printf(err, "%s:%u: map %s: ", path, n, bpf_map__name(f->map));
	sentence = err ? err->total : 0;
	rc = fill_line(f, line, err);
	if (!rc)
		log_reset(err, mark);
	else if (err && err->total == sentence)
		log_printf(err, "%s", strerror(-rc));
	return rc;
}

/* As getline(), but no file makes it take all memory: -E2BIG. 0 at the end. */
static ssize_t bounded_line(char **line, size_t *room, FILE *file)
{
	size_t len = 0;
	int c;

	while ((c = getc_unlocked(file)) != EOF) {
		if (len + 2 > *room) {
			size_t more = *room ? *room * 2 : 256;
			char *bigger = more <= MAX_LINE ? realloc(*line, more) : NULL;

			if (!bigger)
				return more <= MAX_LINE ? -ENOMEM : -E2BIG;
			*line = bigger;
			*room = more;
		}
		(*line)[len++] = c;
		if (c == '\n')
			break;
	}
	if (len)
		(*line)[len] = 0;
	return ferror(file) ? -EIO : (ssize_t)len;
}

static int fill_lines(struct filler *f, const char *path, FILE *file, struct log *err)
{
	autofree char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int rc = 0;

	for (u32 n = 1; !rc && (len = bounded_line(&line, &room, file)); n++) {
		char *at = line;

		if (len < 0) {
			log_printf(err, "--map: %s:%u: %s", path, n, len == -E2BIG ? "a line too long to be an entry" : strerror(-len));
			return len;
		}
		while (len && isspace((unsigned char)line[len - 1]))
			line[--len] = 0;
		while (isspace((unsigned char)*at))
			at++;
		if (*at && *at != '#')
			rc = fill_numbered(f, path, n, at, err);
	}
	return rc;
}

int load_fill_map(struct load_object *o, const char *name, const char *path, struct log *err)
{
	struct filler f = { .o = o, .map = bpf_object__find_map_by_name(o->obj, name), .copies = 1 };
	CLEANUP(close_file) FILE *file = NULL;
	autofree u8 *key = NULL;
	autofree u8 *value = NULL;

	if (!f.map) {
		log_printf(err, "--map %s: the object has no such map", name);
		return -EINVAL;
	}
	file = fopen(path, "re");
	if (!file) {
		int rc = -errno;

		log_printf(err, "--map %s: %s: %s", name, path, strerror(-rc));
		return rc;
	}
	if (map_is_per_cpu(bpf_map__type(f.map)))
		f.copies = libbpf_num_possible_cpus();
	f.key = key = calloc(1, bpf_map__key_size(f.map) + 8);
	f.value = value = calloc(f.copies, ROUND_UP(bpf_map__value_size(f.map), 8) + 8);
	if (!key || !value)
		return -ENOMEM;
	return fill_lines(&f, path, file, err);
}
