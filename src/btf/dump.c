/* btf_print_all: every type as a C definition, in an order in which a compiler takes them: what a
 * struct holds by value comes before it, what it only points at is at least declared. Then
 * variables by section, and functions. */
#include "decl.h"
#include <stdio.h>

#define MAX_DEPTH 256

enum { DECLARED = 1, BUSY = 2, DEFINED = 4, USED = 8 };

struct dump {
	struct btf_writer w;
	u8 *state; /* [ids] */
	u32 depth;
};

static void need(struct dump *d, u32 id, bool whole);

static bool is_named(const struct dump *d, const struct btf_type *t)
{
	const char *name = btf_str(d->w.b, t->name_off);

	return name && *name;
}

static void write_tag(struct dump *d, u32 id, const struct btf_type *t)
{
	btf_write(&d->w, "%s ", btf_tag_word(t));
	btf_write_name(&d->w, btf_str(d->w.b, t->name_off), btf_names_version(d->w.names, id));
}

static void declare(struct dump *d, u32 id, const struct btf_type *t)
{
	if (d->state[id] & (DECLARED | DEFINED))
		return;
	d->state[id] |= DECLARED;
	write_tag(d, id, t);
	btf_write(&d->w, ";\n\n");
}

static void need_members(struct dump *d, const struct btf_type *t)
{
	for (u32 i = 0; i < btf_vlen_of(t) && d->w.left; i++) {
		d->w.left--;
		need(d, btf_members(t)[i].type, true);
	}
}

static void define(struct dump *d, u32 id, const struct btf_type *t)
{
	if (d->state[id] & (BUSY | DEFINED))
		return;
	d->state[id] |= BUSY;
	if (btf_is_composite(t))
		need_members(d, t);
	write_tag(d, id, t);
	btf_write(&d->w, " ");
	btf_write_body(&d->w, id);
	btf_write(&d->w, ";\n\n");
	d->state[id] = (d->state[id] & ~BUSY) | DEFINED;
}

/* The compiler has these itself. */
static bool is_builtin(const char *name)
{
	return !strncmp(name, "__builtin_", 10);
}

static void define_typedef(struct dump *d, u32 id, const struct btf_type *t)
{
	const char *name = btf_str(d->w.b, t->name_off);
	char text[600];
	u32 version = btf_names_version(d->w.names, id);

	if (d->state[id] & (BUSY | DEFINED) || !name || is_builtin(name))
		return;
	d->state[id] |= BUSY;
	need(d, t->type, false);
	snprintf(text, sizeof(text), version ? "%.512s___%u" : "%.512s", name, version + 1);
	btf_write(&d->w, "typedef ");
	btf_write_decl(&d->w, t->type, text);
	btf_write(&d->w, ";\n\n");
	d->state[id] = (d->state[id] & ~BUSY) | DEFINED;
}

static void define_number(struct dump *d, u32 id, const struct btf_type *t)
{
	if (d->state[id] & DEFINED || !is_named(d, t) || btf_is_c_number(d->w.b, t))
		return;
	d->state[id] |= DEFINED;
	btf_write(&d->w, "typedef %s ", btf_plain_number(t));
	btf_write_name(&d->w, btf_str(d->w.b, t->name_off), btf_names_version(d->w.names, id));
	btf_write(&d->w, ";\n\n");
}

static void need_proto(struct dump *d, const struct btf_type *t)
{
	need(d, t->type, false);
	for (u32 i = 0; i < btf_vlen_of(t) && d->w.left; i++) {
		d->w.left--;
		need(d, btf_params(t)[i].type, false);
	}
}

static void need_tagged(struct dump *d, u32 id, const struct btf_type *t, bool whole)
{
	if (!is_named(d, t) && btf_is_composite(t))
		need_members(d, t);
	else if (is_named(d, t) && (whole || btf_is_any_enum(t)))
		define(d, id, t);
	else if (is_named(d, t))
		declare(d, id, t);
}

