/* env: CPU leases are exclusive, deferred work waits for readers, bad addresses are errors, the host world answers. */
#include "env/env.h"
#include "tap.h"
#include <pthread.h>
#include <sched.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static _Atomic int on_cpu[8192];
static _Atomic bool shared_number, number_too_big, number_changed;

static void *lease_worker(void *arg)
{
	struct env env, inner;

	env_init(&env, NULL);
	env_init(&inner, NULL);
	for (int i = 0; i < 3000; i++) {
		env_enter(&env);
		if (env.cpu >= env_possible_cpus())
			number_too_big = true;
		if (atomic_fetch_add(&on_cpu[env.cpu], 1))
			shared_number = true;
		if (i % 64 == 0)
			sched_yield();
		env_enter(&inner);
		if (inner.cpu != env.cpu)
			number_changed = true;
		env_leave(&inner);
		atomic_fetch_sub(&on_cpu[env.cpu], 1);
		env_leave(&env);
	}
	return NULL;
}

static void leases(void)
{
	pthread_t th[6];

	for (int i = 0; i < 6; i++)
		pthread_create(&th[i], NULL, lease_worker, NULL);
	for (int i = 0; i < 6; i++)
		pthread_join(th[i], NULL);
	OK(!shared_number);
	OK(!number_too_big);
	OK(!number_changed);
}

static _Atomic int ran;
static void count_run(void *arg)
{
	ran++;
}

static _Atomic int stage;
static void *slow_reader(void *arg)
{
	struct env env;

	env_init(&env, NULL);
	env_enter(&env);
	stage = 1;
	while (stage != 2)
		sched_yield();
	env_leave(&env);
	return NULL;
}

static void defer_waits(void)
{
	pthread_t th;

	env_defer(count_run, NULL);
	EQ(ran, 1); /* nobody inside: at once */

	env_read_lock();
	env_defer(count_run, NULL);
	EQ(ran, 1);
	env_read_unlock();
	EQ(ran, 2);

	stage = 0;
	pthread_create(&th, NULL, slow_reader, NULL);
	while (stage != 1)
		sched_yield();
	env_defer(count_run, NULL);
	EQ(ran, 2);
	stage = 2;
	pthread_join(th, NULL); /* the reader that was waited for runs it when it leaves */
	EQ(ran, 3);
	env_synchronize();
	EQ(ran, 3);
}

/* A cell is replaced while readers look at it; a cell freed too early shows the poison. */
struct cell {
	struct env_deferred d;
	_Atomic int live;
};
static struct cell *_Atomic shown;
static _Atomic bool saw_dead, stop;

static void cell_free(struct env_deferred *d)
{
	struct cell *c = container_of(d, struct cell, d);

	c->live = 0;
	free(c);
}

static struct cell *cell_new(void)
{
	struct cell *c = calloc(1, sizeof(*c));

	c->live = 1;
	return c;
}

static void *reader(void *arg)
{
	while (!stop) {
		env_read_lock();
		for (int i = 0; i < 20; i++)
			if (atomic_load(&atomic_load(&shown)->live) != 1)
				saw_dead = true;
		env_read_unlock();
	}
	return NULL;
}

static void epochs(void)
{
	pthread_t th[3];

	shown = cell_new();
	stop = false;
	for (int i = 0; i < 3; i++)
		pthread_create(&th[i], NULL, reader, NULL);
	for (int i = 0; i < 20000; i++) {
		struct cell *was;

		if (i & 1)
			env_read_lock();
		was = atomic_exchange(&shown, cell_new());
		env_defer_node(&was->d, cell_free);
		if (i & 1)
			env_read_unlock();
	}
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(th[i], NULL);
	OK(!saw_dead);
	env_defer_node(&atomic_exchange(&shown, NULL)->d, cell_free);
	env_synchronize();
}

static bool forbid_membarrier(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { ARRAY_SIZE(code), code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) &&
	       syscall(SYS_membarrier, 0, 0, 0) < 0;
}

/* The same without membarrier(2): the readers fence. Once with the call missing from the start, once taken away later. */
static void without_membarrier(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		int bad = tap_bad;

		alarm(60);
		if (!forbid_membarrier())
			_exit(2);
		if (!freopen("/dev/null", "w", stdout))
			_exit(3);
		leases();
		epochs();
		_exit(tap_bad != bad);
	}
	waitpid(pid, &status, 0);
	EQ(status, 0);
}

/* The child of a fork must not wait for readers that exist in the parent only. */
static void forks(void)
{
	pthread_t th;
	int status = -1;
	pid_t pid;

	stage = 0;
	pthread_create(&th, NULL, slow_reader, NULL);
	while (stage != 1)
		sched_yield();
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct env env;

		alarm(5);
		env_init(&env, NULL);
		for (int i = 0; i < (int)env_possible_cpus(); i++) {
			env_enter(&env);
			env_leave(&env);
		}
		env_synchronize();
		_exit(env.world->ops->pid_tgid(env.world) >> 32 == (u64)getpid() ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	EQ(status, 0);
	stage = 2;
	pthread_join(th, NULL);
}

static void memory(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char got[8] = "";
	struct env env;

	env_init(&env, NULL);
	munmap(two + page, page);
	memcpy(two + page - 4, "abc", 4);
	EQ(env_read_memory(&env, got, addr_of(two + page - 4), 4), 0);
	STR(got, "abc");
	EQ(env_read_memory(&env, got, addr_of(two + page - 4), 8), -EFAULT);
	EQ(env_read_memory(&env, got, 0, 1), -EFAULT);
	EQ(env_read_memory(&env, got, 0xffff888000000000, 8), -EFAULT);
	EQ(env_read_memory(&env, got, UINT64_MAX, 8), -EFAULT);
	EQ(env_read_memory(&env, got, 0, 0), 0);
	munmap(two, page);
}

static void world(void)
{
	const struct world *w = &env_host_world;
	u64 t = w->ops->ktime(w, CLOCK_MONOTONIC), j = w->ops->jiffies(w);
	struct env a, b;
	int same = 0;

	env_init(&a, NULL);
	env_init(&b, w);
	OK(a.world == w);
	OK(w->ops->ktime(w, CLOCK_MONOTONIC) >= t && t);
	OK(w->ops->ktime(w, CLOCK_BOOTTIME) >= t);
	OK(w->ops->ktime(w, CLOCK_TAI) > t);
	OK(w->ops->ktime(w, CLOCK_MONOTONIC_COARSE) > 0);
	nanosleep(&(struct timespec){ .tv_nsec = 30 * 1000 * 1000 }, NULL);
	OK(w->ops->jiffies(w) > j && w->ops->jiffies(w) < j + 1000);
	for (int i = 0; i < 64; i++)
		same += w->ops->random(w, &a) == w->ops->random(w, &b);
	OK(same < 3);
	a.random_state[0] = b.random_state[0] = 1;
	a.random_state[1] = b.random_state[1] = 2;
	EQ(w->ops->random(w, &a), w->ops->random(w, &b));
	EQ(w->ops->pid_tgid(w) >> 32, getpid());
	EQ((u32)w->ops->pid_tgid(w), getpid());
}

int main(void)
{
	without_membarrier();
	leases();
	defer_waits();
	epochs();
	forks();
	without_membarrier();
	memory();
	world();
	return tap_done();
}
