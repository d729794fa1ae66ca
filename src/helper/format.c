/* helper_format(): printf as bpf_trace_printk and its kin understand it.
 *
 * The kernel works in two steps and so do the limits seen here: it first checks the format and packs the arguments into 512
 * bytes (`packed` counts what that takes, and strings are cut where it ends), then it prints them. A conversion is
 *   %[0+- ]*[width](d|i|u|x|X|ld|..|lld|..|c|s|p|pB|pK|px|ps|pS|pks|pus|pi4|pI4|pi6|pI6)
 * Anything else is -EINVAL, as are too few arguments and control characters. Strings and addresses behind %s and %pI4 are
 * read by the env's memory reader, never directly. */
#include "proto.h"
#include "base/cleanup.h"
#include <ctype.h>

enum {
	PACKED_MAX = 512,    /* MAX_BPRINTF_BIN_ARGS */
	FORMAT_USUAL = 1024, /* formats below this need no allocation */
};

enum conversion { CONV_INT, CONV_UINT, CONV_HEX, CONV_CHAR, CONV_STR, CONV_BARE_STR, CONV_HASHED, CONV_RAW, CONV_SYMBOL, CONV_IP };

struct spec {
	enum conversion conv;
	bool zero, plus, left, space, upper;
	u32 width;
	u8 bytes;     /* of an integer: 4 or 8 */
	u8 ip;	      /* 4 or 6 */
	bool ip_long; /* %pi: leading zeros, no colons */
};

struct out {
	char *buf;
	u64 size, len; /* room, the NUL's included; bytes that were or would have been written */
};

static void put(struct out *o, const char *text, u64 n)
{
	if (o->len < o->size)
		memcpy(o->buf + o->len, text, MIN(n, o->size - o->len));
	o->len += n;
}

static void pad(struct out *o, char c, u64 n)
{
	if (o->len < o->size)
		memset(o->buf + o->len, c, MIN(n, o->size - o->len));
	o->len += n;
}

static void put_padded(struct out *o, const struct spec *s, const char *text, u64 n)
{
	u64 fill = s->width > n ? s->width - n : 0;

	if (!s->left)
		pad(o, ' ', fill);
	put(o, text, n);
	if (s->left)
		pad(o, ' ', fill);
}

/* ---- reading the format */

static bool ends_word(char c)
{
	return !c || isspace((u8)c) || ispunct((u8)c);
}

static bool is_print(u8 c)
{
	return c >= 0x80 || (c >= 0x20 && c < 0x7f) || isspace(c);
}

static const char *read_flags(const char *f, struct spec *s)
{
	u64 width = 0;

	for (;; f++) {
		if (*f == '0')
			s->zero = true;
		else if (*f == '+')
			s->plus = true;
		else if (*f == '-')
			s->left = true;
		else if (*f == ' ')
			s->space = true;
		else
			break;
	}
	for (; *f >= '0' && *f <= '9'; f++)
		width = MIN(width * 10 + (*f - '0'), 1ull << 31);
	s->width = MIN(width, (1u << 23) - 1); /* FIELD_WIDTH_MAX */
	return f;
}

/* Printing %p skips all letters and digits behind it, whatever they are. */
static const char *skip_word(const char *f)
{
	while (isalnum((u8)*f))
		f++;
	return f;
}

/* What follows "%p". NULL: refused. */
static const char *read_pointer(const char *f, struct spec *s)
{
	s->bytes = 8;
	if (ends_word(*f)) {
		s->conv = CONV_HASHED;
		return f;
	}
	if ((*f == 'k' || *f == 'u') && f[1] == 's') {
		s->conv = CONV_BARE_STR;
		return ends_word(f[2]) ? f + 2 : NULL;
	}
	switch (*f) {
	case 'K':
		s->conv = CONV_HASHED;
		return skip_word(f);
	case 'x':
		s->conv = CONV_RAW;
		return skip_word(f);
	case 's':
	case 'S':
	case 'B':
		s->conv = CONV_SYMBOL;
		return skip_word(f);
	case 'i':
	case 'I':
		if (f[1] != '4' && f[1] != '6')
			return NULL;
		s->conv = CONV_IP;
		s->ip = f[1] - '0';
		s->ip_long = *f == 'i';
		return skip_word(f);
	}
	return NULL;
}

