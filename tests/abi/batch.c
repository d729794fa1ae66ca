/* Batches on every kind that has them: results, errors, what is written back, where the next batch
 * goes on. */
#include "abi.h"
#include "base/types.h"
#include <sys/mman.h>

#define N 64

struct args {
	int fd;
	void *in, *out, *keys, *values;
	u32 count;
	u64 elem_flags, flags;
};

static u32 count; /* as it was written back */

static long batch(struct floor *f, int cmd, struct args b)
{
	union abi_attr a = {.batch = {.map_fd = b.fd,
				      .in_batch = addr_of(b.in),
				      .out_batch = addr_of(b.out),
				      .keys = addr_of(b.keys),
				      .values = addr_of(b.values),
				      .count = b.count,
				      .elem_flags = b.elem_flags,
				      .flags = b.flags}};
	long r = call(f, cmd, &a);

	count = a.batch.count;
	return r;
}
#define LOOKUP(...)    batch(f, BPF_MAP_LOOKUP_BATCH, (struct args){__VA_ARGS__})
#define TAKE_(...)     batch(f, BPF_MAP_LOOKUP_AND_DELETE_BATCH, (struct args){__VA_ARGS__})
#define UPDATE(...)    batch(f, BPF_MAP_UPDATE_BATCH, (struct args){__VA_ARGS__})
#define DELETE(...)    batch(f, BPF_MAP_DELETE_BATCH, (struct args){__VA_ARGS__})
#define COUNT(what, n) SAME(what, n, (long)count)

static u32 keys[N], got_keys[N], ids[N];
static u64 values[N], got[N];

static void fill(void)
{
	for (u32 i = 0; i < N; i++) {
		keys[i] = i;
		values[i] = i * 100 + 7;
	}
	memset(got, 0, sizeof(got));
	memset(got_keys, 0, sizeof(got_keys));
}

/* Every key once, with its value? */
static long all_there(u32 n)
{
	u64 seen = 0;

	for (u32 i = 0; i < n; i++) {
		if (got_keys[i] >= N || got[i] != values[got_keys[i]])
			return -1;
		seen |= 1ull << got_keys[i];
	}
	return __builtin_popcountll(seen);
}

/* ---- */

static void array(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 8, 0);
	u32 next = 99;

	fill();
	SAME("array: update", 0, UPDATE(m, .keys = keys, .values = values, .count = 8));
	COUNT("array: updated", 8);
	SAME("array: update beyond the end", -E2BIG,
	     UPDATE(m, .keys = keys, .values = values, .count = 12));
	COUNT("array: updated before it", 8);
	SAME("array: look up 3", 0,
	     LOOKUP(m, .out = &next, .keys = got_keys, .values = got, .count = 3));
	COUNT("array: three", 3);
	SAME("array: the last key", 2, next);
	SAME("array: their values", 3, all_there(3));
	SAME("array: go on", -ENOENT,
	     LOOKUP(m, .in = &next, .out = &next, .keys = got_keys + 3, .values = got + 3,
		    .count = 9));
	COUNT("array: the other five", 5);
	SAME("array: all values", 8, all_there(8));
	SAME("array: behind the end", -ENOENT,
	     LOOKUP(m, .in = &next, .out = &next, .keys = got_keys, .values = got, .count = 9));
	COUNT("array: none", 0);
	SAME("array: exactly all", 0,
	     LOOKUP(m, .out = &next, .keys = got_keys, .values = got, .count = 8));
	SAME("array: delete", -ENOTSUPP_, DELETE(m, .keys = keys, .count = 1));
	COUNT("array: count is left alone", 1);
	SAME("array: look up and delete", -ENOTSUPP_,
	     TAKE_(m, .out = &next, .keys = got_keys, .values = got, .count = 3));
	SAME("array: elem_flags 1", -EINVAL,
	     UPDATE(m, .keys = keys, .values = values, .count = 1, .elem_flags = BPF_NOEXIST));
	SAME("array: elem_flags F_LOCK without a lock", -EINVAL,
	     LOOKUP(m, .out = &next, .keys = got_keys, .values = got, .count = 1,
		    .elem_flags = BPF_F_LOCK));
	SAME("array: flags", 0,
	     LOOKUP(m, .out = &next, .keys = got_keys, .values = got, .count = 1, .flags = 5));
	SAME("array: update with flags", 0,
	     UPDATE(m, .keys = keys, .values = values, .count = 1, .flags = 5));
	f->close(m);
}

