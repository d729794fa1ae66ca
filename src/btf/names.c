/* Names that C could not have twice. BTF may: two structs of one name in two files of a program, an
 * enumerator like a typedef. C has two name spaces at file level, tags and everything else; within
 * each, later ones get a number.
 *
 * All names are sorted once, so that this stays cheap for a kernel's hundred thousand types. */
#include "decl.h"
#include <stdio.h>

struct entry {
	const char *name;
	u32 id;
	s32 enumerator; /* -1: the type's own name */
	u8 space, rank; /* rank: what keeps its name if there is a choice */
};

enum { TAGS, OTHERS };

struct btf_names {
	const struct btf_types *b;
	u32 *version;	   /* [ids] */
	u32 *first;	   /* [ids] of an enum: index of its first enumerator in enumerators */
	u32 *enumerators;  /* versions */
	struct entry *all; /* only while sorting */
	u32 n;
};

static int compare(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	int c = a->space - b->space;

	if (!c)
		c = strcmp(a->name, b->name);
	if (!c)
		c = a->rank - b->rank;
	if (!c)
		c = a->id < b->id ? -1 : a->id > b->id;
	return c ? c : a->enumerator - b->enumerator;
}

static bool place_of(const struct btf_types *b, const struct btf_type *t, struct entry *e)
{
	switch (btf_kind_of(t)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		e->space = TAGS;
		return true;
	case BTF_KIND_FWD:
		e->space = TAGS;
		e->rank = 1;
		return true;
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
		e->space = OTHERS;
		return !btf_is_c_number(b, t);
	case BTF_KIND_TYPEDEF:
		e->space = OTHERS;
		return true;
	case BTF_KIND_FUNC:
		e->space = OTHERS;
		e->rank = 2;
		return true;
	case BTF_KIND_VAR:
		e->space = OTHERS;
		e->rank = 3;
		return true;
	}
	return false;
}

static void collect(struct btf_names *n)
{
	u32 enumerators = 0;

	for (u32 id = 1; id < btf_n_types(n->b); id++) {
		const struct btf_type *t = btf_type(n->b, id);
		struct entry e = {.name = btf_str(n->b, t->name_off), .id = id, .enumerator = -1};

		if (e.name && *e.name && place_of(n->b, t, &e))
			n->all[n->n++] = e;
		if (!btf_is_any_enum(t))
			continue;
		n->first[id] = enumerators;
		for (u32 i = 0; i < btf_vlen_of(t); i++, enumerators++) {
			e = (struct entry){btf_str(n->b, btf_enum_name(t, i)), id, i, OTHERS, 1};
			if (e.name)
				n->all[n->n++] = e;
		}
	}
}

/* A forward declaration means the first definition of its kind, or an earlier forward declaration.
 */
static u32 next_version(const struct btf_types *b, const struct entry *e, u32 *next, s64 first[3])
{
	const struct btf_type *t = btf_type(b, e->id);
	u32 kind;

	if (e->space != TAGS)
		return (*next)++;
	kind = btf_is_any_enum(t) ? 0 : *btf_tag_word(t) == 's' ? 1 : 2;
	if (btf_is(t, BTF_KIND_FWD) && first[kind] >= 0)
		return first[kind];
	if (first[kind] < 0)
		first[kind] = *next;
	return (*next)++;
}

static void number(struct btf_names *n)
{
	s64 first[3] = {-1, -1, -1};
	u32 next = 0;

	for (u32 i = 0; i < n->n; i++) {
		const struct entry *e = &n->all[i];
		u32 v;

		if (i && (e->space != e[-1].space || strcmp(e->name, e[-1].name))) {
			next = 0;
			first[0] = first[1] = first[2] = -1;
		}
		v = next_version(n->b, e, &next, first);
		if (e->enumerator < 0)
			n->version[e->id] = v;
		else
			n->enumerators[n->first[e->id] + e->enumerator] = v;
	}
}

struct btf_names *btf_names_new(const struct btf_types *b)
{
	struct btf_names *n = calloc(1, sizeof(*n));
	u32 types = btf_n_types(b);
	size_t enumerators = 0;

	if (!n)
		return NULL;
	n->b = b;
	for (u32 id = 1; id < types; id++)
		if (btf_is_any_enum(btf_type(b, id)))
			enumerators += btf_vlen_of(btf_type(b, id));
	n->version = calloc(types, sizeof(*n->version));
	n->first = calloc(types, sizeof(*n->first));
	n->enumerators = calloc(enumerators + 1, sizeof(*n->enumerators));
	n->all = malloc((types + enumerators) * sizeof(*n->all));
	if (!n->version || !n->first || !n->enumerators || !n->all) {
		btf_names_free(n);
		return NULL;
	}
	collect(n);
	qsort(n->all, n->n, sizeof(*n->all), compare);
	number(n);
	free(n->all);
	n->all = NULL;
	return n;
}

void btf_names_free(struct btf_names *n)
{
	if (!n)
		return;
	free(n->version);
	free(n->first);
	free(n->enumerators);
	free(n->all);
	free(n);
}

u32 btf_names_version(const struct btf_names *n, u32 id)
{
	return n ? n->version[id] : 0;
}

u32 btf_names_enum_version(const struct btf_names *n, u32 id, u32 i)
{
	return n ? n->enumerators[n->first[id] + i] : 0;
}