static const char *read_integer(const char *f, struct spec *s)
{
	s->bytes = 4;
	for (int i = 0; i < 2 && *f == 'l'; i++, f++)
		s->bytes = 8;
	switch (*f) {
	case 'd':
	case 'i':
		s->conv = CONV_INT;
		return f + 1;
	case 'u':
		s->conv = CONV_UINT;
		return f + 1;
	case 'x':
	case 'X':
		s->conv = CONV_HEX;
		s->upper = *f == 'X';
		return f + 1;
	}
	return NULL;
}

/* The conversion after a '%'; returns what follows it. NULL: refused. */
static const char *read_spec(const char *f, struct spec *s)
{
	*s = (struct spec){ 0 };
	f = read_flags(f, s);
	switch (*f) {
	case 'p':
		return read_pointer(f + 1, s);
	case 's':
		s->conv = CONV_STR;
		return ends_word(f[1]) ? f + 1 : NULL;
	case 'c':
		s->conv = CONV_CHAR;
		return f + 1;
	}
	return read_integer(f, s);
}

/* ---- printing */

static void put_integer(struct out *o, const struct spec *s, u64 x)
{
	char digits[24], *end = digits + sizeof(digits), *d = end, sign = 0;
	const char *set = s->upper ? "0123456789ABCDEF" : "0123456789abcdef";
	u32 base = s->conv == CONV_HEX ? 16 : 10;
	u64 n, fill;

	if (s->bytes == 4)
		x = s->conv == CONV_INT ? (u64)(s64)(s32)x : (u32)x;
	if (s->conv == CONV_INT) {
		sign = (s64)x < 0 ? '-' : s->plus ? '+' : s->space ? ' ' : 0;
		if ((s64)x < 0)
			x = -x;
	}
	do
		*--d = set[x % base];
	while (x /= base);
	n = (end - d) + (sign != 0);
	fill = s->width > n ? s->width - n : 0;
	if (!s->left && !s->zero)
		pad(o, ' ', fill);
	if (sign)
		put(o, &sign, 1);
	if (!s->left && s->zero)
		pad(o, '0', fill);
	put(o, d, end - d);
	if (s->left)
		pad(o, ' ', fill);
}

/* %p hides an address behind 32 bits of a hash, as the kernel does, but neither NULL nor an error number. */
static u64 hashed(u64 x)
{
	return !x || x >= (u64)-4095 ? x : x * 0x9e3779b97f4a7c15ull >> 32;
}

static void put_pointer(struct out *o, const struct spec *s, u64 x)
{
	struct spec hex = *s;

	hex.conv = CONV_HEX;
	if (s->conv == CONV_SYMBOL) { /* an address without a symbol: here there are none */
		put(o, "0x", 2);
		hex.width = 0;
	} else if (!s->width) {
		hex.width = 16;
		hex.zero = true;
	}
	put_integer(o, &hex, s->conv == CONV_HASHED ? hashed(x) : x);
}

/* Text that the kernel made while packing: the width is not used, and nothing of it counts once the room is used up. */
static void put_bare(struct out *o, const char *text, u32 n)
{
	if (o->len < o->size)
		put(o, text, n);
}

static u32 ip4_text(char *to, const u8 *ip, bool zeros)
{
	u32 n = 0;

	for (int i = 0; i < 4; i++) {
		if (i)
			to[n++] = '.';
		if (zeros || ip[i] >= 100)
			to[n++] = '0' + ip[i] / 100;
		if (zeros || ip[i] >= 10)
			to[n++] = '0' + ip[i] / 10 % 10;
		to[n++] = '0' + ip[i] % 10;
	}
	return n;
}

static u32 ip6_text(char *to, const u8 *ip, bool colons)
{
	static const char hex[] = "0123456789abcdef";
	u32 n = 0;

	for (int i = 0; i < 16; i++) {
		if (colons && i && i % 2 == 0)
			to[n++] = ':';
		to[n++] = hex[ip[i] >> 4];
		to[n++] = hex[ip[i] & 15];
	}
	return n;
}

static int put_ip(struct out *o, const struct spec *s, struct env *env, u64 addr, u32 *packed)
{
	u8 ip[16] = { 0 };
	u32 size = s->ip == 4 ? 4 : 16, n;
	char text[40];

	if (PACKED_MAX - *packed < size)
		return -ENOSPC;
	if (env_read_memory(env, ip, addr, size))
		memset(ip, 0, size);
	n = s->ip == 4 ? ip4_text(text, ip, s->ip_long) : ip6_text(text, ip, !s->ip_long);
	put_bare(o, text, n);
	*packed = MIN(*packed + n + 1, (u32)PACKED_MAX);
	return 0;
}

