/* Counted objects: programs, maps, BTF, links.
 *
 * As in the kernel an object has two counts. `users` are descriptors, mappings and pins; when the last user goes,
 * ops->unused runs (a prog_array is emptied then, although programs still hold it). `refs` are programs, links, other
 * maps and the users taken together; when the last reference goes, ops->free runs. */
#ifndef BASE_OBJ_H
#define BASE_OBJ_H
#include "types.h"
#include <stdatomic.h>

enum obj_type { OBJ_MAP = 1, OBJ_PROG, OBJ_BTF, OBJ_LINK, OBJ_EVENT /* a perf event */ };

struct obj;
struct obj_ops {
	void (*unused)(struct obj *obj);	/* last user gone; may be NULL */
	void (*free)(struct obj *obj);		/* last reference gone */
};

struct obj {
	const struct obj_ops *ops;
	enum obj_type type;
	u32 id;			/* as GET_NEXT_ID shows it; 0: not published. Set and cleared by sys */
	_Atomic u32 refs;	/* all references; the users together hold one */
	_Atomic u32 users;
};

static inline void obj_init(struct obj *o, enum obj_type type, const struct obj_ops *ops)
{
	*o = (struct obj){ .ops = ops, .type = type };
	atomic_init(&o->refs, 1);
	atomic_init(&o->users, 0);
}

static inline void obj_get(struct obj *o)
{
	u32 was = atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);

	assert(was);
}

static inline void obj_put(struct obj *o)
{
	if (o && atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) == 1)
		o->ops->free(o);
}

/* The first user takes a reference for all users. */
static inline void obj_get_user(struct obj *o)
{
	if (atomic_fetch_add_explicit(&o->users, 1, memory_order_acq_rel) == 0)
		obj_get(o);
}

static inline void obj_put_user(struct obj *o)
{
	if (atomic_fetch_sub_explicit(&o->users, 1, memory_order_acq_rel) != 1)
		return;
	if (o->ops->unused)
		o->ops->unused(o);
	obj_put(o);
}

#endif
