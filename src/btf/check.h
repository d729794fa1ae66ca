/* The passes of btf_parse over untrusted types, in the order they run: shapes, references (with members), tags, fields. */
#ifndef BTF_CHECK_H
#define BTF_CHECK_H
#include "types.h"

struct btf_check {
	struct btf_types *b;
	struct log *log; /* NULL: say nothing */
	u32 at;		 /* id that log lines begin with */
	bool resolving;	 /* pass two: a complaint about a part first repeats its type */
	/* pass two, see resolve.c */
	u8 *seen;	 /* [n] not visited, on the path, done */
	u32 *resolved;	 /* [n] what a done reference means */
	u32 *sizes;	 /* [n] bytes of a done array */
};

int btf_check_shapes(struct btf_check *c);     /* shape.c: each type by itself */
bool btf_is_identifier(const struct btf_types *b, u32 off);
int btf_check_references(struct btf_check *c); /* resolve.c */
int btf_check_member(struct btf_check *c, const struct btf_type *t, const struct btf_member *m); /* member.c */
int btf_check_tags(struct btf_check *c);       /* field.c: type tags stand outside other modifiers */
int btf_check_fields(const struct btf_types *b); /* field.c: locks, lists, trees and kernel pointers */

/* resolve.c: the type with a size that *id means as far as known now, its id and its size; NULL: none */
const struct btf_type *btf_sized(const struct btf_check *c, u32 *id, u32 *size);

/* say.c: one line each; why NULL: no reason, the type is only listed */
void btf_say(const struct btf_check *c, const char *fmt, ...) PRINTF(2, 3);
void btf_say_type(const struct btf_check *c, const struct btf_type *t, const char *why, ...) PRINTF(3, 4);
void btf_say_kind(const struct btf_check *c, const struct btf_type *t, const char *why, ...) PRINTF(3, 4);
void btf_say_member(const struct btf_check *c, const struct btf_type *t, const struct btf_member *m, const char *why,
		    ...) PRINTF(4, 5);
void btf_say_var(const struct btf_check *c, const struct btf_type *t, const struct btf_var_secinfo *v, const char *why);
const char *btf_say_name(const struct btf_types *b, u32 off); /* for logs: never NULL */

#endif
