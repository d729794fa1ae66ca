/* Elements through the user side: results, errnos and their order, for every kind, as kernel 6.18 gives them (see floor.h). */
#include "floor.h"

static u32 cpus;

static void array(void)
{
	struct fmap f = f_make(BPF_MAP_TYPE_ARRAY, 4, 12, 4, 0);
	u32 k = 1, big = 99, next = 0;
	char v[12] = "hello world", got[12];

	EQ(f_update(&f, &k, v, BPF_ANY), 0);
	EQ(f_lookup(&f, &k, got, 0), 0);
	STR(got, "hello world");
	k = 2;
	EQ(f_lookup(&f, &k, got, 0), 0);
	EQ(got[0], 0);
	EQ(f_update(&f, &k, v, BPF_EXIST), 0);
	EQ(f_update(&f, &k, v, BPF_NOEXIST), -EEXIST);
	EQ(f_update(&f, &big, v, BPF_NOEXIST), -E2BIG);
	EQ(f_update(&f, &big, v, 0), -E2BIG);
	EQ(f_update(&f, &big, v, 3), -EINVAL);
	EQ(f_update(&f, &k, v, BPF_F_LOCK), -EINVAL);
	EQ(f_update(&f, &k, v, 1ull << 40), -EINVAL);
	EQ(f_lookup(&f, &big, got, 0), -ENOENT);
	EQ(f_lookup(&f, &k, got, 1), -EINVAL);
	EQ(f_lookup(&f, &k, got, BPF_F_LOCK), -EINVAL);
	EQ(f_delete(&f, &k), -EINVAL);
	EQ(f_take(&f, &k, got, 0), -ENOTSUPP_);
	EQ(f_take(&f, &k, got, 1), -EINVAL);
	EQ(f_take(&f, &k, got, BPF_F_LOCK), -EINVAL);
	EQ(f_next(&f, NULL, &next), 0);
	EQ(next, 0);
	k = 2;
	EQ(f_next(&f, &k, &next), 0);
	EQ(next, 3);
	k = 3;
	EQ(f_next(&f, &k, &next), -ENOENT);
	EQ(f_next(&f, &big, &next), 0);
	EQ(next, 0);
	f_done(&f);
}

static void percpu_array(void)
{
	struct fmap f = f_make(BPF_MAP_TYPE_PERCPU_ARRAY, 4, 5, 2, 0);
	u32 k = 1, big = 2;
	u8 v[8 * 64], got[8 * 64];

	memset(v, 7, sizeof(v));
	EQ(f_update(&f, &k, v, 0), 0);
	memset(got, 0xaa, sizeof(got));
	EQ(f_lookup(&f, &k, got, 0), 0);
	for (u32 c = 0; c < cpus; c++)
		OK(got[c * 8] == 7 && got[c * 8 + 4] == 7 && got[c * 8 + 7] == 7);
	OK(got[cpus * 8] == 0xaa);
	EQ(f_update(&f, &k, v, BPF_NOEXIST), -EEXIST);
	EQ(f_update(&f, &k, v, 4), -EINVAL);
	EQ(f_update(&f, &k, v, 8), -EINVAL); /* BPF_F_CPU is newer than 6.18 */
	EQ(f_update(&f, &big, v, 0), -E2BIG);
	EQ(f_lookup(&f, &big, got, 0), -ENOENT);
	EQ(f_lookup(&f, &k, got, 8), -EINVAL);
	EQ(f_delete(&f, &k), -EINVAL);
	EQ(f_take(&f, &k, got, 0), -ENOTSUPP_);
	f_done(&f);
}

