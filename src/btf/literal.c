/* Literals of values: numbers, characters, strings, enumerators, network addresses. Every number is
 * compared with the range of the type it is for. */
#include "input.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

/* Length of what looks like one number, name or address, for messages. */
static int word_len(const char *s)
{
	int n = 0;

	while (s[n] && (isalnum((unsigned char)s[n]) || strchr("_.:+-'\"", s[n])) && n < 60)
		n++;
	return n ? n : 1;
}

/* Characters */

/* One character of a char or string literal at *s, escapes undone; -1: none, or a bad escape. */
static int read_char(const char **s)
{
	static const char from[] = "ntrabfv0\\'\"?", to[] = "\n\t\r\a\b\f\v\0\\'\"?";
	const char *c = *s, *found;
	int v = 0, n = 0;

	if (!*c)
		return -1;
	if (*c != '\\') {
		*s = c + 1;
		return (u8)*c;
	}
	c++;
	if (*c >= '0' && *c <= '7') {
		for (; n < 3 && *c >= '0' && *c <= '7'; n++)
			v = v * 8 + *c++ - '0';
	} else if (*c == 'x' || *c == 'u') { /* JSON's u stands for a byte, as we print it */
		int most = *c++ == 'x' ? 2 : 4;

		for (; n < most && digit_of(*c) < 16; n++)
			v = v * 16 + digit_of(*c++);
		if (!n || (most == 4 && n < 4))
			return -1;
	} else {
		found = *c ? strchr(from, *c++) : NULL;
		if (!found)
			return -1;
		v = (u8)to[found - from];
	}
	*s = c;
	return v > 255 ? -1 : v;
}

int btf_read_text(struct btf_reader *r, void *to, u32 max, u32 *len)
{
	u8 *out = to;
	u32 n = 0;

	if (!btf_read_take(r, '"'))
		return btf_read_fail(r, "a string in double quotes should be here");
	while (*r->at != '"') {
		int c = read_char(&r->at);

		if (c < 0)
			return btf_read_fail(r, *r->at ? "this escape isn't known in a string"
						       : "the string has no end");
		if (n == max)
			return btf_read_fail(r, "the string is too long for %u bytes", max);
		out[n++] = c;
	}
	r->at++;
	memset(out + n, 0, max - n);
	if (len)
		*len = n;
	return 0;
}

/* Numbers */

struct number {
	btf_u128 value; /* absolute */
	bool minus;
	bool bits; /* hexadecimal or binary: may be the bits of a negative number */
};

static int read_char_literal(struct btf_reader *r, struct number *n)
{
	int c;

	r->at++;
	c = read_char(&r->at);
	if (c < 0 || *r->at != '\'')
		return btf_read_fail(r, "a character like 'a' should be here");
	r->at++;
	n->value = c;
	n->bits = true; /* a char above 127 is negative */
	return 0;
}

static int read_number(struct btf_reader *r, struct number *n)
{
	const char *s = r->at;
	u32 base = 10, digits = 0;

	*n = (struct number){0};
	if (*s == '\'')
		return read_char_literal(r, n);
	if (*s == '-' || *s == '+')
		n->minus = *s++ == '-';
	if (s[0] == '0' && (s[1] | 32) == 'x')
		base = 16, s += 2;
	else if (s[0] == '0' && (s[1] | 32) == 'b')
		base = 2, s += 2;
	else if (s[0] == '0' && s[1] >= '0' && s[1] <= '9')
		base = 8;
	n->bits = base != 10 && !n->minus;
	for (; digit_of(*s) < base; s++, digits++) {
		btf_u128 next = n->value * base + digit_of(*s);

		if (n->value > (~(btf_u128)0 - digit_of(*s)) / base)
			return btf_read_fail(r, "%.*s is more than 128 bits hold", word_len(r->at),
					     r->at);
		n->value = next;
	}
	while (digits && (*s == 'u' || *s == 'U' || *s == 'l' || *s == 'L'))
		s++;
	if (!digits || isalnum((unsigned char)*s) || *s == '_' || *s == '.')
		return btf_read_fail(r, "%.*s is not a number", word_len(r->at), r->at);
	r->at = s;
	return 0;
}

