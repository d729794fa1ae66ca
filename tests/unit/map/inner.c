/* Maps of maps: which maps are alike, who holds whom, and inner maps replaced while threads use
 * them. */
#include "floor.h"
#include <pthread.h>
#include <sched.h>

#define THREADS 3
#define INNER	4
#define ROUNDS	3000

static struct map *make(u32 type, u32 value, u32 max, u32 flags, struct map *inner)
{
	struct map_attr a = {.type = type,
			     .key_size = 4,
			     .value_size = value,
			     .max_entries = max,
			     .flags = flags,
			     .inner = inner};
	struct map *m = NULL;

	EQ(map_new(&m, &a), 0);
	return m;
}

static struct map *lookup(struct map *outer, u32 key)
{
	return outer->ops->lookup(outer, &key, 0);
}

static void template(u32 type)
{
	struct map *in = make(BPF_MAP_TYPE_ARRAY, 8, 4, 0, NULL), *m = make(type, 4, 4, 0, in), *no;
	struct map_attr a = {
	    .type = type, .key_size = 4, .value_size = 4, .max_entries = 4, .inner = m};

	OK(m->inner && m->inner != in);
	EQ(m->inner->type, BPF_MAP_TYPE_ARRAY);
	EQ(m->inner->max_entries, 4);
	OK(m->inner->ops == in->ops && !m->inner->values && m->inner->stride == in->stride);
	EQ(map_new(&no, &a), -EINVAL);
	a.inner = NULL;
	EQ(map_new(&no, &a), -EBADF);
	a.inner_err = -EINVAL;
	EQ(map_new(&no, &a), -EINVAL);
	map_put(in);
	EQ(m->inner->key_size, 4); /* of its own */
	map_put(m);
}

static void counts(u32 type)
{
	struct map *in = make(BPF_MAP_TYPE_HASH, 8, 4, 0, NULL),
		   *other = make(BPF_MAP_TYPE_HASH, 8, 9, 0, NULL);
	struct map *m = make(type, 4, 4, 0, in);
	u32 k = 1, k2 = 2;

	EQ(map_inner_set(m, &k, in, 0), 0);
	EQ(in->obj.refs, 2);
	OK(lookup(m, 1) == in && !lookup(m, 2) && !lookup(m, 99));
	EQ(map_inner_set(m, &k, other, 0), 0);
	env_synchronize();
	EQ(in->obj.refs, 1);
	EQ(other->obj.refs, 2);
	EQ(map_inner_set(m, &k2, other, 0), 0);
	EQ(map_delete(m, &k), 0);
	EQ(map_delete(m, &k), -ENOENT);
	env_synchronize();
	EQ(other->obj.refs, 2);
	map_put(m);
	env_synchronize();
	EQ(other->obj.refs, 1);
	map_put(in);
	map_put(other);
}

/* ---- replaced while in use */

static struct map *outer;
static _Atomic bool stop;
static _Atomic u64 found, wrong;

/* The memory of an array that is freed is unmapped: who comes too late crashes. */

static void *reader(void *arg)
{
	struct env env;
	u32 key = 0, zero = 0;

	env_init(&env, NULL);
	while (!atomic_load(&stop)) {
		env_enter(&env);
		struct map *in = outer->ops->lookup(outer, &key, env.cpu);
		u64 *v = in ? in->ops->lookup(in, &zero, env.cpu) : NULL;

		if (v) {
			found++;
			for (int i = 0; i < 20; i++)
				if (__atomic_load_n(v, __ATOMIC_RELAXED) != 0x1122334455667788)
					wrong++;
		}
		env_leave(&env);
		key = (key + 1) % INNER;
	}
	return NULL;
}

static void replace(u32 type)
{
	struct map *like = make(BPF_MAP_TYPE_ARRAY, 8, 1, 0, NULL);
	pthread_t t[THREADS];
	u64 value = 0x1122334455667788;
	u32 zero = 0;

	outer = make(type, 4, INNER, 0, like);
	atomic_store(&stop, false);
	found = 0;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, reader, NULL);
	for (u32 r = 0; r < ROUNDS || (found < 1000 && r < 1000000); r++) {
		struct map *in = NULL;
		struct map_attr a = {
		    .type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1};
		u32 key = r % INNER;

		if (map_new(&in, &a) || map_copy_in(in, &zero, &value, 0) ||
		    map_inner_set(outer, &key, in, 0))
			wrong++;
		map_put(in);
		if (r % 5 == 0)
			map_delete(outer, &key);
		if (r % 100 == 0)
			sched_yield();
	}
	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	EQ(wrong, 0);
	OK(found > 0);
	map_put(outer);
	map_put(like);
	env_synchronize();
}

int main(void)
{
	static const u32 types[] = {BPF_MAP_TYPE_ARRAY_OF_MAPS, BPF_MAP_TYPE_HASH_OF_MAPS};

	for (u32 i = 0; i < ARRAY_SIZE(types); i++) {
		template(types[i]);
		counts(types[i]);
		replace(types[i]);
	}
	return tap_done();
}
