/* Fuzz target: programs. Hostile bytes are loaded as XDP, sched_cls or socket filter; what is accepted runs, observed first and within a budget, then on
 * the fast interpreter: a hole in the verifier shows as an access that the memory oracle or the sanitizer knows to be wrong,
 * or as a register outside of the states that the verifier kept; a fault of an engine as a different result.
 *
 * Input: a byte of options, then instructions of 8 bytes. Map descriptors are numbers of tests/differ/maps.def (modulo). Bits
 * of the options: 1 without CAP_PERFMON (then no address can leak into results, and they are compared), 2 states all precise,
 * 4 BPF_F_TEST_STATE_FREQ, 8 no states at all, 16 sched_cls, 32 socket_filter. */
#include "differ/gen.h"
#include "differ/oracle.h"
#include "fuzz.h"
#include "btf/btf.h"
#include "isa/isa.h"
#include "map/map.h"
#include "prog/prog.h"
#include "run/run.h"
#include <string.h>

/* VERIFIED bounds the verifier's time and memory, which a million instructions make large. */
enum { INSNS = 256, STEPS = 20000, VERIFIED = 10000, PACKETS = 5, PACKET_MAX = 96 };
enum { UNPRIV = 1, PRECISE = 2, FREQ = 4, NO_STATES = 8, TC = 16, SOCKET = 32 };

#define CAPS (VERIFY_CAP_BPF | VERIFY_CAP_NET_ADMIN)

/* ---- a world in which every run is the same */

static u64 ticks;

static u64 ktime(const struct world *w, int clock)
{
	return ticks += 1000;
}

static u64 jiffies(const struct world *w)
{
	return ticks++;
}

static u32 number(const struct world *w, struct env *env)
{
	return (u32)(ticks++ * 2654435761u);
}

static u64 pid_tgid(const struct world *w)
{
	return 1ull << 32 | 1;
}

static const struct world_ops world_ops = { ktime, jiffies, number, pid_tgid };
static const struct world world = { &world_ops };

/* ---- a program with maps of its own */

struct instance {
	struct map *map[GEN_MAPS];
	struct prog *prog;
};

static struct map *make_map(u32 n)
{
	const struct gen_map_spec *m = &gen_maps[n];
	struct map_attr attr = { .type = m->type, .key_size = m->key, .value_size = m->value, .max_entries = m->entries,
				 .flags = m->flags & ~(u32)BPF_F_MMAPABLE };
	static const u8 value[8 * 1024];
	struct map *map = NULL;

	if (map_new(&map, &attr))
		return NULL;
	for (u32 i = 0; i < m->fill; i++) {
		u32 key[2] = { i, 0 };

		if (n == GEN_TRIE)
			key[0] = 32, key[1] = i;
		map_copy_in(map, key, value, 0);
	}
	return map;
}

static int map_by_fd(void *ctx, s32 fd, bool fd_is_index, struct map **map)
{
	struct instance *in = ctx;
	u32 n = (u32)fd % GEN_MAPS;

	if (fd_is_index)
		return -EBADF;
	if (!in->map[n])
		in->map[n] = make_map(n);
	if (!in->map[n])
		return -ENOMEM;
	obj_get(&in->map[n]->obj);
	*map = in->map[n];
	return 0;
}

/* The verifier once more, for the oracle: the maps are there. */
static int use_map(void *ctx, s32 fd, bool fd_is_index, struct map **map)
{
	struct instance *in = ctx;
	struct prog *p = in->prog;

	for (u32 i = 0; i < p->n_maps; i++)
		if (!fd_is_index && p->maps[i] == in->map[(u32)fd % GEN_MAPS]) {
			*map = p->maps[i];
			return (int)i;
		}
	return -EBADF;
}

static struct btf_types *types(u32 ids[GEN_KINDS])
{
	static struct btf_types *btf;
	static u32 made[GEN_KINDS];
	const void *data;
	u32 size;

	if (!btf) {
		data = gen_btf(&size, made);
		FUZZ_CHECK(!btf_parse(&btf, data, size, NULL, NULL));
	}
	memcpy(ids, made, sizeof(made));
	return btf;
}

