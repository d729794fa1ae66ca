/* Tests for NULL: one test decides for every copy of the pointer, which the id ties together. */
#include "access.h"

struct tested {
	u32 id;
	bool is_null;
};

/* What a map of maps holds is a map, of which the template says all that is known. */
void ptr_mark_not_null(struct reg *r)
{
	struct map *inner = r->type == REG_MAP_VALUE ? r->map->inner : NULL;

	r->flags &= (u16)~REGF_NULL;
	if (!inner)
		return;
	r->type = REG_CONST_MAP;
	r->map = inner;
	r->map_uid = 0;
}

static void decide(struct reg *r, void *arg)
{
	const struct tested *t = arg;

	if (!(r->flags & REGF_NULL) || r->id != t->id)
		return;
	if (t->is_null) {
		/* no copy points anywhere: the number 0, and nothing to release */
		reg_mark_const(r, 0);
		return;
	}
	ptr_mark_not_null(r);
	if (!lock_may_be_in(r)) /* whose id says which element's lock it is */
		r->id = 0;
}

void ptr_mark_null(struct verifier *v, struct state *s, u32 regno, bool is_null)
{
	const struct reg *r = &state_regs(s)[regno];
	struct tested t = { .id = r->id, .is_null = is_null };

	(void)v;
	if (r->ref_id && r->ref_id == r->id && is_null)
		refs_forget(s, r->id);
	state_each_reg(s, decide, &t);
}
