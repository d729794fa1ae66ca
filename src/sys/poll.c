/* Ring buffers and perf events in epoll sets. A memfd can't be polled, so an eventfd stands in for
 * it: readable when a producer has woken the ring and there is something to read. The consumer
 * moves on by a store in shared memory that nobody sees, so the eventfd is brought up to date
 * before each wait: that keeps level semantics, as the kernel has them. A ring left non-empty is
 * ready again; one that was emptied is not; records submitted with BPF_RB_NO_WAKEUP don't make it
 * ready.
 *
 * Maps that nobody can wait for answer EPOLLERR on the kernel; a pipe without a reader does so,
 * too. */
#include "sys.h"
#include "door.h"
#include "map/map.h"
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

static struct sys_handle *polled; /* rings with an eventfd; under the lock */
static _Atomic u32 n_polled;

static struct map *map_of(struct sys_handle *h)
{
	return container_of(h->obj, struct map, obj);
}

static bool is_ring(struct sys_handle *h)
{
	return h->obj->type == OBJ_MAP && map_of(h)->type == BPF_MAP_TYPE_RINGBUF;
}

/* A perf event is ready once for each time it was due, whatever was read of it meanwhile. */
static struct map_event *event_of(struct sys_handle *h)
{
	return h->obj->type == OBJ_EVENT ? container_of(h->obj, struct map_event, obj) : NULL;
}

/* From the producer, in any thread. Each wake-up is written: an edge-triggered waiter counts them.
 */
static void on_wake(void *arg)
{
	struct sys_handle *h = arg;
	u64 one = 1;

	atomic_store(&h->signalled, true);
	raw(SYS_write, h->poll_fd, raw_arg(&one), sizeof(one));
}

/* The order matters: a wake-up between the first two lines is read away, and made good by the
 * third. */
static void drain(struct sys_handle *h)
{
	u64 count;

	atomic_store(&h->signalled, false);
	raw(SYS_read, h->poll_fd, raw_arg(&count), sizeof(count));
	if (is_ring(h) && map_ring_readable(map_of(h)))
		on_wake(h);
}

static void sync_ring(struct sys_handle *h)
{
	if (atomic_load(&h->signalled) && !map_ring_readable(map_of(h)))
		drain(h);
}

static void sync_all(void)
{
	if (likely(!atomic_load_explicit(&n_polled, memory_order_relaxed)))
		return;
	sys_lock();
	for (struct sys_handle *h = polled; h; h = h->poll_next)
		sync_ring(h);
	sys_unlock();
}

/* ---- the descriptor that stands for a map, kept with it */

void sys_poll_gone(struct sys_handle *h)
{
	if (h->poll_fd < 0)
		return;
	if (is_ring(h)) {
		struct sys_handle **p = &polled;

		map_ring_on_wake(map_of(h), NULL, NULL);
		while (*p != h)
			p = &(*p)->poll_next;
		*p = h->poll_next;
		atomic_fetch_sub(&n_polled, 1);
	}
	if (event_of(h))
		map_event_on_wake(event_of(h), NULL, NULL);
	sys_fd_unhide(h->poll_fd);
	raw(SYS_close, h->poll_fd);
	h->poll_fd = -1;
}

/* The write end of a pipe that nobody reads. */
static int error_fd(void)
{
	int ends[2];
	long err = raw(SYS_pipe2, raw_arg(ends), O_CLOEXEC);

	if (err)
		return err;
	raw(SYS_close, ends[0]);
	return ends[1];
}

/* Under the lock. */
static int make_poll_fd(struct sys_handle *h)
{
	bool ring = is_ring(h);
	int fd =
	    ring || event_of(h) ? raw(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK) : error_fd();
	int high = fd < 0 ? fd : sys_move_high(fd);

	if (high < 0) {
		if (fd >= 0)
			raw(SYS_close, fd);
		return high;
	}
	h->poll_fd = high;
	sys_fd_hide(high, h);
	if (ring) {
		h->poll_next = polled;
		polled = h;
		map_ring_on_wake(map_of(h), on_wake, h);
		atomic_fetch_add(&n_polled, 1);
	}
	if (event_of(h))
		map_event_on_wake(event_of(h), on_wake, h);
	return high;
}

/* Make (for ADD) or find it, and have it say what the ring says now. */
static int poll_fd(struct sys_handle *h, bool make)
{
	int fd;

	sys_lock();
	fd = h->poll_fd;
	if (fd < 0)
		fd = make ? make_poll_fd(h) : -ENOENT;
	if (fd >= 0 && is_ring(h)) {
		if (map_ring_readable(map_of(h)))
			on_wake(h);
		else
			drain(h);
	} else if (fd >= 0 && event_of(h)) {
		drain(h);
	}
	sys_unlock();
	return fd;
}

/* ---- the calls */

static int ctl(int ep, int op, struct sys_handle *h, struct epoll_event *ev)
{
	struct epoll_event mine = {0};
	int fd = poll_fd(h, op == EPOLL_CTL_ADD);

	if (fd < 0)
		return fd;
	if (op == EPOLL_CTL_DEL)
		return raw(SYS_epoll_ctl, ep, op, fd, 0);
	if (!ev)
		return -EFAULT;
	mine = *ev;
	mine.events &= ~(u32)(EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
	if (event_of(h))
		mine.events |= EPOLLET;
	else if (!is_ring(h))
		mine.events &= ~(u32)(EPOLLIN | EPOLLRDNORM | EPOLLRDBAND | EPOLLPRI);
	return raw(SYS_epoll_ctl, ep, op, fd, raw_arg(&mine));
}

int sys_epoll_ctl(int ep, int op, int fd, struct epoll_event *ev)
{
	struct sys_handle *h;
	u32 mode;
	int err;

	if (!atomic_load_explicit(&sys_live, memory_order_relaxed))
		return raw(SYS_epoll_ctl, ep, op, fd, raw_arg(ev));
	h = sys_fd_get(fd, &mode, &err);
	if (h && (h->obj->type == OBJ_MAP || h->obj->type == OBJ_EVENT))
		err = ctl(ep, op, h, ev);
	else
		err = raw(SYS_epoll_ctl, ep, op, fd, raw_arg(ev));
	if (h)
		sys_unpin(h);
	return err;
}

int sys_epoll_pwait(int ep, struct epoll_event *evs, int max, int timeout_ms, const void *sigmask,
		    size_t size)
{
	sync_all();
	return raw(SYS_epoll_pwait, ep, raw_arg(evs), max, timeout_ms, raw_arg(sigmask), size);
}

int sys_epoll_pwait2(int ep, struct epoll_event *evs, int max, const void *timeout,
		     const void *sigmask, size_t size)
{
	sync_all();
	return raw(SYS_epoll_pwait2, ep, raw_arg(evs), max, raw_arg(timeout), raw_arg(sigmask),
		   size);
}
