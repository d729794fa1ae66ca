/* Pass two: follow every reference. Does it lead to a type of the kind that is wanted there, does
 * anything contain itself, do members fit into their struct?
 *
 * The walk is depth first over a path of at most 32 types. How far it goes depends on where it
 * began: through pointers only when it looks for circles of pointers, through structs and arrays
 * only when it looks for things that contain themselves. A reference that is done keeps what it
 * means ("resolved"): the first type with a size behind it, as far as *that* walk went. Since
 * verdicts depend on the order in which all this is visited, the order and the modes are the
 * kernel's, down to a few odd results: a struct may contain itself through a const that a pointer
 * walk has seen before. Nobody may take acceptance as a promise that types are finite. */
#include "check.h"

#define MAX_DEPTH 32

enum { NEW, ON_PATH, DONE };
enum mode { ANY, POINTERS, VALUES };

struct step {
	u32 id, next; /* type, and its first part that isn't looked at yet */
};

struct walk {
	struct btf_check *c;
	enum mode mode;
	struct step path[MAX_DEPTH];
	u32 depth;
};

/* Kinds that have no bytes of their own: void, forward declarations, functions, tags. */
static bool has_value(const struct btf_type *t)
{
	return t && btf_kind_of(t) != BTF_KIND_UNKN && !(btf_traits(t) & KIND_NOSIZE);
}

static bool is_void(const struct btf_type *t)
{
	return btf_kind_of(t) == BTF_KIND_UNKN;
}

static bool is_done(const struct walk *w, u32 id)
{
	return w->c->seen[id] == DONE;
}

const struct btf_type *btf_sized(const struct btf_check *c, u32 *id, u32 *size)
{
	const struct btf_type *t = btf_type(c->b, *id);
	u32 at = *id, bytes;

	if (has_value(t) && (btf_traits(t) & KIND_MODIFIER || btf_is(t, BTF_KIND_VAR))) {
		at = c->resolved[at];
		t = btf_type(c->b, at);
	}
	if (!has_value(t))
		return NULL;
	if (btf_traits(t) & KIND_SIZED)
		bytes = t->size;
	else if (btf_is(t, BTF_KIND_ARRAY))
		bytes = c->sizes[at];
	else if (btf_is(t, BTF_KIND_PTR))
		bytes = 8;
	else
		return NULL;
	*id = at;
	if (size)
		*size = bytes;
	return t;
}

/* True where this walk need not go on. */
static bool is_end(const struct walk *w, const struct btf_type *t)
{
	if (btf_traits(t) & KIND_MODIFIER)
		return false;
	switch (w->mode) {
	case POINTERS:
		return !btf_is(t, BTF_KIND_PTR);
	case VALUES:
		return !btf_is(t, BTF_KIND_ARRAY) && !btf_is_composite(t);
	default:
		return !(btf_traits(t) & KIND_REFERS);
	}
}

static int enter(struct walk *w, u32 id, const struct btf_type *t)
{
	if (w->depth == MAX_DEPTH)
		return -E2BIG;
	if (w->c->seen[id] != NEW)
		return -EEXIST;
	w->c->seen[id] = ON_PATH;
	w->path[w->depth++] = (struct step){.id = id};
	if (w->mode == ANY && btf_is(t, BTF_KIND_PTR))
		w->mode = POINTERS;
	else if (w->mode == ANY && (btf_is_composite(t) || btf_is(t, BTF_KIND_ARRAY)))
		w->mode = VALUES;
	return 0;
}

/* 0: nothing to follow any more; 1: entered, come back when it is done; or -errno. */
static int follow(struct walk *w, u32 id, const struct btf_type *t)
{
	int err;

	if (is_end(w, t) || is_done(w, id))
		return 0;
	err = enter(w, id, t);
	return err ? err : 1;
}

static int refuse(const struct walk *w, const struct btf_type *t, const char *why)
{
	btf_say_type(w->c, t, "%s", why);
	return -EINVAL;
}

