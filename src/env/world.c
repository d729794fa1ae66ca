/* The real machine as a program sees it: clocks, ticks, random numbers, the running task. */
#include "thread.h"
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>

static u64 host_ktime(const struct world *w, int clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		return 0;
	return (u64)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* jiffies are not shown to user space. The coarse clock moves once a tick, so its resolution is 1/HZ; jiffies_64 starts at
 * INITIAL_JIFFIES, five minutes before 32 bits overflow (include/linux/jiffies.h). */
static u64 host_jiffies(const struct world *w)
{
	static _Atomic u64 tick_ns;
	u64 tick = atomic_load_explicit(&tick_ns, memory_order_relaxed);
	struct timespec res;

	if (!tick) {
		if (clock_getres(CLOCK_MONOTONIC_COARSE, &res) || res.tv_nsec <= 0)
			res.tv_nsec = 4000000;
		tick = res.tv_nsec;
		atomic_store_explicit(&tick_ns, tick, memory_order_relaxed);
	}
	return (u32)(-300 * (s64)(1000000000 / tick)) + host_ktime(w, CLOCK_MONOTONIC_COARSE) / tick;
}

/* xoroshiro128+ (Blackman, Vigna 2018, public domain): seeded by the kernel at an env's first use. */
static u32 host_random(const struct world *w, struct env *env)
{
	u64 a = env->random_state[0], b = env->random_state[1], sum;

	if (unlikely(!(a | b))) {
		u64 seed[2] = { 0 };

		if (getrandom(seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
			seed[0] = host_ktime(w, CLOCK_MONOTONIC) ^ addr_of(env);
		a = seed[0];
		b = seed[1] | 1; /* never both zero */
	}
	sum = a + b;
	b ^= a;
	env->random_state[0] = (a << 24 | a >> 40) ^ b ^ b << 16;
	env->random_state[1] = b << 37 | b >> 27;
	return sum >> 32;
}

static u64 host_pid_tgid(const struct world *w)
{
	struct thread *t = env_self();

	if (!t->pid_tgid)
		t->pid_tgid = (u64)getpid() << 32 | (u32)syscall(SYS_gettid);
	return t->pid_tgid;
}

static const struct world_ops host_ops = {
	.ktime = host_ktime,
	.jiffies = host_jiffies,
	.random = host_random,
	.pid_tgid = host_pid_tgid,
};
const struct world env_host_world = { .ops = &host_ops };

void env_init(struct env *env, const struct world *world)
{
	memset(env, 0, sizeof(*env));
	env->world = world ? world : &env_host_world;
}
