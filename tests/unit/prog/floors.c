/* See floors.h. */
#include "floors.h"
#include "btf/btf.h"
#include "isa/isa.h"
#include <stdio.h>
#include <sys/syscall.h>

static long kernel_bpf(int cmd, union abi_attr *attr)
{
	long ret = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return ret < 0 ? -errno : ret;
}

bool floors_have_kernel(void)
{
	static int have = -1;

	if (have < 0) {
		union abi_attr attr = { .map_create = { BPF_MAP_TYPE_ARRAY, 4, 4, 1 } };
		long fd = geteuid() ? -EPERM : kernel_bpf(BPF_MAP_CREATE, &attr);

		have = fd >= 0;
		if (have)
			close(fd);
	}
	return have;
}

/* ---- maps */

static void make_kernel_map(struct floor_map *m)
{
	union abi_attr attr = { .map_create = { m->type, m->key_size, m->value_size, m->max_entries, m->flags } };
	u32 key = 0;

	m->kernel = kernel_bpf(BPF_MAP_CREATE, &attr);
	if (m->kernel < 0 || !m->value)
		return;
	attr = (union abi_attr){ .elem = { m->kernel, addr_of(&key), addr_of(m->value) } };
	assert(!kernel_bpf(BPF_MAP_UPDATE_ELEM, &attr));
	attr = (union abi_attr){ .elem = { m->kernel } };
	assert(!kernel_bpf(BPF_MAP_FREEZE, &attr));
}

static void make_user_map(struct floor_map *m)
{
	struct map_attr attr = { .type = m->type, .key_size = m->key_size, .value_size = m->value_size,
				 .max_entries = m->max_entries, .flags = m->flags, .name = "test" };
	u32 key = 0;
	int err = map_new(&m->user, &attr);

	if (err) {
		printf("# map of type %u: error %d\n", m->type, err);
		abort();
	}
	obj_get_user(&m->user->obj);
	map_put(m->user); /* the user's reference stays */
	if (m->value) {
		assert(!map_copy_in(m->user, &key, m->value, 0));
		assert(!map_freeze(m->user));
	}
}

void floors_make_maps(struct floor_map *maps, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		make_user_map(&maps[i]);
		maps[i].kernel = -1;
		if (floors_have_kernel())
			make_kernel_map(&maps[i]);
	}
}

void floors_drop_maps(struct floor_map *maps, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		obj_put_user(&maps[i].user->obj);
		if (maps[i].kernel >= 0)
			close(maps[i].kernel);
	}
}

/* ---- BTF: a program that takes the address of a function must say what its functions are */

struct func_btf {
	struct btf_header header;
	struct btf_type integer;
	u32 integer_bits;
	struct btf_type proto;		/* int (void) */
	struct btf_type func[2];	/* global main, static others */
	char strings[16];
};

static struct func_btf make_btf(void)
{
	return (struct func_btf){
		.header = { .magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(struct btf_header),
			    .type_len = offsetof(struct func_btf, strings) - sizeof(struct btf_header),
			    .str_off = offsetof(struct func_btf, strings) - sizeof(struct btf_header), .str_len = 16 },
		.integer = { 1, BTF_KIND_INT << 24, { 4 } },
		.integer_bits = BTF_INT_SIGNED << 24 | 32,
		.proto = { 0, BTF_KIND_FUNC_PROTO << 24, { 1 } },
		.func = { { 5, BTF_KIND_FUNC << 24 | BTF_FUNC_GLOBAL, { 2 } }, { 10, BTF_KIND_FUNC << 24, { 2 } } },
		.strings = "\0int\0main\0each",
	};
}

