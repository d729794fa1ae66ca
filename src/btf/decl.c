/* A type as C writes it: declarators inside out, bodies of structs, unions and enums.
 *
 * BTF describes "array of pointers to functions" from the outside in. The parts are collected on
 * the way to the base type; what stands left of the name is then written from the base outwards,
 * what stands right of it from the name outwards. */
#include "decl.h"
#include <stdio.h>

#define MAX_PARTS 64
#define MAX_DEPTH 32

enum { CONST = 1, VOLATILE = 2, RESTRICT = 4 };

struct part {
	const struct btf_type *type; /* PTR, ARRAY or FUNC_PROTO */
	u32 quals;		     /* of the pointer */
};

struct declarator {
	struct part parts[MAX_PARTS]; /* from the name to the base */
	u32 n;
	u32 base, quals;
};

void btf_write(struct btf_writer *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_vprintf(w->out, fmt, ap);
	va_end(ap);
}

/* What C allows in a name; dots and letters of other alphabets become underscores. */
void btf_write_name(struct btf_writer *w, const char *name, u32 version)
{
	char text[520];
	size_t n = 0;

	for (; name && name[n] && n < sizeof(text) - 1; n++) {
		char c = name[n];
		bool ok =
		    (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (n && c >= '0' && c <= '9');

		text[n] = ok ? c : '_';
	}
	log_write(w->out, text, n);
	if (version)
		btf_write(w, "___%u", version + 1);
}

const char *btf_tag_word(const struct btf_type *t)
{
	if (btf_is_any_enum(t))
		return "enum";
	return btf_is(t, BTF_KIND_UNION) || (btf_is(t, BTF_KIND_FWD) && btf_kflag(t)) ? "union"
										      : "struct";
}

static bool is_named(const struct btf_writer *w, const struct btf_type *t)
{
	const char *name = btf_str(w->b, t->name_off);

	return name && *name;
}

static void write_quals(struct btf_writer *w, u32 quals, const char *before, const char *after)
{
	static const char *const words[] = {"const", "volatile", "restrict"};

	for (u32 i = 0; i < 3; i++)
		if (quals & 1 << i)
			btf_write(w, "%s%s%s", before, words[i], after);
}

/* Bodies */

static void write_indent(struct btf_writer *w)
{
	for (u32 i = 0; i < w->indent; i++)
		btf_write(w, "\t");
}

/* An unnamed member with a tag is an extension that compilers take only when told to; without its
 * tag it means the same. */
static void write_member(struct btf_writer *w, const struct btf_member *m)
{
	const struct btf_type *to = btf_type(w->b, m->type);

	if (!m->name_off && btf_is_composite(to) && is_named(w, to) && w->depth < MAX_DEPTH) {
		w->depth++;
		btf_write(w, "%s ", btf_tag_word(to));
		btf_write_body(w, m->type);
		w->depth--;
	} else {
		btf_write_decl(w, m->type, btf_str(w->b, m->name_off));
	}
}

static void write_members(struct btf_writer *w, u32 id, const struct btf_type *t)
{
	bool is_struct = btf_is(t, BTF_KIND_STRUCT);
	struct btf_layout l = {.packed = btf_is_packed(w, id)};

	for (u32 i = 0; i < btf_vlen_of(t) && w->left; i++) {
		const struct btf_member *m = btf_members(t) + i;
		u32 bit, width;
		s64 size = btf_size(w->b, m->type);

		w->left--;
		btf_member_place(w->b, t, m, &bit, &width);
		if (is_struct)
			btf_write_gap(w, &l, m->type, bit, width);
		write_indent(w);
		write_member(w, m);
		if (width)
			btf_write(w, " : %u", width);
		btf_write(w, ";\n");
		if (!width && size > 0 && size < UINT32_MAX / 8)
			width = size * 8;
		l.pos = MAX(is_struct ? 0 : l.pos, bit + width);
	}
	btf_write_tail(w, &l, id);
}

/* Sizes other than int's must be said; values that need eight bytes say it themselves, too. */
static const char *enum_mode(const struct btf_type *t)
{
	switch (t->size) {
	case 1:
		return " __attribute__((mode(QI)))";
	case 2:
		return " __attribute__((mode(HI)))";
	case 8:
		return " __attribute__((mode(DI)))";
	}
	return "";
}

static const char *unsigned_suffix(u64 value)
{
	return value > UINT32_MAX ? "ULL" : value > INT32_MAX ? "U" : "";
}

static void write_enumerators(struct btf_writer *w, u32 id, const struct btf_type *t)
{
	if (!btf_vlen_of(t)) { /* C has no empty enum */
		write_indent(w);
		btf_write(w, "_enum_%u_is_empty\n", id);
	}
	for (u32 i = 0; i < btf_vlen_of(t) && w->left; i++) {
		u64 value = btf_enum_value(t, i);

		w->left--;
		write_indent(w);
		btf_write_name(w, btf_str(w->b, btf_enum_name(t, i)),
			       btf_names_enum_version(w->names, id, i));
		if (!btf_kflag(t))
			btf_write(w, " = %llu%s,\n", (unsigned long long)value,
				  unsigned_suffix(value));
		else if ((s64)value == INT64_MIN)
			btf_write(w, " = -9223372036854775807LL - 1,\n");
		else
			btf_write(w, (s64)value != (s32)value ? " = %lldLL,\n" : " = %lld,\n",
				  (long long)value);
	}
}

void btf_write_body(struct btf_writer *w, u32 id)
{
	const struct btf_type *t = btf_type(w->b, id);

	btf_write(w, "{\n");
	w->indent++;
	if (btf_is_any_enum(t))
		write_enumerators(w, id, t);
	else
		write_members(w, id, t);
	w->indent--;
	write_indent(w);
	btf_write(w, "}");
	if (btf_is_any_enum(t))
		btf_write(w, "%s", enum_mode(t));
	else if (btf_is_packed(w, id))
		btf_write(w, " __attribute__((packed))");
}

/* Base types */

static void write_number(struct btf_writer *w, u32 id, const struct btf_type *t)
{
	if (btf_is_c_number(w->b, t))
		btf_write(w, "%s", btf_str(w->b, t->name_off));
	else if (is_named(w, t))
		btf_write_name(w, btf_str(w->b, t->name_off), btf_names_version(w->names, id));
	else
		btf_write(w, "%s", btf_plain_number(t));
}

static void write_tagged(struct btf_writer *w, u32 id, const struct btf_type *t)
{
	if (!is_named(w, t) && btf_is_any_enum(t) && w->enums && w->enums[id]) {
		btf_write(w, "%s", btf_plain_number(t)); /* enumerators can't be declared twice */
		return;
	}
	btf_write(w, "%s ", btf_tag_word(t));
	if (is_named(w, t)) {
		btf_write_name(w, btf_str(w->b, t->name_off), btf_names_version(w->names, id));
		return;
	}
	if (w->enums)
		w->enums[id] = 1;
	btf_write_body(w, id);
}

static void write_base(struct btf_writer *w, u32 id)
{
	const struct btf_type *t = btf_type(w->b, id);

	if (btf_is(t, BTF_KIND_INT) || btf_is(t, BTF_KIND_FLOAT))
		write_number(w, id, t);
	else if (btf_is_composite(t) || btf_is_any_enum(t) || btf_is(t, BTF_KIND_FWD))
		write_tagged(w, id, t);
	else if (btf_is(t, BTF_KIND_TYPEDEF))
		btf_write_name(w, btf_str(w->b, t->name_off), btf_names_version(w->names, id));
	else
		btf_write(w, "void");
}

/* Declarators */

static u32 qualifier(const struct btf_type *t)
{
	switch (btf_kind_of(t)) {
	case BTF_KIND_CONST:
		return CONST;
	case BTF_KIND_VOLATILE:
		return VOLATILE;
	case BTF_KIND_RESTRICT:
		return RESTRICT;
	}
	return 0;
}

/* Qualifiers of an array are its elements'. Type tags have no meaning to C. */
static void collect(struct btf_writer *w, u32 id, struct declarator *d)
{
	const struct btf_type *t;

	d->n = d->quals = 0;
	for (u32 steps = 0; d->n < MAX_PARTS && steps < 1000; steps++) {
		t = btf_type(w->b, id);
		d->base = id;
		if (btf_is(t, BTF_KIND_PTR)) {
			d->parts[d->n++] = (struct part){t, d->quals};
			d->quals = 0;
			id = t->type;
		} else if (btf_is(t, BTF_KIND_ARRAY)) {
			d->parts[d->n++] = (struct part){t};
			id = btf_array_of(t)->type;
		} else if (btf_is(t, BTF_KIND_FUNC_PROTO)) {
			d->parts[d->n++] = (struct part){t};
			d->quals = 0;
			id = t->type;
		} else if (t && (qualifier(t) || btf_is(t, BTF_KIND_TYPE_TAG))) {
			d->quals |= qualifier(t);
			id = t->type;
		} else {
			return;
		}
	}
	d->base = 0; /* too long for anybody */
}

/* The name of a parameter; none where an earlier one has it (libbpf names all of an extern
 * function's alike). */
static const char *param_name(const struct btf_writer *w, const struct btf_param *p, u32 i)
{
	const char *name = btf_str(w->b, p[i].name_off);

	for (u32 j = 0; j < i; j++)
		if (j == 64 || p[j].name_off == p[i].name_off)
			return NULL;
	return name;
}

static void write_params(struct btf_writer *w, const struct btf_type *proto)
{
	const struct btf_param *p = btf_params(proto);
	u32 n = btf_vlen_of(proto);

	btf_write(w, "(");
	for (u32 i = 0; i < n && w->left; i++) {
		w->left--;
		if (i)
			btf_write(w, ", ");
		if (p[i].type)
			btf_write_decl(w, p[i].type, param_name(w, p, i));
		else if (i && i == n - 1)
			btf_write(w, "...");
	}
	btf_write(w, n ? ")" : "void)");
}

static bool needs_parens(const struct declarator *d, u32 i)
{
	return btf_is(d->parts[i].type, BTF_KIND_PTR) && i + 1 < d->n &&
	       !btf_is(d->parts[i + 1].type, BTF_KIND_PTR);
}

static void write_left(struct btf_writer *w, const struct declarator *d)
{
	for (u32 i = d->n; i-- > 0;) {
		if (!btf_is(d->parts[i].type, BTF_KIND_PTR))
			continue;
		btf_write(w, needs_parens(d, i) ? "(*" : "*");
		write_quals(w, d->parts[i].quals, " ", "");
		if (d->parts[i].quals)
			btf_write(w, " ");
	}
}

static void write_right(struct btf_writer *w, const struct declarator *d)
{
	for (u32 i = 0; i < d->n; i++) {
		if (btf_is(d->parts[i].type, BTF_KIND_ARRAY))
			btf_write(w, "[%u]", btf_array_of(d->parts[i].type)->nelems);
		else if (btf_is(d->parts[i].type, BTF_KIND_FUNC_PROTO))
			write_params(w, d->parts[i].type);
		else if (needs_parens(d, i))
			btf_write(w, ")");
	}
}

void btf_write_decl(struct btf_writer *w, u32 id, const char *name)
{
	struct declarator d;
	bool pointers = false;

	if (w->depth >= MAX_DEPTH || !w->left) {
		btf_write(w, "int ");
		btf_write_name(w, name, 0);
		return;
	}
	w->depth++;
	collect(w, id, &d);
	write_quals(w, d.quals & ~RESTRICT, "", " ");
	write_base(w, d.base);
	for (u32 i = 0; i < d.n; i++)
		pointers = pointers || btf_is(d.parts[i].type, BTF_KIND_PTR);
	if ((name && *name) || pointers)
		btf_write(w, " ");
	write_left(w, &d);
	btf_write_name(w, name, 0);
	write_right(w, &d);
	w->depth--;
}

void btf_print_decl(struct log *out, const struct btf_types *b, u32 id, const char *name)
{
	struct btf_writer w = {.out = out, .b = b, .left = 1 << 20};
	const struct btf_type *t = btf_type(b, id);

	if (btf_is(t, BTF_KIND_VAR) || btf_is(t, BTF_KIND_FUNC)) {
		if (!name || !*name)
			name = btf_name(b, id);
		id = t->type;
	}
	btf_write_decl(&w, id, name);
	free(w.layouts);
}
