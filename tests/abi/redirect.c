/* DEVMAP, DEVMAP_HASH, CPUMAP, XSKMAP: elements, and what bpf(2) has no command for. */
#include "abi.h"
#include <sys/socket.h>

#ifndef AF_XDP
#define AF_XDP 44
#endif

enum { NO_INTERFACE = 99999999 };

static long set(struct floor *f, int m, u32 key, u32 value, u32 prog, u64 flags)
{
	return update(f, m, &key, ((u32[]){value, prog}), flags);
}

static long get(struct floor *f, int m, u32 key)
{
	u32 v[2] = {0};
	long r = lookup(f, m, &key, v, 0);

	return r ? r : v[0] + 1000 * v[1];
}

static long flags_of(struct floor *f, int m)
{
	struct abi_map_info info = {0};
	union abi_attr a = {.info = {.bpf_fd = m, .info_len = sizeof(info), .info = addr_of(&info)}};
	long r = call(f, BPF_OBJ_GET_INFO_BY_FD, &a);

	return r ? r : info.map_flags;
}

static long batch_of(struct floor *f, int m)
{
	u32 key = 0, out = 0;
	u64 value = 0;
	union abi_attr a = {.batch = {.out_batch = addr_of(&out),
				      .keys = addr_of(&key),
				      .values = addr_of(&value),
				      .count = 1,
				      .map_fd = m}};

	return call(f, BPF_MAP_LOOKUP_BATCH, &a);
}

static void devmaps(struct floor *f, u32 type)
{
	int m = new_map(f, type, 4, 8, 4, 0);
	u32 k = 1;
	u64 v;

	SAME("devmap: flags", BPF_F_RDONLY_PROG, flags_of(f, m));
	SAME("devmap: lo", 0, set(f, m, 1, 1, 0, 0));
	SAME("devmap: its value", 1, get(f, m, 1));
	SAME("devmap: NOEXIST", -EEXIST, set(f, m, 1, 1, 0, BPF_NOEXIST));
	SAME("devmap: no such interface", -EINVAL, set(f, m, 1, NO_INTERFACE, 0, 0));
	SAME("devmap: program -1", 0, set(f, m, 1, 1, -1, 0));
	SAME("devmap: program without an interface", -EINVAL, set(f, m, 1, 0, 5, 0));
	DIFFERS("devmap: program, closed", -EINVAL, -EOPNOTSUPP, "redirect-programs",
		set(f, m, 1, 1, 900, 0));
	SAME("devmap: F_LOCK", -EINVAL, lookup(f, m, &k, &v, BPF_F_LOCK));
	SAME("devmap: take", -ENOTSUPP_, take(f, m, &k, &v, 0));
	SAME("devmap: batch", -ENOTSUPP_, batch_of(f, m));
	SAME("devmap: delete", 0, delete(f, m, &k));
	SAME("devmap: delete again", type == BPF_MAP_TYPE_DEVMAP ? 0 : -ENOENT, delete(f, m, &k));
	f->close(m);
}

static void cpumap(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_CPUMAP, 4, 8, 4, 0);
	u32 k = 0;

	SAME("cpumap: flags", 0, flags_of(f, m));
	SAME("cpumap: set", 0, set(f, m, 0, 192, 0, 0));
	SAME("cpumap: its value", 192, get(f, m, 0));
	SAME("cpumap: too long a queue", -EOVERFLOW, set(f, m, 0, 16385, 0, 0));
	DIFFERS("cpumap: program, closed", -ENOMEM, -EOPNOTSUPP, "redirect-programs",
		set(f, m, 0, 192, 900, 0));
	SAME("cpumap: batch", -ENOTSUPP_, batch_of(f, m));
	SAME("cpumap: delete", 0, delete(f, m, &k));
	SAME("cpumap: gone", -ENOENT, get(f, m, 0));
	f->close(m);
}

static void xskmap(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_XSKMAP, 4, 4, 4, 0);
	int inet = socket(AF_INET, SOCK_DGRAM, 0), xsk = socket(AF_XDP, SOCK_RAW, 0);

	SAME("xskmap: look up", -EOPNOTSUPP, get(f, m, 0));
	SAME("xskmap: closed", -EBADF, set(f, m, 0, 900, 0, 0));
	SAME("xskmap: no socket", -ENOTSOCK, set(f, m, 0, m, 0, 0));
	SAME("xskmap: UDP", -EOPNOTSUPP, set(f, m, 0, inet, 0, 0));
	if (xsk >= 0)
		DIFFERS("xskmap: AF_XDP", 0, -EOPNOTSUPP, "xsk-sockets", set(f, m, 0, xsk, 0, 0));
	close(inet);
	if (xsk >= 0)
		close(xsk);
	f->close(m);
}

void area_redirect(struct floor *f)
{
	devmaps(f, BPF_MAP_TYPE_DEVMAP);
	devmaps(f, BPF_MAP_TYPE_DEVMAP_HASH);
	cpumap(f);
	xskmap(f);
}
