/* btf_parse_value: text into the bytes of a value of a type, the reverse of btf_print_value.
 *
 * C's initializers: {1, 2, .port = 443, .addr[0] = 9}, designators through anonymous members and
 * nested ones, what isn't named is zero. Besides, the way JSON says it: {"port": 443} and [1, 2].
 */
#include "input.h"

#define MAX_SEARCH 10000000u /* anonymous members within each other may be many */

static int read_at(struct btf_reader *r, u32 id, u64 bit, u32 width);

int btf_read_fail(struct btf_reader *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_vprintf(r->err, fmt, ap);
	va_end(ap);
	log_printf(r->err, " (at character %zu)", (size_t)(r->at - r->start) + 1);
	return -EINVAL;
}

char btf_read_peek(struct btf_reader *r)
{
	while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
		r->at++;
	return *r->at;
}

bool btf_read_take(struct btf_reader *r, char c)
{
	if (btf_read_peek(r) != c)
		return false;
	r->at++;
	return true;
}

static bool in_word(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (u8)c >= 0xc0 ||
	       (!first && c >= '0' && c <= '9');
}

bool btf_read_word(struct btf_reader *r, char *name, size_t size)
{
	size_t n = 0;

	btf_read_peek(r);
	if (!in_word(*r->at, true))
		return false;
	for (; in_word(*r->at, !n); r->at++)
		if (n + 1 < size)
			name[n++] = *r->at;
	name[n] = 0;
	return true;
}

/* A part of a value: what a designator leads to. */
struct place {
	u32 id, width;
	u64 bit;
};

/* The member of a struct, union or section, also one of an anonymous member of it. index: the outer
 * one's. */
static bool find_member(struct btf_reader *r, const struct btf_type *t, const char *name, u32 depth,
			struct place *at, u32 *index)
{
	for (u32 i = 0; i < btf_vlen_of(t) && btf_is_composite(t) && r->searched < MAX_SEARCH;
	     i++, r->searched++) {
		const struct btf_member *m = btf_members(t) + i;
		const struct btf_type *to = btf_skip(r->b, m->type, NULL);
		const char *its = btf_str(r->b, m->name_off);
		u32 inner;

		*at = (struct place){m->type, btf_member_width(t, m), btf_member_bit(t, m)};
		*index = i;
		if (its && *its && !strcmp(its, name))
			return true;
		if (m->name_off || !btf_is_composite(to) || depth == 8)
			continue;
		if (find_member(r, to, name, depth + 1, at, &inner)) {
			at->bit += btf_member_bit(t, m);
			return true;
		}
	}
	for (u32 i = 0; i < btf_vlen_of(t) && btf_is(t, BTF_KIND_DATASEC); i++) {
		const struct btf_var_secinfo *v = btf_secinfos(t) + i;
		const char *its = btf_name(r->b, v->type);

		*at = (struct place){v->type, 0, (u64)v->offset * 8};
		*index = i;
		if (its && !strcmp(its, name))
			return true;
	}
	return false;
}

static bool nth_member(const struct btf_type *t, u32 i, struct place *at)
{
	const struct btf_member *m = btf_members(t) + i;

	if (i >= btf_vlen_of(t) || (btf_is(t, BTF_KIND_UNION) && i))
		return false;
	if (btf_is(t, BTF_KIND_DATASEC))
		*at =
		    (struct place){btf_secinfos(t)[i].type, 0, (u64)btf_secinfos(t)[i].offset * 8};
	else
		*at = (struct place){m->type, btf_member_width(t, m), btf_member_bit(t, m)};
	return true;
}

static int no_such_member(struct btf_reader *r, u32 id, const char *name)
{
	const struct btf_type *t = btf_skip(r->b, id, NULL);
	struct log type;
	char *text;
	int err;

	log_init(&type, 256);
	type.keep_head = true;
	btf_print_decl(&type, r->b, id, "");
	text = log_text(&type, NULL);
	err = btf_read_fail(
	    r, "%.80s has no member %.60s%s", text ? text : "this type", name,
	    btf_is_composite(t) || btf_is(t, BTF_KIND_DATASEC) ? "" : ", it has no members at all");
	free(text);
	log_done(&type);
	return err;
}

