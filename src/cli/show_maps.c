/* The contents of an object's maps, typed by BTF. Read through bpf(2), so the same on both floors. */
#include "show.h"
#include "base/abi.h"
#include "base/cleanup.h"
#include "btf/btf.h"
#include "map/map.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

struct shown_map {
	struct show *s;
	struct bpf_map *m;
	u32 type, key_size, value_size, key_type, value_type;
	u32 cpus, step; /* per-CPU kinds: values a look-up gives, and the bytes from one to the next */
	u8 *key, *next, *value;
};

static bool is_array(u32 type)
{
	return type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

/* Kinds whose elements user space can't look up show their definition only. */
static bool has_entries(u32 type)
{
	return type != BPF_MAP_TYPE_RINGBUF && type != BPF_MAP_TYPE_PROG_ARRAY && type != BPF_MAP_TYPE_PERF_EVENT_ARRAY &&
	       type != BPF_MAP_TYPE_USER_RINGBUF && type != BPF_MAP_TYPE_QUEUE && type != BPF_MAP_TYPE_STACK &&
	       type != BPF_MAP_TYPE_BLOOM_FILTER;
}

static bool all_zero(const u8 *p, u32 n)
{
	return !n || (!p[0] && !memcmp(p, p + 1, n - 1));
}

/* A value as text (C or JSON); malloc'ed. Without a type: bytes in hexadecimal, quoted for JSON. */
static char *value_text(struct shown_map *m, u32 type, const u8 *data, u32 size)
{
	struct btf_print_opts how = { .json = m->s->json != NULL };
	const char *quote = how.json ? "\"" : "";
	struct log text;
	char *out;

	log_init(&text, 16 << 20);
	text.keep_head = true;
	if (type && m->s->o->btf) {
		btf_print_value(&text, m->s->o->btf, type, data, size, &how);
	} else {
		log_printf(&text, "%s", quote);
		for (u32 i = 0; i < size; i++)
			log_printf(&text, "%02x%s", data[i], i + 1 < size && i % 4 == 3 ? " " : "");
		log_printf(&text, "%s", quote);
	}
	out = log_text(&text, NULL);
	log_done(&text);
	return out;
}

static void show_value(struct shown_map *m)
{
	struct json *j = m->s->json;
	bool any = false;

	if (m->cpus == 1) {
		autofree char *text = value_text(m, m->value_type, m->value, m->value_size);

		if (j)
			json_raw(j, "value", text ? text : "null");
		else
			printf("%s\n", text ? text : "?");
		return;
	}
	if (j)
		json_open(j, "values", '[');
	for (u32 cpu = 0; cpu < m->cpus; cpu++) {
		const u8 *v = m->value + cpu * m->step;
		autofree char *text = value_text(m, m->value_type, v, m->value_size);

		if (j) {
			json_open(j, NULL, '{');
			json_number(j, "cpu", cpu);
			json_raw(j, "value", text ? text : "null");
			json_close(j, '}');
		} else if (!all_zero(v, m->value_size)) {
			printf("%scpu%u %s", any ? ", " : "", cpu, text ? text : "?");
			any = true;
		}
	}
	if (j)
		json_close(j, ']');
	else
		printf("%s\n", any ? "" : "all CPUs 0");
}

static void show_entry(struct shown_map *m)
{
	autofree char *key = value_text(m, m->key_type, m->next, m->key_size);
	struct json *j = m->s->json;

	if (j) {
		json_open(j, NULL, '{');
		json_raw(j, "key", key ? key : "null");
	} else {
		printf("  %s: ", key ? key : "?");
	}
	show_value(m);
	if (j)
		json_close(j, '}');
}

/* Entries in the map's own order. Text leaves out array elements that are 0: an array of 65,536 counters is mostly that. */
static u32 show_entries(struct shown_map *m, bool print)
{
	int fd = bpf_map__fd(m->m);
	bool first = true;
	u32 n = 0;

	while (!bpf_map_get_next_key(fd, first ? NULL : m->key, m->next)) {
		first = false;
		memcpy(m->key, m->next, m->key_size);
		if (bpf_map_lookup_elem(fd, m->next, m->value))
			continue; /* went away between the two calls */
		if (!m->s->json && is_array(m->type) && all_zero(m->value, m->step * m->cpus))
			continue;
		n++;
		if (print)
			show_entry(m);
	}
	return n;
}

/* .data, .bss, .rodata: by variable. */
static void show_globals(struct shown_map *m)
{
	const struct btf_types *b = m->s->o->btf;
	const struct btf_type *sec = btf_type(b, m->value_type);
	const struct btf_var_secinfo *v = (const void *)(sec + 1);
	struct json *j = m->s->json;
	u32 zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(m->m), &zero, m->value))
		return;
	if (j)
		json_open(j, "variables", '{');
	for (u32 i = 0; i < btf_vlen_of(sec); i++) {
		const char *name = btf_name(b, v[i].type);
		autofree char *text = NULL;

		if (v[i].offset > m->value_size || v[i].size > m->value_size - v[i].offset)
			continue;
		text = value_text(m, btf_type(b, v[i].type)->type, m->value + v[i].offset, v[i].size);
		if (j)
			json_raw(j, name, text ? text : "null");
		else
			printf("  %s = %s\n", name, text ? text : "?");
	}
	if (j)
		json_close(j, '}');
}

