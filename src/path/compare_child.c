/* One floor's half of a comparison: a child process that runs the capture and tells the parent all it saw. */
#include "compare.h"
#include "base/abi.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include "map/map.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sched.h>

struct child {
	const struct path_compare *how;
	FILE *out;
	struct load_object *object;
	struct bpf_program *program;
	struct path_runner *runner;
	struct path_rings *rings;
	struct net_source *in;
	struct net_filter *filter;
};

static void put(struct child *c, u32 kind, u32 a, u32 b, const void *data, u32 size)
{
	struct compare_record r = { .kind = kind, .a = a, .b = b, .size = size };

	fwrite(&r, sizeof(r), 1, c->out);
	if (size)
		fwrite(data, 1, size, c->out);
}

static u32 map_index(struct load_object *o, const struct bpf_map *wanted)
{
	struct bpf_map *m;
	u32 i = 0;

	bpf_object__for_each_map(m, o->obj) {
		if (m == wanted)
			return i;
		i++;
	}
	return i;
}

static void on_event(void *ctx, struct bpf_map *map, const void *data, u32 size)
{
	struct child *c = ctx;

	put(c, COMPARE_EVENT, map_index(c->object, map), 0, data, size);
}

static int run_packets(struct child *c, struct log *err)
{
	u64 left = c->how->count ? c->how->count : UINT64_MAX;
	struct path_result res;
	struct net_packet p;
	int n = 0;

	while (left && (n = net_read(c->in, &p, 1, err)) == 1) {
		left--;
		if (c->filter && !net_filter_match(c->filter, &p))
			continue;
		if (!path_runner_takes(c->runner, p.link_type)) {
			put(c, COMPARE_FOREIGN, p.link_type, 0, NULL, 0);
			continue;
		}
		path_run(c->runner, &p, c->how->repeat, c->how->reset, &res);
		path_rings_drain(c->rings);
		if (res.ctx)
			put(c, COMPARE_EVENT, COMPARE_CONTEXT, 0, res.ctx, res.ctx_size);
		put(c, COMPARE_PACKET, res.status, res.status ? p.size : res.verdict, res.data, res.status ? 0 : res.size);
	}
	return n < 0 ? n : 0;
}

/* ---- maps, in an order and form that does not depend on the floor */

static bool has_values(u32 type)
{
	return map_is_per_cpu(type) || type == BPF_MAP_TYPE_HASH || type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_LRU_HASH ||
	       type == BPF_MAP_TYPE_LPM_TRIE;
}

static size_t sort_size; /* bytes of what qsort's function below compares: this process has one thread */
static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sort_size);
}

struct dump {
	VEC(u8) bytes;
	u32 key, value, cpus, entry; /* sizes in bytes; entry: key + value of all CPUs */
};

static int dump_entry(struct dump *d, int fd, const void *key)
{
	u8 *at;

	if (!VEC_ROOM(&d->bytes, d->entry))
		return -ENOMEM;
	at = d->bytes.v + d->bytes.n;
	memset(at, 0, d->entry);
	memcpy(at, key, d->key);
	if (bpf_map_lookup_elem(fd, key, at + d->key))
		return -errno;
	/* which CPU ran a packet is the floor's business: compare the values, not their places */
	sort_size = d->value;
	if (d->cpus > 1)
		qsort(at + d->key, d->cpus, d->value, by_bytes);
	d->bytes.n += d->entry;
	return 0;
}

static int dump_map(struct dump *d, int fd)
{
	autofree u8 *key = calloc(2, d->key + 8);
	u8 *next = key + d->key + 8;
	bool first = true;
	int rc = 0;

	if (!key)
		return -ENOMEM;
	while (!rc && !bpf_map_get_next_key(fd, first ? NULL : key, next)) {
		first = false;
		rc = dump_entry(d, fd, next);
		memcpy(key, next, d->key);
	}
	return rc;
}

