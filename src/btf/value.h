/* What printing and parsing values share: numbers inside data, whatever their width and place. */
#ifndef BTF_VALUE_H
#define BTF_VALUE_H
#include "types.h"

typedef unsigned __int128 btf_u128;

/* How deep values nest before the rest becomes "..."; accepted BTF may describe types that contain themselves. */
#define BTF_MAX_NESTING 64

enum btf_scalar_kind { SCALAR_NONE, SCALAR_INT, SCALAR_BOOL, SCALAR_CHAR, SCALAR_ENUM, SCALAR_PTR, SCALAR_FLOAT };

struct btf_scalar {
	enum btf_scalar_kind kind;
	bool sign;
	u32 shift;	/* bits into the member: old bit-fields */
	u32 bits;	/* 0 .. 128 */
	u32 id;		/* behind modifiers */
	const struct btf_type *type;
};

/* What the type is as a number; width: of a bit-field, 0 for none. kind SCALAR_NONE: not a number. */
struct btf_scalar btf_scalar_of(const struct btf_types *b, u32 id, u32 width);
/* Bits [bit, bit + n) of data; false when they reach beyond size bytes. */
bool btf_get_bits(const void *data, u32 size, u64 bit, u32 n, btf_u128 *value);
bool btf_put_bits(void *data, u32 size, u64 bit, u32 n, btf_u128 value);
/* The number of elements of an array of char (an integer of 8 bits that is meant as text), else -1. */
s64 btf_text_len(const struct btf_types *b, const struct btf_type *array);

static inline btf_u128 btf_sign_extend(btf_u128 v, u32 bits)
{
	return bits && bits < 128 && v >> (bits - 1) & 1 ? v | ~(btf_u128)0 << bits : v;
}

#endif
