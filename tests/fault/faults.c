/* The calls that can be made to fail, under their own names (-Wl,--wrap; meson compiles for 64-bit offsets), and the bare system
 * calls. */
#include "fault.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct faults faults;

static bool fails(const char *what, void *caller)
{
	if (!faults.armed)
		return false;
	faults.n++;
	if (faults.rest ? faults.n < faults.chosen : faults.n != faults.chosen)
		return false;
	if (!faults.fired++) {
		faults.what = what;
		faults.caller = caller;
	}
	return true;
}
#define FAILS(what) fails(what, __builtin_return_address(0))

/* ---- memory */

static void *out(void *p)
{
	if (p)
		__atomic_fetch_add(&faults.allocated, 1, __ATOMIC_RELAXED);
	return p;
}

/* name(arguments) that gives new memory or NULL */
#define ALLOCATES(name, params, ...) \
	void *__real_##name params; \
	void *__wrap_##name params; \
	void *__wrap_##name params \
	{ \
		if (FAILS(#name)) { \
			errno = ENOMEM; \
			return NULL; \
		} \
		return out(__real_##name(__VA_ARGS__)); \
	}
ALLOCATES(malloc, (size_t n), n)
ALLOCATES(calloc, (size_t n, size_t size), n, size)
ALLOCATES(aligned_alloc, (size_t align, size_t n), align, n)
ALLOCATES(strdup, (const char *s), s)
ALLOCATES(strndup, (const char *s, size_t n), s, n)

void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n)
{
	if (FAILS("realloc")) {
		errno = ENOMEM;
		return NULL;
	}
	return p ? __real_realloc(p, n) : out(__real_realloc(p, n));
}

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p)
{
	if (p)
		__atomic_fetch_sub(&faults.allocated, 1, __ATOMIC_RELAXED);
	__real_free(p);
}

void *__real_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t off);
void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t off);
void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
	void *p;

	if (FAILS("mmap")) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	p = __real_mmap64(at, n, prot, flags, fd, off);
	if (p != MAP_FAILED)
		faults.mapped += (n + 4095) / 4096;
	return p;
}

int __real_munmap(void *at, size_t n);
int __wrap_munmap(void *at, size_t n);
int __wrap_munmap(void *at, size_t n)
{
	faults.mapped -= (n + 4095) / 4096;
	return __real_munmap(at, n);
}

/* ---- system calls */

/* What the call answers when it fails; 0: it does not. */
static long error_of(long nr, long b, long c)
{
	switch (nr) {
	case SYS_close:
	case SYS_getpid:
	case SYS_gettid:
	case SYS_munmap:
	case SYS_exit_group:
	case SYS_prlimit64:
		return 0;
	case SYS_fcntl:
		if (b == F_GETFL || b == F_GETFD || (b == F_SETLEASE && c == F_UNLCK))
			return 0;
		return b == F_DUPFD_CLOEXEC || b == F_DUPFD ? -EMFILE : -ENOMEM;
	case SYS_openat:
	case SYS_memfd_create:
	case SYS_eventfd2:
	case SYS_epoll_create1:
		return -EMFILE;
	default:
		return -ENOMEM;
	}
}

long __real_syscall(long nr, long a, long b, long c, long d, long e, long f);

static long really(long nr, long a, long b, long c, long d, long e, long f)
{
	int saved = errno;
	long r = __real_syscall(nr, a, b, c, d, e, f);

	if (r == -1)
		r = -errno;
	errno = saved;
	return r;
}

static const char *name_of(long nr)
{
	static char text[32];

	sprintf(text, "system call %ld", nr);
	return text;
}

long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
	long error = error_of(nr, b, c), fired = faults.fired;

	if (!error || !FAILS("system call"))
		return really(nr, a, b, c, d, e, f);
	if (!fired)
		faults.what = name_of(nr);
	faults.copied |= nr == SYS_process_vm_readv || nr == SYS_process_vm_writev;
	return error;
}

/* libc's: libbpf's bpf(2), and membarrier */
long __wrap_syscall(long nr, long a, long b, long c, long d, long e, long f);
long program_see(long cmd, union abi_attr *attr, u32 size);
long __wrap_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	long r = nr == SYS_bpf ? program_see(a, (void *)b, c) : raw6(nr, a, b, c, d, e, f);

	if (r >= 0 || r < -4095)
		return r;
	errno = -r;
	return -1;
}

int __wrap_close(int fd);
int __wrap_close(int fd)
{
	int r = sys_close(fd);

	if (r < 0)
		errno = -r;
	return r < 0 ? -1 : r;
}

#define CALLS(name, error, params, ...) \
	int __real_##name params; \
	int __wrap_##name params; \
	int __wrap_##name params \
	{ \
		if (FAILS(#name)) { \
			errno = error; \
			return -1; \
		} \
		return __real_##name(__VA_ARGS__); \
	}
CALLS(memfd_create, EMFILE, (const char *name, unsigned flags), name, flags)
CALLS(ftruncate64, ENOSPC, (int fd, off_t n), fd, n)
CALLS(fchmod, EIO, (int fd, mode_t mode), fd, mode)
CALLS(open64, EMFILE, (const char *path, int flags, mode_t mode), path, flags, mode)
CALLS(fcntl64, ENOMEM, (int fd, int cmd, long arg), fd, cmd, arg)

ssize_t __real_getrandom(void *p, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *p, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *p, size_t n, unsigned flags)
{
	if (FAILS("getrandom")) {
		errno = ENOSYS;
		return -1;
	}
	return __real_getrandom(p, n, flags);
}
