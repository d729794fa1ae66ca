/* bpf_strtol and bpf_strtoul: a number at the beginning of a text, with the kernel's kstrtox rules. */
#include "proto.h"
#include "base/bits.h"

enum { BASE_MASK = 31, TEXT_MAX = 63 };

/* The kernel's ctype knows the no-break space of Latin-1. */
static bool is_space(u8 ch)
{
	return ch == ' ' || (ch >= '\t' && ch <= '\r') || ch == 0xa0;
}

/* The digit's value; anything that is none gets a large one. */
static u32 digit(u8 ch)
{
	u8 lower = ch | 0x20;

	if (ch >= '0' && ch <= '9')
		return ch - '0';
	return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

static const char *skip_prefix(const char *s, u32 *base)
{
	bool hex = s[0] == '0' && (s[1] | 0x20) == 'x';

	if (!*base && s[0] == '0')
		*base = hex && digit(s[2]) < 16 ? 16 : 8;
	else if (!*base)
		*base = 10;
	return *base == 16 && hex ? s + 2 : s;
}

/* Number of bytes consumed, or -errno. */
static int parse(const char *buf, u64 len, u64 flags, u64 *value, bool *negative)
{
	char text[TEXT_MAX + 1];
	const char *at, *digits;
	u32 base = flags & BASE_MASK;
	u64 i = 0, n;
	bool overflow = false;

	if (!len || (base && base != 8 && base != 10 && base != 16) || flags & ~(u64)BASE_MASK)
		return -EINVAL;
	while (i < len && is_space(buf[i]))
		i++;
	*negative = i < len && buf[i] == '-';
	i += *negative;
	n = MIN(len - i, (u64)TEXT_MAX);
	if (!n)
		return -EINVAL;
	memcpy(text, buf + i, n);
	text[n] = 0;
	digits = at = skip_prefix(text, &base);
	for (*value = 0; digit(*at) < base; at++) {
		overflow |= __builtin_mul_overflow(*value, (u64)base, value);
		overflow |= __builtin_add_overflow(*value, (u64)digit(*at), value);
	}
	if (overflow)
		return -ERANGE;
	return at == digits ? -EINVAL : (int)(i + (u64)(at - text));
}

HELPER(parse_signed)
{
	bool negative;
	u64 x;
	int n;

	STORE(u64, ptr_of(r4), 0);
	n = parse(ptr_of(r1), r2, r3, &x, &negative);
	if (n < 0)
		return r0_int(n);
	if (negative ? (s64)-x > 0 : (s64)x < 0)
		return r0_int(-ERANGE);
	STORE(u64, ptr_of(r4), negative ? -x : x);
	return n;
}

PROTO(strtol) = {
	.fn = parse_signed,
	.ret = HRET_INTEGER,
	.arg = { HARG_MEM | HARG_RDONLY, HARG_SIZE, HARG_ANYTHING, HARG_LONG_OUT },
};

HELPER(parse_unsigned)
{
	bool negative;
	u64 x;
	int n;

	STORE(u64, ptr_of(r4), 0);
	n = parse(ptr_of(r1), r2, r3, &x, &negative);
	if (n >= 0 && negative)
		return r0_int(-EINVAL);
	if (n >= 0)
		STORE(u64, ptr_of(r4), x);
	return r0_int(n);
}

PROTO(strtoul) = {
	.fn = parse_unsigned,
	.ret = HRET_INTEGER,
	.arg = { HARG_MEM | HARG_RDONLY, HARG_SIZE, HARG_ANYTHING, HARG_LONG_OUT },
};
