/* The same bpf(2) calls on either floor. See floor.h. */
#include "floor.h"
#include "env/env.h"
#include "isa/isa.h"
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>

long floor_bpf(struct floor *f, u32 cmd, union abi_attr *attr)
{
	long r;

	if (!f->kernel)
		return sys_bpf(f->caller, cmd, addr_of(attr), sizeof(*attr));
	r = syscall(SYS_bpf, cmd, attr, sizeof(*attr));
	return r < 0 ? -errno : r;
}

/* ---- set-up */

static int new_map(struct floor *f, u32 n)
{
	const struct gen_map_spec *m = &gen_maps[n];
	union abi_attr a = { .map_create = { .map_type = m->type, .key_size = m->key, .value_size = m->value,
					     .max_entries = m->entries, .map_flags = m->flags } };
	int fd;

	if (n == GEN_OUTER)
		a.map_create.inner_map_fd = (u32)f->map[GEN_ARRAY];
	fd = (int)floor_bpf(f, BPF_MAP_CREATE, &a);
	if (fd >= 0 && m->flags & BPF_F_MMAPABLE) {
		void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (at == MAP_FAILED)
			return -errno;
		f->mapped[n] = at;
	}
	return fd;
}

static int load_btf(struct floor *f)
{
	union abi_attr a = { 0 };

	a.btf_load.btf = addr_of(gen_btf(&a.btf_load.btf_size, f->btf_ids));
	return (int)floor_bpf(f, BPF_BTF_LOAD, &a);
}

static int fill_outer(struct floor *f)
{
	union abi_attr a = { 0 };
	u32 key = 0, value = (u32)f->map[GEN_ARRAY];

	a.elem.map_fd = (u32)f->map[GEN_OUTER];
	a.elem.key = addr_of(&key);
	a.elem.value = addr_of(&value);
	return (int)floor_bpf(f, BPF_MAP_UPDATE_ELEM, &a);
}

/* What a tail call goes to: returns 7. */
static int fill_prog_array(struct floor *f, u32 type)
{
	struct gen_program p = { .type = type, .n = 2, .n_funcs = 1 };
	union abi_attr a = { 0 };
	u32 key = 1, value;

	p.insn[0] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 7 };
	p.insn[1] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	f->tail = floor_load(f, &p, NULL, 0, 0);
	if (f->tail < 0)
		return f->tail;
	value = (u32)f->tail;
	a.elem.map_fd = (u32)f->map[GEN_PROGS];
	a.elem.key = addr_of(&key);
	a.elem.value = addr_of(&value);
	return (int)floor_bpf(f, BPF_MAP_UPDATE_ELEM, &a);
}

int floor_open(struct floor *f, bool kernel, u32 type, struct sys_caller *caller)
{
	int err;

	*f = (struct floor){ .name = kernel ? "kernel" : "skep", .kernel = kernel, .caller = caller };
	f->btf = load_btf(f);
	if (f->btf < 0) {
		printf("# %s: BTF: %s\n", f->name, strerror(-f->btf));
		return f->btf;
	}
	for (u32 i = 0; i < GEN_MAPS; i++) {
		f->map[i] = new_map(f, i);
		if (f->map[i] < 0) {
			printf("# %s: map %s: %s\n", f->name, gen_maps[i].name, strerror(-f->map[i]));
			return f->map[i];
		}
	}
	err = fill_prog_array(f, type);
	err = err ?: fill_outer(f);
	if (err)
		printf("# %s: filling maps: %s\n", f->name, strerror(-err));
	return err;
}

void floor_drop(struct floor *f, int prog)
{
	if (f->kernel)
		close(prog);
	else
		sys_close(prog);
}

void floor_close(struct floor *f)
{
	floor_drop(f, f->tail);
	for (u32 i = 0; i < GEN_MAPS; i++) {
		if (f->mapped[i] && f->kernel)
			munmap(f->mapped[i], 4096);
		else if (f->mapped[i])
			sys_munmap(f->mapped[i], 4096);
		floor_drop(f, f->map[i]);
	}
	floor_drop(f, f->btf);
}

/* ---- programs */

static bool names_map(const struct bpf_insn *i)
{
	return isa_is_ld_imm64(i) && (i->src_reg == BPF_PSEUDO_MAP_FD || i->src_reg == BPF_PSEUDO_MAP_VALUE);
}

int floor_load(struct floor *f, const struct gen_program *p, char *log, u32 log_size, u32 log_level)
{
	struct bpf_insn insns[GEN_INSNS];
	struct bpf_func_info info[GEN_FUNCS];
	union abi_attr a = { 0 };

	memcpy(insns, p->insn, p->n * sizeof(*insns));
	for (u32 i = 0; i < p->n; i++)
		if (names_map(&insns[i]) && (u32)insns[i].imm < GEN_MAPS)
			insns[i].imm = f->map[insns[i].imm];
	a.prog_load.prog_type = p->type;
	a.prog_load.insns = addr_of(insns);
	a.prog_load.insn_cnt = p->n;
	a.prog_load.license = addr_of("GPL");
	a.prog_load.prog_flags = p->flags;
	a.prog_load.log_buf = addr_of(log);
	a.prog_load.log_size = log ? log_size : 0;
	a.prog_load.log_level = log ? log_level : 0;
	for (u32 i = 0; i < p->n_funcs; i++)
		info[i] = (struct bpf_func_info){ p->func[i].start, f->btf_ids[p->func[i].kind] };
	if (p->needs_btf) {
		a.prog_load.prog_btf_fd = (u32)f->btf;
		a.prog_load.func_info = addr_of(info);
		a.prog_load.func_info_cnt = p->n_funcs;
		a.prog_load.func_info_rec_size = sizeof(info[0]);
	}
	return (int)floor_bpf(f, BPF_PROG_LOAD, &a);
}

