/* Building BTF by hand: types are appended one after the other and get ids from 1; blob_end() puts header, types and
 * strings together. Too much is an assertion, these are tests. */
#ifndef BLOB_H
#define BLOB_H
#include "base/types.h"
#include <linux/btf.h>

#define BLOB_WORDS 16384
#define BLOB_STRS 16384

struct blob {
	u32 words[BLOB_WORDS], n_words;
	char strs[BLOB_STRS];
	u32 n_strs, n_types;
	u8 out[sizeof(struct btf_header) + BLOB_WORDS * 4 + BLOB_STRS];
};

static inline void blob_init(struct blob *b)
{
	b->n_words = b->n_types = 0;
	b->n_strs = 1;
	b->strs[0] = 0;
}

/* Offset of a name; 0 for NULL and "". Equal names are stored once. */
static inline u32 blob_str(struct blob *b, const char *s)
{
	size_t n = s ? strlen(s) + 1 : 1;
	u32 off = b->n_strs;

	if (n == 1)
		return 0;
	for (u32 i = 1; i + n <= b->n_strs; i++)
		if (!memcmp(b->strs + i, s, n) && !b->strs[i - 1])
			return i;
	assert(off + n <= BLOB_STRS);
	memcpy(b->strs + off, s, n);
	b->n_strs += n;
	return off;
}

static inline void blob_word(struct blob *b, u32 word)
{
	assert(b->n_words < BLOB_WORDS);
	b->words[b->n_words++] = word;
}

static inline u32 blob_type(struct blob *b, u32 kind, const char *name, u32 vlen, bool kflag, u32 size_or_type)
{
	blob_word(b, blob_str(b, name));
	blob_word(b, (u32)kflag << 31 | kind << 24 | vlen);
	blob_word(b, size_or_type);
	return ++b->n_types;
}

static inline u32 blob_int(struct blob *b, const char *name, u32 size, u32 encoding)
{
	u32 id = blob_type(b, BTF_KIND_INT, name, 0, false, size);

	blob_word(b, encoding << 24 | size * 8);
	return id;
}
/* Old style bit-field: width and offset in the int itself. */
static inline u32 blob_bits(struct blob *b, const char *name, u32 size, u32 encoding, u32 offset, u32 bits)
{
	u32 id = blob_type(b, BTF_KIND_INT, name, 0, false, size);

	blob_word(b, encoding << 24 | offset << 16 | bits);
	return id;
}
static inline u32 blob_ref(struct blob *b, u32 kind, const char *name, u32 to)
{
	return blob_type(b, kind, name, 0, false, to);
}
static inline u32 blob_array(struct blob *b, u32 elem, u32 index, u32 n)
{
	u32 id = blob_type(b, BTF_KIND_ARRAY, NULL, 0, false, 0);

	blob_word(b, elem);
	blob_word(b, index);
	blob_word(b, n);
	return id;
}
/* Parts follow a STRUCT, UNION, ENUM, FUNC_PROTO or DATASEC in as many calls as its vlen says. */
static inline void blob_member(struct blob *b, const char *name, u32 type, u32 bit)
{
	blob_word(b, blob_str(b, name));
	blob_word(b, type);
	blob_word(b, bit);
}
static inline void blob_field(struct blob *b, const char *name, u32 type, u32 bit, u32 width)
{
	blob_member(b, name, type, width << 24 | bit);
}
static inline void blob_enumerator(struct blob *b, const char *name, s32 value)
{
	blob_word(b, blob_str(b, name));
	blob_word(b, value);
}
static inline void blob_enumerator64(struct blob *b, const char *name, u64 value)
{
	blob_word(b, blob_str(b, name));
	blob_word(b, value);
	blob_word(b, value >> 32);
}
static inline void blob_param(struct blob *b, const char *name, u32 type)
{
	blob_word(b, blob_str(b, name));
	blob_word(b, type);
}
static inline u32 blob_var(struct blob *b, const char *name, u32 type, u32 linkage)
{
	u32 id = blob_type(b, BTF_KIND_VAR, name, 0, false, type);

	blob_word(b, linkage);
	return id;
}
static inline void blob_in_section(struct blob *b, u32 var, u32 offset, u32 size)
{
	blob_word(b, var);
	blob_word(b, offset);
	blob_word(b, size);
}
static inline u32 blob_tag(struct blob *b, const char *value, u32 type, s32 component)
{
	u32 id = blob_type(b, BTF_KIND_DECL_TAG, value, 0, false, type);

	blob_word(b, component);
	return id;
}

static inline const void *blob_end(struct blob *b, u32 *size)
{
	struct btf_header h = { .magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(h) };

	h.type_len = h.str_off = b->n_words * 4;
	h.str_len = b->n_strs;
	memcpy(b->out, &h, sizeof(h));
	memcpy(b->out + sizeof(h), b->words, h.type_len);
	memcpy(b->out + sizeof(h) + h.type_len, b->strs, h.str_len);
	*size = sizeof(h) + h.type_len + h.str_len;
	return b->out;
}

#endif
