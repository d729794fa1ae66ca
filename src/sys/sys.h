/* The door: bpf(2). Whoever calls (libbpf inside skep, an application, a fuzzer) arrives at sys_bpf().
 * 0, a new descriptor, or -errno, as the kernel answers. Objects are memfds named as the kernel names them; the inode
 * identifies the object. */
#ifndef SYS_SYS_H
#define SYS_SYS_H
#include "base/abi.h"
#include "base/log.h"

struct map;
struct prog;
struct refusal;
struct env_trace;

/* How sys reads and writes the caller's memory and hands out descriptors. */
struct sys_caller;
struct sys_caller_ops {
	int (*read)(struct sys_caller *c, void *to, u64 from, size_t size);	/* -EFAULT */
	int (*write)(struct sys_caller *c, u64 to, const void *from, size_t size);
	int (*str)(struct sys_caller *c, char *to, u64 from, size_t room);	/* NUL-terminated copy; -EFAULT */
};
struct sys_caller {
	const struct sys_caller_ops *ops;
	bool in_process;	/* hot commands may touch its memory directly */
	u32 caps, uid;		/* VERIFY_CAP_* */
};
struct sys_caller *sys_self(void);	/* the caller in this very process */

long sys_bpf(struct sys_caller *caller, u32 cmd, u64 attr, u32 size);

/* A magic command that only skep answers, so that load can tell it from the kernel: returns SYS_MAGIC_ANSWER. */
#define SYS_MAGIC_CMD 0x736b6570u /* "skep" */
#define SYS_MAGIC_ANSWER 0x62706600

/* Objects behind descriptors of this process; a borrowed pointer that the caller must use while it holds the descriptor. */
struct map *sys_map_of(int fd);		/* NULL: not a skep map */
struct prog *sys_prog_of(int fd);
const struct refusal *sys_last_refusal(void);	/* of the last failed PROG_LOAD of this thread, NULL if none */
void sys_set_trace(struct env_trace *trace);	/* where trace_printk of TEST_RUN goes; NULL: dropped */

/* The floor that this process's bpf(2) calls arrive at: from SKEP_FLOOR (user, kernel; unset: user) until it is set. */
enum { SYS_FLOOR_USER, SYS_FLOOR_KERNEL, SYS_FLOOR_BAD /* SKEP_FLOOR says something else */ };
int sys_floor(void);
void sys_set_floor(int floor);

/* The system calls that shim stands in for: same arguments and effect, a result or -errno. With nothing of skep's open they
 * are the bare system call. They see to it that an object goes with its last descriptor or mapping, and that sys's own
 * descriptors survive an application that closes all it finds. */
int sys_close(int fd);
int sys_dup2(int from, int to);
int sys_dup3(int from, int to, int flags);
int sys_close_range(u32 first, u32 last, u32 flags);
int sys_munmap(void *addr, size_t size);
struct epoll_event;
int sys_epoll_ctl(int ep, int op, int fd, struct epoll_event *ev);	/* maps can be polled */
int sys_epoll_pwait(int ep, struct epoll_event *evs, int max, int timeout_ms, const void *sigmask, size_t sigmask_size);
int sys_epoll_pwait2(int ep, struct epoll_event *evs, int max, const void *timeout, const void *sigmask, size_t sigmask_size);

/* perf_event_open(2) and ioctl(2): events that programs write samples to are ours, on the user floor */
int sys_perf_event_open(u64 attr, s32 pid, s32 cpu, s32 group, u64 flags);
int sys_ioctl(int fd, unsigned long req, unsigned long arg);
/* Calls on paths: below the root of pinned objects (SKEP_BPFFS, else /sys/fs/bpf) they are answered as on a bpffs, on the user
 * floor; all else is the system's. */
struct statfs;
int sys_mkdirat(int dir, const char *path, u32 mode);
int sys_unlinkat(int dir, const char *path, int flags);
int sys_faccessat(int dir, const char *path, int mode, int flags);
int sys_statfs(const char *path, struct statfs *out);

#endif
