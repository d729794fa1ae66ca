/* Pass two, for one member whose type is done: does it fit into the struct, is it where such a type
 * can be?
 *
 * Without the struct's kind flag a bit-field is written into its int (width and offset there); with
 * it, into the member's own offset word. The unsigned subtractions below wrap as the kernel's do.
 */
#include "check.h"

/* Width and position of a whole number of bits within struct_size bytes. */
static const char *fits_bits(const struct btf_type *t, u32 bit, u32 width)
{
	u32 copy = width + (bit & 7), bytes = copy / 8 + !!(copy & 7);

	if (copy > 128)
		return "nr_copy_bits exceeds 128";
	if (t->size < bit / 8 || t->size - bit / 8 < bytes)
		return "Member exceeds struct_size";
	return NULL;
}

static const char *fits_bytes(const struct btf_type *t, u32 bit, u32 bytes)
{
	if (bit & 7)
		return "Member is not byte aligned";
	return t->size - bit / 8 < bytes ? "Member exceeds struct_size" : NULL;
}

static const char *fits_int(const struct btf_type *t, const struct btf_member *m,
			    const struct btf_type *to)
{
	u32 word = btf_int_word(to), bit = btf_member_bit(t, m), width = btf_member_width(t, m);

	if (!btf_kflag(t)) {
		if (UINT32_MAX - bit < BTF_INT_OFFSET(word))
			return "bits_offset exceeds U32_MAX";
		return fits_bits(t, bit + BTF_INT_OFFSET(word), BTF_INT_BITS(word));
	}
	if (!btf_int_is_regular(to))
		return "Invalid member base type";
	if (!width && bit & 7)
		return "Invalid member offset";
	if (width > BTF_INT_BITS(word))
		return "Invalid member bitfield_size";
	return fits_bits(t, bit, width ? width : BTF_INT_BITS(word));
}

static const char *fits_enum(const struct btf_type *t, const struct btf_member *m,
			     const struct btf_type *to)
{
	u32 bit = btf_member_bit(t, m), width = btf_member_width(t, m), end;

	if (!btf_kflag(t))
		return fits_bytes(t, bit, to->size);
	if (!width && bit & 7)
		return "Member is not byte aligned";
	if (width > 32)
		return "Invalid member bitfield_size";
	/* with the kind flag an enum counts as an int, whatever its size */
	end = bit + (width ? width : 32);
	return t->size < end / 8 + !!(end & 7) ? "Member exceeds struct_size" : NULL;
}

static const char *fits_float(const struct btf_type *t, u32 bit, u32 bytes)
{
	if (bit % (MIN(bytes, 8u) * 8))
		return "Member is not properly aligned";
	return (u64)bit / 8 + bytes > t->size ? "Member exceeds struct_size" : NULL;
}

static const char *fits(const struct btf_type *t, const struct btf_member *m,
			const struct btf_type *to, u32 size)
{
	switch (btf_kind_of(to)) {
	case BTF_KIND_INT:
		return fits_int(t, m, to);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return fits_enum(t, m, to);
	}
	if (btf_member_width(t, m))
		return "Invalid member bitfield_size";
	if (btf_is(to, BTF_KIND_FLOAT))
		return fits_float(t, m->offset, size);
	return fits_bytes(t, m->offset, size);
}

int btf_check_member(struct btf_check *c, const struct btf_type *t, const struct btf_member *m)
{
	struct btf_member said = *m; /* the log names the type that counts */
	const struct btf_type *to;
	const char *why = "Invalid member";
	u32 size = 0;

	to = btf_sized(c, &said.type, &size);
	if (to)
		why = fits(t, m, to, size);
	if (!why)
		return 0;
	btf_say_member(c, t, &said, "%s", why);
	return -EINVAL;
}
