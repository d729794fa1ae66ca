/* CPU numbers: how many there can be, and the lease a thread holds on one while it runs programs.
 *
 * A thread keeps its number after env_leave, so that the next env_enter finds it with two stores and a load. Another thread
 * that finds no free number takes one from an owner that is not inside: it writes itself into the owner's slot, has every
 * thread fenced, and then looks whether the owner is inside. The owner writes `inside` first and looks at the slot then, so
 * one of the two always sees the other. */
#include "thread.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

struct thread *_Atomic env_lease_owner[ENV_CPUS_MAX];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over changes of env_lease_owner */
static u32 possible;

/* "0-3,8" -> 9: numbers below it are CPUs that may exist; the kernel's nr_cpu_ids for per-CPU values of bpf(2). */
static u32 last_cpu_of(const char *text)
{
	u32 n = 0, last = 0;

	for (; *text; text++) {
		if (*text >= '0' && *text <= '9') {
			n = n * 10 + (*text - '0');
			last = n < ENV_CPUS_MAX ? n : ENV_CPUS_MAX - 1;
		} else {
			n = 0;
		}
	}
	return last + 1;
}

static void read_possible(void)
{
	char text[256];
	int fd = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	long conf;

	if (fd >= 0)
		close(fd);
	if (n > 0) {
		text[n] = 0;
		possible = last_cpu_of(text);
		return;
	}
	conf = sysconf(_SC_NPROCESSORS_CONF);
	possible = conf < 1 ? 1 : MIN((u32)conf, ENV_CPUS_MAX);
}

u32 env_possible_cpus(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_possible);
	return possible;
}

static void take(struct thread *t, u32 cpu)
{
	atomic_store(&env_lease_owner[cpu], t);
	t->cpu = cpu;
}

static bool take_free(struct thread *t)
{
	for (u32 cpu = 0; cpu < env_possible_cpus(); cpu++) {
		if (atomic_load(&env_lease_owner[cpu]))
			continue;
		take(t, cpu);
		return true;
	}
	return false;
}

static bool take_idle(struct thread *t)
{
	static u32 start; /* so that not always the same owner is robbed */
	u32 n = env_possible_cpus();

	for (u32 i = 0; i < n; i++) {
		u32 cpu = (start + i) % n;
		struct thread *owner = atomic_load(&env_lease_owner[cpu]);

		if (atomic_load(&owner->inside))
			continue;
		atomic_store(&env_lease_owner[cpu], t);
		env_barrier();
		if (!atomic_load(&owner->inside)) {
			t->cpu = cpu;
			start = cpu + 1;
			return true;
		}
		/* it is inside, or on its way to the lock that we hold: there it finds its number again */
		atomic_store(&env_lease_owner[cpu], owner);
	}
	return false;
}

void env_lease_slow(struct thread *t)
{
	long pause = 0;

	for (;;) {
		bool got;

		pthread_mutex_lock(&lock);
		got = (t->cpu < env_possible_cpus() && atomic_load(&env_lease_owner[t->cpu]) == t) ||
		      take_free(t) || take_idle(t);
		pthread_mutex_unlock(&lock);
		if (got)
			return;
		if (pause < 10000) {
			sched_yield();
			pause += 2000;
		} else {
			nanosleep(&(struct timespec){ .tv_nsec = pause }, NULL);
			pause = MIN(pause * 2, 500 * 1000);
		}
	}
}

void env_lease_drop(struct thread *t)
{
	pthread_mutex_lock(&lock);
	if (atomic_load(&env_lease_owner[t->cpu]) == t)
		atomic_store(&env_lease_owner[t->cpu], NULL);
	atomic_store(&t->inside, 0);
	pthread_mutex_unlock(&lock);
}

void env_lease_fork(int when)
{
	if (when < 0) {
		pthread_mutex_lock(&lock);
		return;
	}
	for (u32 cpu = 0; when && cpu < env_possible_cpus(); cpu++)
		if (atomic_load(&env_lease_owner[cpu]) != env_thread)
			atomic_store(&env_lease_owner[cpu], NULL);
	pthread_mutex_unlock(&lock);
}
