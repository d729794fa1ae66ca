/* Ring-buffer records as they come. A ring buffer has no record type of its own in BTF; the type is the one given with
 * --event MAP=TYPE, or else the object's only structure of that size that is no key or value of a map (one called
 * *event* before others). Without one the bytes are shown. */
#include "show.h"
#include "base/cleanup.h"
#include "btf/btf.h"
#include <bpf/libbpf.h>

static bool names_ring(const char *text, const char *ring)
{
	size_t n = strlen(ring);

	return !strncmp(text, ring, n) && text[n] == '=';
}

static bool is_map_type(struct load_object *o, u32 id)
{
	struct bpf_map *m;

	bpf_object__for_each_map(m, o->obj) {
		u32 key = 0, value = 0;

		btf_skip(o->btf, bpf_map__btf_key_type_id(m), &key);
		btf_skip(o->btf, bpf_map__btf_value_type_id(m), &value);
		if (key == id || value == id)
			return true;
	}
	return false;
}

static u32 guess_type(struct load_object *o, u32 size)
{
	u32 named = 0, other = 0, n_named = 0, n_other = 0;

	for (u32 id = 1; id < btf_n_types(o->btf); id++) {
		const struct btf_type *t = btf_type(o->btf, id);
		const char *name;

		if (btf_kind_of(t) != BTF_KIND_STRUCT || t->size != size || is_map_type(o, id))
			continue;
		name = btf_name(o->btf, id);
		if (name && *name && strstr(name, "event")) {
			named = id;
			n_named++;
		} else if (name && *name) {
			other = id;
			n_other++;
		}
	}
	return n_named == 1 ? named : !n_named && n_other == 1 ? other : 0;
}

static u32 event_type(struct show *s, struct bpf_map *ring, u32 size)
{
	const char *name = bpf_map__name(ring);

	if (!s->o->btf)
		return 0;
	for (u32 i = 0; i < s->n_event_types; i++)
		if (names_ring(s->event_types[i], name)) {
			s32 id = btf_find(s->o->btf, strchr(s->event_types[i], '=') + 1, 0);

			return id > 0 ? id : 0;
		}
	return guess_type(s->o, size);
}

int show_check_event_types(struct show *s, struct log *err)
{
	for (u32 i = 0; i < s->n_event_types; i++) {
		const char *text = s->event_types[i], *eq = strchr(text, '=');
		autofree char *name = eq ? strndup(text, eq - text) : NULL;
		struct bpf_map *m = name ? bpf_object__find_map_by_name(s->o->obj, name) : NULL;

		if (!name) {
			log_printf(err, "--event %s: needs MAP=TYPE", text);
			return -EINVAL;
		}
		if (!m || bpf_map__type(m) != BPF_MAP_TYPE_RINGBUF) {
			log_printf(err, "--event %s: the object has no ring buffer of this name", name);
			return -EINVAL;
		}
		if (!s->o->btf || btf_find(s->o->btf, eq + 1, 0) <= 0) {
			log_printf(err, "--event %s: the object's BTF has no type %s", name, eq + 1);
			return -EINVAL;
		}
	}
	return 0;
}

static void print_bytes(struct log *to, const u8 *data, u32 size)
{
	for (u32 i = 0; i < size; i++)
		log_printf(to, "%02x%s", data[i], i + 1 < size && i % 4 == 3 ? " " : "");
}

void show_event(struct show *s, struct bpf_map *ring, const void *data, u32 size)
{
	u32 type = event_type(s, ring, size);
	struct btf_print_opts how = { .json = s->json != NULL };
	struct log text;
	char *line;

	log_init(&text, 1 << 20);
	text.keep_head = true;
	if (type)
		btf_print_value(&text, s->o->btf, type, data, size, &how);
	else
		print_bytes(&text, data, size);
	line = log_text(&text, NULL);
	if (!line) {
		log_done(&text);
		return;
	}
	if (s->json) {
		json_open(s->json, NULL, '{');
		json_string(s->json, "event", bpf_map__name(ring), strlen(bpf_map__name(ring)));
		if (type) {
			json_string(s->json, "type", btf_name(s->o->btf, type), strlen(btf_name(s->o->btf, type)));
			json_raw(s->json, "value", line);
		} else {
			json_string(s->json, "bytes", line, strlen(line));
		}
		json_close(s->json, '}');
	} else {
		printf("%s: %s\n", bpf_map__name(ring), line);
	}
	free(line);
	log_done(&text);
}

void show_context(struct show *s, struct path_runner *r, const void *context, u32 size)
{
	struct btf_print_opts how = { .json = s->json != NULL };
	u32 type;
	const struct btf_types *btf = path_runner_context_type(r, &type);
	autofree char *line = NULL;
	struct log text;

	log_init(&text, 64 * 1024);
	btf_print_value(&text, btf, type, context, size, &how);
	line = log_text(&text, NULL);
	log_done(&text);
	if (s->json) {
		json_open(s->json, NULL, '{');
		json_raw(s->json, "context", line ? line : "null");
		json_close(s->json, '}');
	} else {
		printf("context: %s\n", line ? line : "?");
	}
}

void show_trace_line(struct show *s, const char *text, size_t len)
{
	while (len && text[len - 1] == '\n')
		len--;
	if (s->json) {
		json_open(s->json, NULL, '{');
		json_string(s->json, "trace", text, len);
		json_close(s->json, '}');
	} else {
		printf("trace: %.*s\n", (int)len, text);
	}
}
