/* The functions that skep stands in for, so that libbpf in the same process arrives at the door.
 *
 * One source, two builds. As built for libskep (SHIM_PLAIN) the functions have their plain names: a program linked with the
 * library before libc, or started with it preloaded, calls them. For our own programs they are __wrap_NAME, and whatever is
 * linked in (libbpf.a too) is turned to them by -Wl,--wrap=NAME: shim_wrap_args in src/shim/meson.build.
 *
 * Only what skep must see is here; names are those that `nm -u libbpf.a` shows and their plain forms. What needs nothing
 * goes on as the bare system call instruction: no malloc, no dlsym, no thread-local storage but errno on failure. */
#ifndef SHIM_SHIM_H
#define SHIM_SHIM_H
#include "base/types.h"

#ifdef SHIM_PLAIN
#define SHIM(name) name
#else
#define SHIM(name) __wrap_##name
#endif

struct epoll_event;
struct timespec;

long shim_result(long r); /* as a libc function gives it: -1 and errno for -errno */

long SHIM(syscall)(long nr, ...);
int SHIM(close)(int fd);
int SHIM(dup2)(int from, int to);
int SHIM(dup3)(int from, int to, int flags);
int SHIM(close_range)(unsigned first, unsigned last, int flags);
void SHIM(closefrom)(int first);
int SHIM(munmap)(void *addr, size_t size);
int SHIM(ioctl)(int fd, unsigned long req, ...);
int SHIM(mkdir)(const char *path, unsigned mode);
int SHIM(mkdirat)(int dir, const char *path, unsigned mode);
int SHIM(unlink)(const char *path);
int SHIM(unlinkat)(int dir, const char *path, int flags);
int SHIM(rmdir)(const char *path);
int SHIM(access)(const char *path, int mode);
int SHIM(faccessat)(int dir, const char *path, int mode, int flags);
struct statfs;
int SHIM(statfs)(const char *path, struct statfs *out);
int SHIM(statfs64)(const char *path, struct statfs *out);
int SHIM(epoll_ctl)(int ep, int op, int fd, struct epoll_event *ev);
int SHIM(epoll_wait)(int ep, struct epoll_event *evs, int max, int timeout);

#endif
