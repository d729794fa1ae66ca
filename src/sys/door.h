/* One bpf(2) call under way. Private to sys/: sys.c fills it and calls the command's function.
 *
 *   elem.c     element commands          map.c    MAP_CREATE, MAP_FREEZE        slot.c   values that are descriptors
 *   prog.c     PROG_LOAD, PROG_BIND_MAP  btf.c    BTF_LOAD                      vlog.c   the caller's log buffer
 *   testrun.c  PROG_TEST_RUN             info.c   OBJ_GET_INFO_BY_FD            id.c     ids
 *   batch.c    many elements in a call   pin.c    OBJ_PIN, OBJ_GET             perf.c   perf events, not bpf(2)
 *   refuse.c   commands that are not built: what the kernel answers where it lacks them */
#ifndef SYS_DOOR_H
#define SYS_DOOR_H
#include "sys.h"
#include "handle.h"

#define SYS_PAGE 4096u /* bound of attr and of structures that may grow */

struct sys_call {
	struct sys_caller *by;
	union abi_attr attr;	/* copied in once; zero beyond what the caller gave */
	u64 uattr;		/* the caller's attr, for results */
	u32 size;		/* of it, as the caller says */
};

/* The command table: cmd.def. */
#define SYS_CMD(nr, name, fn, ...) long fn(struct sys_call *c);
#include "cmd.def"
#undef SYS_CMD

/* The caller's memory. 0 or -EFAULT (-E2BIG). */
int sys_read_mem(struct sys_call *c, void *to, u64 from, size_t size);
int sys_write_mem(struct sys_call *c, u64 to, const void *from, size_t size);
int sys_read_all(struct sys_call *c, void **out, u64 from, size_t size);	/* malloc'ed; NULL for size 0 */
int sys_tail_zero(struct sys_call *c, u64 addr, u32 ours, u32 theirs);	/* of a struct that may be larger than ours */
/* A result field in the caller's attr: written whatever size the caller gave, as the kernel does. */
#define SYS_PUT(c, field) \
	sys_write_mem((c), (c)->uattr + offsetof(union abi_attr, field), &(c)->attr.field, sizeof((c)->attr.field))

/* Can this address be followed without asking the system first? Hot commands do so in process; what is plainly no address of
 * user memory is still an EFAULT. */
static inline bool sys_plausible(u64 addr, u64 size)
{
	return addr >= 4096 && addr < 1ull << 47 && size <= (1ull << 47) - addr;
}

/* Descriptors to objects, pinned; unpin when done. NULL: *err. */
struct map *sys_get_map(s32 fd, struct sys_handle **h, u32 *mode, int *err);
struct prog *sys_get_prog(s32 fd, struct sys_handle **h, int *err);
struct btf_types *sys_get_btf(s32 fd, struct sys_handle **h, int *err);
static inline void sys_unpin_ptr(struct sys_handle **h)
{
	if (*h)
		sys_unpin(*h);
}
#define autounpin CLEANUP(sys_unpin_ptr)

/* perf.c: -EBADF is also for what is no perf event */
struct map_event;
struct map_event *sys_get_event(s32 fd, struct sys_handle **h, int *err);

/* What map and program names may look like; -EINVAL. to is zero-filled. */
int sys_copy_name(char to[16], const char from[16]);
int sys_open_mode(u32 flags);	/* BPF_F_RDONLY, BPF_F_WRONLY -> O_*, or -EINVAL */

/* slot.c */
int sys_slot_update(struct map *m, const void *key, const void *value, u64 flags);

/* vlog.c: the rules of log_level, log_size, log_buf, shared by PROG_LOAD and BTF_LOAD */
struct sys_vlog {
	struct log log;
	u64 ubuf;
	u32 size;
};
int sys_vlog_start(struct sys_vlog *v, u32 level, u32 size, u64 ubuf);	/* -EINVAL */
/* Give the caller the text; *true_size is what all of it would need. 0, -ENOSPC, -EFAULT. */
int sys_vlog_finish(struct sys_call *c, struct sys_vlog *v, u32 *true_size);

/* id.c */
struct sys_handle *sys_kernel_btf(void);	/* the running kernel's types as object 1, pinned; NULL: none */
void sys_ids_start(void);			/* before the first BTF id is given */

#endif
