/* Reading one line of assembler text: see scan.h. */
#include "scan.h"
#include <ctype.h>

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

struct scan isa_scan_line(const char *text, size_t len)
{
	const char *end = text + len;

	/* '#' also stands inside "call bpf_x#1", so a comment needs a blank or the line's start
	 * before it */
	for (const char *p = text; p < end; p++)
		if ((*p == ';' || *p == '#') && (p == text || isspace((unsigned char)p[-1])))
			end = p;
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	return (struct scan){text, end};
}

static void skip_blanks(struct scan *s)
{
	while (s->p < s->end && isspace((unsigned char)*s->p))
		s->p++;
}

bool isa_scan_end(struct scan *s)
{
	skip_blanks(s);
	return s->p == s->end;
}

bool isa_scan_is(struct scan *s, const char *text)
{
	size_t len = strlen(text);

	skip_blanks(s);
	if ((size_t)(s->end - s->p) < len || memcmp(s->p, text, len))
		return false;
	if (word_char(text[len - 1]) && s->p + len < s->end && word_char(s->p[len]))
		return false;
	s->p += len;
	return true;
}

bool isa_scan_word(struct scan *s, const char **word, u32 *len)
{
	const char *p;

	skip_blanks(s);
	if (s->p == s->end || !word_char(*s->p) || isdigit((unsigned char)*s->p))
		return false;
	for (p = s->p; p < s->end && word_char(*p); p++)
		;
	*word = s->p;
	*len = p - s->p;
	s->p = p;
	return true;
}

bool isa_scan_reg(struct scan *s, char *kind, u8 *reg)
{
	struct scan try = *s;
	const char *w;
	u32 len, n;

	if (!isa_scan_word(&try, &w, &len) || (*w != 'r' && *w != 'w') || len < 2 || len > 3)
		return false;
	for (u32 i = 1; i < len; i++)
		if (!isdigit((unsigned char)w[i]))
			return false;
	n = len == 2 ? w[1] - '0' : (w[1] - '0') * 10 + (w[2] - '0');
	if (n > 10 || (len == 3 && w[1] == '0'))
		return false;
	*kind = *w;
	*reg = n;
	*s = try;
	return true;
}

bool isa_scan_number(struct scan *s, s64 *value, bool *hex)
{
	struct scan try = *s;
	bool minus, plus;
	u64 v = 0, base = 10;
	u32 digits = 0;

	minus = isa_scan_is(&try, "-");
	plus = !minus && isa_scan_is(&try, "+");
	if (minus || plus)
		skip_blanks(&try);
	skip_blanks(&try);
	if (try.end - try.p > 2 && try.p[0] == '0' && (try.p[1] | 32) == 'x') {
		base = 16;
		try.p += 2;
	}
	for (; try.p < try.end && isxdigit((unsigned char)*try.p); try.p++, digits++) {
		u32 d = isdigit((unsigned char)*try.p) ? *try.p - '0' : (*try.p | 32) - 'a' + 10;

		if (d >= base || v > (UINT64_MAX - d) / base)
			return false;
		v = v * base + d;
	}
	if (!digits || (try.p < try.end && word_char(*try.p)))
		return false;
	if (base == 10 && v > (u64)INT64_MAX + minus)
		return false;
	*value = minus ? -v : v;
	*hex = base == 16;
	*s = try;
	return true;
}

bool isa_scan_imm(struct scan *s, s32 *imm)
{
	struct scan try = *s;
	bool hex;
	s64 v;

	if (!isa_scan_number(&try, &v, &hex) || v < INT32_MIN ||
	    v > (hex ? (s64)UINT32_MAX : INT32_MAX))
		return false;
	*imm = (s32)(u32)v;
	*s = try;
	return true;
}

bool isa_scan_mem(struct scan *s, u8 *reg, s16 *off)
{
	struct scan try = *s;
	bool hex;
	char kind;
	s64 v = 0;

	if (!isa_scan_is(&try, "(") || !isa_scan_reg(&try, &kind, reg) || kind != 'r')
		return false;
	if (!isa_scan_is(&try, ")")) {
		if (!isa_scan_number(&try, &v, &hex) || v < INT16_MIN || v > INT16_MAX ||
		    !isa_scan_is(&try, ")"))
			return false;
	}
	*off = v;
	*s = try;
	return true;
}

bool isa_scan_size(struct scan *s, u8 *size, bool *is_signed)
{
	static const struct {
		const char *name;
		u8 size;
	} names[] = {{"8", BPF_B}, {"16", BPF_H}, {"32", BPF_W}, {"64", BPF_DW}};
	struct scan try = *s;
	const char *w;
	u32 len;

	if (!isa_scan_is(&try, "(") || !isa_scan_word(&try, &w, &len) || (*w != 'u' && *w != 's'))
		return false;
	if (!isa_scan_is(&try, "*") || !isa_scan_is(&try, ")"))
		return false;
	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i].name) != len - 1 || memcmp(names[i].name, w + 1, len - 1))
			continue;
		*size = names[i].size;
		*is_signed = *w == 's';
		*s = try;
		return true;
	}
	return false;
}