static int done(struct walk *w, struct step *s, u32 resolved, u32 size)
{
	w->c->resolved[s->id] = resolved;
	w->c->sizes[s->id] = size;
	w->c->seen[s->id] = DONE;
	w->depth--;
	return 0;
}

/* A modifier that a walk over values has seen may mean a pointer where that walk stopped; go on
 * from the pointer. */
static int follow_late_pointer(struct walk *w, u32 id, const struct btf_type *t)
{
	if (!(btf_traits(t) & KIND_MODIFIER))
		return 0;
	id = w->c->resolved[id];
	t = btf_type(w->c->b, id);
	return btf_is(t, BTF_KIND_PTR) ? follow(w, id, t) : 0;
}

/* What PTR and modifiers may refer to without size: void, a forward declaration, a prototype. */
static int done_sizeless(struct walk *w, struct step *s, const struct btf_type *t, u32 id,
			 const struct btf_type *to)
{
	if (btf_sized(w->c, &id, NULL))
		return done(w, s, id, 0);
	if (is_done(w, id)) {
		id = w->c->resolved[id];
		to = btf_type(w->c->b, id);
	}
	if (!is_void(to) && !btf_is(to, BTF_KIND_FWD) && !btf_is(to, BTF_KIND_FUNC_PROTO))
		return refuse(w, t, "Invalid type_id");
	return done(w, s, id, 0);
}

static int resolve_ref(struct walk *w, struct step *s, const struct btf_type *t)
{
	const struct btf_type *to = btf_type(w->c->b, t->type);
	int r;

	if (!to || btf_traits(to) & KIND_TOP)
		return refuse(w, t, "Invalid type_id");
	r = follow(w, t->type, to);
	if (!r && !(btf_traits(t) & KIND_MODIFIER))
		r = follow_late_pointer(w, t->type, to);
	return r ? r : done_sizeless(w, s, t, t->type, to);
}

static int resolve_var(struct walk *w, struct step *s, const struct btf_type *t)
{
	const struct btf_type *to = btf_type(w->c->b, t->type);
	u32 id = t->type;
	int r;

	if (!to || btf_traits(to) & KIND_TOP)
		return refuse(w, t, "Invalid type_id");
	r = follow(w, t->type, to);
	if (!r)
		r = follow_late_pointer(w, t->type, to);
	if (r)
		return r;
	if (!btf_sized(w->c, &id, NULL))
		return refuse(w, t, "Invalid type_id");
	return done(w, s, id, 0);
}

static int resolve_array(struct walk *w, struct step *s, const struct btf_type *t)
{
	const struct btf_array *a = btf_array_of(t);
	const struct btf_type *index = btf_type(w->c->b, a->index_type),
			      *elem = btf_type(w->c->b, a->type);
	u32 index_id = a->index_type, elem_id = a->type, size;
	int r;

	if (!has_value(index) || btf_traits(index) & KIND_TOP)
		return refuse(w, t, "Invalid index");
	r = follow(w, a->index_type, index);
	if (r)
		return r;
	index = btf_sized(w->c, &index_id, NULL);
	if (!btf_is(index, BTF_KIND_INT) || !btf_int_is_regular(index))
		return refuse(w, t, "Invalid index");

	if (!has_value(elem) || btf_traits(elem) & KIND_TOP)
		return refuse(w, t, "Invalid elem");
	r = follow(w, a->type, elem);
	if (r)
		return r;
	elem = btf_sized(w->c, &elem_id, &size);
	if (!elem)
		return refuse(w, t, "Invalid elem");
	if (btf_is(elem, BTF_KIND_INT) && !btf_int_is_regular(elem))
		return refuse(w, t, "Invalid array of int");
	if ((u64)size * a->nelems > UINT32_MAX)
		return refuse(w, t, "Array size overflows U32_MAX");
	return done(w, s, elem_id, size * a->nelems);
}

