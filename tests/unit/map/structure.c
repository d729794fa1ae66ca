/* The structures behind the kinds: look-ups that stay short in large maps, the longest match against a plain model, the order
 * in which an LRU map evicts, per-CPU parts, slots of programs, storage that user space maps. */
#include "floor.h"
#include <fcntl.h>
#include <sys/mman.h>

static u64 rnd_state = 88172645463325252ull;
static u64 rnd(void)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	return rnd_state ^= rnd_state << 17;
}

struct prefix {
	u32 len;
	u8 data[4];
};

/* ---- steps */

static double mean_steps(u32 type, u32 n)
{
	bool trie = type == BPF_MAP_TYPE_LPM_TRIE;
	struct fmap f = f_make(type, 8, 8, n, trie ? BPF_F_NO_PREALLOC : 0);
	struct { u32 a, b; } key = { trie ? 32 : 0, 0 };
	u64 steps = 0, *value = calloc(1, map_user_value_size(f.m));

	rnd_state = 42;
	for (u32 i = 0; i < n; i++) {
		key.b = rnd();
		if (map_copy_in(f.m, &key, value, 0))
			OK(!"insert");
	}
	rnd_state = 42;
	for (u32 i = 0; i < 1000; i++) {
		key.b = rnd();
		steps += map_lookup_steps(f.m, &key);
	}
	f_done(&f);
	free(value);
	return steps / 1000.0;
}

static void steps(void)
{
	static const u32 types[] = { BPF_MAP_TYPE_HASH, BPF_MAP_TYPE_PERCPU_HASH, BPF_MAP_TYPE_LRU_HASH, BPF_MAP_TYPE_LPM_TRIE };

	for (u32 i = 0; i < ARRAY_SIZE(types); i++) {
		double small = mean_steps(types[i], 1000), large = mean_steps(types[i], 1000000);

		printf("# %s: %.2f steps at 1,000 keys, %.2f at 1,000,000\n", map_kind_name(types[i]), small, large);
		OK(small >= 1);
		OK(large <= 4 * small);
	}
}

/* ---- longest prefix match against a list that is searched from end to end */

#define MODEL 400
static struct prefix model[MODEL];
static u32 model_value[MODEL], n_model;

static bool covers(const struct prefix *p, const struct prefix *q, u32 bits)
{
	for (u32 i = 0; i < bits; i++)
		if ((p->data[i / 8] ^ q->data[i / 8]) >> (7 - i % 8) & 1)
			return false;
	return true;
}

static int model_find(const struct prefix *p)
{
	for (u32 i = 0; i < n_model; i++)
		if (model[i].len == p->len && covers(&model[i], p, p->len))
			return i;
	return -1;
}

static int model_match(const struct prefix *p)
{
	int best = -1;

	for (u32 i = 0; i < n_model; i++)
		if (model[i].len <= p->len && covers(&model[i], p, model[i].len) &&
		    (best < 0 || model[i].len > model[best].len))
			best = i;
	return best;
}

static struct prefix some_prefix(void)
{
	struct prefix p = { rnd() % 33, { rnd() % 4 * 64, rnd() % 3, rnd() % 2 * 255, rnd() } };

	return p;
}

/* Postorder: what a prefix contains comes before it, otherwise by bits. */
static bool comes_before(const struct prefix *a, const struct prefix *b)
{
	u32 common = MIN(a->len, b->len);

	for (u32 i = 0; i < common; i++) {
		int x = a->data[i / 8] >> (7 - i % 8) & 1, y = b->data[i / 8] >> (7 - i % 8) & 1;

		if (x != y)
			return x < y;
	}
	return a->len > b->len;
}

/* The model's prefix behind `pad` fixed bytes, so that keys of other sizes than four bytes meet the same model. */
static u32 pad;
struct wide {
	u32 len;
	u8 data[20];
};

static struct wide widen(const struct prefix *p)
{
	struct wide w = { p->len + pad * 8, { 0 } };

	memset(w.data, 0x5a, pad);
	memcpy(w.data + pad, p->data, 4);
	return w;
}

static bool walk_is_ordered(struct fmap *f)
{
	struct prefix last, next;
	struct wide w, key;
	u32 n = 0;
	int err;

	for (err = f_next(f, NULL, &w); !err; err = f_next(f, &key, &w)) {
		next.len = w.len - pad * 8;
		memcpy(next.data, w.data + pad, 4);
		key = w;
		if (n++ && !comes_before(&last, &next))
			return false;
		if (model_find(&next) < 0)
			return false;
		last = next;
	}
	return n == n_model;
}

