/* Ownership by scope: an owning local is tagged with its cleanup and leaves the function by TAKE(). */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H
#include "types.h"

#define CLEANUP(fn) __attribute__((cleanup(fn)))
#define autofree CLEANUP(base_free_ptr)
#define autoclose CLEANUP(base_close_fd)

/* The value of pointer p, leaving NULL behind, so that p's cleanup frees nothing. */
#define TAKE(p) ({ __typeof__(p) take_ = (p); (p) = NULL; take_; })
#define TAKE_FD(fd) ({ int take_ = (fd); (fd) = -1; take_; })

static inline void base_free_ptr(void *p)
{
	free(*(void **)p);
}
static inline void base_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#endif
