/* The two verifiers behind one call each. */
#include "engine.h"
#include "btf/btf.h"
#include "kind/kind.h"
#include "map/map.h"
#include "verify/verify.h"
#include <stdio.h>
#include <sys/syscall.h>

const u32 engine_maps[N_MAPS][4] = {
	{ BPF_MAP_TYPE_ARRAY, 4, 8, 4 },
	{ BPF_MAP_TYPE_HASH, 4, 8, 16 },
	{ BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4 },
};

/* Splits the log: the statistics are its last line, what was said before them comes back as text. */
void engine_read_log(char *text, struct engine_answer *a)
{
	char *stats = strstr(text, "processed "), *line, *save;

	while (stats && strstr(stats + 1, "\nprocessed "))
		stats = strstr(stats + 1, "\nprocessed ") + 1;
	if (stats) {
		if (sscanf(stats, "processed %u insns (limit %*u) max_states_per_insn %u total_states %u peak_states %u", &a->insns,
			   &a->per_insn, &a->states, &a->peak) != 4)
			a->insns = ~0u;
		*stats = 0;
	}
	stats = strstr(text, "verification time ");
	if (stats)
		*stats = 0;
	a->text[0] = 0;
	if (!a->err)
		return;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		snprintf(a->text, sizeof(a->text), "%s", line);
}

/* ---- the kernel */

static int kernel_map[N_MAPS];
static char kernel_text[16 << 20];

static int sys(int cmd, union abi_attr *attr)
{
	int rc = (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return rc < 0 ? -errno : rc;
}

bool engine_kernel_open(void)
{
	for (u32 i = 0; i < N_MAPS; i++) {
		union abi_attr attr = { 0 };

		attr.map_create.map_type = engine_maps[i][0];
		attr.map_create.key_size = engine_maps[i][1];
		attr.map_create.value_size = engine_maps[i][2];
		attr.map_create.max_entries = engine_maps[i][3];
		kernel_map[i] = sys(BPF_MAP_CREATE, &attr);
		if (kernel_map[i] < 0)
			return false;
	}
	return true;
}

static bool names_map(const struct bpf_insn *i)
{
	return i->code == (BPF_LD | BPF_IMM | BPF_DW) &&
	       (i->src_reg == BPF_PSEUDO_MAP_FD || i->src_reg == BPF_PSEUDO_MAP_VALUE);
}

static int kernel_load(struct engine_case *c, struct bpf_insn *insns, u32 level)
{
	union abi_attr attr = { 0 }, btf = { 0 };
	int fd, btf_fd = -1;
	u32 size;
	void *blob = engine_btf(c, &size);

	if (blob) {
		btf.btf_load.btf = addr_of(blob);
		btf.btf_load.btf_size = size;
		btf_fd = sys(BPF_BTF_LOAD, &btf);
		if (btf_fd < 0)
			printf("# kernel refuses the BTF of \"%s\": %s\n", c->name, strerror(-btf_fd));
	}
	attr.prog_load.prog_type = BPF_PROG_TYPE_XDP;
	attr.prog_load.insns = addr_of(insns);
	attr.prog_load.insn_cnt = c->n;
	attr.prog_load.license = addr_of("GPL");
	attr.prog_load.prog_flags = c->flags;
	attr.prog_load.log_buf = addr_of(kernel_text);
	attr.prog_load.log_size = sizeof(kernel_text);
	attr.prog_load.log_level = level;
	if (blob) {
		attr.prog_load.prog_btf_fd = btf_fd;
		attr.prog_load.func_info = addr_of(c->func_info);
		attr.prog_load.func_info_cnt = c->n_funcs;
		attr.prog_load.func_info_rec_size = sizeof(*c->func_info);
		attr.prog_load.line_info = addr_of(c->line_info);
		attr.prog_load.line_info_cnt = c->n_lines;
		attr.prog_load.line_info_rec_size = sizeof(*c->line_info);
	}
	kernel_text[0] = 0;
	fd = sys(BPF_PROG_LOAD, &attr);
	if (btf_fd >= 0)
		close(btf_fd);
	free(blob);
	return fd;
}

void engine_kernel(struct engine_case *c, struct engine_answer *a, u32 level)
{
	struct bpf_insn *insns = malloc(c->n * sizeof(*insns));
	int fd;

	memcpy(insns, c->insns, c->n * sizeof(*insns));
	for (u32 i = 0; i < c->n; i++)
		if (names_map(&insns[i]) && (u32)insns[i].imm < N_MAPS)
			insns[i].imm = kernel_map[insns[i].imm];
	fd = kernel_load(c, insns, level);
	if (fd >= 0)
		close(fd);
	memset(a, 0, sizeof(*a));
	a->err = fd < 0 ? fd : 0;
	if (level & 2)
		printf("%s", kernel_text);
	engine_read_log(kernel_text, a);
	free(insns);
}

/* ---- skep */

static struct map *skep_map[N_MAPS];

static int use_map(void *ctx, s32 fd, bool fd_is_index, struct map **map)
{
	struct map_attr attr = { 0 };

	if (fd_is_index)
		return -EPROTO;	/* no case has an fd_array */
	if (fd < 0 || fd >= N_MAPS)
		return -EBADF;
	attr.type = engine_maps[fd][0];
	attr.key_size = engine_maps[fd][1];
	attr.value_size = engine_maps[fd][2];
	attr.max_entries = engine_maps[fd][3];
	if (!skep_map[fd] && map_new(&skep_map[fd], &attr))
		return -ENOMEM;
	*map = skep_map[fd];
	return fd;
}

void engine_skep(struct engine_case *c, struct engine_answer *a, u32 level)
{
	struct verify_input in = { .insns = c->insns, .n_insns = c->n, .kind = kind_get(BPF_PROG_TYPE_XDP),
				   .prog_flags = c->flags, .gpl = true, .use_map = use_map,
				   .caps = VERIFY_CAP_BPF | VERIFY_CAP_PERFMON | VERIFY_CAP_NET_ADMIN };
	struct btf_types *btf = NULL;
	struct proof proof = { 0 };
	struct refusal why;
	struct log log;
	char *text;
	u32 size;
	void *blob = engine_btf(c, &size);

	log_init(&log, 16 << 20);
	log.level = level;
	in.log = &log;
	if (blob && !btf_parse(&btf, blob, size, NULL, NULL)) {
		in.btf = btf;
		in.func_info = c->func_info;
		in.n_func_info = c->n_funcs;
		in.line_info = c->line_info;
		in.n_line_info = c->n_lines;
	}
	memset(a, 0, sizeof(*a));
	a->err = verify_program(&in, &proof, &why);
	text = log_text(&log, NULL);
	if (level & 2)
		printf("%s", text);
	engine_read_log(text, a);
	free(text);
	log_done(&log);
	verify_proof_done(&proof);
	btf_put(btf);
	free(blob);
}
