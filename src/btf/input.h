/* Reading a value from text: the reader and the literals it knows. */
#ifndef BTF_INPUT_H
#define BTF_INPUT_H
#include "value.h"

struct btf_reader {
	const struct btf_types *b;
	const char *start, *at;	/* NUL-terminated text and where we are in it */
	u8 *data;
	u32 size;
	struct log *err;
	u32 depth;
	u32 searched;	/* members looked at for names; bounded */
};

/* One sentence, with the place; returns -EINVAL. */
int btf_read_fail(struct btf_reader *r, const char *fmt, ...) PRINTF(2, 3);
/* What the next characters are: spaces are skipped first. */
char btf_read_peek(struct btf_reader *r);
/* Take the character if it is next. */
bool btf_read_take(struct btf_reader *r, char c);
/* A name; NULL: none, and nothing is taken. Into name, cut at its size. */
bool btf_read_word(struct btf_reader *r, char *name, size_t size);

/* literal.c */
int btf_read_scalar(struct btf_reader *r, const struct btf_scalar *s, u64 bit);
/* A string in double quotes into `max` bytes, the rest of them zero; *len may be NULL. */
int btf_read_text(struct btf_reader *r, void *to, u32 max, u32 *len);
/* 10.0.0.1, 2001:db8::1 or aa:bb:cc:dd:ee:ff if such stands here and the value has 4, 16 or 6 bytes: 1, else 0. */
int btf_read_address(struct btf_reader *r, u64 bit, u32 bytes);

#endif