static void need_kind(struct dump *d, u32 id, const struct btf_type *t, bool whole)
{
	switch (btf_kind_of(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
		define_number(d, id, t);
		break;
	case BTF_KIND_ARRAY:
		need(d, btf_array_of(t)->type, true);
		break;
	case BTF_KIND_FUNC_PROTO:
		need_proto(d, t);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		need_tagged(d, id, t, whole);
		break;
	case BTF_KIND_FWD:
		declare(d, id, t);
		break;
	case BTF_KIND_PTR:
		need(d, t->type, false);
		break;
	case BTF_KIND_TYPEDEF:
		define_typedef(d, id, t);
		if (whole)
			need(d, t->type, true);
		break;
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		need(d, t->type, whole);
		break;
	}
}

/* Write what must stand before the type can be used: whole, or behind a pointer. */
static void need(struct dump *d, u32 id, bool whole)
{
	const struct btf_type *t = btf_type(d->w.b, id);

	if (!t || d->depth == MAX_DEPTH || !d->w.left)
		return;
	d->w.left--;
	d->depth++;
	need_kind(d, id, t, whole);
	d->depth--;
}

static void mark(struct dump *d, u32 id)
{
	if (id < btf_n_types(d->w.b))
		d->state[id] |= USED;
}

/* Anonymous enums that nothing refers to are constants, and stand alone. */
static void mark_used(struct dump *d)
{
	for (u32 id = 1; id < btf_n_types(d->w.b); id++) {
		const struct btf_type *t = btf_type(d->w.b, id);

		if (!(btf_traits(t) & KIND_SIZED) && !btf_is(t, BTF_KIND_FWD) &&
		    !btf_is(t, BTF_KIND_ARRAY))
			mark(d, t->type);
		if (btf_is(t, BTF_KIND_ARRAY))
			mark(d, btf_array_of(t)->type);
		for (u32 i = 0; btf_is_composite(t) && i < btf_vlen_of(t); i++)
			mark(d, btf_members(t)[i].type);
		for (u32 i = 0; btf_is(t, BTF_KIND_FUNC_PROTO) && i < btf_vlen_of(t); i++)
			mark(d, btf_params(t)[i].type);
	}
}

static void dump_types(struct dump *d)
{
	for (u32 id = 1; id < btf_n_types(d->w.b); id++) {
		const struct btf_type *t = btf_type(d->w.b, id);

		if (is_named(d, t) && !(btf_traits(t) & KIND_TOP) && !btf_is(t, BTF_KIND_FUNC)) {
			need(d, id, true);
		} else if (btf_is_any_enum(t) && !(d->state[id] & USED)) {
			btf_write(&d->w, "enum ");
			btf_write_body(&d->w, id);
			btf_write(&d->w, ";\n\n");
		}
	}
}

static void dump_object(struct dump *d, u32 id, const struct btf_type *t)
{
	char name[600];
	u32 version = btf_names_version(d->w.names, id);

	if (d->state[id] & DEFINED)
		return;
	d->state[id] |= DEFINED;
	need(d, t->type, btf_is(t, BTF_KIND_VAR));
	snprintf(name, sizeof(name), version ? "%.512s___%u" : "%.512s", btf_name(d->w.b, id),
		 version + 1);
	btf_write_decl(&d->w, t->type, name);
	btf_write(&d->w, ";\n");
}

static void dump_section(struct dump *d, const struct btf_type *t)
{
	const char *name = btf_str(d->w.b, t->name_off);

	btf_write(&d->w, "/* section ");
	for (; name && *name; name++)
		btf_write(&d->w, "%c", *name >= 0x20 && *name < 0x7f && *name != '*' ? *name : '_');
	btf_write(&d->w, " */\n");
	for (u32 i = 0; i < btf_vlen_of(t) && d->w.left; i++) {
		u32 id = btf_secinfos(t)[i].type;

		d->w.left--;
		if (btf_is(btf_type(d->w.b, id), BTF_KIND_VAR))
			dump_object(d, id, btf_type(d->w.b, id));
	}
	btf_write(&d->w, "\n");
}

static void dump_objects(struct dump *d)
{
	for (u32 id = 1; id < btf_n_types(d->w.b); id++)
		if (btf_is(btf_type(d->w.b, id), BTF_KIND_DATASEC))
			dump_section(d, btf_type(d->w.b, id));
	for (u32 id = 1; id < btf_n_types(d->w.b); id++)
		if (btf_is(btf_type(d->w.b, id), BTF_KIND_VAR))
			dump_object(d, id, btf_type(d->w.b, id));
	for (u32 id = 1; id < btf_n_types(d->w.b); id++)
		if (btf_is(btf_type(d->w.b, id), BTF_KIND_FUNC))
			dump_object(d, id, btf_type(d->w.b, id));
}

void btf_print_all(struct log *out, const struct btf_types *b)
{
	struct dump d = {.w = {.out = out, .b = b, .names = btf_names_new(b)}};

	d.w.enums = calloc(btf_n_types(b), 1);
	d.state = calloc(btf_n_types(b), 1);
	/* real BTF needs a small multiple of its own size; only anonymous types within each other
	 * need more */
	d.w.left = 4ull * b->size + (1 << 20);
	if (d.w.names && d.w.enums && d.state) {
		mark_used(&d);
		dump_types(&d);
		dump_objects(&d);
		if (!d.w.left)
			btf_write(&d.w, "/* the types are too many to be written */\n");
	}
	btf_names_free((struct btf_names *)d.w.names);
	free(d.w.enums);
	free(d.w.layouts);
	free(d.state);
}
