/* Several threads on one map: readers without locks beside threads that update, delete and walk. Each value carries its key
 * twice, so that a look-up which returns another key's element or a torn one is seen. */
#include "floor.h"
#include <pthread.h>
#include <sched.h>

#define THREADS 4
#define KEYS 512
#define ROUNDS 40000
#define ENV_VALUES 8192 /* one for each CPU there can be */

static struct map *map;
static u32 type, rounds;
static _Atomic u64 found, wrong;

/* A value is set before its element can be found; a reader may see it replaced by another key's when the element was freed
 * under it (as in the kernel), so programs that need more lock. Keys never leave their range, though. */
static void fill(u32 key, u64 *value, u32 n)
{
	for (u32 i = 0; i < n; i++)
		value[i] = (u64)key << 32 | key;
}

static u32 key_of(u32 i, void *buf)
{
	u32 *k = buf;

	k[0] = type == BPF_MAP_TYPE_LPM_TRIE ? 32 : i;
	k[1] = type == BPF_MAP_TYPE_LPM_TRIE ? i * 2654435761u : i;
	return i;
}

static void look(struct env *env, u32 i)
{
	u32 key[2];
	u64 *v;

	key_of(i, key);
	v = map->ops->lookup(map, key, env->cpu);
	if (!v)
		return;
	found++;
	u64 x = __atomic_load_n(v, __ATOMIC_RELAXED);
	if ((u32)x != x >> 32 || (u32)x >= KEYS)
		wrong++;
}

static void *worker(void *arg)
{
	u32 seed = (uintptr_t)arg * 7919 + 1, n = map_user_value_size(map) / 8;
	u64 value[ENV_VALUES];
	u32 key[2], next[2];
	struct env env;

	env_init(&env, NULL);
	for (u32 r = 0; r < rounds; r++) {
		u32 i = (seed = seed * 1664525 + 1013904223) >> 8 & (KEYS - 1);
		int err = 0;

		env_enter(&env);
		for (u32 k = 0; k < 4; k++)
			look(&env, (i + k * 17) & (KEYS - 1));
		key_of(i, key);
		fill(i, value, n);
		switch (seed >> 24 & 7) {
		case 0:
		case 1:
			err = map->ops->update(map, key, value, 0, env.cpu);
			break;
		case 2:
			err = map->ops->delete(map, key);
			break;
		}
		env_leave(&env);
		switch (seed >> 24 & 7) {
		case 3:
			err = map_copy_in(map, key, value, 0);
			break;
		case 4:
			err = map_delete(map, key);
			break;
		case 5:
			err = map_next_key(map, key, next);
			if (!err && type != BPF_MAP_TYPE_LPM_TRIE && next[0] >= KEYS)
				wrong++;
			break;
		case 6:
			if (map->ops->lookup_delete)
				err = map_lookup_delete(map, key, value, 0);
			break;
		}
		if (err && err != -ENOENT && err != -E2BIG && err != -ENOSPC && err != -EINVAL)
			wrong++;
	}
	return NULL;
}

/* At rest everything must be in order: the walk meets each key once, each is found, and the map takes all it can. */
static void check_at_rest(u32 max)
{
	u32 key[2], next[2], n = 0, missing = 0, refused = 0;
	u64 value[ENV_VALUES];
	int err;

	for (err = map_next_key(map, NULL, next); !err && n <= KEYS; err = map_next_key(map, key, next)) {
		memcpy(key, next, sizeof(key));
		missing += map_copy_out(map, key, value, 0) != 0;
		n++;
	}
	OK(n <= max && err == -ENOENT);
	EQ(missing, 0);
	for (u32 i = 0; i < KEYS; i++) {
		key_of(i, key);
		map_delete(map, key);
	}
	EQ(map_next_key(map, NULL, next), -ENOENT);
	for (u32 i = 0; i < max; i++) {
		key_of(i, key);
		fill(i, value, ARRAY_SIZE(value));
		refused += map_copy_in(map, key, value, BPF_NOEXIST) != 0;
	}
	EQ(refused, 0); /* no element was lost */
}

static void storm(u32 type_, u32 value_size, u32 max, u32 flags)
{
	pthread_t th[THREADS];

	type = type_;
	rounds = value_size > 8 ? ROUNDS / 10 : ROUNDS;
	map = f_make(type, 8, value_size, max, flags).m;
	found = wrong = 0;
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&th[i], NULL, worker, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(th[i], NULL);
	printf("# %s, %u of %u keys fit: %llu found\n", map_kind_name(type), max, KEYS, (unsigned long long)found);
	EQ(wrong, 0);
	OK(found > 1000);
	check_at_rest(max);
	map_put(map);
}

int main(void)
{
	storm(BPF_MAP_TYPE_HASH, 8, KEYS, 0);
	storm(BPF_MAP_TYPE_HASH, 8, KEYS / 4, 0);
	storm(BPF_MAP_TYPE_HASH, 8, KEYS, BPF_F_NO_PREALLOC);
	storm(BPF_MAP_TYPE_HASH, 60000, KEYS, BPF_F_NO_PREALLOC); /* chunks come and go */
	storm(BPF_MAP_TYPE_PERCPU_HASH, 8, KEYS, 0);
	storm(BPF_MAP_TYPE_LRU_HASH, 8, KEYS, 0);
	storm(BPF_MAP_TYPE_LRU_HASH, 8, 16, 0);
	storm(BPF_MAP_TYPE_LPM_TRIE, 8, KEYS, BPF_F_NO_PREALLOC);
	return tap_done();
}
