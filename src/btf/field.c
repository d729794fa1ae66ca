/* The last passes: type tags stand outside other modifiers, and structs that hold special fields
 * (locks, list and tree roots and nodes, reference counts, kernel pointers) hold them in a way that
 * the kernel can work with.
 *
 * The second pass looks only at structs with a member that is, or points as, such a field; inside
 * those it looks into nested structs and arrays too. What it refuses it refuses without a word in
 * the log, as the kernel. */
#include "check.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "base/vec.h"

#define MAX_CHAIN   32
#define MAX_NESTING 32
#define MAX_FIELDS  11		/* BTF_FIELDS_MAX */
#define MAX_STEPS   20000000ull /* ours: a second or two */

enum field {
	SPIN_LOCK = 1,
	RES_SPIN_LOCK = 2,
	LIST_HEAD = 4,
	LIST_NODE = 8,
	RB_ROOT = 16,
	RB_NODE = 32,
	REFCOUNT = 64,
	KPTR_UNREF = 128,
	KPTR_REF = 256,
	KPTR_PERCPU = 512,
	ANY_KPTR = KPTR_UNREF | KPTR_REF | KPTR_PERCPU,
	ANY_ROOT = LIST_HEAD | RB_ROOT,
	ANY_NODE = LIST_NODE | RB_NODE,
};

/* Structs that are fields by their name: size and alignment they must have, at most one in a
 * struct. */
static const struct named {
	const char *name;
	enum field field;
	u8 size, align;
	bool once, marks; /* marks: a struct with such a member is looked at */
} named[] = {
    {"bpf_spin_lock", SPIN_LOCK, 4, 4, true, true},
    {"bpf_res_spin_lock", RES_SPIN_LOCK, 4, 4, true, false},
    {"bpf_list_head", LIST_HEAD, 16, 8, false, true},
    {"bpf_list_node", LIST_NODE, 24, 8, false, true},
    {"bpf_rb_root", RB_ROOT, 16, 8, false, true},
    {"bpf_rb_node", RB_NODE, 32, 8, false, true},
    {"bpf_refcount", REFCOUNT, 4, 4, false, true},
};

/* Kernel types that have a destructor, so that a map may own one: asked of a 6.18 kernel for each
 * of its structs. (sk_buff has one only with CONFIG_NET_SCH_BPF.) */
static const char *const owned[] = {"task_struct",	   "cgroup",
				    "bpf_cpumask",	   "bpf_crypto_ctx",
				    "prog_test_ref_kfunc", "prog_test_member"};

struct field_at {
	enum field field;
	u32 off, size;
	u32 target;	  /* root: struct of its nodes; kptr: struct it points at */
	const char *node; /* root: name of the node member */
};

struct search {
	const struct btf_types *b;
	struct field_at at[MAX_FIELDS];
	u32 n;
	u64 steps;
};

/* What a struct that was looked at has: for the check of who owns whom. */
struct holder {
	u32 id, fields;
	u32 n_roots, targets[MAX_FIELDS];
};

/* Type tags */

int btf_check_tags(struct btf_check *c)
{
	const struct btf_types *b = c->b;
	u32 good = b->first_id ? b->first_id - 1 : 0;

	for (u32 i = good + 1; i < btf_n_types(b); i++) {
		const struct btf_type *t = btf_type(b, i);
		bool outside = btf_is(t, BTF_KIND_TYPE_TAG);
		u32 left = MAX_CHAIN, id = i;

		if (!(btf_traits(t) & KIND_MODIFIER))
			continue;
		while (btf_traits(t) & KIND_MODIFIER) {
			if (!left--) {
				btf_say(c, "Max chain length or cycle detected");
				return -ELOOP;
			}
			if (btf_is(t, BTF_KIND_TYPE_TAG) && !outside) {
				btf_say(c, "Type tags don't precede modifiers");
				return -EINVAL;
			}
			outside = outside && btf_is(t, BTF_KIND_TYPE_TAG);
			if (id <= good)
				break; /* this chain was seen from here on */
			id = t->type;
			t = btf_type(b, id);
			if (!t)
				return -EINVAL;
		}
		good = i;
	}
	return 0;
}

