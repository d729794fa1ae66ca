/* The running kernel's answers. */
#include "access.h"
#include <stdio.h>
#include <sys/syscall.h>

static int map_fds[ACCESS_MAPS], btf_fd = -1;
static char text[1 << 20];

static int sys(int cmd, union abi_attr *attr)
{
	int rc = (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return rc < 0 ? -errno : rc;
}

static int load_btf(void)
{
	union abi_attr attr = { 0 };
	u32 size;

	attr.btf_load.btf = addr_of(access_btf(&size));
	attr.btf_load.btf_size = size;
	return sys(BPF_BTF_LOAD, &attr);
}

static void fill(int fd)
{
	union abi_attr attr = { 0 };
	u32 key = 0;

	attr.elem.map_fd = (u32)fd;
	attr.elem.key = addr_of(&key);
	attr.elem.value = addr_of(access_contents);
	sys(BPF_MAP_UPDATE_ELEM, &attr);
	memset(&attr, 0, sizeof(attr));
	attr.elem.map_fd = (u32)fd;
	sys(BPF_MAP_FREEZE, &attr);
}

static int new_map(const struct access_map *m)
{
	union abi_attr attr = { 0 };
	int fd;

	attr.map_create.map_type = m->type;
	attr.map_create.key_size = m->key;
	attr.map_create.value_size = m->value;
	attr.map_create.max_entries = m->entries;
	attr.map_create.map_flags = m->flags;
	if (m->inner)
		attr.map_create.inner_map_fd = (u32)map_fds[m->inner - 1];
	if (m->lock) {
		attr.map_create.btf_fd = (u32)btf_fd;
		attr.map_create.btf_key_type_id = 1;
		attr.map_create.btf_value_type_id = 4;
	}
	fd = sys(BPF_MAP_CREATE, &attr);
	if (fd >= 0 && m->frozen)
		fill(fd);
	return fd;
}

bool access_kernel_open(void)
{
	btf_fd = load_btf();
	for (u32 i = 0; i < ACCESS_MAPS; i++) {
		map_fds[i] = new_map(&access_maps[i]);
		if (map_fds[i] < 0) {
			printf("# kernel: map %u: %s\n", i, strerror(-map_fds[i]));
			return false;
		}
	}
	return true;
}

bool access_kernel_unpriv(void)
{
	char c = 0;
	FILE *f = fopen("/proc/sys/kernel/unprivileged_bpf_disabled", "r");

	if (!f)
		return false;
	c = (char)fgetc(f);
	fclose(f);
	return c == '0' && !geteuid();
}

/* With the rights the case asks for. */
static int load(const struct access_case *c, union abi_attr *attr)
{
	int fd;

	if (c->unpriv && seteuid(65534))
		return -EPERM;
	fd = sys(BPF_PROG_LOAD, attr);
	if (c->unpriv && seteuid(0))
		abort();
	return fd;
}

/* The last line before the closing statistics. */
static void last_line(char *out, size_t room)
{
	char *line, *save, *stats = strstr(text, "processed ");

	if (stats)
		*stats = 0;
	out[0] = 0;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		snprintf(out, room, "%s", line);
}

void access_kernel(const struct access_case *c, struct access_answer *a, bool show)
{
	struct bpf_insn insns[400];
	struct bpf_func_info funcs[2] = { { 0, 6 }, { c->func, 7 } };
	union abi_attr attr = { 0 };
	int fd;

	assert(c->n <= ARRAY_SIZE(insns));
	memcpy(insns, c->insns, c->n * sizeof(*insns));
	for (u32 i = 0; i < c->n; i++)
		if (insns[i].code == (BPF_LD | BPF_IMM | BPF_DW) &&
		    (insns[i].src_reg == BPF_PSEUDO_MAP_FD || insns[i].src_reg == BPF_PSEUDO_MAP_VALUE))
			insns[i].imm = map_fds[insns[i].imm % ACCESS_MAPS];
	attr.prog_load.prog_type = c->socket ? BPF_PROG_TYPE_SOCKET_FILTER : BPF_PROG_TYPE_XDP;
	attr.prog_load.insns = addr_of(insns);
	attr.prog_load.insn_cnt = c->n;
	attr.prog_load.license = addr_of(c->nogpl ? "BSD" : "GPL");
	attr.prog_load.prog_flags = c->strict ? ABI_F_STRICT_ALIGNMENT : 0;
	if (c->func) {
		attr.prog_load.prog_btf_fd = (u32)btf_fd;
		attr.prog_load.func_info = addr_of(funcs);
		attr.prog_load.func_info_cnt = 2;
		attr.prog_load.func_info_rec_size = sizeof(funcs[0]);
	}
	attr.prog_load.log_buf = addr_of(text);
	attr.prog_load.log_size = sizeof(text);
	attr.prog_load.log_level = show ? 2 : 1;
	text[0] = 0;
	fd = load(c, &attr);
	if (fd == -ENOSPC) { /* that only says that the log is longer than `text` */
		attr.prog_load.log_level = attr.prog_load.log_buf = attr.prog_load.log_size = 0;
		fd = load(c, &attr);
	}
	if (fd >= 0)
		close(fd);
	a->err = fd < 0 ? fd : 0;
	if (show)
		printf("%s", text);
	last_line(a->text, sizeof(a->text));
}
