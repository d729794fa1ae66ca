/* QUEUE and STACK: order, room, and threads that push and pop. */
#include "floor.h"
#include <pthread.h>

#define THREADS 4
#define ROUNDS	50000

static void order(bool stack)
{
	struct fmap f = f_make(stack ? BPF_MAP_TYPE_STACK : BPF_MAP_TYPE_QUEUE, 0, 8, 3, 0);
	u64 v = 0;

	for (u64 round = 0; round < 20; round++) { /* over the end of the ring */
		for (u64 i = 0; i < 3; i++)
			EQ(f_update(&f, NULL, (u64[]){round * 10 + i}, 0), 0);
		EQ(f_update(&f, NULL, &v, 0), -E2BIG);
		EQ(f_update(&f, NULL, (u64[]){round * 10 + 3}, BPF_EXIST), 0);
		for (u64 i = 0; i < 3; i++) {
			u64 want = round * 10 + (stack ? 3 - i : i + 1);

			EQ(f_lookup(&f, NULL, &v, 0), 0);
			EQ(v, want);
			EQ(f_take(&f, NULL, &v, 0), 0);
			EQ(v, want);
		}
		v = 99;
		EQ(f_take(&f, NULL, &v, 0), -ENOENT);
		EQ(v, 99);
	}
	f_done(&f);
}

/* What helpers call. */
static void program_side(u32 type)
{
	struct fmap f = f_make(type, 0, 8, 2, 0);
	struct map *m = f.m;
	u64 v = 5;

	EQ(m->ops->pop(m, &v), -ENOENT);
	EQ(v, 0);
	EQ(m->ops->push(m, (u64[]){7}, BPF_ANY), 0);
	EQ(m->ops->push(m, (u64[]){7}, BPF_NOEXIST), -EINVAL);
	EQ(m->ops->peek(m, &v), 0);
	EQ(v, 7);
	EQ(m->ops->pop(m, &v), 0);
	v = 5;
	EQ(m->ops->peek(m, &v), -ENOENT);
	EQ(v, 0);
	f_done(&f);
}

static struct map *map;
static _Atomic u64 in, out, n_in, n_out, odd;

static void *worker(void *arg)
{
	u64 seed = (uintptr_t)arg + 1, v[2];

	for (u32 i = 0; i < ROUNDS; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		v[0] = v[1] = seed >> 32;
		if (seed >> 63) {
			if (!map->ops->push(map, v, 0)) {
				in += v[0];
				n_in++;
			}
		} else if (!map->ops->pop(map, v)) {
			odd += v[0] != v[1];
			out += v[0];
			n_out++;
		}
	}
	return NULL;
}

static void threads(u32 type)
{
	struct fmap f = f_make(type, 0, 16, 64, 0);
	pthread_t t[THREADS];
	u64 v[2];

	map = f.m;
	in = out = n_in = n_out = odd = 0;
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (u32 i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	while (!map->ops->pop(map, v)) {
		out += v[0];
		n_out++;
	}
	EQ(odd, 0);
	EQ(n_in, n_out);
	EQ(in, out);
	OK(n_in > ROUNDS);
	f_done(&f);
}

int main(int argc, char **argv)
{
	f_start(argc, argv);
	order(false);
	order(true);
	if (on_kernel)
		return tap_done();
	program_side(BPF_MAP_TYPE_QUEUE);
	program_side(BPF_MAP_TYPE_STACK);
	threads(BPF_MAP_TYPE_QUEUE);
	threads(BPF_MAP_TYPE_STACK);
	return tap_done();
}
