/* Writing types as C: one writer for single declarations and for the dump of all types. */
#ifndef BTF_DECL_H
#define BTF_DECL_H
#include "types.h"

struct btf_names; /* names.c: which names are taken twice */

struct btf_writer {
	struct log *out;
	const struct btf_types *b;
	const struct btf_names *names; /* NULL: a single declaration, every name as it is */
	u8 *enums;		       /* [ids] anonymous enums already written, in a dump */
	u8 *layouts;		       /* [ids] what layout.c found out, made when first needed */
	u32 indent, depth;
	u64 left;		       /* members, parameters and enumerators that may still be written */
};

/* decl.c */
void btf_write(struct btf_writer *w, const char *fmt, ...) PRINTF(2, 3);
void btf_write_decl(struct btf_writer *w, u32 id, const char *name);
void btf_write_body(struct btf_writer *w, u32 id); /* "{...}" of a struct, union or enum, attributes behind it */
void btf_write_name(struct btf_writer *w, const char *name, u32 version);
const char *btf_tag_word(const struct btf_type *t); /* "struct", "union", "enum" */

/* number.c: names of numbers. True: made of C's own words; and what C calls a number of the size, for other names. */
bool btf_is_c_number(const struct btf_types *b, const struct btf_type *t);
const char *btf_plain_number(const struct btf_type *t);

/* layout.c */
struct btf_layout {
	u32 pos; /* first free bit */
	bool packed;
};
bool btf_is_packed(struct btf_writer *w, u32 id);
/* Place and width of a member as C has to say it, old bit-fields included; width 0: no bit-field. */
void btf_member_place(const struct btf_types *b, const struct btf_type *t, const struct btf_member *m, u32 *bit, u32 *width);
/* Padding before a member at `bit`, if C by itself would put it elsewhere; after the last one of the struct id. */
void btf_write_gap(struct btf_writer *w, struct btf_layout *l, u32 member_id, u32 bit, u32 width);
void btf_write_tail(struct btf_writer *w, struct btf_layout *l, u32 id);

/* names.c: later types and enumerators of a name that an earlier one has get ___2, ___3 behind it */
struct btf_names *btf_names_new(const struct btf_types *b);
void btf_names_free(struct btf_names *n);
u32 btf_names_version(const struct btf_names *n, u32 id); /* 0: the name as it is; n may be NULL */
u32 btf_names_enum_version(const struct btf_names *n, u32 id, u32 i);

#endif
