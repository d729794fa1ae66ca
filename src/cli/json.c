/* Writing one JSON document as it comes (RFC 8259). Bytes that are no UTF-8 are written as U+FFFD. */
#include "cli.h"

static void begin(struct json *j, const char *key)
{
	if (j->comma)
		fputc(',', j->out);
	if (j->depth)
		fprintf(j->out, "\n%*s", (int)j->depth, "");
	j->comma = true;
	if (key)
		fprintf(j->out, "\"%s\": ", key);
}

void json_open(struct json *j, const char *key, char bracket)
{
	begin(j, key);
	fputc(bracket, j->out);
	j->depth++;
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	j->depth--;
	if (j->comma)
		fprintf(j->out, "\n%*s", (int)j->depth, "");
	fputc(bracket, j->out);
	j->comma = true;
	if (!j->depth)
		fputc('\n', j->out);
}

/* Length of the well-formed UTF-8 sequence at s (1 for ASCII); 0: none. */
static u32 utf8(const unsigned char *s, size_t left)
{
	static const struct { u8 lead, mask, len; u32 min; } form[] = {
		{ 0x00, 0x80, 1, 0 }, { 0xc0, 0xe0, 2, 0x80 }, { 0xe0, 0xf0, 3, 0x800 }, { 0xf0, 0xf8, 4, 0x10000 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(form); i++) {
		u32 c = *s & ~form[i].mask;

		if ((*s & form[i].mask) != form[i].lead)
			continue;
		if (left < form[i].len)
			return 0;
		for (u32 k = 1; k < form[i].len; k++) {
			if ((s[k] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (s[k] & 0x3f);
		}
		return c >= form[i].min && c < 0x110000 && (c & ~0x7ff) != 0xd800 ? form[i].len : 0;
	}
	return 0;
}

void json_string(struct json *j, const char *key, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;

	begin(j, key);
	fputc('"', j->out);
	for (size_t i = 0; i < len;) {
		u32 n = utf8(s + i, len - i);

		if (!n)
			fputs("\\ufffd", j->out);
		else if (s[i] == '"' || s[i] == '\\')
			fprintf(j->out, "\\%c", s[i]);
		else if (s[i] < 0x20)
			fprintf(j->out, "\\u%04x", s[i]);
		else
			fwrite(s + i, 1, n, j->out);
		i += n ? n : 1;
	}
	fputc('"', j->out);
}

void json_number(struct json *j, const char *key, u64 n)
{
	begin(j, key);
	fprintf(j->out, "%llu", (unsigned long long)n);
}

void json_raw(struct json *j, const char *key, const char *text)
{
	begin(j, key);
	fputs(text, j->out);
}