/* Records of all functions, in order; none when nobody needs them. */
static u32 find_funcs(const struct floor_program *p, struct bpf_func_info *info, u32 room)
{
	const struct bpf_insn *insns = p->insns;
	bool taken = p->with_funcs;
	u32 found = 0, n = MIN(p->n_insns, 10000u); /* none of ours is larger, but for the one that is too large */

	for (u32 at = 0; at < n; at++) {
		bool starts = at == 0;

		for (u32 i = 0; i < n && !starts; i++)
			starts = (isa_is_pseudo_call(&insns[i]) || isa_is_pseudo_func(&insns[i])) && i + 1 + insns[i].imm == at;
		taken |= isa_is_pseudo_func(&insns[at]);
		if (starts) {
			assert(found < room);
			info[found] = (struct bpf_func_info){ at, found ? 4 : 3 };
			found++;
		}
	}
	return taken ? found : 0;
}

/* ---- loading */

static int map_by_fd(void *ctx, s32 fd, bool fd_is_index, struct map **map)
{
	struct floors *f = ctx;

	if (fd_is_index)
		return -EPROTO; /* no fd_array */
	if (fd < 0 || fd >= (s32)f->n_maps)
		return -EBADF;
	*map = f->maps[fd].user;
	obj_get(&(*map)->obj);
	return 0;
}

static void load_user(struct floors *f, const struct floor_program *p)
{
	struct log log;
	struct prog_attr attr = {
		.type = BPF_PROG_TYPE_XDP, .attach_type = p->attach_type, .flags = p->flags,
		.caps = VERIFY_CAP_BPF | VERIFY_CAP_PERFMON | VERIFY_CAP_NET_ADMIN,
		.insns = p->insns, .n_insns = p->n_insns, .license = p->license ?: "GPL", .name = "both",
		.line_info = p->lines, .line_info_cnt = p->n_lines, .line_info_rec_size = sizeof(*p->lines),
		.map_by_fd = map_by_fd, .ctx = f, .log = &log,
	};
	struct func_btf btf = make_btf();
	struct bpf_func_info info[8];

	attr.func_info_cnt = find_funcs(p, info, ARRAY_SIZE(info));
	if (attr.func_info_cnt || p->n_lines) {
		attr.func_info = info;
		attr.func_info_rec_size = sizeof(*info);
		assert(!btf_parse(&attr.btf, &btf, sizeof(btf), NULL, NULL));
	}
	log_init(&log, 1 << 20);
	log.level = p->quiet ? 0 : ABI_LOG_LEVEL1;
	f->user_err = prog_load(&f->user, &attr, &f->why);
	btf_put(attr.btf);
	f->user_log = log_text(&log, NULL);
	log_done(&log);
}

static int kernel_btf(void)
{
	struct func_btf btf = make_btf();
	union abi_attr attr = { .btf_load = { .btf = addr_of(&btf), .btf_size = sizeof(btf) } };
	int fd = kernel_bpf(BPF_BTF_LOAD, &attr);

	assert(fd >= 0);
	return fd;
}

static void load_kernel(struct floors *f, const struct floor_program *p)
{
	u32 n = p->n_insns;
	struct bpf_insn *mine = malloc(n * sizeof(*mine));
	union abi_attr attr = { .prog_load = {
		.prog_type = BPF_PROG_TYPE_XDP, .insn_cnt = n, .insns = addr_of(mine),
		.license = addr_of(p->license ?: "GPL"), .log_level = !p->quiet, .log_size = p->quiet ? 0 : 1 << 20, .prog_flags = p->flags,
		.expected_attach_type = p->attach_type, .line_info = addr_of(p->lines), .line_info_cnt = p->n_lines,
		.line_info_rec_size = sizeof(*p->lines),
	} };

	struct bpf_func_info info[8];

	attr.prog_load.func_info_cnt = find_funcs(p, info, ARRAY_SIZE(info));
	if (attr.prog_load.func_info_cnt || p->n_lines) {
		attr.prog_load.func_info = addr_of(info);
		attr.prog_load.func_info_rec_size = sizeof(*info);
		attr.prog_load.prog_btf_fd = kernel_btf();
	}
	f->kernel_log = calloc(1, 1 << 20);
	attr.prog_load.log_buf = p->quiet ? 0 : addr_of(f->kernel_log);
	memcpy(mine, p->insns, n * sizeof(*mine));
	for (u32 i = 0; i < n; i++)
		if (isa_is_ld_imm64(&mine[i]) &&
		    (mine[i].src_reg == BPF_PSEUDO_MAP_FD || mine[i].src_reg == BPF_PSEUDO_MAP_VALUE))
			mine[i].imm = (u32)mine[i].imm < f->n_maps ? f->maps[mine[i].imm].kernel : -1;
	f->kernel = kernel_bpf(BPF_PROG_LOAD, &attr);
	if (attr.prog_load.prog_btf_fd)
		close(attr.prog_load.prog_btf_fd);
	free(mine);
}