u32 floor_verified_insns(struct floor *f, int prog)
{
	struct abi_prog_info info = { 0 };
	union abi_attr a = { .info = { .bpf_fd = (u32)prog, .info_len = sizeof(info), .info = addr_of(&info) } };

	return floor_bpf(f, BPF_OBJ_GET_INFO_BY_FD, &a) ? 0 : info.verified_insns;
}

void floor_test_run(struct floor *f, int prog, const u8 *packet, u32 size, struct floor_run *r)
{
	union abi_attr a = { .test = { .prog_fd = (u32)prog, .data_size_in = size, .data_size_out = sizeof(r->data),
				       .data_in = addr_of(packet), .data_out = addr_of(r->data), .repeat = 1 } };

	r->err = (int)floor_bpf(f, BPF_PROG_TEST_RUN, &a);
	r->retval = a.test.retval;
	r->size = a.test.data_size_out;
}

/* ---- maps */

enum { VALUE_ROOM = 64 * 256 };

static int elem(struct floor *f, u32 cmd, u32 map, const void *key, void *value, u64 flags)
{
	union abi_attr a = { .elem = { .map_fd = (u32)f->map[map], .key = addr_of(key), .value = addr_of(value), .flags = flags } };

	return (int)floor_bpf(f, cmd, &a);
}

static u32 cpus(void)
{
	static u32 n;

	if (!n)
		n = env_possible_cpus();
	return n;
}

static bool per_cpu(u32 map)
{
	return gen_maps[map].type == BPF_MAP_TYPE_PERCPU_ARRAY || gen_maps[map].type == BPF_MAP_TYPE_PERCPU_HASH;
}

static bool is_array(u32 map)
{
	return gen_maps[map].type == BPF_MAP_TYPE_ARRAY || gen_maps[map].type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static bool is_queue(u32 map)
{
	return map == GEN_QUEUE || map == GEN_STACK;
}

static void key_of(u32 map, u32 n, u8 key[8])
{
	u32 prefix = 32;

	memset(key, 0, 8);
	if (map == GEN_TRIE) {
		memcpy(key, &prefix, 4);
		memcpy(key + 4, &n, 4);
	} else {
		memcpy(key, &n, 4);
	}
}

static void put_value(struct floor *f, u32 map, u32 n)
{
	static u8 value[VALUE_ROOM];
	u8 key[8];

	key_of(map, n, key);
	memset(value, 0, sizeof(value));
	if (!per_cpu(map))
		for (u32 i = 0; i < gen_maps[map].value; i++)
			value[i] = (u8)(n * 37 + i * i * 11 + map);
	elem(f, BPF_MAP_UPDATE_ELEM, map, is_queue(map) ? NULL : key, value, 0);
}

/* The values in order, taken out. */
static u64 drain(struct floor *f, u32 map)
{
	u64 h = 1, value = 0;

	for (u32 n = 0; n < 64 && !elem(f, BPF_MAP_LOOKUP_AND_DELETE_ELEM, map, NULL, &value, 0); n++)
		h = h * 31 + value;
	return h;
}

static void empty(struct floor *f, u32 map)
{
	u8 key[8];

	if (is_queue(map)) {
		drain(f, map);
		return;
	}

	for (u32 n = 0; n < 2 * gen_maps[map].entries && !elem(f, BPF_MAP_GET_NEXT_KEY, map, NULL, key, 0); n++)
		elem(f, BPF_MAP_DELETE_ELEM, map, key, NULL, 0);
}

static bool has_content(u32 map)
{
	return map != GEN_RING && map != GEN_PROGS && map != GEN_OUTER;
}

void floor_reset_maps(struct floor *f, u32 maps)
{
	for (u32 m = 0; m < GEN_MAPS; m++) {
		u32 n = per_cpu(m) && is_array(m) ? gen_maps[m].entries : gen_maps[m].fill;

		if (!(maps >> m & 1) || !has_content(m))
			continue;
		if (!is_array(m))
			empty(f, m);
		for (u32 i = 0; i < n; i++)
			put_value(f, m, i);
	}
}

static u64 hash(const void *data, u32 size, u64 h)
{
	const u8 *p = data;

	for (u32 i = 0; i < size; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return h ^ h >> 29;
}

static u64 digest_one(struct floor *f, u32 map, const u8 *key)
{
	static u8 value[VALUE_ROOM];
	u32 size = gen_maps[map].value, stride = (size + 7) / 8 * 8;
	u64 h = hash(key, gen_maps[map].key, 0xcbf29ce484222325ull), sum = 0;

	if (elem(f, BPF_MAP_LOOKUP_ELEM, map, key, value, 0))
		return 0;
	if (!per_cpu(map))
		return hash(value, size, h);
	for (u32 i = 0; i < cpus(); i++) {
		static const u8 zero[64];

		if (memcmp(value + i * stride, zero, size))
			sum += hash(value + i * stride, size, h);
	}
	return h + sum;
}

u64 floor_digest(struct floor *f, u32 map)
{
	u64 sum = 0;
	u8 key[8], next[8];
	bool first = true;

	if (!has_content(map))
		return 0;
	if (is_queue(map))
		return drain(f, map);
	if (f->mapped[map])
		return hash(f->mapped[map], gen_maps[map].entries * ((gen_maps[map].value + 7) / 8 * 8), 1);
	for (u32 n = 0; n < 4 * gen_maps[map].entries; n++) {
		if (elem(f, BPF_MAP_GET_NEXT_KEY, map, first ? NULL : key, next, 0))
			break;
		first = false;
		memcpy(key, next, sizeof(key));
		sum += digest_one(f, map, key);
	}
	return sum;
}
