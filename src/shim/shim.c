/* See shim.h. Each function: the call as sys has it, its -errno turned into errno. */
#include "shim.h"
#include "base/raw.h"
#include "sys/sys.h"
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/epoll.h>

#define SIGSET_SIZE (_NSIG / 8) /* of the kernel's sigset_t */

static long result(long r)
{
	if ((unsigned long)r < -4095ul)
		return r;
	errno = -r;
	return -1;
}

static long bad_floor(void)
{
	static const char text[] =
	    "skep: SKEP_FLOOR is neither \"user\" nor \"kernel\": bpf(2) answers EINVAL\n";
	static _Atomic bool said;

	if (!atomic_exchange(&said, true))
		raw(SYS_write, 2, raw_arg(text), sizeof(text) - 1);
	return -EINVAL;
}

static long bpf(const long *a)
{
	switch (sys_floor()) {
	case SYS_FLOOR_USER:
		return sys_bpf(sys_self(), a[0], a[1], a[2]);
	case SYS_FLOOR_KERNEL:
		return raw6(SYS_bpf, a[0], a[1], a[2], a[3], a[4], a[5]);
	default:
		return bad_floor();
	}
}

/* What comes through syscall(2) by number is the same as what comes by name. */
static long by_number(long nr, const long *a)
{
	switch (nr) {
	case SYS_bpf:
		return bpf(a);
	case SYS_close:
		return sys_close(a[0]);
#ifdef SYS_dup2
	case SYS_dup2:
		return sys_dup2(a[0], a[1]);
#endif
	case SYS_dup3:
		return sys_dup3(a[0], a[1], a[2]);
	case SYS_close_range:
		return sys_close_range(a[0], a[1], a[2]);
	case SYS_munmap:
		return sys_munmap((void *)a[0], a[1]);
	case SYS_epoll_ctl:
		return sys_epoll_ctl(a[0], a[1], a[2], (void *)a[3]);
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
		return sys_epoll_pwait(a[0], (void *)a[1], a[2], a[3], NULL, SIGSET_SIZE);
#endif
	case SYS_epoll_pwait:
		return sys_epoll_pwait(a[0], (void *)a[1], a[2], a[3], (void *)a[4], a[5]);
	case SYS_epoll_pwait2:
		return sys_epoll_pwait2(a[0], (void *)a[1], a[2], (void *)a[3], (void *)a[4], a[5]);
	default:
		return raw6(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
}

/* Like libc's, it reads six arguments however many were given: the sixth lies on the stack, or some
 * other value does. */
__attribute__((no_sanitize("address"))) long SHIM(syscall)(long nr, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, nr);
	for (u32 i = 0; i < ARRAY_SIZE(a); i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	return result(by_number(nr, a));
}

int SHIM(close)(int fd)
{
	return result(sys_close(fd));
}

int SHIM(dup2)(int from, int to)
{
	return result(sys_dup2(from, to));
}

int SHIM(dup3)(int from, int to, int flags)
{
	return result(sys_dup3(from, to, flags));
}

int SHIM(close_range)(unsigned first, unsigned last, int flags)
{
	return result(sys_close_range(first, last, flags));
}

void SHIM(closefrom)(int first)
{
	sys_close_range(MAX(first, 0), UINT32_MAX, 0);
}

int SHIM(munmap)(void *addr, size_t size)
{
	return result(sys_munmap(addr, size));
}

int SHIM(epoll_ctl)(int ep, int op, int fd, struct epoll_event *ev)
{
	return result(sys_epoll_ctl(ep, op, fd, ev));
}

int SHIM(epoll_wait)(int ep, struct epoll_event *evs, int max, int timeout)
{
	return result(sys_epoll_pwait(ep, evs, max, timeout, NULL, SIGSET_SIZE));
}

int SHIM(epoll_pwait)(int ep, struct epoll_event *evs, int max, int timeout, const sigset_t *mask);
int SHIM(epoll_pwait)(int ep, struct epoll_event *evs, int max, int timeout, const sigset_t *mask)
{
	return result(sys_epoll_pwait(ep, evs, max, timeout, mask, SIGSET_SIZE));
}

int SHIM(epoll_pwait2)(int ep, struct epoll_event *evs, int max, const struct timespec *timeout,
		       const sigset_t *mask);
int SHIM(epoll_pwait2)(int ep, struct epoll_event *evs, int max, const struct timespec *timeout,
		       const sigset_t *mask)
{
	return result(sys_epoll_pwait2(ep, evs, max, timeout, mask, SIGSET_SIZE));
}
