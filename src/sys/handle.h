/* Objects behind descriptors. Private to sys/.
 *
 *   handle.c   what is published: by id, by inode; made, opened again, gone
 *   fdcache.c  number -> handle, without a lock
 *   poll.c     maps in epoll sets
 *   life.c     does anyone still hold it? close, dup2, close_range, munmap; fork
 *
 * A descriptor of ours is an open memfd; its inode says which object it is. Per object sys keeps one more descriptor of
 * the same file, moved out of the way (`hidden`). F_SETLEASE on that one succeeds only when no other open file or mapping of
 * the file is left, whoever had it: that is how the last close is found.
 *
 * A handle is the object's place in the tables. Its memory is reused but never freed, so a stale pointer to it is
 * harmless. `pins` is 1 while descriptors or mappings hold the object, plus 1 for each call that is using it; while it is not
 * 0 the object has a user (obj.h). */
#ifndef SYS_HANDLE_H
#define SYS_HANDLE_H
#include "base/obj.h"
#include "base/raw.h"

#define SYS_READ 1u	/* what a descriptor allows: BPF_F_RDONLY / BPF_F_WRONLY of its open */
#define SYS_WRITE 2u

struct sys_handle {
	_Atomic u32 pins;
	struct obj *obj;
	struct obj_ops ops;		/* obj->ops while it is published: ->free comes here first */
	const struct obj_ops *own;	/* the object's own */
	u64 dev, ino;
	int hidden;			/* for an object with storage its own memfd, else ours */
	bool hidden_is_objs;
	bool held;			/* some descriptor or mapping was there when last looked */
	bool forever;			/* the kernel's BTF: never let go */
	bool suspect;			/* held, and a descriptor of it was closed: in the list of suspects */
	struct sys_handle *suspect_next, *suspect_prev;
	struct sys_handle *next_ino;	/* in its bucket; also the free list */
	int poll_fd;			/* stands for a map in epoll sets, or -1; poll.c's */
	struct sys_handle *poll_next;
	_Atomic bool signalled;		/* poll_fd may be readable */
	struct btf_types *btf;		/* obj is this one's */
};

extern _Atomic u32 sys_live;	/* handles in the tables */

/* handle.c. Publish obj: an id, a file, a first descriptor (the result). On success the descriptor's use replaces the
 * caller's reference; on failure the caller still has it. open_flags: O_RDWR, O_RDONLY, O_WRONLY. */
struct btf_types;
int sys_publish(struct obj *obj, const char *name, int open_flags);
int sys_publish_btf(struct btf_types *btf, u32 id);	/* id 0: the next one; else it stays for ever */
int sys_open_id(enum obj_type type, u32 id, int open_flags);	/* a new descriptor, -ENOENT */
int sys_next_id(enum obj_type type, u32 after, u32 *id);		/* the first id > after, -ENOENT */
struct sys_handle *sys_handle_of(const struct obj *obj);		/* of a published object */
struct sys_handle *sys_by_inode(u64 dev, u64 ino);		/* pinned, or NULL */
void sys_each_handle(void (*fn)(struct sys_handle *h, void *arg), void *arg);	/* under the lock */
void sys_lock(void);
bool sys_trylock(void);
void sys_unlock(void);
void sys_first_id(enum obj_type type, u32 id);			/* ids of this type start here */

bool sys_pin(struct sys_handle *h);	/* false: it went away */
void sys_unpin(struct sys_handle *h);

/* fdcache.c. The object behind fd, pinned, with what the descriptor allows in *mode. NULL: *err is -EBADF (not open) or
 * -EINVAL (something else). */
struct sys_handle *sys_fd_get(s32 fd, u32 *mode, int *err);
struct sys_handle *sys_fd_get_type(s32 fd, enum obj_type type, u32 *mode, int *err);
struct sys_handle *sys_fd_forget(u32 fd);	/* what it was known as, pinned; NULL: not known */
void sys_fd_forget_range(u32 first, u32 last);
void sys_fd_forget_handle(struct sys_handle *h);
void sys_fd_note(u32 fd, struct sys_handle *h, u32 mode);	/* fd was just opened for h */
void sys_fd_hide(u32 fd, struct sys_handle *h);
struct sys_handle *sys_fd_hidden(u32 fd);			/* whose hidden descriptor this number is, or NULL */
u32 sys_fd_next_hidden(u32 from);				/* the first hidden number >= from, or UINT32_MAX */
void sys_fd_unhide(u32 fd);

/* life.c */
int sys_move_high(int fd);		/* fd's file at a number out of the way; fd is closed. -errno: fd stays open */
void sys_test_hold(struct sys_handle *h);	/* let go of h if nobody holds it; not under the lock */
void sys_test_all(void);
void sys_suspect_drop(struct sys_handle *h);	/* under the lock */
void sys_own_process(void);	/* the tables belong to this process from now on */
void sys_handle_moved(struct sys_handle *h, int from, int to);	/* handle.c: its own descriptor has another number */


/* poll.c */
void sys_poll_gone(struct sys_handle *h);	/* under the lock */

#endif