void floors_load_program(struct floors *f, const struct floor_program *p)
{
	*f = (struct floors){ .maps = p->maps, .n_maps = p->n_maps, .kernel = -1 };
	load_user(f, p);
	if (floors_have_kernel())
		load_kernel(f, p);
}

bool floors_kernel_info(const struct floors *f, struct abi_prog_info *info)
{
	union abi_attr attr = { .info = { f->kernel, sizeof(*info), addr_of(info) } };

	return f->kernel >= 0 && !kernel_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

void floors_load(struct floors *f, const char *text, u32 attach_type, u32 flags, struct floor_map *maps, u32 n_maps)
{
	struct bpf_insn *insns;
	struct log err;
	u32 n;

	log_init(&err, 1000);
	if (isa_assemble(text, &insns, &n, &err)) {
		printf("# %s\n", log_text(&err, NULL));
		abort();
	}
	log_done(&err);
	floors_load_program(f, &(struct floor_program){ insns, n, attach_type, flags, maps, n_maps });
	free(insns);
}

void floors_done(struct floors *f)
{
	if (!f->user_err)
		prog_put(f->user);
	if (f->kernel >= 0)
		close(f->kernel);
	free(f->user_log);
	free(f->kernel_log);
}

static void say_end(const char *who, int err, const char *text)
{
	const char *from = text + strlen(text);

	for (int lines = 0; from > text && (from[-1] != '\n' || lines++ < 4); from--)
		;
	printf("# %s: %d\n", who, err);
	while (*from) {
		u32 n = strcspn(from, "\n");

		printf("#   %.*s\n", (int)n, from);
		from += n + (from[n] == '\n');
	}
}

void floors_say_logs(const struct floors *f)
{
	say_end("skep", f->user_err, f->user_log ?: "");
	say_end("kernel", f->kernel, f->kernel_log ?: "");
}

/* ---- running */

void floors_run_user(struct floors *f, const struct floor_input *in, struct floor_result *out)
{
	struct run_test t = {
		.data_in = in->packet, .data_size_in = in->size, .data_out = in->room ? out->data : NULL,
		.data_out_room = in->room, .ctx_in = in->ctx, .ctx_size_in = in->ctx_size,
		.ctx_out = in->ctx ? out->ctx : NULL, .ctx_out_room = in->ctx ? sizeof(out->ctx) : 0,
		.flags = in->flags, .repeat = in->repeat, .batch_size = in->batch_size,
	};

	memset(out, 0, sizeof(*out));
	out->err = run_test(f->user, &t);
	out->retval = t.ran ? t.retval : 0;
	out->size = t.ran ? t.data_size_out : in->room;
	out->ctx_size = t.ctx_written ? t.ctx_size_out : t.ctx_out_room;
}

void floors_run_kernel(struct floors *f, const struct floor_input *in, struct floor_result *out)
{
	union abi_attr attr = { .test = {
		.prog_fd = f->kernel, .data_size_in = in->size, .data_size_out = in->room, .data_in = addr_of(in->packet),
		.data_out = in->room ? addr_of(out->data) : 0, .repeat = in->repeat, .ctx_size_in = in->ctx_size,
		.ctx_size_out = in->ctx ? sizeof(out->ctx) : 0, .ctx_in = addr_of(in->ctx),
		.ctx_out = in->ctx ? addr_of(out->ctx) : 0, .flags = in->flags, .batch_size = in->batch_size,
	} };

	memset(out, 0, sizeof(*out));
	out->err = kernel_bpf(BPF_PROG_TEST_RUN, &attr);
	out->retval = attr.test.retval;
	out->size = attr.test.data_size_out;
	out->ctx_size = attr.test.ctx_size_out;
}

static bool say(const char *what, u32 size, s64 user, s64 kernel)
{
	printf("# packet of %u: %s: skep %lld, kernel %lld\n", size, what, (long long)user, (long long)kernel);
	return false;
}

bool floors_agree(struct floors *f, const struct floor_input *in)
{
	static struct floor_result user, kernel;
	bool same = true;

	floors_run_user(f, in, &user);
	if (!floors_have_kernel())
		return true;
	floors_run_kernel(f, in, &kernel);
	if (user.err != kernel.err)
		same = say("errno", in->size, user.err, kernel.err);
	if (user.retval != kernel.retval)
		same = say("retval", in->size, (s32)user.retval, (s32)kernel.retval);
	if (user.size != kernel.size)
		same = say("size", in->size, user.size, kernel.size);
	if (user.ctx_size != kernel.ctx_size)
		same = say("ctx size", in->size, user.ctx_size, kernel.ctx_size);
	for (u32 i = 0; i < sizeof(user.ctx) && same; i++)
		if (user.ctx[i] != kernel.ctx[i])
			same = say("ctx byte", in->size, user.ctx[i], kernel.ctx[i]);
	for (u32 i = 0; i < sizeof(user.data) && same; i++) {
		if (user.data[i] != kernel.data[i]) {
			printf("# first different byte at %u\n", i);
			same = say("byte", in->size, user.data[i], kernel.data[i]);
		}
	}
	return same;
}

/* One run of p with maps and a packet of its own, the stack moved by `shift` bytes. */
static u32 run_elsewhere(const struct floor_program *p, const struct floor_input *in, u32 shift, u8 *packet, void **pad)
{
	struct floor_map maps[FLOORS_MAPS];
	struct floor_program mine = *p;
	struct floors f = { .maps = maps, .n_maps = p->n_maps };
	volatile u8 *moved = __builtin_alloca(shift);
	u8 *room = malloc(sizeof(struct run_buffer) + shift);
	struct run_buffer *b = (void *)(room + shift / 16 * 16);
	struct env env;
	u32 ret = 0;

	*pad = malloc(10000 + 16 * shift); /* stays, so that nothing gets the address it has in the other run */
	moved[0] = 0;
	memcpy(maps, p->maps, p->n_maps * sizeof(*maps));
	for (u32 i = 0; i < p->n_maps; i++)
		make_user_map(&maps[i]);
	mine.maps = maps;
	load_user(&f, &mine);
	assert(!f.user_err && !run_buffer_init(b, in->size + shift));
	assert(!run_buffer_fill(b, in->packet, in->size));
	env_init(&env, &env_host_world);
	env_enter(&env);
	ret = run_xdp(f.user, &env, b);
	env_leave(&env);
	memcpy(packet, b->frame.data, MIN(in->size, b->frame.data_end - b->frame.data));
	for (u32 i = 0; i < p->n_maps; i++)
		maps[i].kernel = -1;
	run_buffer_done(b);
	free(room);
	prog_put(f.user);
	free(f.user_log);
	floors_drop_maps(maps, p->n_maps);
	return ret;
}

bool floors_address_free(const struct floor_program *p, const struct floor_input *in)
{
	static u8 a[FLOORS_PACKET], b[FLOORS_PACKET];
	void *pad[2];
	u32 first, second;

	memset(a, 0, in->size);
	memset(b, 0, in->size);
	first = run_elsewhere(p, in, 57, a, &pad[0]);
	second = run_elsewhere(p, in, 5090, b, &pad[1]);
	free(pad[0]);
	free(pad[1]);
	return first == second && !memcmp(a, b, in->size);
}
