/* .BTF and .BTF.ext as they stand in an object file, before a loader has put sizes and offsets into them. They need not be what
 * BTF_LOAD would take (clang leaves sections without size); but what is refused here would lead a reader that trusts its
 * references, as libbpf 1.1 does, out of the section or around in circles.
 *
 * One pass finds where the types stand and what their names are, one compares every reference with the kind that a reader
 * expects there, one follows what lies inside what. */
#include "types.h"
#include "base/cleanup.h"
#include "base/vec.h"

#define MAX_NEST 128 /* types inside types; a reader may go down by recursion */

struct object {
	const u8 *types;
	const char *strs;
	u32 types_len, strs_len;
	VEC(u32) offs;	/* by id; void is 0 and unused */
	u8 *nest;	/* by id: types inside it, itself included; 0: not looked at; ON_PATH: being looked at */
	struct log *err;
};
enum { ON_PATH = 255 };

static const struct btf_type *type_of(const struct object *o, u32 id)
{
	return (const struct btf_type *)(o->types + o->offs.v[id]);
}

static int refuse(const struct object *o, u32 id, const char *why, u32 n)
{
	log_printf(o->err, "type %u: %s %u", id, why, n);
	return -EINVAL;
}

/* ---- header */

/* Is off, len within what follows a header of hdr_len bytes? */
static bool fits(u32 size, u32 hdr_len, u32 off, u32 len)
{
	return (u64)hdr_len + off + len <= size;
}

static int read_header(struct object *o, const u8 *data, u32 size)
{
	struct btf_header h;
	const char *why = NULL;

	if (size < sizeof(h)) {
		log_printf(o->err, "its header breaks off");
		return -EINVAL;
	}
	memcpy(&h, data, sizeof(h));
	if (h.magic != BTF_MAGIC || h.version != BTF_VERSION)
		why = "has another magic number or version";
	else if (h.hdr_len < sizeof(h) || h.hdr_len % 4 || h.type_off % 4)
		why = "has a header of impossible length or unaligned types";
	else if (!fits(size, h.hdr_len, h.type_off, h.type_len) || !fits(size, h.hdr_len, h.str_off, h.str_len))
		why = "has types or strings beyond its end";
	else if ((u64)h.type_off + h.type_len > h.str_off)
		why = "has its strings inside or before its types";
	else if (!h.str_len || data[h.hdr_len + h.str_off] || data[h.hdr_len + h.str_off + h.str_len - 1])
		why = "has strings that don't begin and end with a zero byte";
	if (why) {
		log_printf(o->err, "it %s", why);
		return -EINVAL;
	}
	o->types = data + h.hdr_len + h.type_off;
	o->types_len = h.type_len;
	o->strs = (const char *)data + h.hdr_len + h.str_off;
	o->strs_len = h.str_len;
	return 0;
}

/* ---- where the types stand */

static int find_types(struct object *o)
{
	if (!VEC_PUSH(&o->offs, 0))
		return -ENOMEM;
	for (u32 at = 0, id = 1; at < o->types_len; id++) {
		const struct btf_type *t = (const void *)(o->types + at);
		u32 left = o->types_len - at, need = sizeof(*t);

		if (left < need)
			return refuse(o, id, "breaks off after bytes:", left);
		if (!btf_kinds[btf_kind_of(t)].name || id >= BTF_MAX_TYPE)
			return refuse(o, id, "of unknown kind", btf_kind_of(t));
		need += btf_kinds[btf_kind_of(t)].fixed + btf_vlen_of(t) * btf_kinds[btf_kind_of(t)].each;
		if (left < need)
			return refuse(o, id, "breaks off after bytes:", left);
		if (t->name_off >= o->strs_len)
			return refuse(o, id, "its name lies beyond the strings, at", t->name_off);
		if (!VEC_PUSH(&o->offs, at))
			return -ENOMEM;
		at += need;
	}
	return 0;
}

/* ---- references */

static bool is_id(const struct object *o, u32 id)
{
	return id < o->offs.n;
}

static bool is_kind(const struct object *o, u32 id, u32 kind)
{
	return id && is_id(o, id) && btf_kind_of(type_of(o, id)) == kind;
}

static int check_members(const struct object *o, u32 id, const struct btf_type *t)
{
	for (u32 i = 0; i < btf_vlen_of(t); i++) {
		if (btf_members(t)[i].name_off >= o->strs_len)
			return refuse(o, id, "a name beyond the strings: member", i);
		if (!is_id(o, btf_members(t)[i].type))
			return refuse(o, id, "names a type that is not there: member", i);
	}
	return 0;
}

static int check_params(const struct object *o, u32 id, const struct btf_type *t)
{
	for (u32 i = 0; i < btf_vlen_of(t); i++) {
		if (btf_params(t)[i].name_off >= o->strs_len)
			return refuse(o, id, "a name beyond the strings: parameter", i);
		if (!is_id(o, btf_params(t)[i].type))
			return refuse(o, id, "names a type that is not there: parameter", i);
	}
	return 0;
}

static int check_enumerators(const struct object *o, u32 id, const struct btf_type *t)
{
	for (u32 i = 0; i < btf_vlen_of(t); i++)
		if (btf_enum_name(t, i) >= o->strs_len)
			return refuse(o, id, "a name beyond the strings: enumerator", i);
	return 0;
}

/* A section holds variables, and functions that others define. */
static int check_section(const struct object *o, u32 id, const struct btf_type *t)
{
	for (u32 i = 0; i < btf_vlen_of(t); i++) {
		const struct btf_var_secinfo *v = &btf_secinfos(t)[i];

		if (!is_kind(o, v->type, BTF_KIND_VAR) && !is_kind(o, v->type, BTF_KIND_FUNC))
			return refuse(o, id, "a section in which is no variable: entry", i);
		if ((u64)v->offset + v->size > INT32_MAX)
			return refuse(o, id, "a section with a variable beyond its end: entry", i);
	}
	return 0;
}

