/* btf_print_value: bytes as the C initializer (or the JSON value) that would make them.
 *
 * The type is not to be trusted to be finite or small: nesting is bounded, and so is the number of
 * values printed for each byte that there is (unions show bytes more than once), after which the
 * rest is "...". */
#include "value.h"
#include "base/bits.h"
#include <math.h>
#include <stdio.h>

#define VALUES_PER_BYTE 64
#define VALUES_ANYWAY	16384

struct printer {
	struct log *out;
	const struct btf_types *b;
	const struct btf_print_opts *o;
	const u8 *data;
	u32 size;
	u32 depth;
	u64 left; /* values that may still be printed */
};

static void print_at(struct printer *p, u32 id, u64 bit, u32 width);

static void say(struct printer *p, const char *text)
{
	log_write(p->out, text, strlen(text));
}

/* Work that counts as much as printing n values. */
static void spend(struct printer *p, u64 n)
{
	p->left -= MIN(n, p->left);
}

static void comma(struct printer *p, bool *first)
{
	if (!*first)
		say(p, p->o->json && p->o->compact ? "," : ", ");
	*first = false;
}

static void unknown(struct printer *p)
{
	say(p, p->o->json ? "null" : "?");
}

static void dots(struct printer *p)
{
	say(p, p->o->json ? "\"...\"" : "...");
}

/* Text */

