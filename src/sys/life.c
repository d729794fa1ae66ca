/* Does anyone still hold it? Looked at when a descriptor or a mapping goes (the calls below stand
 * in for the system's), and before an id is told. What ends without passing here (a raw system
 * call, another process) is seen at the next look.
 *
 * The calls take the place of close(2) etc. for the whole process, so with nothing published they
 * are the bare call, and they never wait for the lock: close() may run in a signal handler over a
 * thread that has it. */
#include "sys.h"
#include "handle.h"
#include "pin.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#define SUSPECTS_AT_ONCE 16 /* looked at when some other descriptor is closed */
#define SUSPECTS_ASIDE	 2  /* when one of ours is: more than can become suspects then, so they can't pile up */
#define CLOSE_UNSHARE	 2u /* CLOSE_RANGE_* of linux/close_range.h */
#define CLOSE_CLOEXEC	 4u

static struct sys_handle *suspects; /* ring; the head was looked at longest ago */
static _Atomic u32 n_suspects;
static _Atomic bool missed; /* a look found the lock taken */
static _Atomic pid_t owner; /* the process that the tables belong to */

/* ---- out of the way */

int sys_move_high(int fd)
{
	struct rlimit lim = {0};
	long base, high;

	raw(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, raw_arg(&lim));
	base = MIN(lim.rlim_cur / 2, (rlim_t)4096);
	high = raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, base);
	if (high == -EMFILE || high == -EINVAL)
		high = raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, MIN(base, 3L));
	if (high >= 0)
		raw(SYS_close, fd);
	return high;
}

/* ---- the list of suspects, under the lock */

void sys_suspect_drop(struct sys_handle *h)
{
	if (!h->suspect)
		return;
	h->suspect = false;
	atomic_fetch_sub(&n_suspects, 1);
	h->suspect_next->suspect_prev = h->suspect_prev;
	h->suspect_prev->suspect_next = h->suspect_next;
	if (suspects == h)
		suspects = h->suspect_next == h ? NULL : h->suspect_next;
}

static void suspect(struct sys_handle *h) /* to the end of the list */
{
	sys_suspect_drop(h);
	h->suspect = true;
	atomic_fetch_add(&n_suspects, 1);
	if (!suspects) {
		suspects = h->suspect_next = h->suspect_prev = h;
		return;
	}
	h->suspect_next = suspects;
	h->suspect_prev = suspects->suspect_prev;
	h->suspect_prev->suspect_next = h;
	suspects->suspect_prev = h;
}

/* ---- the look */

/* Under the lock. True: nobody holds it any more and the pin of the holders is the caller's to
 * drop. */
static bool let_go(struct sys_handle *h)
{
	if (!h->held || h->forever)
		return false;
	if (raw(SYS_fcntl, h->hidden, F_SETLEASE, F_WRLCK)) {
		if (!h->suspect)
			suspect(h);
		return false;
	}
	raw(SYS_fcntl, h->hidden, F_SETLEASE, F_UNLCK);
	h->held = false;
	sys_suspect_drop(h);
	return true;
}

void sys_test_hold(struct sys_handle *h)
{
	bool drop;

	if (!sys_trylock()) {
		atomic_store(&missed, true);
		return;
	}
	drop = let_go(h);
	sys_unlock();
	if (drop)
		sys_unpin(h);
}

struct sweep {
	struct sys_handle *v[64];
	u32 n;
};

static void sweep_one(struct sys_handle *h, void *arg)
{
	struct sweep *s = arg;

	if (s->n < ARRAY_SIZE(s->v) && let_go(h))
		s->v[s->n++] = h;
}

/* A program that goes lets its maps go, so this may find more each time. */
void sys_test_all(void)
{
	struct sweep s;

	atomic_store(&missed, false);
	do {
		s.n = 0;
		sys_lock();
		sys_each_handle(sweep_one, &s);
		sys_unlock();
		for (u32 i = 0; i < s.n; i++)
			sys_unpin(s.v[i]);
	} while (s.n == ARRAY_SIZE(s.v));
}