static void percpu(struct floor *f)
{
	static u64 v[N * 64], w[N * 64];
	int a = new_map(f, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 4, 4, 0);
	int h = new_map(f, BPF_MAP_TYPE_PERCPU_HASH, 4, 4, 4, 0);
	u32 next = 0;

	fill();
	for (u32 i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = i + 1;
	SAME("percpu array: update", 0, UPDATE(a, .keys = keys, .values = v, .count = 4));
	SAME("percpu array: look up", 0,
	     LOOKUP(a, .out = &next, .keys = got_keys, .values = w, .count = 4));
	SAME("percpu array: values of all CPUs, side by side", 2, w[1]);
	SAME("percpu array: delete", -ENOTSUPP_, DELETE(a, .keys = keys, .count = 1));
	SAME("percpu hash: update", 0, UPDATE(h, .keys = keys, .values = v, .count = 4));
	memset(w, 0, sizeof(w));
	SAME("percpu hash: look up and delete", -ENOENT,
	     TAKE_(h, .out = &next, .keys = got_keys, .values = w, .count = N));
	COUNT("percpu hash: all", 4);
	SAME("percpu hash: values of the second CPU", 1, w[1] % 2 == 0 && w[1] != w[3]);
	SAME("percpu hash: nothing left", -ENOENT,
	     LOOKUP(h, .out = &next, .keys = got_keys, .values = w, .count = N));
	COUNT("percpu hash: none", 0);
	f->close(a);
	f->close(h);
}

/* How a table's keys spread over buckets differs, so these look at sums. */
static u32 read_all(struct floor *f, int m, int cmd, u32 at_once, long *last)
{
	u32 cookie = 0, n = 0;
	bool more = false;

	do {
		*last = batch(f, cmd,
			      (struct args){m, more ? &cookie : NULL, &cookie, got_keys + n,
					    got + n, MIN(at_once, N - n)});
		if (*last && *last != -ENOENT)
			return n;
		n += count;
		more = true;
	} while (!*last && n < N);
	return n;
}

static void hash(struct floor *f, u32 type, u32 flags)
{
	int m = new_map(f, type, 4, 8, N, flags);
	u32 next = 77;
	long last;

	fill();
	SAME("hash: first of an empty map", -ENOENT,
	     LOOKUP(m, .out = &next, .keys = got_keys, .values = got, .count = N));
	COUNT("hash: none", 0);
	SAME("hash: the cookie behind the last bucket", N, next);
	SAME("hash: update", 0, UPDATE(m, .keys = keys, .values = values, .count = 32));
	COUNT("hash: updated", 32);
	SAME("hash: look up all", -ENOENT,
	     LOOKUP(m, .out = &next, .keys = got_keys, .values = got, .count = N));
	COUNT("hash: 32 found", 32);
	SAME("hash: each once", 32, all_there(32));
	memset(got, 0, sizeof(got));
	SAME("hash: look up by 12", 32, read_all(f, m, BPF_MAP_LOOKUP_BATCH, 12, &last));
	SAME("hash: ends with", -ENOENT, last);
	SAME("hash: each once", 32, all_there(32));
	SAME("hash: a cookie too large", -ENOENT,
	     (next = N,
	      LOOKUP(m, .in = &next, .out = &next, .keys = got_keys, .values = got, .count = N)));
	COUNT("hash: a cookie too large: count", 0);
	SAME("hash: delete", 0,
	     (UPDATE(m, .keys = keys, .values = values, .count = 32),
	      DELETE(m, .keys = keys + 30, .count = 2)));
	COUNT("hash: deleted", 2);
	SAME("hash: delete, the third is missing", -ENOENT,
	     DELETE(m, .keys = keys + 28, .count = 4));
	COUNT("hash: deleted before it", 2);
	SAME("hash: look up and delete all", -ENOENT,
	     (next = 0, TAKE_(m, .out = &next, .keys = got_keys, .values = got, .count = N)));
	SAME("hash: none left", -ENOENT,
	     TAKE_(m, .out = &next, .keys = got_keys, .values = got, .count = N));
	COUNT("hash: none left: count", 0);
	UPDATE(m, .keys = keys, .values = values, .count = 20);
	SAME("hash: look up and delete by 9", 20,
	     read_all(f, m, BPF_MAP_LOOKUP_AND_DELETE_BATCH, 9, &last));
	SAME("hash: each once", 20, all_there(20));
	SAME("hash: elem_flags 1", -EINVAL,
	     LOOKUP(m, .out = &next, .keys = got_keys, .values = got, .count = 1, .elem_flags = 1));
	SAME("hash: flags", -EINVAL,
	     LOOKUP(m, .out = &next, .keys = got_keys, .values = got, .count = 1, .flags = 1));
	SAME("hash: flags, count 0", -EINVAL, LOOKUP(m, .count = 0, .flags = 1));
	SAME("hash: flags when updating", 0,
	     UPDATE(m, .keys = keys, .values = values, .count = 1, .flags = 1));
	SAME("hash: flags when deleting", 0, DELETE(m, .keys = keys, .count = 1, .flags = 1));
	f->close(m);
}

/* All keys in one bucket: whole or not at all. */
static void one_bucket(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 1, 0),
	    g = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 2, 0);
	u32 next = 77;

	fill();
	UPDATE(m, .keys = keys, .values = values, .count = 1);
	SAME("one bucket: update of a full map", -E2BIG,
	     UPDATE(m, .keys = keys, .values = values, .count = 2));
	COUNT("one bucket: one updated", 1);
	SAME("one bucket: whole", -ENOENT,
	     LOOKUP(m, .out = &next, .keys = got_keys, .values = got, .count = 1));
	COUNT("one bucket: its one", 1);
	SAME("one bucket: cookie", 1, next);
	UPDATE(g, .keys = keys, .values = values, .count = 2);
	f->close(m);
	f->close(g);
}

