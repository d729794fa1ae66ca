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

/* For shim: descriptors of this process that go away or are replaced, and polling. */
void sys_fd_closing(int fd);			/* before close(fd), dup2 onto fd */
void sys_fds_closing(u32 first, u32 last);
void sys_mapping_gone(void);			/* after munmap */
/* An eventfd to poll in place of this map's descriptor; -EINVAL: not a map. */
int sys_poll_fd(int fd);

#endif