/* .name[.name | [index]]..., the first name already read. index: of the outermost member. */
static int read_path(struct btf_reader *r, u32 id, const char *name, struct place *at, u32 *index)
{
	char word[600];
	struct place to;
	u32 inner;

	if (!find_member(r, btf_skip(r->b, id, NULL), name, 0, at, index))
		return no_such_member(r, id, name);
	for (u32 i = 0; i < BTF_MAX_NESTING; i++) {
		const struct btf_type *t = btf_skip(r->b, at->id, NULL);

		if (btf_is(t, BTF_KIND_VAR))
			t = btf_skip(r->b, t->type, &at->id);
		if (btf_read_take(r, '.')) {
			if (!btf_read_word(r, word, sizeof(word)))
				return btf_read_fail(r, "a member's name should follow the dot");
			if (!t || !find_member(r, t, word, 0, &to, &inner))
				return no_such_member(r, at->id, word);
		} else if (btf_is(t, BTF_KIND_ARRAY) && btf_read_take(r, '[')) {
			s64 elem = btf_size(r->b, btf_array_of(t)->type);
			char *end;
			unsigned long n = strtoul(r->at, &end, 0);

			if (end == r->at || elem < 0 || n >= btf_array_of(t)->nelems)
				return btf_read_fail(r, "the array has %u elements, counted from 0",
						     btf_array_of(t)->nelems);
			r->at = end;
			if (!btf_read_take(r, ']'))
				return btf_read_fail(r, "] should be here");
			to = (struct place){btf_array_of(t)->type, 0, (u64)elem * 8 * n};
		} else {
			return 0;
		}
		to.bit += at->bit;
		*at = to;
	}
	return btf_read_fail(r, "this designator goes too deep");
}

/* What says which member is meant: ".name =", "name:" or "\"name\":". 1: that was it, 0: nothing
 * taken. */
static int read_key(struct btf_reader *r, u32 id, struct place *at, u32 *index)
{
	const char *back = r->at;
	char name[600] = "";
	bool dot = btf_read_take(r, '.');
	int err;

	if (btf_read_peek(r) == '"' && !dot) {
		if (btf_read_text(r, name, sizeof(name) - 1, NULL))
			return -EINVAL;
	} else if (!btf_read_word(r, name, sizeof(name))) {
		return dot ? btf_read_fail(r, "a member's name should follow the dot") : 0;
	}
	if (!dot && btf_read_peek(r) != ':') {
		r->at = back; /* a value: an enumerator, a word */
		return 0;
	}
	err = read_path(r, id, name, at, index);
	if (err)
		return err;
	if (!btf_read_take(r, dot ? '=' : ':'))
		return btf_read_fail(r, "= should follow the member's name");
	return 1;
}

static int read_members(struct btf_reader *r, u32 id, const struct btf_type *t, u64 bit)
{
	u32 next = 0, index = 0;

	if (!btf_read_take(r, '{'))
		return btf_read_fail(r, "{ should be here, where the %s begins",
				     btf_is(t, BTF_KIND_UNION) ? "union" : "struct");
	while (!btf_read_take(r, '}')) {
		struct place at = {0};
		int keyed = read_key(r, id, &at, &index), err;

		if (keyed < 0)
			return keyed;
		if (!keyed) {
			index = next;
			if (!nth_member(t, index, &at))
				return btf_read_fail(r, "there are more values than members");
		}
		next = index + 1;
		err = read_at(r, at.id, bit + at.bit, at.width);
		if (err)
			return err;
		if (!btf_read_take(r, ',') && btf_read_peek(r) != '}')
			return btf_read_fail(r, "a comma or } should be here");
	}
	return 0;
}

/* [index] = before an element */
static int read_index(struct btf_reader *r, u32 n, u32 *index)
{
	char *end;
	unsigned long i;

	if (!btf_read_take(r, '['))
		return 0;
	i = strtoul(r->at, &end, 0);
	if (end == r->at || i >= n)
		return btf_read_fail(r, "the array has %u elements, counted from 0", n);
	r->at = end;
	*index = i;
	if (!btf_read_take(r, ']') || !btf_read_take(r, '='))
		return btf_read_fail(r, "[%lu] = should be here", i);
	return 0;
}

