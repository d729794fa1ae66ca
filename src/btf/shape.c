/* Pass one over the types: each by itself. Are its bytes inside the section, its name a name, its
 * numbers possible? References are only compared with the largest id there can be; what they mean
 * is pass two's business.
 *
 * A kind's check returns the reason why it is refused, or NULL; the caller says it, in the line
 * that lists the type. */
#include "check.h"

#define MAX_TYPES  BTF_MAX_TYPE /* ids below this */
#define INFO_BITS  0x9f00ffffu	/* kind flag, kind, vlen */
#define INT_BITS   0x0fffffffu
#define NAME_BYTES 512 /* KSYM_NAME_LEN */

/* The kernel's ctype is Latin-1's, whatever the locale. */
static bool is_letter(u8 c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= 0xc0 && c != 0xd7 && c != 0xf7);
}
static bool is_print(u8 c)
{
	return (c >= 0x20 && c < 0x7f) || c >= 0xa0;
}

/* C identifier, with dots allowed (compilers put them into the names of clones). */
bool btf_is_identifier(const struct btf_types *b, u32 off)
{
	const char *s = btf_str(b, off);
	size_t n = s ? strnlen(s, NAME_BYTES + 1) : 0;

	if (!n || n > NAME_BYTES || (s[0] >= '0' && s[0] <= '9'))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_letter(s[i]) && !(s[i] >= '0' && s[i] <= '9') && s[i] != '_' && s[i] != '.')
			return false;
	return true;
}

static bool is_section(const struct btf_check *c, u32 off)
{
	const char *s = btf_str(c->b, off);
	size_t n = s ? strnlen(s, NAME_BYTES + 1) : 0;

	for (size_t i = 0; i < n; i++)
		if (!is_print(s[i]))
			return false;
	return n && n <= NAME_BYTES;
}

static bool is_string(const struct btf_check *c, u32 off)
{
	return off <= BTF_MAX_NAME_OFFSET && btf_str(c->b, off);
}
static bool has_text(const struct btf_check *c, u32 off)
{
	const char *s = btf_str(c->b, off);

	return s && *s;
}
static bool is_named(const struct btf_check *c, u32 off)
{
	return off && btf_is_identifier(c->b, off);
}
static bool is_id(u32 id)
{
	return id <= BTF_MAX_TYPE;
}

/* Two reasons are told apart by address: one is said without details, one has its own errno. */
static const char bad_int_word[] = "Invalid int_data", bad_encoding[] = "Unsupported encoding";

static const char *int_shape(const struct btf_check *c, const struct btf_type *t)
{
	u32 word = btf_int_word(t), bits = BTF_INT_BITS(word) + BTF_INT_OFFSET(word);

	if (btf_vlen_of(t))
		return "vlen != 0";
	if (btf_kflag(t))
		return "Invalid btf_info kind_flag";
	if (word & ~INT_BITS)
		return bad_int_word;
	if (bits > 128)
		return "nr_bits exceeds 128";
	if ((bits + 7) / 8 > t->size)
		return "nr_bits exceeds type_size";
	if (BTF_INT_ENCODING(word) & (BTF_INT_ENCODING(word) - 1) ||
	    BTF_INT_ENCODING(word) > BTF_INT_BOOL)
		return bad_encoding;
	return NULL;
}

static const char *ref_shape(const struct btf_check *c, const struct btf_type *t)
{
	u32 kind = btf_kind_of(t);
	bool name_ok = !t->name_off;

	if (btf_vlen_of(t))
		return "vlen != 0";
	if (btf_kflag(t) && kind != BTF_KIND_TYPE_TAG)
		return "Invalid btf_info kind_flag";
	if (!is_id(t->type))
		return "Invalid type_id";
	if (kind == BTF_KIND_TYPEDEF)
		name_ok = is_named(c, t->name_off);
	else if (kind == BTF_KIND_TYPE_TAG)
		name_ok = has_text(c, t->name_off);
	return name_ok ? NULL : "Invalid name";
}

static const char *array_shape(const struct btf_check *c, const struct btf_type *t)
{
	const struct btf_array *a = btf_array_of(t);

	if (t->name_off)
		return "Invalid name";
	if (btf_vlen_of(t))
		return "vlen != 0";
	if (btf_kflag(t))
		return "Invalid btf_info kind_flag";
	if (t->size)
		return "size != 0";
	if (!a->type || !is_id(a->type))
		return "Invalid elem";
	if (!a->index_type || !is_id(a->index_type))
		return "Invalid index";
	return NULL;
}

static const char *struct_shape(const struct btf_check *c, const struct btf_type *t)
{
	return t->name_off && !btf_is_identifier(c->b, t->name_off) ? "Invalid name" : NULL;
}

static const char *enum_shape(const struct btf_check *c, const struct btf_type *t)
{
	if (t->size > 8 || !t->size || t->size & (t->size - 1))
		return "Unexpected size";
	return struct_shape(c, t);
}