/* Finding fields */

/* A pointer to struct whose first tag says kptr: 1 and *field; 0: another type; -EINVAL: a tag that
 * is not known here. */
static int find_kptr(const struct btf_types *b, const struct btf_type *t, struct field_at *f)
{
	static const struct {
		const char *tag;
		u32 field; /* 0: known elsewhere, ignored here */
	} tags[] = {{"kptr_untrusted", KPTR_UNREF},
		    {"kptr", KPTR_REF},
		    {"percpu_kptr", KPTR_PERCPU},
		    {"uptr", 0}};
	const struct btf_type *to;
	const char *tag;

	if (btf_is(t, BTF_KIND_VOLATILE))
		t = btf_type(b, t->type);
	if (!btf_is(t, BTF_KIND_PTR))
		return 0;
	t = btf_type(b, t->type);
	if (!btf_is(t, BTF_KIND_TYPE_TAG) || btf_kflag(t))
		return 0;
	if (btf_is(btf_type(b, t->type), BTF_KIND_TYPE_TAG))
		return -EINVAL;
	tag = btf_str(b, t->name_off);
	for (u32 i = 0; i < ARRAY_SIZE(tags); i++) {
		if (strcmp(tags[i].tag, tag))
			continue;
		if (!tags[i].field)
			return 0;
		to = btf_skip(b, t->type, &f->target);
		if (!btf_is(to, BTF_KIND_STRUCT))
			return -EINVAL;
		f->field = tags[i].field;
		f->size = 8;
		return 1;
	}
	return -EINVAL;
}

/* The text after "contains:" of the one such tag on member `component` of struct `owner`; NULL:
 * none, or two. */
static const char *find_contains(struct search *s, u32 owner, u32 component)
{
	static const char key[] = "contains:";
	const char *found = NULL;

	s->steps += btf_n_types(s->b);
	for (u32 i = 1; i < btf_n_types(s->b); i++) {
		const struct btf_type *t = btf_type(s->b, i);
		const char *text;

		if (!btf_is(t, BTF_KIND_DECL_TAG) || t->type != owner ||
		    btf_tag_component(t) != (s32)component)
			continue;
		text = btf_str(s->b, t->name_off);
		if (strncmp(text, key, sizeof(key) - 1))
			continue;
		if (found)
			return NULL;
		found = text + sizeof(key) - 1;
	}
	return found;
}

/* A list or tree root says in a tag "contains:STRUCT:MEMBER" what hangs on it. */
static int find_root(struct search *s, u32 owner, u32 component, struct field_at *f)
{
	const char *text = find_contains(s, owner, component),
		   *colon = text ? strchr(text, ':') : NULL;
	autofree char *name = NULL;
	s32 id;

	if (!colon)
		return -EINVAL;
	name = strndup(text, colon - text);
	if (!name)
		return -ENOMEM;
	id = btf_find(s->b, name, BTF_KIND_STRUCT);
	if (id < 0)
		return id;
	if (!colon[1])
		return -EINVAL;
	f->target = id;
	f->node = colon + 1;
	return 1;
}

/* The fields found last, from index `first` on, are those of one element; add those of the other n
 * - 1. */
static int repeat(struct search *s, u32 first, u64 n, u32 elem)
{
	u32 each = s->n - first;

	for (u32 i = first; i < s->n; i++)
		if (!(s->at[i].field & (ANY_KPTR | ANY_ROOT)))
			return -EINVAL;
	if (each * n > MAX_FIELDS - first)
		return -E2BIG;
	for (u64 k = 1; k < n; k++)
		for (u32 i = 0; i < each; i++) {
			s->at[s->n] = s->at[first + i];
			s->at[s->n++].off += k * elem;
		}
	return 0;
}

static int find_in_struct(struct search *s, u32 id, u32 level);

static const struct named *find_named(const struct btf_types *b, const struct btf_type *t)
{
	const char *name = btf_str(b, t->name_off);

	for (u32 i = 0; i < ARRAY_SIZE(named); i++)
		if (name && !strcmp(named[i].name, name))
			return &named[i];
	return NULL;
}

