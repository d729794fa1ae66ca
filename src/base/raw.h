/* System calls without libc: 0 or a positive result, or -errno.
 *
 * For code that stands in for libc's own functions (shim), and for descriptors that must not pass through those stand-ins
 * (sys): no errno, no malloc, no thread-local storage, no symbol look-up. */
#ifndef BASE_RAW_H
#define BASE_RAW_H
#include "types.h"
#include <sys/syscall.h>

#ifdef RAW_HOOK
long raw6(long nr, long a, long b, long c, long d, long e, long f); /* tests/fault: calls that fail when told to */
#else
static inline long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#else
#error "base/raw.h: the system call instruction of this machine is not written yet"
#endif
}
#endif

static inline long raw_arg(const void *p)
{
	return (long)(uintptr_t)p;
}
/* raw(nr, up to six longs) */
#define raw_pick(nr, a, b, c, d, e, f, ...) raw6((nr), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define raw(...) raw_pick(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

#endif
