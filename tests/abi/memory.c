/* Freezing and mapping. */
#include "abi.h"
#include <sys/mman.h>

static long freeze(struct floor *f, int fd)
{
	return elem(f, BPF_MAP_FREEZE, fd, NULL, NULL, 0);
}

static long map_it(size_t size, int prot, int flags, int fd, long off)
{
	void *p = mmap(NULL, size, prot, flags, fd, off);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, size);
	return 0;
}

static void frozen(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 4, BPF_F_MMAPABLE);
	u32 k = 0;
	u64 v = 1;

	SAME("freeze", 0, freeze(f, m));
	SAME("freeze again", -EPERM, freeze(f, m));
	SAME("update", -EPERM, update(f, m, &k, &v, 0));
	SAME("update, key NULL", -EPERM, update(f, m, NULL, &v, 0));
	SAME("delete", -EPERM, delete (f, m, &k));
	SAME("look-up", 0, lookup(f, m, &k, &v, 0));
	SAME("map for writing", -EPERM, map_it(4096, PROT_READ | PROT_WRITE, MAP_SHARED, m, 0));
	SAME("map for reading", 0, map_it(4096, PROT_READ, MAP_SHARED, m, 0));
	f->close(m);
}

static void mapped(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 4, BPF_F_MMAPABLE),
	    h = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 4, 0);
	u64 *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, m, 0), v = 0;
	u32 k = 2;

	p[2] = 77;
	SAME("a store is seen by look-up", 77, lookup(f, m, &k, &v, 0) ? -1 : (long)v);
	v = 78;
	SAME("an update is seen in the mapping", 78, update(f, m, &k, &v, 0) ? -1 : (long)p[2]);
	SAME("freeze while mapped for writing", -EBUSY, freeze(f, m));
	munmap(p, 4096);
	SAME("freeze when that is gone", 0, freeze(f, m));
	SAME("freeze of a hash", 0, freeze(f, h));
	SAME("update of it", -EPERM, update(f, h, &k, &v, 0));
	f->close(m);
	f->close(h);
}

/* What a memfd allows and a map does not. */
static void not_refused(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 4, BPF_F_MMAPABLE),
	    plain = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 4, 0);
	int h = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 4, 0),
	    r = new_map(f, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0);
	char buf[8] = "";

	DIFFERS("map a plain array", -EINVAL, 0, "mmap-refusals",
		map_it(4096, PROT_READ, MAP_SHARED, plain, 0));
	DIFFERS("map a hash", -ENOTSUPP_, 0, "mmap-refusals",
		map_it(4096, PROT_READ, MAP_SHARED, h, 0));
	DIFFERS("map beyond the size", -EINVAL, 0, "mmap-refusals",
		map_it(8192, PROT_READ, MAP_SHARED, m, 0));
	DIFFERS("map for execution", -EPERM, 0, "mmap-refusals",
		map_it(4096, PROT_READ | PROT_EXEC, MAP_SHARED, m, 0));
	DIFFERS("map privately", -EINVAL, 0, "mmap-refusals",
		map_it(4096, PROT_READ, MAP_PRIVATE, m, 0));
	SAME("ring buffer: consumer page for writing", 0,
	     map_it(4096, PROT_READ | PROT_WRITE, MAP_SHARED, r, 0));
	SAME("ring buffer: producer and data for reading", 0,
	     map_it(4096 + 8192, PROT_READ, MAP_SHARED, r, 4096));
	DIFFERS("ring buffer: producer for writing", -EPERM, 0, "mmap-refusals",
		map_it(4096 + 8192, PROT_READ | PROT_WRITE, MAP_SHARED, r, 4096));
	DIFFERS("read(2)", -EINVAL, 0, "file-calls", read(h, buf, 8) < 0 ? -errno : 0);
	DIFFERS("write(2)", -EINVAL, -EPERM, "file-calls", write(h, buf, 8) < 0 ? -errno : 0);
	DIFFERS("lseek(2)", -ESPIPE, 0, "file-calls", lseek(h, 0, SEEK_SET) < 0 ? -errno : 0);
	f->close(m);
	f->close(plain);
	f->close(h);
	f->close(r);
}

void area_memory(struct floor *f)
{
	frozen(f);
	mapped(f);
	not_refused(f);
}
