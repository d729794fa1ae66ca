/* See shim.h. Each function: the call as sys has it, its -errno turned into errno. */
#include "shim.h"
#include "base/raw.h"
#include "sys/sys.h"
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/epoll.h>

#define SIGSET_SIZE (_NSIG / 8) /* of the kernel's sigset_t */

long shim_result(long r)
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
	case SYS_ioctl:
		return sys_ioctl(a[0], a[1], a[2]);
	case SYS_perf_event_open:
		return sys_perf_event_open(a[0], a[1], a[2], a[3], a[4]);
#ifdef SYS_mkdir
	case SYS_mkdir:
		return sys_mkdirat(AT_FDCWD, (void *)a[0], a[1]);
	case SYS_unlink:
		return sys_unlinkat(AT_FDCWD, (void *)a[0], 0);
	case SYS_rmdir:
		return sys_unlinkat(AT_FDCWD, (void *)a[0], AT_REMOVEDIR);
	case SYS_access:
		return sys_faccessat(AT_FDCWD, (void *)a[0], a[1], 0);
#endif
	case SYS_mkdirat:
		return sys_mkdirat(a[0], (void *)a[1], a[2]);
	case SYS_unlinkat:
		return sys_unlinkat(a[0], (void *)a[1], a[2]);
	case SYS_faccessat:
		return sys_faccessat(a[0], (void *)a[1], a[2], 0);
	case SYS_faccessat2:
		return sys_faccessat(a[0], (void *)a[1], a[2], a[3]);
	case SYS_statfs:
		return sys_statfs((void *)a[0], (void *)a[1]);
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
	return shim_result(by_number(nr, a));
}

int SHIM(close)(int fd)
{
	return shim_result(sys_close(fd));
}

int SHIM(dup2)(int from, int to)
{
	return shim_result(sys_dup2(from, to));
}

int SHIM(dup3)(int from, int to, int flags)
{
	return shim_result(sys_dup3(from, to, flags));
}

int SHIM(close_range)(unsigned first, unsigned last, int flags)
{
	return shim_result(sys_close_range(first, last, flags));
}

void SHIM(closefrom)(int first)
{
	sys_close_range(MAX(first, 0), UINT32_MAX, 0);
}

int SHIM(munmap)(void *addr, size_t size)
{
	return shim_result(sys_munmap(addr, size));
}

int SHIM(ioctl)(int fd, unsigned long req, ...)
{
	unsigned long arg;
	va_list ap;

	va_start(ap, req);
	arg = va_arg(ap, unsigned long);
	va_end(ap);
	return shim_result(sys_ioctl(fd, req, arg));
}

int SHIM(epoll_ctl)(int ep, int op, int fd, struct epoll_event *ev)
{
	return shim_result(sys_epoll_ctl(ep, op, fd, ev));
}

int SHIM(epoll_wait)(int ep, struct epoll_event *evs, int max, int timeout)
{
	return shim_result(sys_epoll_pwait(ep, evs, max, timeout, NULL, SIGSET_SIZE));
}

int SHIM(epoll_pwait)(int ep, struct epoll_event *evs, int max, int timeout, const sigset_t *mask);
int SHIM(epoll_pwait)(int ep, struct epoll_event *evs, int max, int timeout, const sigset_t *mask)
{
	return shim_result(sys_epoll_pwait(ep, evs, max, timeout, mask, SIGSET_SIZE));
}

int SHIM(epoll_pwait2)(int ep, struct epoll_event *evs, int max, const struct timespec *timeout,
		       const sigset_t *mask);
int SHIM(epoll_pwait2)(int ep, struct epoll_event *evs, int max, const struct timespec *timeout,
		       const sigset_t *mask)
{
	return shim_result(sys_epoll_pwait2(ep, evs, max, timeout, mask, SIGSET_SIZE));
}
