/* Perf events for BPF programs to write to: perf_event_open(2) of PERF_COUNT_SW_BPF_OUTPUT and the
 * ioctls on one. The event is an object like those of bpf(2): a memfd that its reader maps. All
 * other perf events are the kernel's.
 *
 * The kernel wakes a reader of such an event once for each time it is due and forgets it when the
 * reader polls; an edge-triggered eventfd does the same (poll.c). */
#include "sys.h"
#include "door.h"
#include "base/cleanup.h"
#include "map/map.h"
#include <fcntl.h>
#include <stdio.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>

#define FLAGS_ALL                                                                                  \
	(PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC)

struct map_event *sys_get_event(s32 fd, struct sys_handle **h, int *err)
{
	char path[48], target[32] = {0};
	u32 mode;

	*h = sys_fd_get_type(fd, OBJ_EVENT, &mode, err);
	if (*h)
		return container_of((*h)->obj, struct map_event, obj);
	/* as perf_event_get() of the kernel has it; but an event that is the kernel's own is out of
	 * our reach */
	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", fd);
	raw(SYS_readlinkat, AT_FDCWD, raw_arg(path), raw_arg(target), sizeof(target) - 1);
	*err = strcmp(target, "anon_inode:[perf_event]") ? -EBADF : -EOPNOTSUPP;
	return NULL;
}

/* ---- perf_event_open */

/* perf_copy_attr(): a size of 0 means the first version. */
static int attr_in(struct sys_call *c, struct perf_event_attr *attr, u64 from)
{
	u32 size;
	int err =
	    sys_read_mem(c, &size, from + offsetof(struct perf_event_attr, size), sizeof(size));

	if (err)
		return err;
	if (!size)
		size = PERF_ATTR_SIZE_VER0;
	if (size < PERF_ATTR_SIZE_VER0 || size > SYS_PAGE)
		return -E2BIG;
	err = sys_tail_zero(c, from, sizeof(*attr), size);
	return err ? err : sys_read_mem(c, attr, from, MIN(size, (u32)sizeof(*attr)));
}

static bool is_ours(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_BPF_OUTPUT;
}

/* What of an attr has no effect on such an event, or one that we know how to have; all else must be
 * 0. */
static int check_attr(const struct perf_event_attr *attr)
{
	struct perf_event_attr a = *attr;

	if (a.sample_type >= PERF_SAMPLE_MAX)
		return -EINVAL;
	a.type = a.size = a.config = a.sample_period = a.sample_type = a.wakeup_events = 0;
	a.disabled = a.watermark = a.pinned = a.exclusive = a.freq = 0;
	a.exclude_user = a.exclude_kernel = a.exclude_hv = a.exclude_idle = 0;
	a.exclude_host = a.exclude_guest = 0;
	for (u32 i = 0; i < sizeof(a); i++)
		if (((const u8 *)&a)[i])
			return -EOPNOTSUPP;
	return 0;
}

/* Which runs the event sees: those of a thread of this process, on a CPU, or both. */
static int check_target(s32 pid, s32 cpu, struct map_event_attr *out)
{
	if (pid == -1 && cpu == -1)
		return -EINVAL;
	if (cpu < -1 || (cpu >= 0 && (u32)cpu >= env_possible_cpus()))
		return -EINVAL;
	out->cpu = cpu;
	out->tid = pid == 0 ? raw(SYS_gettid) : pid;
	if (pid < -1)
		return -ESRCH;
	if (pid > 0 && raw(SYS_tgkill, raw(SYS_getpid), pid, 0))
		return raw(SYS_kill, pid, 0) == -ESRCH ? -ESRCH : -EOPNOTSUPP;
	return 0;
}

static int publish(const struct map_event_attr *attr, u64 flags)
{
	struct map_event *e;
	int err = map_event_new(&e, attr), fd;

	if (err)
		return err;
	fd = sys_publish(&e->obj, "[perf_event]", O_RDWR);
	if (fd < 0)
		obj_put(&e->obj);
	else if (!(flags & PERF_FLAG_FD_CLOEXEC))
		raw(SYS_fcntl, fd, F_SETFD, 0);
	return fd;
}

static int open_event(const struct perf_event_attr *a, s32 pid, s32 cpu, s32 group, u64 flags)
{
	static _Atomic u64 last_id;
	struct map_event_attr attr = {
	    .sample_type = a->sample_type,
	    .wakeup = a->wakeup_events, /* or wakeup_watermark: one field */
	    .watermark = a->watermark,
	    .disabled = a->disabled,
	};
	int err;

	if (flags & ~(u64)FLAGS_ALL)
		return -EINVAL;
	err = check_attr(a);
	if (!err)
		err = check_target(pid, cpu, &attr);
	if (!err && (group != -1 || flags & ~(u64)PERF_FLAG_FD_CLOEXEC))
		err = -EOPNOTSUPP;
	if (err)
		return err;
	attr.id = atomic_fetch_add(&last_id, 1) + 1;
	return publish(&attr, flags);
}

int sys_perf_event_open(u64 uattr, s32 pid, s32 cpu, s32 group, u64 flags)
{
	struct sys_call c = {.by = sys_self()};
	struct perf_event_attr attr = {0};

	if (sys_floor() == SYS_FLOOR_USER && !attr_in(&c, &attr, uattr) && is_ours(&attr))
		return open_event(&attr, pid, cpu, group, flags);
	return raw(SYS_perf_event_open, uattr, pid, cpu, group, flags);
}

/* ---- ioctl */

/* No program can filter samples that programs write. */
static int set_bpf(s32 fd)
{
	autounpin struct sys_handle *h = NULL;
	int err;

	return sys_get_prog(fd, &h, &err) ? -EINVAL : err;
}

static int event_ioctl(struct map_event *e, unsigned long req, unsigned long arg)
{
	struct sys_call c = {.by = sys_self()};
	u64 id;

	switch (req) {
	case PERF_EVENT_IOC_ENABLE:
		map_event_look(e);
		atomic_store(&e->enabled, true);
		return 0;
	case PERF_EVENT_IOC_DISABLE:
		atomic_store(&e->enabled, false);
		return 0;
	case PERF_EVENT_IOC_RESET: /* the count: it is always 0 */
		return 0;
	case PERF_EVENT_IOC_ID:
		id = map_event_id(e);
		return sys_write_mem(&c, arg, &id, sizeof(id));
	case PERF_EVENT_IOC_PAUSE_OUTPUT:
		atomic_store(&e->paused, arg != 0);
		return 0;
	case PERF_EVENT_IOC_SET_BPF:
		return set_bpf(arg);
	case PERF_EVENT_IOC_REFRESH:
	case PERF_EVENT_IOC_PERIOD:
	case PERF_EVENT_IOC_SET_OUTPUT:
	case PERF_EVENT_IOC_SET_FILTER:
	case PERF_EVENT_IOC_QUERY_BPF:
	case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
		return -EOPNOTSUPP;
	default:
		return -ENOTTY;
	}
}

int sys_ioctl(int fd, unsigned long req, unsigned long arg)
{
	struct sys_handle *h = NULL;
	u32 mode;
	int err;

	if (_IOC_TYPE(req) == '$' && atomic_load_explicit(&sys_live, memory_order_relaxed))
		h = sys_fd_get_type(fd, OBJ_EVENT, &mode, &err);
	if (!h)
		return raw(SYS_ioctl, fd, req, arg);
	err = event_ioctl(container_of(h->obj, struct map_event, obj), req, arg);
	sys_unpin(h);
	return err;
}
