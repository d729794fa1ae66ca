/* The attribute itself: its size, its tail, what a command leaves unused. */
#include "abi.h"
#include <sys/mman.h>

static void sizes(struct floor *f)
{
	static u8 big[8192];
	union abi_attr a = {
	    .map_create = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1}};

	SAME("attr NULL", -EFAULT, f->bpf(BPF_MAP_CREATE, NULL, 16));
	SAME("attr NULL, size 0", -EINVAL, f->bpf(BPF_MAP_CREATE, NULL, 0));
	SAME("attr at an impossible address", -EFAULT, f->bpf(BPF_MAP_CREATE, (void *)~0ul, 16));
	SAME("size beyond a page", -E2BIG, f->bpf(BPF_MAP_CREATE, big, 8192));
	SAME("size beyond a page, attr NULL", -E2BIG, f->bpf(BPF_MAP_CREATE, NULL, 8192));
	memcpy(big, &a, sizeof(a));
	SAME("size of a page, zero tail", FD, fd_or_error(f, f->bpf(BPF_MAP_CREATE, big, 4096)));
	big[sizeof(a)] = 1;
	SAME("first byte behind attr set", -E2BIG, f->bpf(BPF_MAP_CREATE, big, sizeof(a) + 1));
	SAME("the same, but not within size", FD,
	     fd_or_error(f, f->bpf(BPF_MAP_CREATE, big, sizeof(a))));
	big[sizeof(a)] = 0;
	big[4095] = 1;
	SAME("last byte of the page set", -E2BIG, f->bpf(BPF_MAP_CREATE, big, 4096));
	SAME("short attr, the rest is zero", FD, fd_or_error(f, f->bpf(BPF_MAP_CREATE, &a, 16)));
	SAME("attr cut inside max_entries", -EINVAL, f->bpf(BPF_MAP_CREATE, &a, 12));
}

/* An attr whose first part is readable and whose tail lies in a page that is not. */
static void faults(struct floor *f)
{
	u8 *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	union abi_attr a = {
	    .map_create = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1}};

	mprotect(page + 4096, 4096, PROT_NONE);
	memcpy(page + 4096 - 16, &a, 16);
	SAME("attr ends where memory ends", FD,
	     fd_or_error(f, f->bpf(BPF_MAP_CREATE, page + 4096 - 16, 16)));
	SAME("attr runs into unmapped memory", -EFAULT,
	     f->bpf(BPF_MAP_CREATE, page + 4096 - 16, 17));
	SAME("tail in unmapped memory", -EFAULT, f->bpf(BPF_MAP_CREATE, page + 4096 - 168, 400));
	munmap(page, 8192);
}

/* What lies behind a command's last field is an EINVAL, whatever else is wrong. */
static void unused(struct floor *f)
{
	static const struct {
		const char *what;
		int cmd;
		u32 used; /* bytes up to the end of its last field */
	} rows[] = {
	    {"MAP_LOOKUP_ELEM", BPF_MAP_LOOKUP_ELEM, 32},
	    {"MAP_UPDATE_ELEM", BPF_MAP_UPDATE_ELEM, 32},
	    {"MAP_DELETE_ELEM", BPF_MAP_DELETE_ELEM, 16},
	    {"MAP_GET_NEXT_KEY", BPF_MAP_GET_NEXT_KEY, 24},
	    {"MAP_FREEZE", BPF_MAP_FREEZE, 4},
	    {"LOOKUP_AND_DELETE", BPF_MAP_LOOKUP_AND_DELETE_ELEM, 32},
	    {"PROG_BIND_MAP", BPF_PROG_BIND_MAP, 12},
	    {"INFO", BPF_OBJ_GET_INFO_BY_FD, 16},
	    {"TEST_RUN", BPF_PROG_TEST_RUN, 76},
	};
	char text[64];

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		union abi_attr a = {0};
		bool info = rows[i].cmd == BPF_OBJ_GET_INFO_BY_FD;

		*(s32 *)a.raw = -1;
		if (rows[i].cmd == BPF_PROG_BIND_MAP)
			*(s32 *)(a.raw + 4) = -1;
		strcat(strcpy(text, rows[i].what), ": no such descriptor");
		SAME(text, info ? -EBADFD : -EBADF, call(f, rows[i].cmd, &a));
		a.raw[rows[i].used] = 1;
		strcat(strcpy(text, rows[i].what), ": first unused byte");
		SAME(text, -EINVAL, call(f, rows[i].cmd, &a));
		a.raw[rows[i].used] = 0;
		a.raw[167] = 1;
		strcat(strcpy(text, rows[i].what), ": last byte");
		SAME(text, -EINVAL, call(f, rows[i].cmd, &a));
	}
}

void area_attr(struct floor *f)
{
	union abi_attr a = {0};

	SAME("unknown command", -EINVAL, call(f, 99, &a));
	SAME("unknown command, bad tail", -E2BIG, f->bpf(99, memset((u8[512]){0}, 1, 512), 512));
	SAME("unknown command, attr NULL", -EFAULT, f->bpf(99, NULL, 8));
	SAME("negative command", -EINVAL, call(f, -1, &a));
	SAME("command with common attributes (newer kernels)", -EINVAL,
	     call(f, BPF_PROG_LOAD | 1 << 16, &a));
	sizes(f);
	faults(f);
	unused(f);
}
