/* Numbers inside data: which types are numbers, and bits read and written at any place (little
 * endian, as BPF here). */
#include "value.h"

static bool is_char(const struct btf_types *b, const struct btf_type *t)
{
	const char *name = btf_str(b, t->name_off);

	if (!btf_is(t, BTF_KIND_INT) || t->size != 1 || !btf_int_is_regular(t))
		return false;
	return BTF_INT_ENCODING(btf_int_word(t)) & BTF_INT_CHAR || (name && !strcmp(name, "char"));
}

static void describe_int(const struct btf_types *b, struct btf_scalar *s)
{
	u32 word = btf_int_word(s->type);

	s->kind = SCALAR_INT;
	s->sign = BTF_INT_ENCODING(word) & BTF_INT_SIGNED;
	s->shift = BTF_INT_OFFSET(word);
	s->bits = BTF_INT_BITS(word);
	if (BTF_INT_ENCODING(word) & BTF_INT_BOOL)
		s->kind = SCALAR_BOOL;
	else if (is_char(b, s->type))
		s->kind = SCALAR_CHAR;
}

struct btf_scalar btf_scalar_of(const struct btf_types *b, u32 id, u32 width)
{
	struct btf_scalar s = {.id = id, .type = btf_skip(b, id, &s.id)};

	if (!s.type || width > 128)
		return s;
	switch (btf_kind_of(s.type)) {
	case BTF_KIND_INT:
		describe_int(b, &s);
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		s.kind = SCALAR_ENUM;
		s.sign = btf_kflag(s.type);
		s.bits = s.type->size * 8;
		break;
	case BTF_KIND_PTR:
		s.kind = SCALAR_PTR;
		s.bits = 64;
		break;
	case BTF_KIND_FLOAT:
		s.kind = SCALAR_FLOAT;
		s.bits = s.type->size * 8;
		break;
	}
	if (width && s.kind) {
		s.bits = width;
		s.shift = 0;
	}
	return s;
}

s64 btf_text_len(const struct btf_types *b, const struct btf_type *array)
{
	const struct btf_type *elem = btf_skip(b, btf_array_of(array)->type, NULL);

	return elem && is_char(b, elem) ? (s64)btf_array_of(array)->nelems : -1;
}

bool btf_get_bits(const void *data, u32 size, u64 bit, u32 n, btf_u128 *value)
{
	const u8 *from = data;
	u32 shift = bit % 8, bytes = (shift + n + 7) / 8;
	btf_u128 v = 0;

	if ((bit + n + 7) / 8 > size)
		return false;
	from += bit / 8;
	for (u32 i = 0; i < bytes && i < 16; i++)
		v |= (btf_u128)from[i] << (8 * i);
	v >>= shift;
	if (bytes == 17)
		v |= (btf_u128)from[16] << (128 - shift);
	*value = n < 128 ? v & (((btf_u128)1 << n) - 1) : v;
	return true;
}

bool btf_put_bits(void *data, u32 size, u64 bit, u32 n, btf_u128 value)
{
	u8 *to = data;

	if ((bit + n + 7) / 8 > size)
		return false;
	while (n) {
		u32 shift = bit % 8, take = MIN(n, 8 - shift);
		u8 mask = ((1u << take) - 1) << shift;

		to[bit / 8] = (to[bit / 8] & ~mask) | ((u8)(value << shift) & mask);
		value >>= take;
		bit += take;
		n -= take;
	}
	return true;
}
