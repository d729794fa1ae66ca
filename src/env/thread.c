/* Thread records: made at a thread's first entry, given back when it ends, reset in the child of a fork. */
#include "thread.h"
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

__thread struct thread *env_thread;
_Atomic bool env_fences;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static struct thread *_Atomic threads;

struct thread *env_thread_list(void)
{
	return atomic_load_explicit(&threads, memory_order_acquire);
}

static void thread_ended(void *arg)
{
	struct thread *t = arg;

	env_lease_drop(t);
	atomic_store_explicit(&t->epoch, 0, memory_order_release);
	if (atomic_load_explicit(&t->pending, memory_order_relaxed))
		env_reclaim();
	pthread_mutex_lock(&lock);
	t->used = false;
	pthread_mutex_unlock(&lock);
	env_thread = NULL;
}

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
	env_lease_fork(-1);
	env_epoch_fork(-1);
}

static void after_fork_parent(void)
{
	env_epoch_fork(0);
	env_lease_fork(0);
	pthread_mutex_unlock(&lock);
}

/* The other threads do not exist here: nothing waits for them, and their numbers are free. */
static void after_fork_child(void)
{
	for (struct thread *t = env_thread_list(); t; t = t->next) {
		t->pid_tgid = 0;
		if (t == env_thread)
			continue;
		atomic_store(&t->epoch, 0);
		atomic_store(&t->inside, 0);
		atomic_store(&t->pending, false);
		t->used = false;
	}
	env_epoch_fork(1);
	env_lease_fork(1);
	pthread_mutex_unlock(&lock);
}

static void start(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0))
		atomic_store(&env_fences, true);
	if (pthread_key_create(&key, thread_ended) ||
	    pthread_atfork(before_fork, after_fork_parent, after_fork_child))
		abort();
}

static struct thread *unused_record(void)
{
	struct thread *t;

	for (t = env_thread_list(); t && t->used; t = t->next)
		;
	if (t)
		return t;
	t = aligned_alloc(64, sizeof(*t));
	if (!t)
		abort(); /* 128 bytes a thread: nothing works without them */
	memset(t, 0, sizeof(*t));
	t->next = env_thread_list();
	atomic_store_explicit(&threads, t, memory_order_release);
	return t;
}

struct thread *env_thread_new(void)
{
	struct thread *t;

	pthread_once(&once, start);
	pthread_mutex_lock(&lock);
	t = unused_record();
	t->depth = t->cpu_depth = 0;
	t->pid_tgid = 0;
	t->used = true;
	pthread_mutex_unlock(&lock);
	pthread_setspecific(key, t);
	env_thread = t;
	return t;
}

/* Every thread of the process that runs passes a full fence before this returns. A call that worked at the start may be
 * forbidden later (seccomp): then the owners fence from now on, and the few stores that were on their way are waited
 * for; a store leaves the processor within microseconds. */
void env_barrier(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(&env_fences))
		return;
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
		return;
	atomic_store(&env_fences, true);
	nanosleep(&(struct timespec){ .tv_nsec = 20 * 1000 * 1000 }, NULL);
}