static int resolve_struct(struct walk *w, struct step *s, const struct btf_type *t)
{
	for (; s->next < btf_vlen_of(t); s->next++) {
		const struct btf_member *m = btf_members(t) + s->next;
		const struct btf_type *to = btf_type(w->c->b, m->type);
		int r;

		if (!has_value(to) || btf_traits(to) & KIND_TOP) {
			btf_say_member(w->c, t, m, "Invalid member");
			return -EINVAL;
		}
		r = follow(w, m->type, to);
		if (!r)
			r = btf_check_member(w->c, t, m);
		if (r)
			return r;
	}
	return done(w, s, 0, 0);
}

static int resolve_func(struct walk *w, struct step *s, const struct btf_type *t)
{
	const struct btf_type *proto = btf_type(w->c->b, t->type);

	if (!btf_is(proto, BTF_KIND_FUNC_PROTO))
		return refuse(w, t, "Invalid type_id");
	for (u32 i = 0; i < btf_vlen_of(proto); i++)
		if (!btf_params(proto)[i].name_off && btf_params(proto)[i].type) {
			btf_say_type(w->c, t, "Invalid arg#%u", i + 1);
			return -EINVAL;
		}
	return done(w, s, t->type, 0);
}

static int resolve_datasec(struct walk *w, struct step *s, const struct btf_type *t)
{
	w->mode = ANY;
	while (s->next < btf_vlen_of(t)) {
		const struct btf_var_secinfo *v = btf_secinfos(t) + s->next++;
		const struct btf_type *var = btf_type(w->c->b, v->type);
		u32 id, size;
		int r;

		if (!btf_is(var, BTF_KIND_VAR)) {
			btf_say_var(w->c, t, v, "Not a VAR kind member");
			return -EINVAL;
		}
		/* a variable that had to be entered is not compared with its room afterwards */
		r = follow(w, v->type, var);
		if (r)
			return r;
		id = var->type;
		if (!btf_sized(w->c, &id, &size)) {
			btf_say_var(w->c, t, v, "Invalid type");
			return -EINVAL;
		}
		if (v->size < size) {
			btf_say_var(w->c, t, v, "Invalid size");
			return -EINVAL;
		}
	}
	return done(w, s, 0, 0);
}

static int resolve_tag(struct walk *w, struct step *s, const struct btf_type *t)
{
	const struct btf_type *to = btf_type(w->c->b, t->type);
	bool parts = btf_is_composite(to) || btf_is(to, BTF_KIND_FUNC);
	s32 component = btf_tag_component(t);
	int r;

	if (!parts && !btf_is(to, BTF_KIND_VAR) && !btf_is(to, BTF_KIND_TYPEDEF))
		return refuse(w, t, "Invalid type_id");
	r = follow(w, t->type, to);
	if (r)
		return r;
	if (btf_is(to, BTF_KIND_FUNC))
		to = btf_type(w->c->b, to->type);
	if (component != -1 && (!parts || (u32)component >= btf_vlen_of(to)))
		return refuse(w, t, "Invalid component_idx");
	return done(w, s, t->type, 0);
}

static int (*const resolvers[NR_BTF_KINDS])(struct walk *w, struct step *s,
					    const struct btf_type *t) = {
    [BTF_KIND_PTR] = resolve_ref,	  [BTF_KIND_ARRAY] = resolve_array,
    [BTF_KIND_STRUCT] = resolve_struct,	  [BTF_KIND_UNION] = resolve_struct,
    [BTF_KIND_TYPEDEF] = resolve_ref,	  [BTF_KIND_VOLATILE] = resolve_ref,
    [BTF_KIND_CONST] = resolve_ref,	  [BTF_KIND_RESTRICT] = resolve_ref,
    [BTF_KIND_FUNC] = resolve_func,	  [BTF_KIND_VAR] = resolve_var,
    [BTF_KIND_DATASEC] = resolve_datasec, [BTF_KIND_DECL_TAG] = resolve_tag,
    [BTF_KIND_TYPE_TAG] = resolve_ref,
};