static int read_elements(struct btf_reader *r, const struct btf_array *a, u64 bit)
{
	s64 elem = btf_size(r->b, a->type);
	bool brace = btf_read_take(r, '{');
	char close = brace ? '}' : ']';
	u32 i = 0;

	if (!brace && !btf_read_take(r, '['))
		return btf_read_fail(r, "{ should be here, where the array begins");
	while (!btf_read_take(r, close)) {
		int err = brace ? read_index(r, a->nelems, &i) : 0;

		if (err)
			return err;
		if (i >= a->nelems || elem <= 0)
			return btf_read_fail(r, "the array has only %u elements", a->nelems);
		err = read_at(r, a->type, bit + (u64)i++ * elem * 8, 0);
		if (err)
			return err;
		if (!btf_read_take(r, ',') && btf_read_peek(r) != close)
			return btf_read_fail(r, "a comma or %c should be here", close);
	}
	return 0;
}

static int read_array(struct btf_reader *r, const struct btf_type *t, u64 bit)
{
	s64 text = btf_text_len(r->b, t);

	if (btf_read_peek(r) != '"' || text < 0)
		return read_elements(r, btf_array_of(t), bit);
	if (bit & 7 || bit / 8 + text > r->size)
		return btf_read_fail(r, "this string lies outside the %u bytes there are", r->size);
	return btf_read_text(r, r->data + bit / 8, text, NULL);
}

/* True for types that are nothing but so many bytes: an array of whole integers, or something whose
 * first member is all of it (in_addr, in6_addr). Elsewhere an address would also fill what no
 * member names. */
static bool is_plain_bytes(const struct btf_types *b, const struct btf_type *t, s64 size)
{
	for (u32 i = 0; btf_is_composite(t) && btf_vlen_of(t) && i < 8; i++) {
		const struct btf_member *m = btf_members(t);

		if (btf_member_bit(t, m) || btf_member_width(t, m) || btf_size(b, m->type) != size)
			return false;
		t = btf_skip(b, m->type, NULL);
	}
	if (btf_is(t, BTF_KIND_ARRAY))
		t = btf_skip(b, btf_array_of(t)->type, NULL);
	return btf_is(t, BTF_KIND_INT) && btf_int_is_regular(t) &&
	       BTF_INT_BITS(btf_int_word(t)) == t->size * 8;
}

static int read_value(struct btf_reader *r, u32 id, u64 bit, u32 width)
{
	struct btf_scalar s = btf_scalar_of(r->b, id, width);
	s64 size;

	btf_read_peek(r);
	if (s.kind)
		return btf_read_scalar(r, &s, bit);
	if (btf_is(s.type, BTF_KIND_VAR))
		return read_at(r, s.type->type, bit, 0);
	size = btf_size(r->b, s.id);
	if (size > 0 && size <= 16 && is_plain_bytes(r->b, s.type, size) &&
	    btf_read_address(r, bit, size))
		return 0;
	if (btf_is(s.type, BTF_KIND_ARRAY))
		return read_array(r, s.type, bit);
	if (btf_is_composite(s.type) || btf_is(s.type, BTF_KIND_DATASEC))
		return read_members(r, s.id, s.type, bit);
	return btf_read_fail(r, "a value of this type can't be written");
}

static int read_at(struct btf_reader *r, u32 id, u64 bit, u32 width)
{
	int err;

	if (r->depth == BTF_MAX_NESTING)
		return btf_read_fail(r, "values nest too deep here");
	r->depth++;
	err = read_value(r, id, bit, width);
	r->depth--;
	return err;
}

int btf_parse_value(const struct btf_types *b, u32 id, const char *text, void *data, u32 size,
		    struct log *err)
{
	struct btf_reader r = {
	    .b = b, .start = text, .at = text, .data = data, .size = size, .err = err};
	s64 want = btf_size(b, id);
	int bad;

	if (want < 0 || want > size)
		return btf_read_fail(&r, "there are %u bytes for this value, which needs %lld",
				     size, (long long)want);
	memset(data, 0, size);
	bad = read_at(&r, id, 0, 0);
	if (bad)
		return bad;
	return btf_read_peek(&r) ? btf_read_fail(&r, "nothing more should follow the value") : 0;
}
