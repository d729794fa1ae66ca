/* What env keeps for each thread: the epoch it reads in and the CPU number it holds. Private to env.
 *
 * The owner writes its record with plain stores and compiler barriers only; whoever reads another thread's record pays with
 * env_barrier(), which makes every running thread of the process pass a full fence (membarrier(2), private expedited).
 * Where that call is missing, env_fences is set and the owner fences too. */
#ifndef ENV_THREAD_H
#define ENV_THREAD_H
#include "env.h"

struct thread {
	_Atomic u64 epoch;	/* epoch at entry, 0 outside; the owner's word to the reclaimer */
	_Atomic u32 inside;	/* the owner runs on `cpu`, or is about to look whether it still holds it */
	_Atomic bool pending;	/* the queue waits for this thread: it looks there when it leaves */
	u32 depth;		/* nested env_read_lock */
	u32 cpu_depth;		/* nested env_enter */
	u32 cpu;		/* number it held last */
	u64 pid_tgid;		/* 0: not asked yet */
	bool used;		/* belongs to a live thread; under the list's lock */
	struct thread *next;	/* all records ever made; never freed, reused by later threads */
} __attribute__((aligned(64)));

/* initial-exec: one mov instead of a call of __tls_get_addr in libskep.so */
extern __thread struct thread *env_thread __attribute__((tls_model("initial-exec")));
extern _Atomic bool env_fences;

#define ENV_CPUS_MAX 8192 /* CONFIG_NR_CPUS of the largest kernels */
extern struct thread *_Atomic env_lease_owner[ENV_CPUS_MAX];

struct thread *env_thread_new(void);	/* registers the calling thread; aborts without memory */
struct thread *env_thread_list(void);
void env_barrier(void);
void env_lease_slow(struct thread *t);	/* take a number: waits while all are in use */
void env_lease_drop(struct thread *t);	/* the thread ends */
void env_lease_fork(int when);		/* -1: before, 0: parent, 1: child, where only the calling thread is left */
void env_epoch_fork(int when);
void env_reclaim(void);			/* run what nobody can hold any more, without waiting */

static inline struct thread *env_self(void)
{
	return likely(env_thread != NULL) ? env_thread : env_thread_new();
}

/* Order the owner's stores before its next loads, as far as env_barrier() does not do it from the other side. */
static inline void env_light_fence(void)
{
	if (unlikely(atomic_load_explicit(&env_fences, memory_order_relaxed)))
		atomic_thread_fence(memory_order_seq_cst);
	atomic_signal_fence(memory_order_seq_cst);
}

#endif