static void lpm_model(u32 pad_)
{
	struct fmap f = f_make(BPF_MAP_TYPE_LPM_TRIE, 8 + pad_, 4, MODEL, BPF_F_NO_PREALLOC);
	u32 wrong = 0, disordered = 0, got;
	struct wide w;

	rnd_state = 7;
	n_model = 0;
	pad = pad_;
	for (u32 i = 0; i < 20000; i++) {
		struct prefix p = some_prefix();
		int at = model_find(&p);

		if (rnd() % 2) {
			w = widen(&p);
			if (f_update(&f, &w, &i, 0) != (at < 0 && n_model == MODEL ? -ENOSPC : 0))
				wrong++;
			if (at < 0 && n_model < MODEL)
				model[at = n_model++] = p;
			if (at >= 0)
				model_value[at] = i;
		} else {
			w = widen(&p);
			if (f_delete(&f, &w) != (at < 0 ? -ENOENT : 0))
				wrong++;
			if (at >= 0) {
				model[at] = model[--n_model];
				model_value[at] = model_value[n_model];
			}
		}
		p = some_prefix();
		at = model_match(&p);
		w = widen(&p);
		if (f_lookup(&f, &w, &got, 0) != (at < 0 ? -ENOENT : 0) || (at >= 0 && got != model_value[at]))
			wrong++;
		if (i % 500 == 0)
			disordered += !walk_is_ordered(&f);
	}
	EQ(wrong, 0);
	EQ(disordered, 0);
	OK(n_model > 50);
	f_done(&f);
}

/* Lengths of data that are no multiple of 4 or 8, and a prefix of full length. */
static void lpm_sizes(void)
{
	for (u32 size = 1; size <= 20; size++) {
		struct fmap f = f_make(BPF_MAP_TYPE_LPM_TRIE, 4 + size, 4, 300, BPF_F_NO_PREALLOC);
		struct { u32 len; u8 data[20]; } k = { size * 8, { 0 } };
		u32 wrong = 0, got;

		for (u32 i = 0; i < 256; i++) {
			k.data[size - 1] = i;
			wrong += f_update(&f, &k, &i, 0) != 0;
		}
		for (u32 i = 0; i < 256; i++) {
			k.data[size - 1] = i;
			wrong += f_lookup(&f, &k, &got, 0) || got != i;
		}
		if (wrong)
			EQ(size, 0);
		f_done(&f);
	}
	OK(true);
}

/* ---- LRU */

static bool has(struct map *m, u32 key)
{
	u64 v;

	return !map_copy_out(m, &key, &v, 0);
}

static void lru_put(struct map *m, u32 key)
{
	u64 v = key;

	if (map_copy_in(m, &key, &v, 0))
		OK(!"update of an LRU map");
}

static void lru_order(void)
{
	struct map *m = f_make(BPF_MAP_TYPE_LRU_HASH, 4, 8, 4, 0).m;
	u32 k;
	u64 v = 0;

	for (k = 1; k <= 4; k++)
		lru_put(m, k);
	OK(has(m, 1) && has(m, 4)); /* user space's looking does not count */
	lru_put(m, 5);
	OK(!has(m, 1) && has(m, 2) && has(m, 5));
	k = 2;
	OK(m->ops->lookup(m, &k, 0)); /* a program's does */
	lru_put(m, 6);
	OK(has(m, 2) && !has(m, 3) && has(m, 4));
	lru_put(m, 4); /* so does an update */
	lru_put(m, 7);
	OK(has(m, 4) && !has(m, 5) && has(m, 6));
	k = 6;
	EQ(map_delete(m, &k), 0);
	lru_put(m, 8);
	OK(has(m, 2) && has(m, 4) && has(m, 7) && has(m, 8));
	k = 2;
	EQ(map_copy_in(m, &k, &v, BPF_NOEXIST), -EEXIST);
	k = 99;
	EQ(map_copy_in(m, &k, &v, BPF_EXIST), -ENOENT);
	OK(has(m, 2) && has(m, 4) && has(m, 7) && has(m, 8));
	for (k = 1000; k < 50000; k++)
		lru_put(m, k);
	OK(has(m, 49999) && has(m, 49998) && has(m, 49997) && has(m, 49996));
	map_put(m);
}