static const char *fwd_shape(const struct btf_check *c, const struct btf_type *t)
{
	if (btf_vlen_of(t))
		return "vlen != 0";
	if (t->type)
		return "type != 0";
	return is_named(c, t->name_off) ? NULL : "Invalid name";
}

static const char *func_shape(const struct btf_check *c, const struct btf_type *t)
{
	if (!is_named(c, t->name_off))
		return "Invalid name";
	if (btf_vlen_of(t) > BTF_FUNC_GLOBAL)
		return "Invalid func linkage";
	return btf_kflag(t) ? "Invalid btf_info kind_flag" : NULL;
}

static const char *proto_shape(const struct btf_check *c, const struct btf_type *t)
{
	if (t->name_off)
		return "Invalid name";
	return btf_kflag(t) ? "Invalid btf_info kind_flag" : NULL;
}

static const char *var_shape(const struct btf_check *c, const struct btf_type *t)
{
	if (btf_vlen_of(t))
		return "vlen != 0";
	if (btf_kflag(t))
		return "Invalid btf_info kind_flag";
	if (!is_named(c, t->name_off))
		return "Invalid name";
	if (!t->type || !is_id(t->type))
		return "Invalid type_id";
	return btf_var_linkage(t) > BTF_VAR_GLOBAL_ALLOCATED ? "Linkage not supported" : NULL;
}

static const char *datasec_shape(const struct btf_check *c, const struct btf_type *t)
{
	if (!t->size)
		return "size == 0";
	if (btf_kflag(t))
		return "Invalid btf_info kind_flag";
	return t->name_off && is_section(c, t->name_off) ? NULL : "Invalid name";
}

static const char *float_shape(const struct btf_check *c, const struct btf_type *t)
{
	if (btf_vlen_of(t))
		return "vlen != 0";
	if (btf_kflag(t))
		return "Invalid btf_info kind_flag";
	if (t->size != 2 && t->size != 4 && t->size != 8 && t->size != 12 && t->size != 16)
		return "Invalid type_size";
	return NULL;
}

static const char *tag_shape(const struct btf_check *c, const struct btf_type *t)
{
	if (!has_text(c, t->name_off))
		return "Invalid value";
	if (btf_vlen_of(t))
		return "vlen != 0";
	return btf_tag_component(t) < -1 ? "Invalid component_idx" : NULL;
}

/* Parts: members, enumerators, variables of a section. They are listed, and refused, one by one. */

static int struct_parts(const struct btf_check *c, const struct btf_type *t)
{
	u32 last = 0;

	for (u32 i = 0; i < btf_vlen_of(t); i++) {
		const struct btf_member *m = btf_members(t) + i;
		u32 bit = btf_member_bit(t, m);
		const char *why = NULL;

		if (!is_string(c, m->name_off)) {
			btf_say_member(c, t, m, "Invalid member name_offset:%u", m->name_off);
			return -EINVAL;
		}
		if (m->name_off && !btf_is_identifier(c->b, m->name_off))
			why = "Invalid name";
		else if (!m->type || !is_id(m->type))
			why = "Invalid type_id";
		else if ((bit && btf_is(t, BTF_KIND_UNION)) || bit < last)
			why = "Invalid member bits_offset";
		else if (bit / 8 + !!(bit & 7) > t->size)
			why = "Member bits_offset exceeds its struct size";
		if (why) {
			btf_say_member(c, t, m, "%s", why);
			return -EINVAL;
		}
		btf_say_member(c, t, m, NULL);
		last = bit;
	}
	return 0;
}

static int enum_parts(const struct btf_check *c, const struct btf_type *t)
{
	for (u32 i = 0; i < btf_vlen_of(t); i++) {
		u32 name = btf_enum_name(t, i);
		u64 value = btf_enum_value(t, i);

		if (!is_string(c, name)) {
			btf_say(c, "\tInvalid name_offset:%u", name);
			return -EINVAL;
		}
		if (!is_named(c, name)) {
			btf_say_type(c, t, "Invalid name");
			return -EINVAL;
		}
		if (!c->log)
			continue;
		if (btf_kflag(t))
			btf_say(c, "\t%s val=%lld\n", btf_str(c->b, name), (long long)value);
		else
			btf_say(c, "\t%s val=%llu\n", btf_str(c->b, name),
				(unsigned long long)value);
	}
	return 0;
}

static int datasec_parts(const struct btf_check *c, const struct btf_type *t)
{
	u64 sum = 0;
	u32 end = 0;

	for (u32 i = 0; i < btf_vlen_of(t); i++) {
		const struct btf_var_secinfo *v = btf_secinfos(t) + i;
		const char *why = NULL;

		if (!v->type || !is_id(v->type))
			why = "Invalid type_id";
		else if (v->offset < end || v->offset >= t->size)
			why = "Invalid offset";
		else if (!v->size || v->size > t->size)
			why = "Invalid size";
		/* in 32 bits, as the kernel adds them: a sum that wraps passes here */
		else if (v->offset + v->size > t->size)
			why = "Invalid offset+size";
		btf_say_var(c, t, v, why);
		if (why)
			return -EINVAL;
		end = v->offset + v->size;
		sum += v->size;
	}
	if (t->size < sum) {
		btf_say_type(c, t, "Invalid btf_info size");
		return -EINVAL;
	}
	return 0;
}

