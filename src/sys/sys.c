/* The door itself: take the attributes in, find the command, check what it leaves unused. */
#include "sys.h"
#include "door.h"
#include "base/cleanup.h"
#include "map/map.h"
#include "prog/prog.h"
#include <fcntl.h>

#define END(field) (offsetof(union abi_attr, field) + sizeof(((union abi_attr *)0)->field))

static const struct command {
	long (*run)(struct sys_call *c);
	u16 used; /* bytes of attr up to the end of the command's last field */
	bool hot;
} commands[ABI_CMD_MAX] = {
#define SYS_CMD(nr, name, fn, last, hot) [nr] = {fn, END(last), hot},
#include "cmd.def"
#undef SYS_CMD
};

static_assert(BPF_PROG_BIND_MAP == 35, "cmd.def follows enum bpf_cmd");

/* ---- the caller's memory */

int sys_read_mem(struct sys_call *c, void *to, u64 from, size_t size)
{
	return size ? c->by->ops->read(c->by, to, from, size) : 0;
}

int sys_write_mem(struct sys_call *c, u64 to, const void *from, size_t size)
{
	return size ? c->by->ops->write(c->by, to, from, size) : 0;
}

int sys_read_all(struct sys_call *c, void **out, u64 from, size_t size)
{
	autofree void *buf = NULL;
	int err;

	if (size) {
		buf = malloc(size);
		if (!buf)
			return -ENOMEM;
		err = sys_read_mem(c, buf, from, size);
		if (err)
			return err;
	}
	*out = TAKE(buf);
	return 0;
}

int sys_tail_zero(struct sys_call *c, u64 addr, u32 ours, u32 theirs)
{
	u8 tail[SYS_PAGE];
	int err;

	if (theirs > SYS_PAGE)
		return -E2BIG;
	if (theirs <= ours)
		return 0;
	err = sys_read_mem(c, tail, addr + ours, theirs - ours);
	for (u32 i = 0; !err && i < theirs - ours; i++)
		if (tail[i])
			err = -E2BIG;
	return err;
}

/* ---- the call */

/* Beyond what the caller gave attr is zero anyway. */
static bool unused_is_zero(const struct sys_call *c, u32 used)
{
	static const u8 zero[sizeof(c->attr)];
	u32 given = MIN(c->size, (u32)sizeof(c->attr));

	return given <= used || !memcmp(c->attr.raw + used, zero, given - used);
}

static long run(struct sys_call *c, const struct command *cmd)
{
	return unused_is_zero(c, cmd->used) ? cmd->run(c) : -EINVAL;
}

static long hot_call(struct sys_caller *caller, const struct command *cmd, u64 attr, u32 size)
{
	struct sys_call c = {.by = caller, .uattr = attr, .size = size};

	if (!sys_plausible(attr, size))
		return -EFAULT;
	memcpy(&c.attr, ptr_of(attr), size);
	return run(&c, cmd);
}

long sys_bpf(struct sys_caller *caller, u32 cmd, u64 attr, u32 size)
{
	struct sys_call c = {.by = caller, .uattr = attr, .size = size};
	int err;

	if (cmd < ABI_CMD_MAX && commands[cmd].hot && caller->in_process && size <= sizeof(c.attr))
		return hot_call(caller, &commands[cmd], attr, size);
	if (cmd == SYS_MAGIC_CMD)
		return SYS_MAGIC_ANSWER;
	err = sys_tail_zero(&c, attr, sizeof(c.attr), size);
	if (!err)
		err = sys_read_mem(&c, &c.attr, attr, MIN(size, (u32)sizeof(c.attr)));
	if (err)
		return err;
	if (cmd >= ABI_CMD_MAX)
		return -EINVAL;
	return run(&c, &commands[cmd]);
}

/* ---- what the commands share */

struct map *sys_get_map(s32 fd, struct sys_handle **h, u32 *mode, int *err)
{
	*h = sys_fd_get_type(fd, OBJ_MAP, mode, err);
	return *h ? container_of((*h)->obj, struct map, obj) : NULL;
}

struct prog *sys_get_prog(s32 fd, struct sys_handle **h, int *err)
{
	u32 mode;

	*h = sys_fd_get_type(fd, OBJ_PROG, &mode, err);
	return *h ? container_of((*h)->obj, struct prog, obj) : NULL;
}

struct btf_types *sys_get_btf(s32 fd, struct sys_handle **h, int *err)
{
	u32 mode;

	*h = sys_fd_get_type(fd, OBJ_BTF, &mode, err);
	return *h ? (*h)->btf : NULL;
}

struct map *sys_map_of(int fd)
{
	autounpin struct sys_handle *h = NULL;
	u32 mode;
	int err;

	return sys_get_map(fd, &h, &mode, &err);
}

struct prog *sys_prog_of(int fd)
{
	autounpin struct sys_handle *h = NULL;
	int err;

	return sys_get_prog(fd, &h, &err);
}

int sys_copy_name(char to[16], const char from[16])
{
	u32 n = 0;

	while (n < 16 && from[n])
		if (!abi_name_char(from[n++]))
			return -EINVAL;
	if (n == 16)
		return -EINVAL;
	memset(to, 0, 16);
	memcpy(to, from, n);
	return 0;
}

int sys_open_mode(u32 flags)
{
	switch (flags & (BPF_F_RDONLY | BPF_F_WRONLY)) {
	case 0:
		return O_RDWR;
	case BPF_F_RDONLY:
		return O_RDONLY;
	case BPF_F_WRONLY:
		return O_WRONLY;
	default:
		return -EINVAL;
	}
}

/* ---- floor */

static _Atomic int floor_now = -1;

int sys_floor(void)
{
	int floor = atomic_load_explicit(&floor_now, memory_order_relaxed);
	const char *want;

	if (likely(floor >= 0))
		return floor;
	want = getenv("SKEP_FLOOR");
	if (!want || !*want || !strcmp(want, "user"))
		floor = SYS_FLOOR_USER;
	else
		floor = !strcmp(want, "kernel") ? SYS_FLOOR_KERNEL : SYS_FLOOR_BAD;
	atomic_store(&floor_now, floor);
	return floor;
}

void sys_set_floor(int floor)
{
	atomic_store(&floor_now, floor);
}