static int find_nested(struct search *s, u32 id, u32 off, u64 n, u32 level)
{
	u32 first = s->n;
	int err;

	if (level + 1 >= MAX_NESTING)
		return -E2BIG;
	err = find_in_struct(s, id, level + 1);
	if (err || s->n == first)
		return err;
	for (u32 i = first; i < s->n; i++)
		s->at[i].off += off;
	return n == 1 ? 0 : repeat(s, first, n, btf_type(s->b, id)->size);
}

/* Member `component` of struct `owner`: is it a field, an array of fields, or a struct that may
 * hold some? */
static int find_at(struct search *s, u32 owner, u32 component, u32 off, u32 *seen, u32 level)
{
	u32 id = btf_members(btf_type(s->b, owner))[component].type, first = s->n;
	const struct btf_type *t = btf_type(s->b, id);
	struct field_at f = {.off = off};
	const struct named *by_name;
	u64 n = 1;
	int r = 1;

	for (u32 i = 0; btf_is(t, BTF_KIND_ARRAY); i++) {
		if (i == MAX_CHAIN - 1)
			return -E2BIG;
		n = (u32)(n * btf_array_of(t)->nelems);
		id = btf_array_of(t)->type;
		t = btf_type(s->b, id);
	}
	if (!n)
		return 0;
	by_name = find_named(s->b, t);
	if (by_name && by_name->once) {
		if (*seen & by_name->field)
			return -E2BIG;
		*seen |= by_name->field;
	}
	if (!by_name && btf_is(t, BTF_KIND_STRUCT))
		return find_nested(s, id, off, n, level);
	if (off % (by_name ? by_name->align : 8))
		return 0;
	if (by_name) {
		if (!btf_is(t, BTF_KIND_STRUCT) || t->size != by_name->size)
			return 0;
		f.field = by_name->field;
		f.size = by_name->size;
		if (f.field & ANY_ROOT)
			r = find_root(s, owner, component, &f);
	} else {
		r = find_kptr(s->b, t, &f);
	}
	if (r <= 0)
		return r;
	if (s->n == MAX_FIELDS)
		return -E2BIG;
	s->at[s->n++] = f;
	return n > 1 ? repeat(s, first, n, f.size) : 0;
}

/* Offsets, and what is tested of their alignment, are relative to this struct. */
static int find_in_struct(struct search *s, u32 id, u32 level)
{
	const struct btf_type *t = btf_type(s->b, id);
	u32 seen = 0;

	for (u32 i = 0; i < btf_vlen_of(t); i++) {
		u32 bit = btf_member_bit(t, btf_members(t) + i);
		int err;

		if (s->steps++ > MAX_STEPS)
			return -E2BIG;
		if (bit & 7)
			return -EINVAL;
		err = find_at(s, id, i, bit / 8, &seen, level);
		if (err)
			return err;
	}
	return 0;
}

/* Checking what was found */

/* A kernel type that a map would own needs a destructor; a type that only the program has needs
 * none. */
static int check_kptr(const struct btf_types *b, const struct field_at *f)
{
	const struct btf_types *kernel = btf_kernel();
	const char *name = btf_say_name(b, btf_type(b, f->target)->name_off);

	if (!kernel || btf_find(kernel, name, BTF_KIND_STRUCT) < 0 || f->field != KPTR_REF)
		return 0;
	for (u32 i = 0; i < ARRAY_SIZE(owned); i++)
		if (!strcmp(name, owned[i]))
			return 0;
	return -ENOENT;
}

static int check_root(const struct btf_types *b, const struct field_at *f)
{
	const struct btf_type *t = btf_type(b, f->target), *node = NULL;
	const char *want = f->field == LIST_HEAD ? "bpf_list_node" : "bpf_rb_node";

	for (u32 i = 0; i < btf_vlen_of(t); i++) {
		const struct btf_member *m = btf_members(t) + i;

		if (strcmp(f->node, btf_say_name(b, m->name_off)))
			continue;
		if (node)
			return -EINVAL;
		node = btf_type(b, m->type);
		if (!btf_is(node, BTF_KIND_STRUCT) || strcmp(want, btf_say_name(b, node->name_off)))
			return -EINVAL;
		/* as the kernel, by the node's kind flag and not by the struct's */
		if (btf_member_bit(node, m) % 64)
			return -EINVAL;
	}
	return node ? 0 : -ENOENT;
}