/* Two keys in one bucket of two, found by trying, don't fit into one place. */
static void no_room(struct floor *f)
{
	for (u32 i = 0; i < 200; i++) {
		int m = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 2, 0);
		u32 next = 77, from = 0;
		long r;

		fill();
		UPDATE(m, .keys = keys, .values = values, .count = 2);
		r = LOOKUP(m, .out = &next, .keys = got_keys, .values = got, .count = 1);
		if (r == -ENOSPC) {
			SAME("no room for the bucket: count", 0, (long)count);
			SAME("no room for the bucket: cookie", 1, next <= 1);
			SAME("no room: with more room", -ENOENT,
			     LOOKUP(m, .in = &next, .out = &from, .keys = got_keys, .values = got,
				    .count = 2));
			COUNT("no room: both", 2);
			f->close(m);
			return;
		}
		f->close(m);
	}
	SAME("no room: two keys never met in a bucket", 0, 1);
}

static void lpm(struct floor *f)
{
	struct {
		u32 bits;
		u8 addr[4];
	} k[4] = {{8, {10}}, {16, {10, 1}}, {24, {10, 1, 2}}, {16, {192, 168}}}, out[4], next;
	int m = new_map(f, BPF_MAP_TYPE_LPM_TRIE, 8, 8, 4, BPF_F_NO_PREALLOC);

	fill();
	SAME("LPM: update", 0, UPDATE(m, .keys = k, .values = values, .count = 4));
	SAME("LPM: look up 2", 0, LOOKUP(m, .out = &next, .keys = out, .values = got, .count = 2));
	COUNT("LPM: two", 2);
	SAME("LPM: the longest first", 24, out[0].bits);
	SAME("LPM: go on at the last", out[1].bits, next.bits);
	SAME("LPM: the rest", -ENOENT,
	     LOOKUP(m, .in = &next, .out = &next, .keys = out, .values = got, .count = 4));
	COUNT("LPM: two more", 2);
	SAME("LPM: look up and delete", -ENOTSUPP_,
	     TAKE_(m, .out = &next, .keys = out, .values = got, .count = 4));
	SAME("LPM: delete", 0, DELETE(m, .keys = k, .count = 3));
	SAME("LPM: delete again", -ENOENT, DELETE(m, .keys = k, .count = 3));
	COUNT("LPM: none", 0);
	f->close(m);
}

/* ---- maps of maps: descriptors in, ids out */