static void show_map(struct shown_map *m)
{
	const char *name = bpf_map__name(m->m), *kind = libbpf_bpf_map_type_str(m->type);
	const struct btf_type *value = m->s->o->btf && m->value_type ? btf_type(m->s->o->btf, m->value_type) : NULL;
	bool globals = value && btf_kind_of(value) == BTF_KIND_DATASEC;
	struct json *j = m->s->json;

	if (j) {
		json_open(j, NULL, '{');
		json_string(j, "name", name, strlen(name));
		json_string(j, "type", kind ? kind : "unknown", strlen(kind ? kind : "unknown"));
		json_number(j, "max_entries", bpf_map__max_entries(m->m));
		if (globals) {
			show_globals(m);
		} else if (has_entries(m->type)) {
			json_open(j, "entries", '[');
			show_entries(m, true);
			json_close(j, ']');
		}
		json_close(j, '}');
		return;
	}
	printf("\nmap %s (%s, max %u)", name, kind ? kind : "unknown", bpf_map__max_entries(m->m));
	if (globals) {
		printf(":\n");
		show_globals(m);
	} else if (has_entries(m->type)) {
		u32 n = show_entries(m, false);

		printf(": %u %s%s\n", n, is_array(m->type) ? "of them not 0" : n == 1 ? "entry" : "entries", n ? ":" : "");
		show_entries(m, true);
	} else {
		printf("\n");
	}
}

void show_maps(struct show *s)
{
	struct bpf_map *map;

	if (s->json)
		json_open(s->json, "maps", '[');
	bpf_object__for_each_map(map, s->o->obj) {
		struct shown_map m = {
			.s = s, .m = map, .type = bpf_map__type(map), .key_size = bpf_map__key_size(map),
			.value_size = bpf_map__value_size(map), .key_type = bpf_map__btf_key_type_id(map),
			.value_type = bpf_map__btf_value_type_id(map), .cpus = 1,
		};
		autofree u8 *key = calloc(1, m.key_size + 8);
		autofree u8 *next = calloc(1, m.key_size + 8);
		autofree u8 *value = NULL;

		if (bpf_map__fd(map) < 0)
			continue;
		m.step = m.value_size;
		if (map_is_per_cpu(m.type)) {
			m.cpus = libbpf_num_possible_cpus();
			m.step = ROUND_UP(m.value_size, 8);
		}
		value = calloc(m.cpus, m.step + 8);
		m.key = key;
		m.next = next;
		m.value = value;
		if (key && next && value)
			show_map(&m);
	}
	if (s->json)
		json_close(s->json, ']');
}
