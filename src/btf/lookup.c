/* Finding types: by id, by name, behind modifiers; and how many bytes a value takes.
 *
 * Names hang in buckets in ascending order of ids, so that the first type of a name is found as the
 * kernel finds it. */
#include "types.h"

#define MAX_DIMENSIONS 64

const struct btf_kind btf_kinds[32] = {
#define KIND(name, fixed, each, traits) [BTF_KIND_##name] = {#name, fixed, each, traits},
#include "kind.def"
#undef KIND
};

static const struct btf_type void_type;

u32 btf_n_types(const struct btf_types *b)
{
	return b->first_id + b->n;
}

const struct btf_type *btf_type(const struct btf_types *b, u32 id)
{
	while (id < b->first_id)
		b = b->base;
	id -= b->first_id;
	if (id >= b->n)
		return NULL;
	return id || b->base ? (const struct btf_type *)(b->types + b->offs[id]) : &void_type;
}

const char *btf_str(const struct btf_types *b, u32 off)
{
	while (off < b->first_str)
		b = b->base;
	off -= b->first_str;
	return off < b->hdr.str_len ? b->strs + off : NULL;
}

const char *btf_name(const struct btf_types *b, u32 id)
{
	const struct btf_type *t = btf_type(b, id);

	return t ? btf_str(b, t->name_off) : NULL;
}

static u32 hash_name(const char *s)
{
	u32 h = 2166136261u;

	for (u32 i = 0; s[i] && i < 128; i++)
		h = (h ^ (u8)s[i]) * 16777619u;
	return h ^ h >> 15;
}

static s32 find_own(const struct btf_types *b, const char *name, u32 kind)
{
	u32 i = b->bucket[hash_name(name) & b->mask];

	for (; i; i = b->next[i - 1]) {
		const struct btf_type *t = btf_type(b, b->first_id + i - 1);

		if ((!kind || btf_kind_of(t) == kind) && !strcmp(btf_str(b, t->name_off), name))
			return b->first_id + i - 1;
	}
	return -ENOENT;
}

s32 btf_find(const struct btf_types *b, const char *name, u32 kind)
{
	s32 id = b->base ? btf_find(b->base, name, kind) : -ENOENT;

	return id >= 0 ? id : find_own(b, name, kind);
}

const struct btf_type *btf_skip(const struct btf_types *b, u32 id, u32 *resolved)
{
	const struct btf_type *t = btf_type(b, id);
	const struct btf_types *own = b;

	if (t && btf_traits(t) & KIND_MODIFIER) {
		while (id < own->first_id)
			own = own->base;
		id = own->skip[id - own->first_id];
		t = btf_type(b, id);
	}
	if (t && resolved)
		*resolved = id;
	return t;
}

s64 btf_size(const struct btf_types *b, u32 id)
{
	u64 n = 1, one = 0;

	for (u32 i = 0; i < MAX_DIMENSIONS; i++) {
		const struct btf_type *t = btf_skip(b, id, &id);

		if (!t || !btf_kind_of(t) || btf_traits(t) & (KIND_NOSIZE | KIND_MODIFIER))
			return -EINVAL;
		if (btf_is(t, BTF_KIND_VAR)) {
			id = t->type;
			continue;
		}
		if (!btf_is(t, BTF_KIND_ARRAY)) {
			one = btf_is(t, BTF_KIND_PTR) ? 8 : t->size;
			return n * one > UINT32_MAX ? -E2BIG : (s64)(n * one);
		}
		n *= btf_array_of(t)->nelems;
		if (n > UINT32_MAX)
			return -E2BIG;
		id = btf_array_of(t)->type;
	}
	return -E2BIG;
}

/* For every type what stands behind it if it is a modifier, else itself. Each chain is walked once
 * and written when its end is known. In a circle, and before an id that doesn't exist, a modifier
 * stays its own end. */
static void index_modifiers(struct btf_types *b)
{
	for (u32 i = 0; i < b->n; i++)
		b->skip[i] = UINT32_MAX;
	for (u32 i = 0; i < b->n; i++) {
		const struct btf_type *t;
		u32 at = i, end;

		while (b->skip[at] == UINT32_MAX) {
			b->skip[at] = b->first_id + at;
			t = btf_type(b, b->first_id + at);
			if (!(btf_traits(t) & KIND_MODIFIER) || !btf_type(b, t->type))
				break;
			if (t->type < b->first_id)
				btf_skip(b->base, t->type, &b->skip[at]);
			else
				at = t->type - b->first_id;
		}
		end = b->skip[at];
		for (u32 j = i; j != at; j = t->type - b->first_id) {
			t = btf_type(b, b->first_id + j);
			b->skip[j] = end;
		}
	}
}

static void index_names(struct btf_types *b)
{
	for (u32 i = b->n; i-- > 0;) {
		const char *name = btf_name(b, b->first_id + i);
		u32 *head;

		if (!name || !*name)
			continue;
		head = &b->bucket[hash_name(name) & b->mask];
		b->next[i] = *head;
		*head = i + 1;
	}
}

int btf_index(struct btf_types *b)
{
	u32 buckets = 16;

	while (buckets < b->n)
		buckets *= 2;
	b->mask = buckets - 1;
	b->skip = malloc(b->n * sizeof(*b->skip) + 1);
	b->next = calloc(b->n + 1, sizeof(*b->next));
	b->bucket = calloc(buckets, sizeof(*b->bucket));
	if (!b->skip || !b->next || !b->bucket)
		return -ENOMEM;
	index_modifiers(b);
	index_names(b);
	return 0;
}