/* Bytes of the UTF-8 sequence at s that may stand in a text as it is, 0: none. */
static u32 utf8_len(const u8 *s, u32 left)
{
	u32 n = s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0, c;

	if (!n || s[0] >= 0xf5 || n > left)
		return 0;
	c = s[0] & (0xff >> (n + 1));
	for (u32 i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	/* no control characters, no detours, no surrogates */
	if (c < 0xa0 || (n == 3 && c < 0x800) || (n == 4 && c < 0x10000) || c > 0x10ffff ||
	    (c >= 0xd800 && c < 0xe000))
		return 0;
	return n;
}

static void print_escaped(struct printer *p, u8 c, char quote)
{
	if (c == quote || c == '\\')
		log_printf(p->out, "\\%c", c);
	else if (c >= 0x20 && c < 0x7f)
		log_printf(p->out, "%c", c);
	else if (c == '\n')
		say(p, "\\n");
	else if (c == '\t')
		say(p, "\\t");
	else
		log_printf(p->out, p->o->json ? "\\u%04x" : "\\%03o", c);
}

static void print_text(struct printer *p, const u8 *s, u32 n)
{
	say(p, "\"");
	for (u32 i = 0; i < n;) {
		u32 whole = utf8_len(s + i, n - i);

		if (whole)
			log_write(p->out, (const char *)s + i, whole);
		else
			print_escaped(p, s[i], '"');
		i += whole ? whole : 1;
	}
	say(p, "\"");
}

/* Names in BTF are identifiers, except in a hostile blob or a section. */
static void print_name(struct printer *p, u32 off)
{
	const char *name = btf_str(p->b, off);

	if (!name)
		name = "";
	if (p->o->json)
		print_text(p, (const u8 *)name, strlen(name));
	else
		for (; *name; name++)
			print_escaped(p, *name, 0);
}

/* Numbers */

static void print_decimal(struct printer *p, btf_u128 v, bool minus)
{
	char digits[48], *at = digits + sizeof(digits);

	*--at = 0;
	do
		*--at = '0' + (u32)(v % 10);
	while (v /= 10);
	if (minus)
		*--at = '-';
	say(p, at);
}

static void print_hex(struct printer *p, btf_u128 v)
{
	const char *quote = p->o->json ? "\"" : "";

	if (v >> 64)
		log_printf(p->out, "%s0x%llx%016llx%s", quote, (unsigned long long)(v >> 64),
			   (unsigned long long)v, quote);
	else
		log_printf(p->out, "%s0x%llx%s", quote, (unsigned long long)v, quote);
}

static void print_int(struct printer *p, const struct btf_scalar *s, btf_u128 v)
{
	bool minus = s->sign && s->bits && v >> (s->bits - 1) & 1;

	if (p->o->hex)
		print_hex(p, v);
	else
		print_decimal(p, minus ? -btf_sign_extend(v, s->bits) : v, minus);
}

static void print_enum(struct printer *p, const struct btf_scalar *s, btf_u128 v)
{
	u64 mask = s->bits < 64 ? ((u64)1 << s->bits) - 1 : ~(u64)0;

	for (u32 i = 0; i < btf_vlen_of(s->type); i++)
		if ((btf_enum_value(s->type, i) & mask) == (u64)v) {
			spend(p, i / 1024);
			print_name(p, btf_enum_name(s->type, i));
			return;
		}
	spend(p, btf_vlen_of(s->type) / 1024);
	print_int(p, s, v);
}

static void print_char(struct printer *p, const struct btf_scalar *s, btf_u128 v)
{
	if (p->o->json || p->o->hex || v < 0x20 || v >= 0x7f) {
		print_int(p, s, v);
		return;
	}
	say(p, "'");
	print_escaped(p, v, '\'');
	say(p, "'");
}

/* The fewest digits that read back as the same number. Sizes other than 4 and 8 are shown as their
 * bits. */
static void print_float(struct printer *p, const struct btf_scalar *s, btf_u128 v)
{
	double d = s->bits == 32 ? LOAD(float, &v) : LOAD(double, &v);
	int digits = s->bits == 32 ? 6 : 15;
	char text[64];

	if (s->bits != 32 && s->bits != 64) {
		print_hex(p, v);
		return;
	}
	if (!isfinite(d)) {
		snprintf(text, sizeof(text), p->o->json ? "\"%s%s\"" : "%s%s",
			 signbit(d) ? "-" : "", isnan(d) ? "nan" : "inf");
		say(p, text);
		return;
	}
	do
		snprintf(text, sizeof(text), "%.*g", digits++, d);
	while (digits <= 17 &&
	       (s->bits == 32 ? strtof(text, NULL) != (float)d : strtod(text, NULL) != d));
	say(p, text);
	if (!strpbrk(text, ".e"))
		say(p, ".0");
}

static void print_scalar(struct printer *p, const struct btf_scalar *s, u64 bit)
{
	btf_u128 v;

	if (!btf_get_bits(p->data, p->size, bit + s->shift, s->bits, &v)) {
		unknown(p);
		return;
	}
	switch (s->kind) {
	case SCALAR_BOOL:
		if (v > 1)
			print_int(p, s, v);
		else
			say(p, v ? "true" : "false");
		break;
	case SCALAR_CHAR:
		print_char(p, s, v);
		break;
	case SCALAR_ENUM:
		print_enum(p, s, v);
		break;
	case SCALAR_PTR:
		print_hex(p, v);
		break;
	case SCALAR_FLOAT:
		print_float(p, s, v);
		break;
	default:
		print_int(p, s, v);
	}
}

/* Composites */

/* ".name = " or "name": before a member's value. */
static void print_key(struct printer *p, u32 name_off)
{
	if (p->o->json) {
		print_name(p, name_off);
		say(p, p->o->compact ? ":" : ": ");
	} else if (name_off) {
		say(p, ".");
		print_name(p, name_off);
		say(p, " = ");
	}
}

/* Members of an anonymous struct or union stand among those of the outer one, as C's designators
 * see them. */
static void print_members(struct printer *p, const struct btf_type *t, u64 bit, bool *first)
{
	for (u32 i = 0; i < btf_vlen_of(t) && p->left; i++) {
		const struct btf_member *m = btf_members(t) + i;
		const struct btf_type *to = btf_skip(p->b, m->type, NULL);
		u64 at = bit + btf_member_bit(t, m);

		if (!m->name_off && btf_is_composite(to) && p->depth < BTF_MAX_NESTING) {
			p->depth++;
			p->left--;
			print_members(p, to, at, first);
			p->depth--;
			continue;
		}
		comma(p, first);
		print_key(p, m->name_off);
		print_at(p, m->type, at, btf_member_width(t, m));
	}
}

static void print_section(struct printer *p, const struct btf_type *t, u64 bit, bool *first)
{
	for (u32 i = 0; i < btf_vlen_of(t) && p->left; i++) {
		const struct btf_var_secinfo *v = btf_secinfos(t) + i;
		const struct btf_type *var = btf_type(p->b, v->type);

		if (!btf_is(var, BTF_KIND_VAR))
			continue;
		comma(p, first);
		print_key(p, var->name_off);
		print_at(p, var->type, bit + (u64)v->offset * 8, 0);
	}
}

static void print_elements(struct printer *p, const struct btf_array *a, u64 bit)
{
	s64 elem = btf_size(p->b, a->type);
	bool first = true;

	for (u32 i = 0; elem > 0 && i < a->nelems && p->left; i++) {
		u64 at = bit + (u64)i * elem * 8;

		comma(p, &first);
		if (p->o->max_array && i == p->o->max_array) {
			dots(p);
			return;
		}
		if (at / 8 >= p->size) {
			unknown(p);
			return;
		}
		print_at(p, a->type, at, 0);
	}
}

/* An array of char is text up to its trailing zeros; unless some of it is missing. */
static bool print_as_text(struct printer *p, const struct btf_type *t, u64 bit)
{
	s64 n = btf_text_len(p->b, t);
	const u8 *s = p->data;

	if (n < 0 || bit & 7 || bit / 8 + n > p->size)
		return false;
	s += bit / 8;
	spend(p, n);
	while (n && !s[n - 1])
		n--;
	print_text(p, s, n);
	return true;
}

static void print_array(struct printer *p, const struct btf_type *t, u64 bit)
{
	if (print_as_text(p, t, bit))
		return;
	say(p, p->o->json ? "[" : "{");
	print_elements(p, btf_array_of(t), bit);
	say(p, p->o->json ? "]" : "}");
}

static void print_composite(struct printer *p, const struct btf_type *t, u64 bit)
{
	bool first = true;

	say(p, "{");
	if (btf_is(t, BTF_KIND_DATASEC))
		print_section(p, t, bit, &first);
	else
		print_members(p, t, bit, &first);
	say(p, "}");
}

static void print_value(struct printer *p, u32 id, u64 bit, u32 width)
{
	struct btf_scalar s = btf_scalar_of(p->b, id, width);

	if (s.kind)
		print_scalar(p, &s, bit);
	else if (btf_is(s.type, BTF_KIND_ARRAY))
		print_array(p, s.type, bit);
	else if (btf_is_composite(s.type) || btf_is(s.type, BTF_KIND_DATASEC))
		print_composite(p, s.type, bit);
	else if (btf_is(s.type, BTF_KIND_VAR))
		print_at(p, s.type->type, bit, 0);
	else
		unknown(p);
}

static void print_at(struct printer *p, u32 id, u64 bit, u32 width)
{
	if (!p->left || p->depth == BTF_MAX_NESTING) {
		dots(p);
		return;
	}
	p->left--;
	p->depth++;
	print_value(p, id, bit, width);
	p->depth--;
}

void btf_print_value(struct log *out, const struct btf_types *b, u32 id, const void *data, u32 size,
		     const struct btf_print_opts *opts)
{
	static const struct btf_print_opts plain;
	struct printer p = {.out = out,
			    .b = b,
			    .o = opts ? opts : &plain,
			    .data = data ? data : (const u8 *)"",
			    .size = data ? size : 0};

	p.left = (u64)size * VALUES_PER_BYTE + VALUES_ANYWAY;
	print_at(&p, id, 0, 0);
}