static void lru_per_cpu(void)
{
	struct map *m = f_make(BPF_MAP_TYPE_LRU_HASH, 4, 8, env_possible_cpus() * 8 - 1, BPF_F_NO_COMMON_LRU).m;
	u32 last = env_possible_cpus() - 1, kept = 0;
	u64 v = 0;

	EQ(m->max_entries, env_possible_cpus() * 8); /* rounded up, as the kernel does */
	for (u32 k = 0; k < 8; k++)
		m->ops->update(m, &k, &v, 0, 0);
	for (u32 k = 100; k < 200; k++)
		m->ops->update(m, &k, &v, 0, last);
	for (u32 k = 0; k < 8; k++)
		kept += has(m, k);
	EQ(kept, last ? 8 : 0); /* the other CPU's insertions evict its own keys */
	for (u32 k = 192; k < 200; k++)
		OK(has(m, k));
	map_put(m);
}

/* ---- the program side */

static void program_side(void)
{
	struct map *m = f_make(BPF_MAP_TYPE_PERCPU_HASH, 4, 8, 8, 0).m;
	u32 k = 3, n = env_possible_cpus();
	u64 v = 11, all[64] = { 0 };

	EQ(m->ops->update(m, &k, &v, 0, n - 1), 0);
	EQ(map_copy_out(m, &k, all, 0), 0);
	for (u32 c = 0; c < n; c++)
		EQ(all[c], c == n - 1 ? 11 : 0); /* a new key is zero on the other CPUs */
	EQ(*(u64 *)m->ops->lookup(m, &k, n - 1), 11);
	v = 5;
	EQ(m->ops->update(m, &k, &v, 0, 0), 0);
	EQ(map_copy_out(m, &k, all, 0), 0);
	EQ(all[0], 5);
	EQ(all[n - 1], n == 1 ? 5 : 11);
	EQ(m->ops->delete(m, &k), 0);
	OK(!m->ops->lookup(m, &k, 0));
	map_put(m);

	m = f_make(BPF_MAP_TYPE_HASH, 4, 8, 8, 0).m;
	u64 *held;
	EQ(m->ops->update(m, &k, &v, 0, 0), 0);
	held = m->ops->lookup(m, &k, 0);
	OK(held && *held == 5);
	v = 6;
	EQ(m->ops->update(m, &k, &v, 0, 0), 0);
	EQ(*held, 5); /* an update makes a new element */
	EQ(*(u64 *)m->ops->lookup(m, &k, 0), 6);
	EQ(m->ops->update(m, &k, &v, 7, 0), -EINVAL);
	map_put(m);

	m = f_make(BPF_MAP_TYPE_ARRAY, 4, 8, 8, 0).m;
	held = m->ops->lookup(m, &k, 0);
	EQ(m->ops->update(m, &k, &v, 0, 0), 0);
	EQ(*held, 6); /* an array is written in place */
	OK((u8 *)held == m->values + 3 * m->stride);
	map_put(m);
}

/* Every element can be used again and again, whoever freed it. */
static void full_and_again(u32 type, u32 flags)
{
	struct map *m = f_make(type, 4, 8, 100, flags).m;
	u64 v[64] = { 0 };
	u32 wrong = 0, cpus = env_possible_cpus(), over = 1000;

	for (u32 round = 0; round < 50; round++) {
		for (u32 k = 0; k < 100; k++)
			wrong += m->ops->update(m, &k, v, BPF_NOEXIST, round % cpus) != 0;
		wrong += m->ops->update(m, &over, v, 0, (round + 1) % cpus) != -E2BIG;
		wrong += map_copy_in(m, &over, v, 0) != -E2BIG;
		for (u32 k = 0; k < 100; k++)
			wrong += m->ops->delete(m, &k) != 0;
	}
	EQ(wrong, 0);
	map_put(m);
}

/* ---- prog_array: slots keep their programs, and lose them with the last user */

static int freed;
static void test_prog_free(struct obj *o)
{
	freed++;
}
static const struct obj_ops test_prog_ops = { .free = test_prog_free };

