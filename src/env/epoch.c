/* Entering, leaving, and freeing what those inside may still hold.
 *
 * The epoch counts up at each reclamation. A thread writes the present epoch into its record when it enters, without a
 * fence. What is unlinked is tagged with the epoch read after a fence: every thread that can still see it wrote that epoch or
 * an older one. To reclaim, take the queue, have all threads fenced (their stores of epochs and our unlinking are then
 * visible to each other), and run whatever carries a tag older than every epoch found. */
#include "thread.h"
#include <pthread.h>
#include <sched.h>
#include <time.h>

#define QUEUE_MANY 256 /* deferred by threads that stay inside: try without waiting for their leaving */

static _Atomic u64 now = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over the queue */
static struct env_deferred *queue;
static u32 queued;
static __thread bool reclaiming __attribute__((tls_model("initial-exec")));

static inline void enter_epoch(struct thread *t)
{
	u64 e = atomic_load_explicit(&now, memory_order_acquire);

	atomic_store_explicit(&t->epoch, e, memory_order_relaxed);
}

static inline void leave_epoch(struct thread *t)
{
	atomic_store_explicit(&t->epoch, 0, memory_order_release);
	env_light_fence();
	if (unlikely(atomic_load_explicit(&t->pending, memory_order_relaxed))) {
		atomic_store(&t->pending, false);
		env_reclaim();
	}
}

void env_read_lock(void)
{
	struct thread *t = env_self();

	if (t->depth++ == 0) {
		enter_epoch(t);
		env_light_fence();
	}
}

void env_read_unlock(void)
{
	struct thread *t = env_thread;

	if (--t->depth == 0)
		leave_epoch(t);
}

/* Waiting for a number must not hold up the reclaimer, so the epoch is entered last when it comes to that. */
static void lease(struct thread *t)
{
	if (t->depth == 1)
		atomic_store_explicit(&t->epoch, 0, memory_order_release);
	env_lease_slow(t);
	if (t->depth == 1) {
		enter_epoch(t);
		env_light_fence();
	}
}

void env_enter(struct env *env)
{
	struct thread *t = env_self();

	if (t->depth++ == 0)
		enter_epoch(t);
	if (t->cpu_depth++ == 0)
		atomic_store_explicit(&t->inside, 1, memory_order_relaxed);
	env_light_fence();
	if (unlikely(atomic_load_explicit(&env_lease_owner[t->cpu], memory_order_acquire) != t))
		lease(t);
	env->cpu = t->cpu;
}

void env_leave(struct env *env)
{
	struct thread *t = env_thread;

	if (--t->cpu_depth == 0)
		atomic_store_explicit(&t->inside, 0, memory_order_release);
	if (--t->depth == 0)
		leave_epoch(t);
}

u32 env_cpu_hint(void)
{
	return env_self()->cpu;
}

static struct env_deferred *take_queue(void)
{
	struct env_deferred *all;

	pthread_mutex_lock(&lock);
	all = queue;
	queue = NULL;
	queued = 0;
	pthread_mutex_unlock(&lock);
	return all;
}

static void give_back(struct env_deferred *first, struct env_deferred *last, u32 n)
{
	pthread_mutex_lock(&lock);
	last->next = queue;
	queue = first;
	queued += n;
	pthread_mutex_unlock(&lock);
}

/* The oldest epoch that anyone is in. Whoever is in one not newer than `newest` is asked to look at the queue when it
 * leaves; if it left before it could see that, the second look finds it gone. */
static u64 oldest_reader(u64 newest)
{
	bool asked = false;
	u64 oldest = UINT64_MAX;

	for (int look = 0; look < 2; look++) {
		oldest = UINT64_MAX;
		for (struct thread *t = env_thread_list(); t; t = t->next) {
			u64 e = atomic_load_explicit(&t->epoch, memory_order_acquire);

			if (!e)
				continue;
			oldest = MIN(oldest, e);
			if (look == 0 && e <= newest) {
				atomic_store(&t->pending, true);
				asked = true;
			}
		}
		if (!asked)
			break;
		if (look == 0)
			env_barrier();
	}
	return oldest;
}

/* True: something was run, which may have deferred more. */
static bool run_ready(struct env_deferred *all)
{
	struct env_deferred *keep = NULL, *last = NULL, *next;
	u64 newest = 0, oldest;
	u32 kept = 0;
	bool ran = false;

	for (struct env_deferred *d = all; d; d = d->next)
		newest = MAX(newest, d->epoch);
	atomic_fetch_add(&now, 1);
	env_barrier();
	oldest = oldest_reader(newest);
	for (; all; all = next) {
		next = all->next;
		if (all->epoch < oldest) {
			all->fn(all);
			ran = true;
			continue;
		}
		all->next = keep;
		keep = all;
		last = last ? last : all;
		kept++;
	}
	if (keep)
		give_back(keep, last, kept);
	return ran;
}

void env_reclaim(void)
{
	struct env_deferred *all;

	if (reclaiming)
		return; /* a callback deferred something: the loop below comes to it */
	reclaiming = true;
	do
		all = take_queue();
	while (all && run_ready(all));
	reclaiming = false;
}

void env_defer_node(struct env_deferred *d, void (*fn)(struct env_deferred *d))
{
	struct thread *t = env_self();
	bool many;

	d->fn = fn;
	atomic_thread_fence(memory_order_seq_cst);
	d->epoch = atomic_load(&now);
	pthread_mutex_lock(&lock);
	d->next = queue;
	queue = d;
	many = ++queued % QUEUE_MANY == 0;
	pthread_mutex_unlock(&lock);
	if (t->depth)
		atomic_store(&t->pending, true);
	if (!t->depth || many)
		env_reclaim();
}

struct call {
	struct env_deferred d;
	void (*fn)(void *arg);
	void *arg;
};

static void run_call(struct env_deferred *d)
{
	struct call *c = container_of(d, struct call, d);

	c->fn(c->arg);
	free(c);
}

void env_defer(void (*fn)(void *arg), void *arg)
{
	struct call *c = malloc(sizeof(*c));

	if (c) {
		c->fn = fn;
		c->arg = arg;
		env_defer_node(&c->d, run_call);
		return;
	}
	/* Without memory: wait for the readers, unless we are one. Then it is never freed, which is better than too early. */
	if (!env_self()->depth) {
		env_synchronize();
		fn(arg);
	}
}

static bool readers_before(u64 epoch)
{
	for (struct thread *t = env_thread_list(); t; t = t->next) {
		u64 e = atomic_load_explicit(&t->epoch, memory_order_acquire);

		if (e && e < epoch)
			return true;
	}
	return false;
}

void env_synchronize(void)
{
	u64 e = atomic_fetch_add(&now, 1) + 1;

	assert(!env_self()->depth); /* it would wait for itself */
	env_barrier();
	for (int i = 0; readers_before(e); i++) {
		if (i < 50)
			sched_yield();
		else
			nanosleep(&(struct timespec){ .tv_nsec = 50 * 1000 }, NULL);
	}
	env_reclaim();
}

void env_epoch_fork(int when)
{
	if (when < 0)
		pthread_mutex_lock(&lock);
	else
		pthread_mutex_unlock(&lock);
}