/* Copy a string of at most room - 1 bytes; its length, or -1 when its beginning can't be read. */
static int read_string(struct env *env, char *to, u64 addr, u32 room)
{
	u32 n = 0;

	while (n < room) {
		u32 chunk = MIN(room - n, 64 - (u32)((addr + n) & 63)); /* never across a page */
		char *nul;

		if (env_read_memory(env, to + n, addr + n, chunk))
			return -1;
		nul = memchr(to + n, 0, chunk);
		if (nul)
			return nul - to;
		n += chunk;
	}
	return room - 1;
}

static int put_string(struct out *o, const struct spec *s, struct env *env, u64 addr, u32 *packed)
{
	char text[PACKED_MAX];
	int n;

	if (*packed == PACKED_MAX)
		return -ENOSPC;
	n = read_string(env, text, addr, PACKED_MAX - *packed);
	n = MAX(n, 0);
	*packed += n + 1;
	if (s->conv == CONV_STR)
		put_padded(o, s, text, n);
	else
		put_bare(o, text, n);
	return 0;
}

static int put_one(struct out *o, const struct spec *s, struct env *env, u64 arg, u32 *packed)
{
	char c = arg;

	switch (s->conv) {
	case CONV_IP:
		return put_ip(o, s, env, arg, packed);
	case CONV_STR:
	case CONV_BARE_STR:
		return put_string(o, s, env, arg, packed);
	case CONV_CHAR:
		if (*packed == PACKED_MAX)
			return -ENOSPC;
		*packed += 1;
		put_padded(o, s, &c, 1);
		return 0;
	default:
		*packed = ROUND_UP(*packed, 4);
		if (PACKED_MAX - *packed < s->bytes)
			return -ENOSPC;
		*packed += s->bytes;
		if (s->conv <= CONV_HEX)
			put_integer(o, s, arg);
		else
			put_pointer(o, s, arg);
		return 0;
	}
}

static int check_format(const char *fmt, u32 n_args)
{
	struct spec spec;
	u32 n = 0;

	while (*fmt) {
		if (!is_print(*fmt))
			return -EINVAL;
		if (*fmt++ != '%')
			continue;
		if (*fmt == '%') {
			fmt++;
			continue;
		}
		if (n++ >= n_args)
			return -EINVAL;
		fmt = read_spec(fmt, &spec);
		if (!fmt)
			return -EINVAL;
	}
	return 0;
}

/* args are n_args of a format that check_format() passed. */
static int print(struct env *env, struct out *o, const char *fmt, const u64 *args)
{
	u32 packed = 0;

	for (;;) {
		const char *percent = strchrnul(fmt, '%');
		struct spec spec;
		int err;

		put(o, fmt, percent - fmt);
		fmt = percent;
		if (!*fmt)
			return MIN(o->len, INT32_MAX);
		if (*++fmt == '%') {
			put(o, fmt++, 1);
			continue;
		}
		fmt = read_spec(fmt, &spec);
		err = put_one(o, &spec, env, *args++, &packed);
		if (err)
			return err;
	}
}

int helper_format(struct env *env, char *out, u32 size, const char *fmt, u32 fmt_size, const u64 *args, u32 n_args)
{
	struct out o = { .buf = out, .size = size };
	const char *end = memchr(fmt, 0, fmt_size);
	autofree char *long_copy = NULL;
	char copy[FORMAT_USUAL];
	int ret;

	if (!end)
		return -EINVAL;
	/* A private copy: the format may lie in a map that somebody writes to between check and use. */
	if (end - fmt >= FORMAT_USUAL) {
		long_copy = malloc(end - fmt + 1);
		if (!long_copy)
			return -EBUSY; /* as when the kernel's buffers are all taken */
	}
	fmt_size = end - fmt;
	fmt = memcpy(long_copy ? long_copy : copy, fmt, fmt_size);
	((char *)fmt)[fmt_size] = 0;

	ret = check_format(fmt, n_args);
	if (ret || !args)
		return ret;
	ret = print(env, &o, fmt, args);
	if (ret >= 0 && size)
		out[MIN(o.len, o.size - 1)] = 0;
	return ret;
}
