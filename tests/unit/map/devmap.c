/* DEVMAP, DEVMAP_HASH, CPUMAP, XSKMAP: creation, elements, order of keys; on either floor. */
#include "floor.h"
#include <pthread.h>
#include <sys/socket.h>

#define DEVMAP	    BPF_MAP_TYPE_DEVMAP
#define DEVMAP_HASH BPF_MAP_TYPE_DEVMAP_HASH
#define CPUMAP	    BPF_MAP_TYPE_CPUMAP
#define XSKMAP	    BPF_MAP_TYPE_XSKMAP

enum { LO = 1, NO_INTERFACE = 99999999 };

static const struct {
	u32 type, key, value, max, flags;
	int want;
} creations[] = {
	{ DEVMAP, 4, 4, 4, 0, 0 }, { DEVMAP, 4, 8, 4, 0, 0 }, { DEVMAP, 4, 6, 4, 0, -EINVAL },
	{ DEVMAP, 4, 12, 4, 0, -EINVAL }, { DEVMAP, 8, 4, 4, 0, -EINVAL }, { DEVMAP, 4, 4, 0, 0, -EINVAL },
	{ DEVMAP, 4, 4, 4, BPF_F_RDONLY_PROG, -EINVAL }, { DEVMAP, 4, 4, 4, BPF_F_WRONLY_PROG, -EINVAL },
	{ DEVMAP, 4, 4, 4, BPF_F_RDONLY, 0 }, { DEVMAP, 4, 4, 4, BPF_F_NUMA_NODE, 0 },
	{ DEVMAP, 4, 4, 4, BPF_F_NO_PREALLOC, -EINVAL }, { DEVMAP, 4, 4, 4, BPF_F_MMAPABLE, -EINVAL },
	{ DEVMAP, 4, 4, 8193, 0, 0 },
	{ DEVMAP_HASH, 4, 4, 4, 0, 0 }, { DEVMAP_HASH, 4, 8, 5, 0, 0 }, { DEVMAP_HASH, 8, 4, 4, 0, -EINVAL },
	{ DEVMAP_HASH, 4, 4, 0, 0, -EINVAL }, { DEVMAP_HASH, 4, 4, 0x80000001, 0, -EINVAL },
	{ DEVMAP_HASH, 4, 4, UINT32_MAX, 0, -EINVAL }, { DEVMAP_HASH, 4, 4, 4, BPF_F_NO_PREALLOC, -EINVAL },
	{ CPUMAP, 4, 4, 4, 0, 0 }, { CPUMAP, 4, 8, 4, 0, 0 }, { CPUMAP, 4, 6, 4, 0, -EINVAL },
	{ CPUMAP, 8, 4, 4, 0, -EINVAL }, { CPUMAP, 4, 4, 0, 0, -EINVAL }, { CPUMAP, 4, 4, 4, BPF_F_RDONLY, -EINVAL },
	{ CPUMAP, 4, 4, 4, BPF_F_NUMA_NODE, 0 }, { CPUMAP, 4, 4, 1 << 30, 0, -E2BIG },
	{ XSKMAP, 4, 4, 4, 0, 0 }, { XSKMAP, 4, 8, 4, 0, -EINVAL }, { XSKMAP, 8, 4, 4, 0, -EINVAL },
	{ XSKMAP, 4, 4, 0, 0, -EINVAL }, { XSKMAP, 4, 4, 4, BPF_F_WRONLY, 0 },
	{ XSKMAP, 4, 4, 4, BPF_F_RDONLY_PROG, -EINVAL },
};

static void create(void)
{
	for (u32 i = 0; i < ARRAY_SIZE(creations); i++) {
		struct map_attr a = { .type = creations[i].type, .key_size = creations[i].key,
				      .value_size = creations[i].value, .max_entries = creations[i].max,
				      .flags = creations[i].flags };
		struct fmap f;

		EQ(f_create(&f, &a), creations[i].want);
		f_done(&f);
	}
}