static u32 find_functions(const struct bpf_insn *insns, u32 n, struct bpf_func_info *info, u32 max)
{
	bool start[INSNS] = { true }, callback[INSNS] = { 0 };
	u32 ids[GEN_KINDS], found = 0;

	types(ids);
	for (u32 i = 0; i < n; i++) {
		s64 to = (s64)i + 1 + insns[i].imm;

		if ((isa_is_pseudo_call(&insns[i]) || isa_is_pseudo_func(&insns[i])) && to > 0 && to < n)
			start[to] = true, callback[to] |= isa_is_pseudo_func(&insns[i]);
	}
	for (u32 i = 0; i < n && found < max; i++)
		if (start[i])
			info[found++] = (struct bpf_func_info){ i, ids[!i ? GEN_MAIN : callback[i] ? GEN_CALLBACK : GEN_STATIC] };
	return found;
}

static bool load(struct instance *in, const struct bpf_insn *insns, u32 n, u8 options)
{
	struct bpf_func_info info[64];
	u32 ids[GEN_KINDS], n_info = find_functions(insns, n, info, ARRAY_SIZE(info));
	struct refusal why = { 0 };
	struct prog_attr attr = {
		.type = options & TC ? BPF_PROG_TYPE_SCHED_CLS :
			options & SOCKET ? BPF_PROG_TYPE_SOCKET_FILTER : BPF_PROG_TYPE_XDP,
		.flags = options & FREQ ? ABI_F_TEST_STATE_FREQ : 0,
		.caps = CAPS | (options & UNPRIV ? 0 : VERIFY_CAP_PERFMON | VERIFY_CAP_SYS_ADMIN),
		.insns = insns, .n_insns = n, .license = "GPL", .map_by_fd = map_by_fd, .ctx = in,
		.max_insns = VERIFIED,
	};
	int err;

	if (n_info > 1) {
		attr.btf = types(ids);
		attr.func_info = info;
		attr.func_info_cnt = n_info;
		attr.func_info_rec_size = sizeof(info[0]);
	}
	err = prog_load(&in->prog, &attr, &why);
	FUZZ_CHECK(err <= 0 && err > -4096);
	FUZZ_CHECK(!err == !!in->prog);
	return !err;
}

static void drop(struct instance *in)
{
	prog_put(in->prog);
	for (u32 i = 0; i < GEN_MAPS; i++)
		map_put(in->map[i]);
	*in = (struct instance){ 0 };
	env_synchronize();
}

/* ---- runs */

struct result {
	u32 r0, size, digest;
};

static u32 hash(const u8 *p, u32 n, u32 h)
{
	for (u32 i = 0; i < n; i++)
		h = (h ^ p[i]) * 16777619;
	return h;
}

static u32 digest_maps(const struct instance *in)
{
	u32 h = 1;

	for (u32 i = 0; i < GEN_MAPS; i++)
		if (in->map[i] && in->map[i]->values)
			h = hash(in->map[i]->values, in->map[i]->stride * in->map[i]->max_entries, h);
	return h;
}

static void start(struct env *env, struct run_buffer *b, u32 n)
{
	/* as long as programs check for (headers): one byte too far is outside then */
	static const u8 sizes[PACKETS] = { 14, 20, 34, 54, 70 };
	u8 packet[PACKET_MAX];
	u32 size = sizes[n];

	for (u32 i = 0; i < size; i++)
		packet[i] = n & 1 ? 0xff : (u8)(i * (2 * n + 1));
	FUZZ_CHECK(!run_buffer_fill(b, packet, size));
	ticks = 1;
	env_init(env, &world);
	env_enter(env);
}

static void finish(struct env *env, const struct instance *in, struct run_buffer *b, struct result *r)
{
	env_leave(env);
	r->size = (u32)(b->frame.packet_end - b->frame.data_meta);
	r->digest = hash(b->frame.data_meta, r->size, digest_maps(in));
}

/* false: not to its end. */
static bool run_observed(struct instance *in, u8 options, struct run_buffer *b, struct result *r)
{
	u32 caps = CAPS | (options & UNPRIV ? 0 : VERIFY_CAP_PERFMON | VERIFY_CAP_SYS_ADMIN);
	struct oracle *o = NULL;
	bool ended = true;
	int err;

	if (!(options & NO_STATES))
		o = oracle_new(in->prog, caps, options & PRECISE, use_map, in, &err);
	if (!o)
		o = oracle_memory_only(in->prog);
	FUZZ_CHECK(o);
	for (u32 i = 0; i < PACKETS && ended; i++) {
		struct env env;
		enum oracle_end end;

		start(&env, b, i);
		end = oracle_run(o, &env, b, STEPS, &r[i].r0);
		finish(&env, in, b, &r[i]);
		ended = end == ORACLE_OK;
		if (end > ORACLE_LIMIT)
			fprintf(stderr, "%s\n", oracle_text(o));
		FUZZ_CHECK(end != ORACLE_STATE);
		FUZZ_CHECK(end != ORACLE_MEMORY);
	}
	oracle_free(o);
	return ended;
}