static int check_references(const struct object *o, u32 id)
{
	const struct btf_type *t = type_of(o, id);

	switch (btf_kind_of(t)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return check_members(o, id, t);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return check_enumerators(o, id, t);
	case BTF_KIND_DATASEC:
		return check_section(o, id, t);
	case BTF_KIND_ARRAY:
		if (!is_id(o, btf_array_of(t)->type) || !is_id(o, btf_array_of(t)->index_type))
			return refuse(o, id, "an array of no type:", btf_array_of(t)->type);
		return 0;
	case BTF_KIND_FUNC:
		return is_kind(o, t->type, BTF_KIND_FUNC_PROTO) ? 0 : refuse(o, id, "a function whose type is no prototype:", t->type);
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_FWD:
		return 0;
	default: /* pointers, modifiers, variables, tags, prototypes refer to one type at least */
		if (!is_id(o, t->type))
			return refuse(o, id, "refers to no type:", t->type);
		return btf_kind_of(t) == BTF_KIND_FUNC_PROTO ? check_params(o, id, t) : 0;
	}
}

/* ---- what lies inside what */

static u32 inside(const struct object *o, const struct btf_type *t, u32 i)
{
	return btf_is_composite(t) ? btf_members(t)[i].type : btf_is(t, BTF_KIND_ARRAY) ? btf_array_of(t)->type : t->type;
}

/* How many types a reader must look at behind this one at once. */
static u32 n_inside(const struct btf_type *t)
{
	if (btf_is_composite(t))
		return btf_vlen_of(t);
	return btf_is(t, BTF_KIND_ARRAY) || btf_is(t, BTF_KIND_VAR) || btf_traits(t) & KIND_MODIFIER;
}

static int measure(struct object *o, u32 id, u32 depth)
{
	const struct btf_type *t = type_of(o, id);
	u32 deepest = 0;

	if (!id || (o->nest[id] && o->nest[id] != ON_PATH))
		return 0;
	if (o->nest[id] == ON_PATH)
		return refuse(o, id, "contains itself; types on the way:", depth);
	if (depth > MAX_NEST)
		return refuse(o, id, "is nested deeper than", MAX_NEST);
	o->nest[id] = ON_PATH;
	for (u32 i = 0; i < n_inside(t); i++) {
		int rc = measure(o, inside(o, t, i), depth + 1);

		if (rc)
			return rc;
		if (inside(o, t, i))
			deepest = MAX(deepest, o->nest[inside(o, t, i)]);
	}
	if (deepest >= MAX_NEST)
		return refuse(o, id, "is nested deeper than", MAX_NEST);
	o->nest[id] = deepest + 1;
	return 0;
}

static int check_types(struct object *o)
{
	int rc = find_types(o);

	for (u32 id = 1; !rc && id < o->offs.n; id++)
		rc = check_references(o, id);
	if (rc)
		return rc;
	o->nest = calloc(o->offs.n, 1);
	if (!o->nest)
		return -ENOMEM;
	for (u32 id = 1; !rc && id < o->offs.n; id++)
		rc = measure(o, id, 0);
	return rc;
}

int btf_check_object(const void *data, u32 size, struct log *err)
{
	autofree u8 *copy = malloc(size + 1); /* aligned, wherever it stands in the file */
	struct object o = { .err = err };
	int rc;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, data, size);
	rc = read_header(&o, copy, size);
	if (!rc)
		rc = check_types(&o);
	free(o.nest);
	VEC_DONE(&o.offs);
	return rc;
}

/* ---- .BTF.ext: three lists of records, each by section of the program */

static u32 word(const u8 *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static int check_records(const u8 *at, u32 len, u32 least, const char *what, struct log *err)
{
	const char *why = NULL;
	u32 record;

	if (!len)
		return 0;
	record = len >= 4 ? word(at) : 0;
	if (record < least || record % 4)
		why = "a record size that can't be";
	else
		at += 4, len -= 4;
	while (!why && len) {
		u64 bytes = len >= 8 ? 8 + (u64)word(at + 4) * record : 0;

		if (bytes <= 8 || bytes > len)
			why = "a section without records or with more than there are bytes";
		else
			at += bytes, len -= bytes;
	}
	if (why)
		log_printf(err, "%s: %s", what, why);
	return why ? -EINVAL : 0;
}

int btf_check_ext(const void *data, u32 size, struct log *err)
{
	static const struct { u8 at, least; const char *what; } lists[] = {
		{ 8, 8, "functions" }, { 16, 16, "lines" }, { 24, 16, "relocations" },
	};
	const u8 *p = data;
	u32 hdr_len = size >= 24 ? word(p + 4) : 0;

	if (hdr_len < 24 || hdr_len > size || (word(p) & 0xffff) != BTF_MAGIC) {
		log_printf(err, "its header breaks off or is none");
		return -EINVAL;
	}
	for (u32 i = 0; i < ARRAY_SIZE(lists) && lists[i].at + 8u <= hdr_len; i++) {
		u32 off = word(p + lists[i].at), len = word(p + lists[i].at + 4);
		int rc;

		if (!fits(size, hdr_len, off, len)) {
			log_printf(err, "%s: they lie beyond its end", lists[i].what);
			return -EINVAL;
		}
		rc = check_records(p + hdr_len + off, len, lists[i].least, lists[i].what, err);
		if (rc)
			return rc;
	}
	return 0;
}