static const struct shape {
	const char *(*whole)(const struct btf_check *c, const struct btf_type *t);
	int (*parts)(const struct btf_check *c, const struct btf_type *t);
} shapes[NR_BTF_KINDS] = {
    [BTF_KIND_INT] = {int_shape},
    [BTF_KIND_PTR] = {ref_shape},
    [BTF_KIND_ARRAY] = {array_shape},
    [BTF_KIND_STRUCT] = {struct_shape, struct_parts},
    [BTF_KIND_UNION] = {struct_shape, struct_parts},
    [BTF_KIND_ENUM] = {enum_shape, enum_parts},
    [BTF_KIND_FWD] = {fwd_shape},
    [BTF_KIND_TYPEDEF] = {ref_shape},
    [BTF_KIND_VOLATILE] = {ref_shape},
    [BTF_KIND_CONST] = {ref_shape},
    [BTF_KIND_RESTRICT] = {ref_shape},
    [BTF_KIND_FUNC] = {func_shape},
    [BTF_KIND_FUNC_PROTO] = {proto_shape},
    [BTF_KIND_VAR] = {var_shape},
    [BTF_KIND_DATASEC] = {datasec_shape, datasec_parts},
    [BTF_KIND_FLOAT] = {float_shape},
    [BTF_KIND_DECL_TAG] = {tag_shape},
    [BTF_KIND_TYPE_TAG] = {ref_shape},
    [BTF_KIND_ENUM64] = {enum_shape, enum_parts},
};

static int check_shape(const struct btf_check *c, const struct btf_type *t)
{
	const struct shape *shape = &shapes[btf_kind_of(t)];
	const char *why = shape->whole(c, t);

	if (why == bad_int_word)
		btf_say_kind(c, t, "%s:%x", why, btf_int_word(t));
	else if (why)
		btf_say_type(c, t, "%s", why);
	else
		btf_say_type(c, t, NULL);
	if (why)
		return why == bad_encoding ? -ENOTSUPP_ : -EINVAL;
	return shape->parts ? shape->parts(c, t) : 0;
}

/* Check the type at `at`, with `left` bytes up to the section's end. Returns the bytes it takes. */
static int check_type(const struct btf_check *c, const u8 *at, u32 left)
{
	const struct btf_type *t = (const struct btf_type *)at;
	const struct btf_kind *kind;
	u32 need;
	int err;

	if (left < sizeof(*t)) {
		btf_say(c, "[%u] meta_left:%u meta_needed:%zu", c->at, left, sizeof(*t));
		return -EINVAL;
	}
	if (t->info & ~INFO_BITS) {
		btf_say(c, "[%u] Invalid btf_info:%x", c->at, t->info);
		return -EINVAL;
	}
	kind = &btf_kinds[btf_kind_of(t)];
	if (!kind->name) {
		btf_say(c, "[%u] Invalid kind:%u", c->at, btf_kind_of(t));
		return -EINVAL;
	}
	if (!is_string(c, t->name_off)) {
		btf_say(c, "[%u] Invalid name_offset:%u", c->at, t->name_off);
		return -EINVAL;
	}
	left -= sizeof(*t);
	need = kind->fixed + btf_vlen_of(t) * kind->each;
	if (left < need) {
		btf_say_kind(c, t, "meta_left:%u meta_needed:%u", left, need);
		return -EINVAL;
	}
	err = check_shape(c, t);
	return err ? err : (int)(sizeof(*t) + need);
}

static bool add_type(const struct btf_check *c, u32 *room, u32 off)
{
	struct btf_types *b = c->b;

	/* The kernel checks further types too, but doesn't keep them: nothing can refer to one. */
	if (b->first_id + b->n >= MAX_TYPES) {
		btf_say(c, "Exceeded max num of types");
		return true;
	}
	if (b->n == *room) {
		u32 more = *room + *room / 2 + 64;
		u32 *offs = realloc(b->offs, more * sizeof(*offs));

		if (!offs)
			return false;
		b->offs = offs;
		*room = more;
	}
	b->offs[b->n++] = off;
	return true;
}

int btf_check_shapes(struct btf_check *c)
{
	struct btf_types *b = c->b;
	u32 room = 0;

	if (!b->base && !add_type(c, &room, 0)) /* void */
		return -ENOMEM;
	c->at = b->base ? b->first_id : 1;
	for (u32 off = 0; off < b->hdr.type_len; c->at++) {
		int n = check_type(c, b->types + off, b->hdr.type_len - off);

		if (n < 0)
			return n;
		if (!add_type(c, &room, off))
			return -ENOMEM;
		off += n;
	}
	return 0;
}