static int set(struct fmap *f, u32 key, u32 value, u32 prog, u64 flags)
{
	return f_update(f, &key, (u32[]){ value, prog }, flags);
}

/* The value, and behind it what a value of 8 bytes has; -errno. */
static s64 get(struct fmap *f, u32 key)
{
	u64 v = 0;
	int err = f_lookup(f, &key, &v, 0);

	return err ? err : (s64)v;
}

static int del(struct fmap *f, u32 key)
{
	return f_delete(f, &key);
}

static s64 next(struct fmap *f, s64 key)
{
	u32 k = key, n = 0;
	int err = f_next(f, key < 0 ? NULL : &k, &n);

	return err ? err : (s64)n;
}

/* What arrays of elements that need not be there have in common. */
static void indexed(struct fmap *f)
{
	EQ(next(f, -1), 0);
	EQ(next(f, 1), 2);
	EQ(next(f, 3), -ENOENT);
	EQ(next(f, 9), 0);
	EQ(get(f, 0), -ENOENT);
	EQ(get(f, 9), -ENOENT);
	EQ(set(f, 0, 1, 0, BPF_ANY), 0);
	EQ(get(f, 0), 1);
	EQ(set(f, 0, 1, 0, BPF_EXIST), 0);
	EQ(set(f, 1, 1, 0, BPF_EXIST), 0);
	EQ(set(f, 2, 1, 0, BPF_NOEXIST), -EEXIST);
	EQ(set(f, 0, 1, 0, 3), -EINVAL);
	EQ(set(f, 4, 1, 0, BPF_NOEXIST), -E2BIG);
	EQ(del(f, 0), 0);
	EQ(del(f, 0), 0);
	EQ(del(f, 4), -EINVAL);
	EQ(get(f, 0), -ENOENT);
	EQ(set(f, 1, 0, 0, BPF_ANY), 0);
	EQ(get(f, 1), -ENOENT);
	EQ(f_take(f, &(u32){ 1 }, &(u64){ 0 }, 0), -ENOTSUPP_);
}

static void devmap(u32 value)
{
	struct fmap f = f_make(DEVMAP, 4, value, 4, 0);

	indexed(&f);
	EQ(set(&f, 2, NO_INTERFACE, 0, 0), -EINVAL);
	EQ(set(&f, 2, UINT32_MAX, 0, 0), -EINVAL);
	EQ(set(&f, 2, LO, -1, 0), 0);
	EQ(get(&f, 2), LO);
	EQ(set(&f, 2, 0, 5, 0), value == 8 ? -EINVAL : 0);
	if (!on_kernel) {
		OK(f.m->flags & BPF_F_RDONLY_PROG);
		EQ(set(&f, 2, LO, 5, 0), value == 8 ? -EOPNOTSUPP : 0);
	}
	EQ(f_freeze(&f), 0);
	EQ(set(&f, 0, LO, 0, 0), -EPERM);
	f_done(&f);
}

static void devmap_hash(u32 value)
{
	struct fmap f = f_make(DEVMAP_HASH, 4, value, 3, 0);

	EQ(next(&f, -1), -ENOENT);
	EQ(set(&f, 70, LO, 0, BPF_EXIST), 0);
	EQ(set(&f, 70, LO, 0, BPF_NOEXIST), -EEXIST);
	EQ(set(&f, 70, NO_INTERFACE, 0, BPF_NOEXIST), -EEXIST);
	EQ(set(&f, 71, NO_INTERFACE, 0, 0), -EINVAL);
	EQ(set(&f, 71, 0, 0, 0), -EINVAL);
	EQ(set(&f, 71, LO, 0, 3), -EINVAL);
	EQ(set(&f, 2, LO, -1, 0), 0);
	EQ(set(&f, 1, LO, 0, BPF_NOEXIST), 0);
	EQ(set(&f, 3, LO, 0, 0), -E2BIG);
	EQ(get(&f, 1), LO);
	EQ(get(&f, 3), -ENOENT);
	/* four buckets; 2 and 70 share one, the newer first */
	EQ(next(&f, -1), 1);
	EQ(next(&f, 1), 2);
	EQ(next(&f, 2), 70);
	EQ(next(&f, 70), -ENOENT);
	EQ(next(&f, 5), 1);
	EQ(set(&f, 70, LO, 0, 0), 0);
	EQ(next(&f, 1), 70);
	EQ(del(&f, 70), 0);
	EQ(del(&f, 70), -ENOENT);
	EQ(next(&f, 1), 2);
	EQ(set(&f, 3, LO, 0, 0), 0);
	f_done(&f);
}

