/* number -> handle, read without a lock by every call that names a descriptor.
 *
 * A slot holds a handle and two bits of mode, or a handle and HIDDEN: one of sys's own descriptors,
 * which the application must not see or close. Slots are only hints: reading one pins the handle
 * and looks again. They are cleared by the closes that pass through shim, and all at once when a
 * handle is reused; a number without a slot is asked for by statx. */
#include "handle.h"
#include <fcntl.h>
#include <linux/stat.h>

#define CHUNK  1024u
#define CHUNKS 1024u /* numbers up to 1M; what lies above is asked for each time */
#define HIDDEN 4u
#define FLAGS  7u

typedef _Atomic uintptr_t slot;
static slot *_Atomic chunks[CHUNKS];

static slot *slot_at(u32 fd, bool make)
{
	slot *c, *old = NULL;

	if (fd / CHUNK >= CHUNKS)
		return NULL;
	c = atomic_load_explicit(&chunks[fd / CHUNK], memory_order_acquire);
	if (!c && make) {
		c = calloc(CHUNK, sizeof(*c));
		if (c && !atomic_compare_exchange_strong(&chunks[fd / CHUNK], &old, c)) {
			free(c);
			c = old;
		}
	}
	return c ? &c[fd % CHUNK] : NULL;
}

static struct sys_handle *handle_in(uintptr_t v)
{
	return (struct sys_handle *)(v & ~(uintptr_t)FLAGS);
}

static void put(u32 fd, uintptr_t v)
{
	slot *s = slot_at(fd, v != 0);

	if (s)
		atomic_store(s, v);
}

void sys_fd_note(u32 fd, struct sys_handle *h, u32 mode)
{
	put(fd, (uintptr_t)h | mode);
}

void sys_fd_hide(u32 fd, struct sys_handle *h)
{
	put(fd, (uintptr_t)h | HIDDEN);
}

void sys_fd_unhide(u32 fd)
{
	put(fd, 0);
}

struct sys_handle *sys_fd_hidden(u32 fd)
{
	slot *s = slot_at(fd, false);
	uintptr_t v = s ? atomic_load(s) : 0;

	return v & HIDDEN ? handle_in(v) : NULL;
}

u32 sys_fd_next_hidden(u32 from)
{
	for (u64 fd = from; fd < (u64)CHUNK * CHUNKS; fd++) {
		slot *c = atomic_load_explicit(&chunks[fd / CHUNK], memory_order_acquire);

		if (!c)
			fd |= CHUNK - 1;
		else if (atomic_load_explicit(&c[fd % CHUNK], memory_order_relaxed) & HIDDEN)
			return fd;
	}
	return UINT32_MAX;
}

struct sys_handle *sys_fd_forget(u32 fd)
{
	slot *s = slot_at(fd, false);
	uintptr_t v = s ? atomic_load(s) : 0;

	if (!v || v & HIDDEN || !atomic_compare_exchange_strong(s, &v, 0))
		return NULL;
	return sys_pin(handle_in(v)) ? handle_in(v) : NULL;
}

/* Hidden ones stay. */
void sys_fd_forget_range(u32 first, u32 last)
{
	for (u64 fd = first; fd <= last && fd / CHUNK < CHUNKS; fd++) {
		if (!atomic_load_explicit(&chunks[fd / CHUNK], memory_order_acquire))
			fd |= CHUNK - 1;
		else if (!sys_fd_hidden(fd))
			put(fd, 0);
	}
}

void sys_fd_forget_handle(struct sys_handle *h)
{
	for (u32 i = 0; i < CHUNKS; i++) {
		slot *c = atomic_load_explicit(&chunks[i], memory_order_acquire);

		for (u32 j = 0; c && j < CHUNK; j++) {
			uintptr_t v = atomic_load_explicit(&c[j], memory_order_relaxed);

			if (v && !(v & HIDDEN) && handle_in(v) == h)
				atomic_compare_exchange_strong(&c[j], &v, 0);
		}
	}
}

/* ---- look-up */

static u32 mode_of_fd(s32 fd)
{
	long flags = raw(SYS_fcntl, fd, F_GETFL);

	switch (flags < 0 ? O_RDONLY : flags & O_ACCMODE) {
	case O_RDONLY:
		return SYS_READ;
	case O_WRONLY:
		return SYS_WRITE;
	default:
		return SYS_READ | SYS_WRITE;
	}
}

static struct sys_handle *ask(s32 fd, u32 *mode, int *err)
{
	struct statx st;
	struct sys_handle *h;

	*err = raw(SYS_statx, fd, raw_arg(""), AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO,
		   raw_arg(&st));
	if (*err)
		return NULL;
	*err = -EINVAL;
	if (!atomic_load_explicit(&sys_live, memory_order_relaxed))
		return NULL;
	h = sys_by_inode((u64)st.stx_dev_major << 32 | st.stx_dev_minor, st.stx_ino);
	if (h) {
		*mode = mode_of_fd(fd);
		sys_fd_note(fd, h, *mode);
	}
	return h;
}

struct sys_handle *sys_fd_get(s32 fd, u32 *mode, int *err)
{
	slot *s = slot_at(fd, false);
	uintptr_t v = s ? atomic_load_explicit(s, memory_order_acquire) : 0;

	if (unlikely(v & HIDDEN) || fd < 0) {
		*err = -EBADF;
		return NULL;
	}
	if (likely(v != 0)) {
		struct sys_handle *h = handle_in(v);

		if (sys_pin(h)) {
			if (likely(atomic_load(s) == v)) {
				*mode = v & (SYS_READ | SYS_WRITE);
				return h;
			}
			sys_unpin(h);
		}
	}
	return ask(fd, mode, err);
}

struct sys_handle *sys_fd_get_type(s32 fd, enum obj_type type, u32 *mode, int *err)
{
	struct sys_handle *h = sys_fd_get(fd, mode, err);

	if (h && h->obj->type != type) {
		sys_unpin(h);
		*err = -EINVAL;
		return NULL;
	}
	return h;
}