static int tell_map(struct child *c, struct bpf_map *m, u32 index)
{
	u32 type = bpf_map__type(m), value = bpf_map__value_size(m);
	struct dump d = { .key = bpf_map__key_size(m), .value = value, .cpus = 1 };
	int rc;

	if (!has_values(type) || bpf_map__fd(m) < 0)
		return 0;
	if (map_is_per_cpu(type)) {
		d.cpus = libbpf_num_possible_cpus();
		d.value = ROUND_UP(value, 8);
	}
	d.entry = d.key + d.value * d.cpus;
	rc = dump_map(&d, bpf_map__fd(m));
	sort_size = d.entry;
	if (d.bytes.n)
		qsort(d.bytes.v, d.bytes.n / d.entry, d.entry, by_bytes);
	if (!rc)
		put(c, COMPARE_MAP, index, type == BPF_MAP_TYPE_LRU_HASH || type == BPF_MAP_TYPE_LRU_PERCPU_HASH, d.bytes.v,
		    d.bytes.n);
	VEC_DONE(&d.bytes);
	return rc;
}

static int tell_maps(struct child *c, struct log *err)
{
	struct bpf_map *m;
	u32 i = 0;
	int rc = 0;

	bpf_object__for_each_map(m, c->object->obj) {
		put(c, COMPARE_MAP_NAME, i, 0, bpf_map__name(m), strlen(bpf_map__name(m)));
		rc = tell_map(c, m, i++);
		if (rc) {
			log_printf(err, "map %s: %s", bpf_map__name(m), strerror(-rc));
			return rc;
		}
	}
	return 0;
}

/* Whether the program asks for what no two runs agree on: clocks and random numbers. */
static bool asks_for_time_or_random(const struct bpf_program *p)
{
	static const s32 ids[] = { BPF_FUNC_ktime_get_ns, BPF_FUNC_ktime_get_boot_ns, BPF_FUNC_ktime_get_coarse_ns,
				   BPF_FUNC_ktime_get_tai_ns, BPF_FUNC_jiffies64, BPF_FUNC_get_prandom_u32 };
	const struct bpf_insn *insns = bpf_program__insns(p);

	for (size_t i = 0; i < bpf_program__insn_cnt(p); i++)
		for (u32 k = 0; k < ARRAY_SIZE(ids); k++)
			if (insns[i].code == (BPF_JMP | BPF_CALL) && !insns[i].src_reg && insns[i].imm == ids[k])
				return true;
	return false;
}

static int set_up(struct child *c, enum load_floor floor, struct log *err)
{
	struct load_opts opts = c->how->load;
	int rc;

	opts.floor = floor;
	rc = c->how->data_hex ? net_open_hex(&c->in, c->how->data_hex, err) : net_open_capture(&c->in, c->how->capture, err);
	if (!rc && c->how->filter)
		rc = net_filter_new(&c->filter, c->how->filter, err);
	if (!rc)
		rc = load_open(&c->object, c->how->object, &opts, err);
	if (!rc)
		rc = load_load(c->object, &opts, err);
	if (rc)
		return rc;
	c->program = load_program(c->object, c->how->prog, err);
	if (!c->program)
		return -EINVAL;
	rc = path_runner_new(&c->runner, c->object, c->program, NULL, err);
	if (!rc && c->how->ctx)
		rc = path_runner_set_context(c->runner, c->object, c->how->ctx, err);
	if (!rc)
		path_runner_as_test(c->runner);
	if (!rc)
		rc = path_rings_new(&c->rings, c->object, on_event, c);
	return rc;
}

static void pin_to_one_cpu(void)
{
	cpu_set_t all, one;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all)) {
			CPU_ZERO(&one);
			CPU_SET(i, &one);
			sched_setaffinity(0, sizeof(one), &one);
			return;
		}
}

void compare_child(const struct path_compare *how, enum load_floor floor, FILE *out)
{
	struct child c = { .how = how, .out = out };
	struct log err;
	char *text;
	size_t len;
	int rc;

	log_init(&err, 64 * 1024);
	pin_to_one_cpu();
	rc = set_up(&c, floor, &err);
	if (!rc) {
		put(&c, COMPARE_BEGIN, asks_for_time_or_random(c.program), 0, NULL, 0);
		rc = run_packets(&c, &err);
	}
	if (!rc || rc == -EINVAL)
		rc = c.runner ? tell_maps(&c, &err) ?: rc : rc;
	text = log_text(&err, &len);
	put(&c, COMPARE_END, rc, 0, text, text ? len : 0);
	fflush(out);
	free(text);
	path_rings_free(c.rings);
	path_runner_free(c.runner);
	load_close(c.object);
	net_filter_free(c.filter);
	net_close(c.in);
	log_done(&err);
}