static void hash(u32 type, u32 flags)
{
	struct fmap f = f_make(type, 4, 8, 2, flags);
	bool lru = type == BPF_MAP_TYPE_LRU_HASH;
	u32 k = 1, other = 2, third = 3, next;
	u64 v[64] = { 5, 6 }, got[64];

	printf("# %s flags %u\n", map_kind_name(type), flags);
	EQ(f_lookup(&f, &k, got, 0), -ENOENT);
	EQ(f_delete(&f, &k), -ENOENT);
	EQ(f_take(&f, &k, got, 0), -ENOENT);
	EQ(f_take(&f, &k, got, 2), -EINVAL);
	EQ(f_next(&f, NULL, &next), -ENOENT);
	EQ(f_next(&f, &k, &next), -ENOENT);
	EQ(f_update(&f, &k, v, BPF_EXIST), -ENOENT);
	EQ(f_update(&f, &k, v, 3), -EINVAL);
	EQ(f_update(&f, &k, v, BPF_F_LOCK), -EINVAL);
	EQ(f_update(&f, &k, v, BPF_NOEXIST), 0);
	EQ(f_update(&f, &k, v, BPF_NOEXIST), -EEXIST);
	v[0] = 9;
	EQ(f_update(&f, &k, v, BPF_EXIST), 0);
	EQ(f_lookup(&f, &k, got, 0), 0);
	EQ(got[0], 9);
	EQ(f_lookup(&f, &k, got, 1), -EINVAL);
	EQ(f_lookup(&f, &k, got, BPF_F_LOCK), -EINVAL);
	EQ(f_update(&f, &other, v, 0), 0);
	if (!lru) {
		EQ(f_update(&f, &third, v, 0), -E2BIG);
		EQ(f_update(&f, &k, v, 0), 0); /* full, but no new key */
	}
	EQ(f_next(&f, NULL, &next), 0);
	OK(next == 1 || next == 2);
	k = next;
	EQ(f_next(&f, &k, &next), 0);
	EQ(next, 3 - k);
	EQ(f_next(&f, &next, &next), -ENOENT);
	EQ(f_next(&f, &third, &next), 0); /* unknown: the first again */
	EQ(next, k);
	memset(got, 0, sizeof(got));
	EQ(f_take(&f, &k, got, 0), 0);
	EQ(got[0], 9);
	EQ(f_lookup(&f, &k, got, 0), -ENOENT);
	EQ(f_update(&f, &third, v, 0), 0);
	EQ(f_delete(&f, &third), 0);
	EQ(f_delete(&f, &third), -ENOENT);
	f_done(&f);
}

/* Keys of every length around the specialised ones, each in its place; values at every offset. */
static void hash_keys(u32 type)
{
	static const u32 sizes[] = { 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 40, 64, 65 };
	bool all = true;

	for (u32 s = 0; s < ARRAY_SIZE(sizes); s++) {
		struct fmap f = f_make(type, sizes[s], 8, 200, 0);
		u8 key[80] = { 0 };
		u64 v[64] = { 0 }, got[64];

		for (u32 i = 0; i < 200; i++) {
			memset(key, 0, sizeof(key));
			key[i % sizes[s]] = 1 + i / sizes[s] % 255;
			v[0] = i;
			if (f_update(&f, key, v, 0))
				all = false;
		}
		for (u32 i = 150; i < 200; i++) {
			memset(key, 0, sizeof(key));
			key[i % sizes[s]] = 1 + i / sizes[s] % 255;
			if (f_lookup(&f, key, got, 0) || got[0] != i)
				all = false;
		}
		f_done(&f);
	}
	OK(all);
}

static void percpu_values(void)
{
	struct fmap f = f_make(BPF_MAP_TYPE_PERCPU_HASH, 4, 12, 2, 0);
	u8 v[16 * 64], got[16 * 64 + 1];
	u32 k = 5;

	for (u32 c = 0; c < cpus; c++)
		memset(v + 16 * c, c + 1, 16);
	EQ(f_update(&f, &k, v, 0), 0);
	memset(got, 0xaa, sizeof(got));
	EQ(f_lookup(&f, &k, got, 0), 0);
	for (u32 c = 0; c < cpus; c++)
		OK(got[16 * c] == c + 1 && got[16 * c + 15] == c + 1);
	EQ(got[16 * cpus], 0xaa);
	f_done(&f);
}