/* Walk everything that the type leads to, unless that was done before. */
static int resolve(struct btf_check *c, u32 id)
{
	struct walk w = {.c = c};
	const struct btf_type *t = btf_type(c->b, id);
	u32 at = c->at;
	int err = 0;

	if (!(btf_traits(t) & KIND_REFERS) || c->seen[id] == DONE)
		return 0;
	enter(&w, id, t); /* can't fail: the path is empty and every earlier walk ended with all its
			     types done */
	while (err >= 0 && w.depth) {
		struct step *s = &w.path[w.depth - 1];

		t = btf_type(c->b, s->id);
		c->at = s->id;
		err = resolvers[btf_kind_of(t)](&w, s, t);
	}
	c->at = id;
	if (err == -E2BIG)
		btf_say_type(c, btf_type(c->b, id), "Exceeded max resolving depth:%u", MAX_DEPTH);
	else if (err == -EEXIST)
		btf_say_type(c, btf_type(c->b, id), "Loop detected");
	c->at = at;
	return err < 0 ? err : 0;
}

static int check_return(struct btf_check *c, const struct btf_type *proto)
{
	const struct btf_type *t = btf_type(c->b, proto->type);
	u32 id = proto->type;
	int err = 0;

	if (!id)
		return 0;
	if (t && !(btf_traits(t) & KIND_TOP))
		err = resolve(c, id);
	if (err)
		return err;
	if (t && !(btf_traits(t) & KIND_TOP) && btf_sized(c, &id, NULL))
		return 0;
	btf_say_type(c, proto, "Invalid return type");
	return -EINVAL;
}

/* Pass one has seen only that the parameters' bytes are there, so names are checked here. */
static bool is_param_name(const struct btf_check *c, u32 off)
{
	return !off || btf_is_identifier(c->b, off);
}

static int check_proto(struct btf_check *c, const struct btf_type *proto)
{
	const struct btf_param *p = btf_params(proto);
	u32 n = btf_vlen_of(proto);
	int err = check_return(c, proto);

	if (err)
		return err;
	if (n && !p[n - 1].type) {
		if (p[n - 1].name_off) {
			btf_say_type(c, proto, "Invalid arg#%u", n);
			return -EINVAL;
		}
		n--; /* variadic */
	}
	for (u32 i = 0; i < n; i++) {
		const struct btf_type *t = btf_type(c->b, p[i].type);
		u32 id = p[i].type;
		bool ok = t && !(btf_traits(t) & KIND_TOP) && is_param_name(c, p[i].name_off);

		if (ok)
			err = resolve(c, id);
		if (err)
			return err;
		if (!ok || !btf_sized(c, &id, NULL)) {
			btf_say_type(c, proto, "Invalid arg#%u", i + 1);
			return -EINVAL;
		}
	}
	return 0;
}

static int check_all(struct btf_check *c)
{
	c->resolving = true;
	for (u32 id = 1; id < c->b->n; id++) {
		int err;

		c->at = id;
		err = resolve(c, id);
		if (!err && btf_is(btf_type(c->b, id), BTF_KIND_FUNC_PROTO))
			err = check_proto(c, btf_type(c->b, id));
		if (err)
			return err;
	}
	return 0;
}

int btf_check_references(struct btf_check *c)
{
	u32 n = c->b->n;
	int err = -ENOMEM;

	c->seen = calloc(n, sizeof(*c->seen));
	c->resolved = calloc(n, sizeof(*c->resolved));
	c->sizes = calloc(n, sizeof(*c->sizes));
	if (c->seen && c->resolved && c->sizes)
		err = check_all(c);
	free(c->seen);
	free(c->resolved);
	free(c->sizes);
	c->seen = NULL;
	c->resolved = c->sizes = NULL;
	return err;
}
