/* Where a C compiler (x86-64 and BPF: the same rules) puts members, so that a struct written as C
 * gets the layout that its BTF says: alignment, whether it must be packed, and the padding that
 * nobody named. */
#include "decl.h"

#define MAX_DEPTH  200
#define ALIGN_BITS 0x1f
#define PACKED	   0x80
#define NAMED_PADDING                                                                              \
	512 /* bits: longer gaps become one array instead of many unnamed bit-fields */

static u32 align_of(struct btf_writer *w, u32 id);

void btf_member_place(const struct btf_types *b, const struct btf_type *t,
		      const struct btf_member *m, u32 *bit, u32 *width)
{
	const struct btf_type *to = btf_skip(b, m->type, NULL);

	*bit = btf_member_bit(t, m);
	*width = btf_member_width(t, m);
	if (btf_is(to, BTF_KIND_INT) && !*width) {
		u32 word = btf_int_word(to);

		*bit += BTF_INT_OFFSET(word);
		if (BTF_INT_BITS(word) < to->size * 8)
			*width = BTF_INT_BITS(word);
	}
}

/* Bits of the storage unit that a bit-field of this type may not cross unless packed. */
static u32 unit_of(const struct btf_types *b, u32 id)
{
	s64 size = btf_size(b, id);

	return size > 0 && size <= 16 ? size * 8 : 8;
}

/* Packed are structs with members where C could not put them otherwise, or whose size isn't a
 * multiple of their alignment. */
static u8 find_layout(struct btf_writer *w, const struct btf_type *t)
{
	bool packed = false;
	u32 most = 1;

	for (u32 i = 0; i < btf_vlen_of(t); i++) {
		const struct btf_member *m = btf_members(t) + i;
		u32 bit, width, align = align_of(w, m->type), unit = unit_of(w->b, m->type);

		btf_member_place(w->b, t, m, &bit, &width);
		if (width ? bit % unit + width > unit : bit % (align * 8) != 0)
			packed = true;
		most = MAX(most, align);
	}
	return packed || t->size % most ? PACKED | 1 : most;
}

static u8 layout_of(struct btf_writer *w, u32 id, const struct btf_type *t)
{
	if (!w->layouts)
		w->layouts = calloc(btf_n_types(w->b), 1);
	if (!w->layouts || w->depth >= MAX_DEPTH)
		return 1;
	if (!w->layouts[id]) {
		w->layouts[id] = 1; /* for a struct that contains itself */
		w->depth++;
		w->layouts[id] = find_layout(w, t);
		w->depth--;
	}
	return w->layouts[id];
}

static u32 align_of(struct btf_writer *w, u32 id)
{
	const struct btf_type *t = btf_skip(w->b, id, &id);

	for (u32 i = 0; btf_is(t, BTF_KIND_ARRAY) && i < 64; i++)
		t = btf_skip(w->b, btf_array_of(t)->type, &id);
	if (btf_is(t, BTF_KIND_PTR))
		return 8;
	if (btf_is_composite(t))
		return layout_of(w, id, t) & ALIGN_BITS;
	if (!btf_is(t, BTF_KIND_INT) && !btf_is(t, BTF_KIND_FLOAT) && !btf_is_any_enum(t))
		return 1;
	if (t->size == 12)
		return 4;
	return t->size && !(t->size & (t->size - 1)) && t->size <= 16 ? t->size : 1;
}

bool btf_is_packed(struct btf_writer *w, u32 id)
{
	return layout_of(w, id, btf_type(w->b, id)) & PACKED;
}

static void indent(struct btf_writer *w)
{
	for (u32 i = 0; i < w->indent; i++)
		btf_write(w, "\t");
}

/* Unnamed bit-fields from pos up to bit. Each lies in one unit of its type, and none changes the
 * struct's alignment. */
static void fill(struct btf_writer *w, struct btf_layout *l, u32 bit)
{
	static const struct {
		u32 bits;
		const char *type;
	} units[] = {{64, "long long"}, {32, "int"}, {16, "short"}, {8, "char"}};

	while (l->pos < bit && w->left) {
		u32 gap = bit - l->pos, i = 0, bits;

		w->left--;
		indent(w);
		if (!(l->pos & 7) && gap >= NAMED_PADDING) {
			btf_write(w, "unsigned char _pad%u[%u];\n", l->pos / 8, gap / 8);
			l->pos += gap & ~7u;
			continue;
		}
		while (i < 3 && (l->pos % units[i].bits || gap < units[i].bits))
			i++;
		bits = MIN(gap, units[i].bits - l->pos % units[i].bits);
		btf_write(w, "%s : %u;\n", units[i].type, bits);
		l->pos += bits;
	}
}

static u32 round_up(u32 bit, u32 unit)
{
	return bit % unit ? bit + unit - bit % unit : bit;
}

void btf_write_gap(struct btf_writer *w, struct btf_layout *l, u32 member_id, u32 bit, u32 width)
{
	u32 natural = l->pos, unit = unit_of(w->b, member_id);

	if (!width)
		natural = round_up(l->pos, l->packed ? 8 : align_of(w, member_id) * 8);
	else if (!l->packed && l->pos % unit + width > unit)
		natural = round_up(l->pos, unit);
	if (natural < bit)
		fill(w, l, bit);
}

void btf_write_tail(struct btf_writer *w, struct btf_layout *l, u32 id)
{
	const struct btf_type *t = btf_type(w->b, id);
	u32 align = layout_of(w, id, t) & ALIGN_BITS,
	    end = t->size < UINT32_MAX / 8 ? t->size * 8 : 0;

	if (round_up(l->pos, align * 8) >= end)
		return;
	if (btf_is(t, BTF_KIND_STRUCT)) {
		fill(w, l, end);
	} else {
		indent(w);
		btf_write(w, "unsigned char _pad[%u];\n", t->size);
	}
}