struct prefix {
	u32 len;
	u8 data[4];
};

static void lpm(void)
{
	struct fmap f = f_make(BPF_MAP_TYPE_LPM_TRIE, 8, 4, 4, BPF_F_NO_PREALLOC);
	struct prefix p = { 8, { 10 } }, q = { 32, { 10, 1, 2, 3 } }, bad = { 33, { 0 } }, next, last;
	u32 v = 8, got;

	EQ(f_lookup(&f, &q, &got, 0), -ENOENT);
	EQ(f_delete(&f, &p), -ENOENT);
	EQ(f_next(&f, NULL, &next), -ENOENT);
	EQ(f_update(&f, &bad, &v, 0), -EINVAL);
	EQ(f_delete(&f, &bad), -EINVAL);
	EQ(f_lookup(&f, &bad, &got, 0), -ENOENT);
	EQ(f_update(&f, &p, &v, BPF_EXIST), -ENOENT);
	EQ(f_update(&f, &p, &v, 3), -EINVAL);
	EQ(f_update(&f, &p, &v, BPF_F_LOCK), -EINVAL);
	EQ(f_update(&f, &p, &v, BPF_NOEXIST), 0);
	EQ(f_update(&f, &p, &v, BPF_NOEXIST), -EEXIST);
	EQ(f_lookup(&f, &q, &got, 0), 0);
	EQ(got, 8);
	p = (struct prefix){ 16, { 10, 1 } };
	v = 16;
	EQ(f_update(&f, &p, &v, 0), 0);
	EQ(f_lookup(&f, &q, &got, 0), 0);
	EQ(got, 16);
	q.data[1] = 2;
	EQ(f_lookup(&f, &q, &got, 0), 0);
	EQ(got, 8);
	q.len = 4;
	EQ(f_lookup(&f, &q, &got, 0), -ENOENT);
	p = (struct prefix){ 16, { 10, 2 } };
	EQ(f_update(&f, &p, &v, 0), 0);
	p = (struct prefix){ 0, { 0 } };
	v = 0;
	EQ(f_update(&f, &p, &v, 0), 0);
	p = (struct prefix){ 1, { 128 } };
	EQ(f_update(&f, &p, &v, 0), -ENOSPC);
	p = (struct prefix){ 8, { 10 } };
	v = 88;
	EQ(f_update(&f, &p, &v, 0), 0); /* full, but no new key */
	EQ(f_take(&f, &p, &got, 0), -ENOTSUPP_);
	EQ(f_next(&f, NULL, &next), 0);
	OK(next.len == 16 && next.data[1] == 1);
	last = next;
	EQ(f_next(&f, &last, &next), 0);
	OK(next.len == 16 && next.data[1] == 2);
	last = next;
	EQ(f_next(&f, &last, &next), 0);
	OK(next.len == 8);
	last = next;
	EQ(f_next(&f, &last, &next), 0);
	OK(next.len == 0);
	last = next;
	EQ(f_next(&f, &last, &next), -ENOENT);
	EQ(f_next(&f, &bad, &next), 0);
	OK(next.len == 16 && next.data[1] == 1);
	p = (struct prefix){ 8, { 10 } };
	EQ(f_delete(&f, &p), 0);
	EQ(f_delete(&f, &p), -ENOENT);
	f_done(&f);
}