static void run_fast(struct instance *in, struct run_buffer *b, struct result *r)
{
	for (u32 i = 0; i < PACKETS; i++) {
		struct env env;

		start(&env, b, i);
		r[i].r0 = run_packet(in->prog, &env, b);
		finish(&env, in, b, &r[i]);
	}
}

static void run(struct instance *in, const struct bpf_insn *insns, u32 n, u8 options)
{
	static struct run_buffer buffer;
	struct result a[PACKETS] = { 0 }, b[PACKETS] = { 0 };
	bool ended;

	if (!buffer.mem)
		FUZZ_CHECK(!run_buffer_init(&buffer, PACKET_MAX));
	ended = run_observed(in, options, &buffer, a);
	drop(in);
	/* again from the start, with maps as new */
	FUZZ_CHECK(load(in, insns, n, options));
	if (!ended)
		return;
	run_fast(in, &buffer, b);
	if (options & UNPRIV)
		FUZZ_CHECK(!memcmp(a, b, sizeof(a)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bpf_insn insns[INSNS];
	struct instance in = { 0 };
	u32 n;

	if (size < 9)
		return 0;
	n = (u32)MIN((size - 1) / 8, (size_t)INSNS);
	memcpy(insns, data + 1, n * sizeof(*insns));
	if (load(&in, insns, n, data[0]))
		run(&in, insns, n, data[0]);
	drop(&in);
	return 0;
}

/* ---- mutation that knows what an instruction is */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

static void change(struct bpf_insn *i, u64 *rnd)
{
	static const s32 numbers[] = { 0, 1, -1, 2, 4, 8, 16, 31, 32, 63, 64, 255, 256, -8, -16, 0x7fffffff, -0x7fffffff - 1, 65535 };
	u64 x = gen_rnd64(rnd);
	s32 near = (s32)(x >> 40 & 15) - 8;

	switch (x % 8) {
	case 0:
		i->dst_reg = (x >> 8) % 11;
		break;
	case 1:
		i->src_reg = (x >> 8) % 11;
		break;
	case 2:
		i->off = (s16)(i->off + near);
		break;
	case 3:
		i->imm = numbers[(x >> 8) % ARRAY_SIZE(numbers)];
		break;
	case 4:
		i->imm = (s32)((u32)i->imm + (u32)near);
		break;
	case 5:
		i->code = (u8)((i->code & 0x0f) | (x >> 8 & 15) << 4);
		break;
	case 6:
		i->code = (u8)((i->code & 0xe7) | (x >> 8 & 3) << 3);
		break;
	default:
		i->code = (u8)((i->code & 0xf8) | (x >> 8 & 7));
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	struct bpf_insn insns[INSNS + 1];
	u64 rnd = seed, x = gen_rnd64(&rnd);
	u32 n = (u32)MIN((size ? size - 1 : 0) / 8, (size_t)INSNS), at, from;

	if (!n || x % 8 == 0)
		return LLVMFuzzerMutate(data, size, max);
	memcpy(insns, data + 1, n * sizeof(*insns));
	at = (u32)(x >> 32) % n;
	from = (u32)(x >> 16 & 0xffff) % n;
	switch (x % 8) {
	case 1:		/* once more */
		if (n < INSNS && 1 + (n + 1) * 8 <= max) {
			memmove(insns + at + 1, insns + at, (n - at) * sizeof(*insns));
			n++;
		}
		break;
	case 2:		/* gone */
		if (n > 1) {
			memmove(insns + at, insns + at + 1, (n - at - 1) * sizeof(*insns));
			n--;
		}
		break;
	case 3:
		insns[at] = insns[from];
		break;
	case 4:
		data[0] ^= (u8)(1 << (x >> 8) % 6);
		break;
	default:
		for (u32 k = 1 + (x >> 60 & 3); k; k--, at = (u32)gen_rnd64(&rnd) % n)
			change(&insns[at], &rnd);
	}
	memcpy(data + 1, insns, n * sizeof(*insns));
	return 1 + n * sizeof(*insns);
}