static int check_field(const struct btf_types *b, const struct field_at *f)
{
	if (f->field & ANY_KPTR)
		return check_kptr(b, f);
	if (f->field & ANY_ROOT)
		return check_root(b, f);
	return 0;
}

static int check_holder(struct search *s, struct holder *h)
{
	u32 size = btf_type(s->b, h->id)->size, next = 0;
	int err;

	s->n = 0;
	err = find_in_struct(s, h->id, 0);
	if (!err && !s->n)
		err = -EFAULT;
	for (u32 i = 0; !err && i < s->n; i++) {
		const struct field_at *f = &s->at[i];

		if ((u64)f->off + f->size > size)
			return -EFAULT;
		if (f->off < next)
			return -EEXIST;
		next = f->off + f->size;
		h->fields |= f->field;
		if (f->field & ANY_ROOT)
			h->targets[h->n_roots++] = f->target;
		err = check_field(s->b, f);
	}
	if (err)
		return err;
	if (h->fields & SPIN_LOCK && h->fields & RES_SPIN_LOCK)
		return -EINVAL;
	if (h->fields & ANY_ROOT && !(h->fields & (SPIN_LOCK | RES_SPIN_LOCK)))
		return -EINVAL;
	if ((h->fields & ANY_NODE) == ANY_NODE && !(h->fields & REFCOUNT))
		return -EINVAL;
	return 0;
}

typedef VEC(struct holder) holder_list;

static const struct holder *holder_of(const holder_list *list, u32 id)
{
	u32 low = 0, high = list->n;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (list->v[mid].id == id)
			return &list->v[mid];
		if (list->v[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* What hangs on a root must be a holder; and if the root's own struct can hang somewhere, nothing
 * may hang on that in turn, so that nothing comes to own itself. */
static int check_owners(const holder_list *list)
{
	for (u32 i = 0; i < list->n; i++) {
		const struct holder *h = &list->v[i];

		for (u32 k = 0; k < h->n_roots; k++) {
			const struct holder *to = holder_of(list, h->targets[k]);

			if (!to)
				return -EFAULT;
			if (h->fields & ANY_NODE && to->fields & ANY_ROOT)
				return -ELOOP;
		}
	}
	return 0;
}

/* The types that make a struct worth looking at when a member has one of them. */
static bool find_marks(const struct btf_types *b, u64 *marks)
{
	struct field_at f;
	bool any = false;

	for (u32 i = 0; i < ARRAY_SIZE(named); i++) {
		s32 id = named[i].marks ? btf_find(b, named[i].name, BTF_KIND_STRUCT) : -ENOENT;

		if (id > 0) {
			bit_set(marks, id);
			any = true;
		}
	}
	for (u32 i = 1; i < btf_n_types(b); i++)
		if (find_kptr(b, btf_type(b, i), &f) > 0) {
			bit_set(marks, i);
			any = true;
		}
	return any;
}

static bool is_marked(const struct btf_type *t, const u64 *marks)
{
	if (btf_is(t, BTF_KIND_STRUCT))
		for (u32 i = 0; i < btf_vlen_of(t); i++)
			if (bit_test(marks, btf_members(t)[i].type))
				return true;
	return false;
}

int btf_check_fields(const struct btf_types *b)
{
	struct search s = {.b = b};
	autofree u64 *marks = calloc(btf_n_types(b) / 64 + 1, sizeof(*marks));
	holder_list list = {0};
	int err = 0;

	if (!marks)
		return -ENOMEM;
	if (!find_marks(b, marks))
		return 0;
	for (u32 i = 1; !err && i < btf_n_types(b); i++) {
		if (!is_marked(btf_type(b, i), marks))
			continue;
		if (VEC_PUSH(&list, (struct holder){.id = i}))
			err = check_holder(&s, &list.v[list.n - 1]);
		else
			err = -ENOMEM;
	}
	if (!err)
		err = check_owners(&list);
	VEC_DONE(&list);
	return err;
}