static void prog_array(void)
{
	struct fmap f = f_make(BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4, 0);
	u32 k = 1, big = 4, v = -1, next;

	EQ(f_lookup(&f, &k, &v, 0), -ENOENT);
	EQ(f_lookup(&f, &big, &v, 0), -ENOENT);
	EQ(f_delete(&f, &k), -ENOENT);
	EQ(f_delete(&f, &big), -E2BIG);
	EQ(f_take(&f, &k, &v, 0), -ENOTSUPP_);
	EQ(f_next(&f, NULL, &next), 0);
	EQ(next, 0);
	k = 3;
	EQ(f_next(&f, &k, &next), -ENOENT);
	EQ(on_kernel ? f_update(&f, &big, &v, 0) : map_slot_check(f.m, big, 0), -E2BIG);
	EQ(on_kernel ? f_update(&f, &k, &v, BPF_EXIST) : map_slot_check(f.m, k, BPF_EXIST), -EINVAL);
	EQ(on_kernel ? f_update(&f, &big, &v, BPF_NOEXIST) : map_slot_check(f.m, big, BPF_NOEXIST), -EINVAL);
	f_done(&f);
}

static void ringbuf(void)
{
	struct fmap f = f_make(BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0);
	u64 k = 1, v = 0;

	EQ(f_lookup(&f, &k, &v, 0), -EINVAL);
	EQ(f_update(&f, &k, &v, 0), -EINVAL);
	EQ(f_delete(&f, &k), -EINVAL);
	EQ(f_next(&f, &k, &v), -EINVAL);
	EQ(f_lookup(&f, NULL, &v, 0), -ENOTSUPP_);
	EQ(f_update(&f, NULL, &v, 0), -ENOTSUPP_);
	EQ(f_delete(&f, NULL), -ENOTSUPP_);
	EQ(f_next(&f, NULL, &v), -ENOTSUPP_);
	EQ(f_take(&f, NULL, &v, 0), -ENOTSUPP_);
	EQ(f_freeze(&f), 0);
	f_done(&f);
}

static void freeze(u32 type, u32 flags)
{
	struct fmap f = f_make(type, 4, 4, 2, flags);
	u32 k = 0, v[64] = { 3 }, got[64];

	if (type != BPF_MAP_TYPE_PROG_ARRAY)
		EQ(f_update(&f, &k, v, 0), 0);
	EQ(f_freeze(&f), 0);
	EQ(f_freeze(&f), -EPERM);
	EQ(f_update(&f, &k, v, 0), -EPERM);
	EQ(f_update(&f, &k, v, BPF_F_LOCK), -EPERM);
	EQ(f_update(&f, &k, v, 99), -EPERM);
	EQ(f_delete(&f, &k), -EPERM);
	EQ(f_take(&f, &k, got, 0), -EPERM);
	EQ(f_take(&f, &k, got, 1), -EINVAL);
	EQ(f_lookup(&f, &k, got, 0), type == BPF_MAP_TYPE_PROG_ARRAY ? -ENOENT : 0);
	f_done(&f);
}

int main(int argc, char **argv)
{
	f_start(argc, argv);
	cpus = env_possible_cpus();
	if (cpus > 60) {
		printf("1..0 # SKIP per-CPU buffers of this test are for 60 CPUs\n");
		tap_finished = 1;
		return 0;
	}
	array();
	percpu_array();
	hash(BPF_MAP_TYPE_HASH, 0);
	hash(BPF_MAP_TYPE_HASH, BPF_F_NO_PREALLOC);
	hash(BPF_MAP_TYPE_HASH, BPF_F_ZERO_SEED);
	hash(BPF_MAP_TYPE_PERCPU_HASH, 0);
	hash(BPF_MAP_TYPE_PERCPU_HASH, BPF_F_NO_PREALLOC);
	hash(BPF_MAP_TYPE_LRU_HASH, 0);
	hash_keys(BPF_MAP_TYPE_HASH);
	hash_keys(BPF_MAP_TYPE_PERCPU_HASH);
	percpu_values();
	lpm();
	prog_array();
	ringbuf();
	freeze(BPF_MAP_TYPE_ARRAY, 0);
	freeze(BPF_MAP_TYPE_ARRAY, BPF_F_MMAPABLE);
	freeze(BPF_MAP_TYPE_HASH, 0);
	freeze(BPF_MAP_TYPE_PROG_ARRAY, 0);
	return tap_done();
}