static void maps(struct floor *f, u32 type)
{
	int in = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 4, 1, 0),
	    in2 = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 4, 1, 0);
	int other = new_map(f, BPF_MAP_TYPE_HASH, 4, 4, 1, 0), m;
	union abi_attr a = {.map_create = {.map_type = type,
					   .key_size = 4,
					   .value_size = 4,
					   .max_entries = 4,
					   .inner_map_fd = in}};
	u32 fds[4] = {in, in2, other, 900}, next = 0;
	bool hash = type == BPF_MAP_TYPE_HASH_OF_MAPS;

	fill();
	m = call(f, BPF_MAP_CREATE, &a);
	SAME("maps of maps: update", 0, UPDATE(m, .keys = keys, .values = fds, .count = 2));
	SAME("maps of maps: a map of another kind", -EINVAL,
	     UPDATE(m, .keys = keys, .values = fds, .count = 3));
	COUNT("maps of maps: updated before it", 2);
	SAME("maps of maps: a closed descriptor", -EBADF,
	     UPDATE(m, .keys = keys, .values = fds + 3, .count = 1));
	SAME("maps of maps: look up", -ENOENT,
	     LOOKUP(m, .out = &next, .keys = got_keys, .values = ids, .count = 9));
	COUNT("maps of maps: empty places are passed over", 2);
	SAME("maps of maps: ids", 1, ids[0] != ids[1] && ids[0] && ids[1]);
	SAME("maps of maps: delete", hash ? 0 : -ENOTSUPP_, DELETE(m, .keys = keys, .count = 1));
	SAME("maps of maps: look up and delete", hash ? -ENOENT : -ENOTSUPP_,
	     TAKE_(m, .out = &next, .keys = got_keys, .values = ids, .count = 9));
	COUNT("maps of maps: what that found", hash ? 1 : 9);
	f->close(m);
	f->close(in);
	f->close(in2);
	f->close(other);
}

static void without(struct floor *f)
{
	static const struct {
		u32 type, key, value, max;
	} kinds[] = {
	    {BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4}, {BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 4},
	    {BPF_MAP_TYPE_QUEUE, 0, 4, 4},	{BPF_MAP_TYPE_STACK, 0, 4, 4},
	    {BPF_MAP_TYPE_RINGBUF, 0, 0, 4096},
	};

	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++) {
		int m = new_map(f, kinds[i].type, kinds[i].key, kinds[i].value, kinds[i].max, 0);

		SAME("kinds without batches: look up", -ENOTSUPP_,
		     LOOKUP(m, .keys = keys, .values = got, .count = 1));
		SAME("kinds without batches: look up and delete", -ENOTSUPP_,
		     TAKE_(m, .keys = keys, .values = got, .count = 1));
		SAME("kinds without batches: update", -ENOTSUPP_,
		     UPDATE(m, .keys = keys, .values = got, .count = 1));
		SAME("kinds without batches: delete", -ENOTSUPP_,
		     DELETE(m, .keys = keys, .count = 1));
		f->close(m);
	}
}

/* ---- the caller's memory and rights */