/* Both limits in decimal; wider than 64 bits nobody wants to read them. */
static int out_of_range(struct btf_reader *r, const char *at, const struct btf_scalar *s)
{
	const char *from = r->at;

	r->at = at;
	if (!s->bits || s->bits > 64)
		return btf_read_fail(r, "%.*s doesn't fit into %u bits", (int)MIN(from - at, 60),
				     at, s->bits);
	if (s->sign)
		return btf_read_fail(r, "%.*s doesn't fit into %u bits: it may be %lld to %lld",
				     (int)MIN(from - at, 60), at, s->bits,
				     (long long)(~0ull << (s->bits - 1)),
				     s->bits > 1 ? (long long)(~0ull >> (65 - s->bits)) : 0);
	return btf_read_fail(r, "%.*s doesn't fit into %u bits: it may be 0 to %llu",
			     (int)MIN(from - at, 60), at, s->bits, ~0ull >> (64 - s->bits));
}

static bool in_range(const struct number *n, const struct btf_scalar *s)
{
	btf_u128 top = s->bits ? (btf_u128)1 << (s->bits - 1) : 0,
		 most = s->bits ? top - 1 + top : 0;

	if (!s->sign)
		return !(n->minus && n->value) && n->value <= most;
	if (n->minus)
		return n->value <= top;
	return n->value <= (n->bits ? most : top ? top - 1 : 0);
}

static int put(struct btf_reader *r, const struct btf_scalar *s, u64 bit, btf_u128 value)
{
	if (!btf_put_bits(r->data, r->size, bit + s->shift, s->bits, value))
		return btf_read_fail(r, "this value lies outside the %u bytes there are", r->size);
	return 0;
}

static int read_int(struct btf_reader *r, const struct btf_scalar *s, u64 bit)
{
	const char *at = r->at;
	struct number n;
	int err;

	if (!((bit + s->shift) & 7) && !(s->bits & 7) &&
	    btf_read_address(r, bit + s->shift, s->bits / 8))
		return 0;
	err = read_number(r, &n);
	if (err)
		return err;
	if (!in_range(&n, s))
		return out_of_range(r, at, s);
	return put(r, s, bit, n.minus ? -n.value : n.value);
}

static int read_bool(struct btf_reader *r, const struct btf_scalar *s, u64 bit)
{
	const char *at = r->at;
	char word[16];
	struct number n;

	if (btf_read_word(r, word, sizeof(word))) {
		if (!strcmp(word, "true") || !strcmp(word, "false"))
			return put(r, s, bit, word[0] == 't');
		r->at = at;
		return btf_read_fail(r, "%.*s is neither true nor false", word_len(at), at);
	}
	if (read_number(r, &n))
		return -EINVAL;
	if (n.value > 1 || n.minus) {
		r->at = at;
		return btf_read_fail(r, "%.*s is neither true nor false (nor 1 or 0)", word_len(at),
				     at);
	}
	return put(r, s, bit, n.value);
}

/* A few names of an enum, for the sentence that says that another one isn't there. */
static void say_enumerators(struct btf_reader *r, const struct btf_type *t, char *to, size_t size)
{
	size_t at = 0;

	to[0] = 0;
	for (u32 i = 0; i < btf_vlen_of(t) && i < 8 && at < size; i++) {
		const char *name = btf_str(r->b, btf_enum_name(t, i));

		at += snprintf(to + at, size - at, "%s%s", i ? ", " : "", name ? name : "");
	}
	if (btf_vlen_of(t) > 8 && at < size)
		snprintf(to + at, size - at, ", ...");
}

/* An enumerator may be too large for a bit-field of its enum. */
static int put_enumerator(struct btf_reader *r, const struct btf_scalar *s, u64 bit, const char *at,
			  u64 value)
{
	btf_u128 kept = s->bits < 64 ? value & ((1ull << s->bits) - 1) : value;

	if ((u64)(s->sign ? btf_sign_extend(kept, s->bits) : kept) != value)
		return out_of_range(r, at, s);
	return put(r, s, bit, kept);
}

static int read_enum(struct btf_reader *r, const struct btf_scalar *s, u64 bit)
{
	const char *at = r->at;
	char word[600] = "", names[400];

	if (*at == '"') {
		if (btf_read_text(r, word, sizeof(word) - 1, NULL))
			return -EINVAL;
	} else if (!btf_read_word(r, word, sizeof(word))) {
		return read_int(r, s, bit);
	}
	for (u32 i = 0; i < btf_vlen_of(s->type); i++) {
		const char *name = btf_str(r->b, btf_enum_name(s->type, i));

		if (name && !strcmp(name, word))
			return put_enumerator(r, s, bit, at, btf_enum_value(s->type, i));
	}
	say_enumerators(r, s->type, names, sizeof(names));
	r->at = at;
	return btf_read_fail(r, "%.60s is no name of this enum: it has %s", word, names);
}