static void cpumap(u32 value)
{
	struct fmap f = f_make(CPUMAP, 4, value, 200, 0);

	f_done(&f);
	f = f_make(CPUMAP, 4, value, 4, 0);
	if (env_possible_cpus() > 1)
		indexed(&f);
	EQ(set(&f, 0, 16384, -1, 0), 0);
	EQ(get(&f, 0), 16384);
	EQ(set(&f, 0, 16385, 0, 0), -EOVERFLOW);
	if (env_possible_cpus() < 4) {
		EQ(set(&f, 3, 1, 0, 0), -ENODEV);
		EQ(set(&f, 3, 0, 0, 0), -ENODEV);
	}
	if (!on_kernel)
		EQ(set(&f, 0, 1, 5, 0), value == 8 ? -EOPNOTSUPP : 0);
	EQ(set(&f, 0, 0, 5, 0), 0);
	EQ(get(&f, 0), -ENOENT);
	f_done(&f);
}

static void xskmap(void)
{
	struct fmap f = f_make(XSKMAP, 4, 4, 4, 0);
	int inet = socket(AF_INET, SOCK_DGRAM, 0);

	EQ(get(&f, 0), -EOPNOTSUPP);
	EQ(get(&f, 9), -EOPNOTSUPP);
	EQ(next(&f, 3), -ENOENT);
	EQ(set(&f, 0, 1, 0, 3), -EINVAL);
	EQ(set(&f, 4, 1, 0, 0), -E2BIG);
	EQ(set(&f, 0, 900, 0, BPF_NOEXIST), -EBADF);
	EQ(set(&f, 0, 1, 0, 0), -ENOTSOCK);
	if (inet >= 0)
		EQ(set(&f, 0, inet, 0, 0), -EOPNOTSUPP);
	EQ(del(&f, 0), 0);
	EQ(del(&f, 4), -EINVAL);
	if (inet >= 0)
		close(inet);
	f_done(&f);
}

/* ---- readers see an element or none while another thread changes it */

enum { ROUNDS = 30000 };
static struct map *shared;
static _Atomic bool done;

static void *reader(void *arg)
{
	u64 odd = 0;
	u32 key = 8;

	while (!atomic_load(&done)) {
		env_read_lock();
		const u32 *v = shared->ops->lookup(shared, &key, 0);

		odd += v && *v != LO;
		env_read_unlock();
	}
	return (void *)(uintptr_t)odd;
}

static void threads(u32 type)
{
	struct fmap f = f_make(type, 4, 4, 16, 0);
	pthread_t t;
	void *odd;

	shared = f.m;
	atomic_store(&done, false);
	pthread_create(&t, NULL, reader, NULL);
	for (u32 i = 0; i < ROUNDS; i++) {
		set(&f, 8, LO, 0, 0);
		set(&f, 24, LO, 0, 0);
		if (i % 2)
			del(&f, 8);
	}
	atomic_store(&done, true);
	pthread_join(t, &odd);
	EQ((uintptr_t)odd, 0);
	f_done(&f);
}

int main(int argc, char **argv)
{
	f_start(argc, argv);
	create();
	devmap(4);
	devmap(8);
	devmap_hash(4);
	devmap_hash(8);
	cpumap(4);
	cpumap(8);
	xskmap();
	if (!on_kernel) {
		threads(DEVMAP);
		threads(DEVMAP_HASH);
	}
	return tap_done();
}
