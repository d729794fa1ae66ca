/* What the files of btf share: the parsed table of types, the table of kinds and typed views of what follows a type.
 *
 * Nothing here trusts references: an id may name no type, a chain may be long and, in kernel or split BTF whose
 * references nobody checked, may even loop. Only the shape of each type (its bytes lie in the section, its name
 * is a string) is guaranteed after parsing. */
#ifndef BTF_TYPES_H
#define BTF_TYPES_H
#include "btf.h"

enum {
	KIND_SIZED = 1,
	KIND_MODIFIER = 2,
	KIND_REFERS = 4,
	KIND_TOP = 8,
	KIND_NOSIZE = 16,
};

struct btf_kind {
	const char *name;
	u8 fixed, each; /* bytes after struct btf_type: always, and per part (member, enumerator, parameter) */
	u8 traits;
};
extern const struct btf_kind btf_kinds[32]; /* all that five bits can say; unknown ones have no name */

struct btf_types {
	struct obj obj;
	const struct btf_types *base;	/* NULL: stand-alone; otherwise referenced through base_ref */
	struct btf_types *base_ref;
	u32 first_id;			/* base's number of types; 0 stand-alone, where id 0 is void */
	u32 first_str;			/* base's string bytes */
	u32 n;				/* types of its own, void included when stand-alone */
	u32 size;			/* bytes of raw */
	void *mem;			/* owner of raw */
	u8 *raw;			/* the blob, placed so that the type section is aligned to 4 */
	struct btf_header hdr;
	const u8 *types;		/* type section */
	const char *strs;		/* string section of hdr.str_len bytes, NUL at the end */
	u32 *offs;			/* [n] where each type stands in the type section; void: unused */
	u32 *skip;			/* [n] the id behind modifiers; a modifier's own if they run in a circle */
	u32 *bucket, *next;		/* names: [mask + 1] heads and [n] links, local index + 1, ascending ids */
	u32 mask;
};

#define BTF_MAX_BYTES (16 * 1024 * 1024)

static inline u32 btf_traits(const struct btf_type *t)
{
	return btf_kinds[btf_kind_of(t)].traits;
}
static inline bool btf_is(const struct btf_type *t, u32 kind)
{
	return t && btf_kind_of(t) == kind;
}
static inline bool btf_kflag(const struct btf_type *t)
{
	return BTF_INFO_KFLAG(t->info);
}
static inline bool btf_is_composite(const struct btf_type *t)
{
	return btf_is(t, BTF_KIND_STRUCT) || btf_is(t, BTF_KIND_UNION);
}
static inline bool btf_is_any_enum(const struct btf_type *t)
{
	return btf_is(t, BTF_KIND_ENUM) || btf_is(t, BTF_KIND_ENUM64);
}

/* What follows a type of the kind in question. */
static inline const struct btf_member *btf_members(const struct btf_type *t)
{
	return (const struct btf_member *)(t + 1);
}
static inline const struct btf_array *btf_array_of(const struct btf_type *t)
{
	return (const struct btf_array *)(t + 1);
}
static inline const struct btf_enum *btf_enums(const struct btf_type *t)
{
	return (const struct btf_enum *)(t + 1);
}
static inline const struct btf_enum64 *btf_enums64(const struct btf_type *t)
{
	return (const struct btf_enum64 *)(t + 1);
}
static inline const struct btf_param *btf_params(const struct btf_type *t)
{
	return (const struct btf_param *)(t + 1);
}
static inline const struct btf_var_secinfo *btf_secinfos(const struct btf_type *t)
{
	return (const struct btf_var_secinfo *)(t + 1);
}
static inline u32 btf_int_word(const struct btf_type *t)
{
	return *(const u32 *)(t + 1);
}
static inline s32 btf_tag_component(const struct btf_type *t)
{
	return *(const s32 *)(t + 1);
}
static inline u32 btf_var_linkage(const struct btf_type *t)
{
	return *(const u32 *)(t + 1);
}

/* Where a member lies: bits from the start of the struct, and the width of a bit-field (0: not one). */
static inline u32 btf_member_bit(const struct btf_type *t, const struct btf_member *m)
{
	return btf_kflag(t) ? BTF_MEMBER_BIT_OFFSET(m->offset) : m->offset;
}
static inline u32 btf_member_width(const struct btf_type *t, const struct btf_member *m)
{
	return btf_kflag(t) ? BTF_MEMBER_BITFIELD_SIZE(m->offset) : 0;
}

/* Value (sign-extended if the enum is signed) and name of enumerator i of either kind of enum. */
static inline u64 btf_enum_value(const struct btf_type *t, u32 i)
{
	if (btf_kind_of(t) == BTF_KIND_ENUM64)
		return (u64)btf_enums64(t)[i].val_hi32 << 32 | btf_enums64(t)[i].val_lo32;
	return btf_kflag(t) ? (u64)(s64)btf_enums(t)[i].val : (u32)btf_enums(t)[i].val;
}
static inline u32 btf_enum_name(const struct btf_type *t, u32 i)
{
	return btf_kind_of(t) == BTF_KIND_ENUM64 ? btf_enums64(t)[i].name_off : btf_enums(t)[i].name_off;
}

/* Whole bytes, not a bit-field of the old encoding (width or offset in the int itself). */
static inline bool btf_int_is_regular(const struct btf_type *t)
{
	u32 word = btf_int_word(t), bits = BTF_INT_BITS(word), bytes = bits / 8;

	return !(bits & 7) && !BTF_INT_OFFSET(word) && bytes && bytes <= 16 && !(bytes & (bytes - 1));
}

/* lookup.c: names and skipped modifiers, built once the offsets of all types are known; 0 or -ENOMEM */
int btf_index(struct btf_types *b);
#endif