static int read_pointer(struct btf_reader *r, const struct btf_scalar *s, u64 bit)
{
	bool quoted = btf_read_take(r, '"'); /* as JSON prints them */
	char word[8];
	int err;

	if (btf_read_word(r, word, sizeof(word)))
		err = strcmp(word, "NULL") && strcmp(word, "null")
			  ? btf_read_fail(r, "a pointer is a number or NULL")
			  : 0;
	else
		err = read_int(r, s, bit);
	if (!err && quoted && !btf_read_take(r, '"'))
		err = btf_read_fail(r, "the closing quote is missing");
	return err;
}

static int read_decimal(struct btf_reader *r, const struct btf_scalar *s, u64 bit)
{
	btf_u128 bits = 0;
	char *end;
	double d = strtod(r->at, &end);
	float f;

	if (end == r->at)
		return btf_read_fail(r, "%.*s is not a number", word_len(r->at), r->at);
	/* what else a NaN's bits may say isn't kept: printing doesn't say it either */
	if (isnan(d))
		d = copysign(NAN, d);
	f = d;
	if (s->bits == 32 && isfinite(d) && !isfinite(f))
		return btf_read_fail(r, "%.*s is too large for a float", word_len(r->at), r->at);
	r->at = end;
	memcpy(&bits, s->bits == 32 ? (void *)&f : (void *)&d, s->bits / 8);
	return put(r, s, bit, bits);
}

static int read_float(struct btf_reader *r, const struct btf_scalar *s, u64 bit)
{
	bool quoted = btf_read_take(r, '"'); /* as JSON prints infinity */
	int err;

	if (s->bits == 32 || s->bits == 64)
		err = read_decimal(r, s, bit);
	else if (r->at[0] == '0' && (r->at[1] | 32) == 'x')
		err = read_int(r, s, bit);
	else
		err = btf_read_fail(r, "a float of %u bytes can only be given by its bits: 0x...",
				    s->bits / 8);
	if (!err && quoted && !btf_read_take(r, '"'))
		err = btf_read_fail(r, "the closing quote is missing");
	return err;
}

int btf_read_scalar(struct btf_reader *r, const struct btf_scalar *s, u64 bit)
{
	btf_read_peek(r);
	switch (s->kind) {
	case SCALAR_BOOL:
		return read_bool(r, s, bit);
	case SCALAR_ENUM:
		return read_enum(r, s, bit);
	case SCALAR_PTR:
		return read_pointer(r, s, bit);
	case SCALAR_FLOAT:
		return read_float(r, s, bit);
	default:
		return read_int(r, s, bit);
	}
}

/* Addresses */

static bool read_mac(const char *s, u8 *to)
{
	for (u32 i = 0; i < 6; i++) {
		int high = digit_of(s[0]), low = high < 16 ? digit_of(s[1]) : 99;

		if (low > 15)
			return false;
		to[i] = high << 4 | low;
		if (s[2] != (i < 5 ? ':' : 0))
			return false;
		s += 3;
	}
	return true;
}

int btf_read_address(struct btf_reader *r, u64 bit, u32 bytes)
{
	char word[64];
	u8 addr[16];
	const char *s = r->at;
	size_t n;
	bool ok = false;

	if (bytes == 6 && !strncmp(s, "mac ", 4))
		s += 4;
	n = strspn(s, "0123456789abcdefABCDEF:.");
	if (!n || n >= sizeof(word) || bit & 7 || bytes > sizeof(addr) || bit / 8 + bytes > r->size)
		return 0;
	memcpy(word, s, n);
	word[n] = 0;
	if (bytes == 4)
		ok = inet_pton(AF_INET, word, addr) == 1;
	else if (bytes == 16)
		ok = inet_pton(AF_INET6, word, addr) == 1;
	else if (bytes == 6)
		ok = read_mac(word, addr);
	if (!ok)
		return 0;
	memcpy(r->data + bit / 8, addr, bytes);
	r->at = s + n;
	return 1;
}