static void prog_slots(void)
{
	struct map *m = f_make(BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4, 0).m;
	struct obj prog[2];
	u32 k = 2, id = 0;
	int image[2];

	for (int i = 0; i < 2; i++) {
		obj_init(&prog[i], OBJ_PROG, &test_prog_ops);
		prog[i].id = 70 + i;
	}
	EQ(map_slot_set(m, 4, &prog[0], &image[0]), -E2BIG);
	EQ(map_slot_set(m, 2, &prog[0], &image[0]), 0);
	OK(map_slot_image(m, 2) == &image[0] && !map_slot_image(m, 1) && !map_slot_image(m, 99));
	EQ(map_copy_out(m, &k, &id, 0), 0);
	EQ(id, 70);
	obj_put(&prog[0]);
	EQ(freed, 0); /* the slot holds it */
	env_read_lock();
	EQ(map_slot_set(m, 2, &prog[1], &image[1]), 0);
	EQ(freed, 0); /* a run may still be on its way into it */
	env_read_unlock();
	EQ(freed, 1);
	obj_put(&prog[1]);
	EQ(map_delete(m, &k), 0);
	EQ(freed, 2);
	OK(!map_slot_image(m, 2));

	obj_init(&prog[0], OBJ_PROG, &test_prog_ops);
	obj_get_user(&m->obj);
	EQ(map_slot_set(m, 3, &prog[0], &image[0]), 0);
	obj_put(&prog[0]);
	obj_put_user(&m->obj);
	EQ(freed, 3); /* the last descriptor went, though the map itself is held */
	OK(!map_slot_image(m, 3));
	map_put(m);
}

/* ---- storage in memfds, direct values */

static void mappable(void)
{
	struct map *m = f_make(BPF_MAP_TYPE_ARRAY, 4, 12, 300, BPF_F_MMAPABLE).m;
	size_t size = 8192; /* 300 * 16, whole pages */
	u32 k = 299;
	char v[12] = "from above", *seen;

	OK(m->memfd >= 0);
	seen = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, m->memfd, 0);
	OK(seen != MAP_FAILED);
	EQ(map_copy_in(m, &k, v, 0), 0);
	STR(seen + 299 * 16, "from above");
	memcpy(seen, "from below", 11);
	k = 0;
	EQ(map_copy_out(m, &k, v, 0), 0);
	STR(v, "from below");
	EQ(ftruncate(m->memfd, 0), -1);
	EQ(ftruncate(m->memfd, 1 << 20), -1);
	EQ(map_freeze(m), 0);
	OK(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, m->memfd, 0) == MAP_FAILED);
	munmap(seen, size);
	seen = mmap(NULL, size, PROT_READ, MAP_SHARED, m->memfd, 0);
	OK(seen != MAP_FAILED && !strcmp(seen, "from below"));
	munmap(seen, size);
	map_put(m);
}

static void direct_values(void)
{
	struct map *one = f_make(BPF_MAP_TYPE_ARRAY, 4, 20, 1, 0).m, *two = f_make(BPF_MAP_TYPE_ARRAY, 4, 20, 2, 0).m;
	u64 addr = 0;

	EQ(one->ops->direct_value(one, 4, &addr), 0);
	OK(addr == addr_of(one->values) + 4);
	EQ(one->ops->direct_value(one, 20, &addr), -EINVAL);
	EQ(two->ops->direct_value(two, 0, &addr), -ENOTSUPP_);
	map_put(one);
	map_put(two);
}

static void write_under_way(void)
{
	struct map *m = f_make(BPF_MAP_TYPE_HASH, 4, 4, 1, 0).m;

	atomic_fetch_add(&m->write_users, 1);
	EQ(map_freeze(m), -EBUSY);
	OK(!m->frozen);
	atomic_fetch_sub(&m->write_users, 1);
	EQ(map_freeze(m), 0);
	map_put(m);
}

int main(int argc, char **argv)
{
	f_start(argc, argv);
	lpm_model(0);
	lpm_model(1);
	lpm_model(4);
	lpm_model(12);
	lpm_sizes();
	if (on_kernel)
		return tap_done();
	steps();
	lru_order();
	lru_per_cpu();
	program_side();
	full_and_again(BPF_MAP_TYPE_HASH, 0);
	full_and_again(BPF_MAP_TYPE_HASH, BPF_F_NO_PREALLOC);
	full_and_again(BPF_MAP_TYPE_PERCPU_HASH, 0);
	full_and_again(BPF_MAP_TYPE_PERCPU_HASH, BPF_F_NO_PREALLOC);
	prog_slots();
	mappable();
	direct_values();
	write_under_way();
	return tap_done();
}