static void pointers(struct floor *f)
{
	int h = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 8, 0),
	    a = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 8, 0);
	u8 *edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u32 *at = (u32 *)(edge + 4096 - 8), next = 0;
	void *bad = (void *)8;

	fill();
	munmap(edge + 4096, 4096);
	at[0] = 1;
	at[1] = 2;
	SAME("count 0", 0, UPDATE(h, .count = 0));
	SAME("count 0, nothing else right", 0, LOOKUP(h, bad, bad, bad, bad, 0));
	SAME("update: keys NULL", -EFAULT, UPDATE(h, .values = values, .count = 2));
	COUNT("update: keys NULL: count", 0);
	SAME("update: values NULL", -EFAULT, UPDATE(h, .keys = keys, .count = 2));
	SAME("update: the third key unreadable", -EFAULT,
	     UPDATE(h, .keys = at, .values = values, .count = 3));
	COUNT("update: the third key unreadable: count", 2);
	SAME("delete: the third key unreadable", -EFAULT, DELETE(h, .keys = at, .count = 3));
	COUNT("delete: the third key unreadable: count", 2);
	UPDATE(h, .keys = keys, .values = values, .count = 4);
	SAME("hash: keys NULL", -EFAULT, LOOKUP(h, .out = &next, .values = got, .count = 8));
	COUNT("hash: keys NULL: count", 0);
	SAME("hash: values NULL", -EFAULT, LOOKUP(h, .out = &next, .keys = got_keys, .count = 8));
	SAME("hash: out_batch NULL", -EFAULT,
	     LOOKUP(h, .keys = got_keys, .values = got, .count = 8));
	COUNT("hash: out_batch NULL: count", 0);
	SAME("hash: in_batch bad", -EFAULT,
	     LOOKUP(h, .in = bad, .out = &next, .keys = got_keys, .values = got, .count = 8));
	SAME("hash: keys NULL, none there", -ENOENT,
	     (DELETE(h, .keys = keys, .count = 4), LOOKUP(h, .out = &next, .count = 8)));
	SAME("array: keys NULL", -EFAULT, LOOKUP(a, .out = &next, .values = got, .count = 8));
	COUNT("array: keys NULL: count", 0);
	SAME("array: out_batch NULL", -EFAULT,
	     LOOKUP(a, .keys = got_keys, .values = got, .count = 4));
	COUNT("array: out_batch NULL: count", 4);
	SAME("array: in_batch bad", -EFAULT,
	     LOOKUP(a, .in = bad, .out = &next, .keys = got_keys, .values = got, .count = 8));
	SAME("array: in_batch beyond the end", 0,
	     (next = 100,
	      LOOKUP(a, .in = &next, .out = &next, .keys = got_keys, .values = got, .count = 2)));
	SAME("array: starts over", 0, got_keys[0]);
	munmap(edge, 4096);
	f->close(h);
	f->close(a);
}

static void rights(struct floor *f)
{
	int ro = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 8, BPF_F_RDONLY),
	    wo = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 8, BPF_F_WRONLY);
	int frozen = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 8, 0);
	u32 next = 0;

	fill();
	SAME("RDONLY: update", -EPERM, UPDATE(ro, .keys = keys, .values = values, .count = 1));
	SAME("RDONLY: delete", -EPERM, DELETE(ro, .keys = keys, .count = 1));
	SAME("RDONLY: look up and delete", -EPERM,
	     TAKE_(ro, .out = &next, .keys = got_keys, .values = got, .count = 1));
	SAME("RDONLY: look up", -ENOENT,
	     LOOKUP(ro, .out = &next, .keys = got_keys, .values = got, .count = 1));
	SAME("RDONLY: update, count 0", -EPERM, UPDATE(ro, .count = 0));
	SAME("WRONLY: update", 0, UPDATE(wo, .keys = keys, .values = values, .count = 1));
	SAME("WRONLY: look up", -EPERM,
	     LOOKUP(wo, .out = &next, .keys = got_keys, .values = got, .count = 1));
	SAME("WRONLY: look up and delete", -EPERM,
	     TAKE_(wo, .out = &next, .keys = got_keys, .values = got, .count = 1));
	UPDATE(frozen, .keys = keys, .values = values, .count = 2);
	SAME("frozen", 0, elem(f, BPF_MAP_FREEZE, frozen, NULL, NULL, 0));
	SAME("frozen: update", -EPERM, UPDATE(frozen, .keys = keys, .values = values, .count = 1));
	SAME("frozen: delete", -EPERM, DELETE(frozen, .keys = keys, .count = 1));
	SAME("frozen: look up and delete", -EPERM,
	     TAKE_(frozen, .out = &next, .keys = got_keys, .values = got, .count = 8));
	SAME("frozen: look up", -ENOENT,
	     LOOKUP(frozen, .out = &next, .keys = got_keys, .values = got, .count = 8));
	COUNT("frozen: both", 2);
	f->close(ro);
	f->close(wo);
	f->close(frozen);
}

void area_batch(struct floor *f)
{
	array(f);
	percpu(f);
	hash(f, BPF_MAP_TYPE_HASH, 0);
	hash(f, BPF_MAP_TYPE_HASH, BPF_F_NO_PREALLOC);
	hash(f, BPF_MAP_TYPE_LRU_HASH, 0);
	one_bucket(f);
	no_room(f);
	lpm(f);
	maps(f, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	maps(f, BPF_MAP_TYPE_HASH_OF_MAPS);
	without(f);
	pointers(f);
	rights(f);
}