static void test_suspects(u32 most)
{
	struct sys_handle *dropped[SUSPECTS_AT_ONCE];
	u32 n = 0;

	if (atomic_load_explicit(&missed, memory_order_relaxed)) {
		sys_test_all();
		return;
	}
	if (!atomic_load_explicit(&n_suspects, memory_order_relaxed) || !sys_trylock())
		return;
	for (u32 i = MIN(atomic_load(&n_suspects), most); i && suspects; i--) {
		struct sys_handle *h = suspects;

		if (let_go(h))
			dropped[n++] = h;
		else
			suspects = h->suspect_next;
	}
	sys_unlock();
	while (n)
		sys_unpin(dropped[--n]);
}

/* ---- fork */

static void before_fork(void)
{
	sys_pins_lock();
	sys_lock();
}

static void after_fork(void)
{
	sys_unlock();
	sys_pins_unlock();
}

/* The child has its own copy of everything; its parent's descriptors count as holders until the
 * parent closes them. */
static void after_fork_child(void)
{
	atomic_store(&owner, raw(SYS_getpid));
	sys_unlock();
	sys_pins_unlock();
}

static void start(void)
{
	atomic_store(&owner, raw(SYS_getpid));
	pthread_atfork(before_fork, after_fork, after_fork_child);
}

void sys_own_process(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
	atomic_store(&owner, raw(SYS_getpid)); /* a child made without fork() comes here, too */
}

/* A child of vfork has our memory and its own descriptors: what it closes is still open here. */
static bool ours(void)
{
	return atomic_load_explicit(&sys_live, memory_order_relaxed) &&
	       raw(SYS_getpid) == atomic_load(&owner);
}

/* ---- the calls; results are those of the system, -errno */

/* After the descriptor is gone: h is what it was known as, pinned. */
static void closed(struct sys_handle *h)
{
	if (h) {
		sys_test_hold(h);
		sys_unpin(h);
	}
	test_suspects(h ? SUSPECTS_ASIDE : SUSPECTS_AT_ONCE);
}

int sys_close(int fd)
{
	struct sys_handle *h;
	int err;

	if (!ours())
		return raw(SYS_close, fd);
	if (sys_fd_hidden(fd))
		return -EBADF;
	h = sys_fd_forget(fd);
	err = raw(SYS_close, fd);
	closed(h);
	return err;
}

/* The application wants a number that one of ours has. */
static int make_way(u32 fd)
{
	struct sys_handle *h;
	long high = 0;

	sys_lock();
	h = sys_fd_hidden(fd);
	if (h) {
		high = raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, fd + 1);
		if (high == -EINVAL || high == -EMFILE)
			high = raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3);
		if (high >= 0)
			sys_handle_moved(h, fd, high);
	}
	sys_unlock();
	return MIN(high, 0L);
}

int sys_dup3(int from, int to, int flags)
{
	struct sys_handle *h;
	int err;

	if (!ours() || to < 0)
		return raw(SYS_dup3, from, to, flags);
	if (sys_fd_hidden(from))
		return -EBADF;
	err = make_way(to);
	if (err)
		return err;
	h = sys_fd_forget(to);
	err = raw(SYS_dup3, from, to, flags);
	closed(h);
	return err;
}

int sys_dup2(int from, int to)
{
	if (from != to)
		return sys_dup3(from, to, 0);
	return raw(SYS_fcntl, from, F_GETFD) < 0 ? -EBADF : to;
}

/* All but our own. */
static int close_around_hidden(u32 first, u32 last)
{
	u32 at = first, hidden;
	int err = 0;

	do {
		hidden = sys_fd_next_hidden(at);
		if (hidden != at)
			err = raw(SYS_close_range, at, MIN(last, hidden - 1), 0);
		at = hidden + 1;
	} while (!err && hidden < last);
	return err;
}

int sys_close_range(u32 first, u32 last, u32 flags)
{
	int err;

	if (!ours() || first > last || flags & ~CLOSE_UNSHARE)
		return raw(SYS_close_range, first, last, flags);
	if (flags & CLOSE_UNSHARE) {
		err = raw(SYS_unshare, CLONE_FILES);
		if (err)
			return err;
	}
	sys_fd_forget_range(first, last);
	err = close_around_hidden(first, last);
	sys_test_all();
	return err;
}

int sys_munmap(void *addr, size_t size)
{
	int err = raw(SYS_munmap, raw_arg(addr), size);

	if (!err && ours())
		test_suspects(SUSPECTS_AT_ONCE);
	return err;
}
