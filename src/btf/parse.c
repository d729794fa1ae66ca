/* btf_parse: the header and its two sections, then the passes over the types. As BTF_LOAD of
 * kernel 6.18 does it: the same verdict, the same errno, the same log.
 *
 * Deliberate differences: a search for special fields that takes more than twenty million steps is
 * -E2BIG (the kernel goes on, for minutes); with a base (split BTF, which BTF_LOAD doesn't take)
 * and for the kernel's own BTF shapes and tags are checked but references are not, as the kernel
 * does for its modules. */
#include "check.h"
#include "base/bits.h"

/* Put the blob where its type section is aligned to 4, whatever the header's length. */
static int place(struct btf_types *b, const void *data, u32 size)
{
	struct btf_header hdr = {0};
	u32 shift;

	memcpy(&hdr, data, MIN(size, (u32)sizeof(hdr)));
	shift = -(hdr.hdr_len + hdr.type_off) & 3;
	b->mem = malloc((size_t)size + 4);
	if (!b->mem)
		return -ENOMEM;
	b->raw = (u8 *)b->mem + shift;
	memcpy(b->raw, data, size);
	b->size = size;
	return 0;
}

static int refuse(const struct btf_check *c, int err, const char *why)
{
	btf_say(c, "%s", why);
	return err;
}

static void say_header(const struct btf_check *c)
{
	const struct btf_header *h = &c->b->hdr;

	btf_say(c, "magic: 0x%x\n", h->magic);
	btf_say(c, "version: %u\n", h->version);
	btf_say(c, "flags: 0x%x\n", h->flags);
	btf_say(c, "hdr_len: %u\n", h->hdr_len);
	btf_say(c, "type_off: %u\n", h->type_off);
	btf_say(c, "type_len: %u\n", h->type_len);
	btf_say(c, "str_off: %u\n", h->str_off);
	btf_say(c, "str_len: %u\n", h->str_len);
	btf_say(c, "btf_total_size: %u\n", c->b->size);
}

struct section {
	u32 off, len;
};

/* The two sections cover all bytes after the header, one after the other. */
static int check_sections(const struct btf_check *c)
{
	const struct btf_header *h = &c->b->hdr;
	struct section s[2] = {{h->type_off, h->type_len}, {h->str_off, h->str_len}}, swap;
	u32 all = c->b->size - h->hdr_len, at = 0;

	if ((s32)(s[1].off - s[0].off) < 0 ||
	    (s[1].off == s[0].off && (s32)(s[1].len - s[0].len) < 0))
		swap = s[0], s[0] = s[1], s[1] = swap;
	for (u32 i = 0; i < 2; i++) {
		if (all < s[i].off)
			return refuse(c, -EINVAL, "Invalid section offset");
		if (at < s[i].off)
			return refuse(c, -EINVAL, "Unsupported section found");
		if (at > s[i].off)
			return refuse(c, -EINVAL, "Section overlap found");
		if (all - at < s[i].len)
			return refuse(c, -EINVAL, "Total section length too long");
		at += s[i].len;
	}
	return at == all ? 0 : refuse(c, -EINVAL, "Unsupported section found");
}

static int check_header(const struct btf_check *c)
{
	struct btf_types *b = c->b;
	struct btf_header *h = &b->hdr;
	u32 len;

	if (b->size < offsetof(struct btf_header, hdr_len) + sizeof(h->hdr_len))
		return refuse(c, -EINVAL, "hdr_len not found");
	len = LOAD(u32, b->raw + offsetof(struct btf_header, hdr_len));
	if (b->size < len)
		return refuse(c, -EINVAL, "btf_header not found");
	for (u32 i = sizeof(*h); i < len; i++)
		if (b->raw[i])
			return refuse(c, -E2BIG, "Unsupported btf_header");
	memcpy(h, b->raw, MIN(len, (u32)sizeof(*h)));
	say_header(c);
	if (h->magic != BTF_MAGIC)
		return refuse(c, -EINVAL, "Invalid magic");
	if (h->version != BTF_VERSION)
		return refuse(c, -ENOTSUPP_, "Unsupported version");
	if (h->flags)
		return refuse(c, -ENOTSUPP_, "Unsupported flags");
	if (!b->base && b->size == len)
		return refuse(c, -EINVAL, "No data");
	return check_sections(c);
}

static int check_strings(const struct btf_check *c)
{
	struct btf_types *b = c->b;
	const struct btf_header *h = &b->hdr;
	const char *start = (const char *)b->raw + h->hdr_len + h->str_off;

	if ((const u8 *)start + h->str_len != b->raw + b->size)
		return refuse(c, -EINVAL, "String section is not at the end");
	b->strs = start;
	if (b->base && !h->str_len)
		return 0;
	if (!h->str_len || h->str_len - 1 > BTF_MAX_NAME_OFFSET || start[h->str_len - 1] ||
	    (!b->base && start[0]))
		return refuse(c, -EINVAL, "Invalid string section");
	return 0;
}

static int check_types(struct btf_check *c, bool references)
{
	struct btf_types *b = c->b;
	int err;

	if (b->hdr.type_off & 3)
		return refuse(c, -EINVAL, "Unaligned type_off");
	if (!b->base && !b->hdr.type_len)
		return refuse(c, -EINVAL, "No type found");
	b->types = b->raw + b->hdr.hdr_len + b->hdr.type_off;
	err = btf_check_shapes(c);
	if (!err && references)
		err = btf_check_references(c);
	if (!err)
		err = btf_check_tags(c);
	if (!err)
		err = btf_index(b);
	if (!err && references)
		err = btf_check_fields(b);
	return err;
}

static void types_free(struct obj *obj)
{
	struct btf_types *b = container_of(obj, struct btf_types, obj);

	btf_put(b->base_ref);
	free(b->mem);
	free(b->offs);
	free(b->skip);
	free(b->bucket);
	free(b->next);
	free(b);
}

static const struct obj_ops types_ops = {.free = types_free};

static int parse(struct btf_types **out, const void *data, u32 size, const struct btf_types *base,
		 bool references, struct log *log)
{
	struct btf_check c = {.log = log};
	struct btf_types *b;
	int err;

	if (size > BTF_MAX_BYTES)
		return -E2BIG;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	obj_init(&b->obj, OBJ_BTF, &types_ops);
	if (base) {
		b->base_ref = (struct btf_types *)base;
		obj_get(&b->base_ref->obj);
		b->base = base;
		b->first_id = btf_n_types(base);
		b->first_str = base->first_str + base->hdr.str_len;
	}
	c.b = b;
	err = place(b, data, size);
	if (!err)
		err = check_header(&c);
	if (!err)
		err = check_strings(&c);
	if (!err)
		err = check_types(&c, references);
	if (err)
		btf_put(b);
	else
		*out = b;
	return err;
}

int btf_parse(struct btf_types **out, const void *data, u32 size, const struct btf_types *base,
	      struct log *log)
{
	return parse(out, data, size, base, !base, log);
}

int btf_parse_shapes(struct btf_types **out, const void *data, u32 size,
		     const struct btf_types *base, struct log *log)
{
	return parse(out, data, size, base, false, log);
}

struct obj *btf_obj(struct btf_types *b)
{
	return &b->obj;
}

void btf_put(struct btf_types *b)
{
	if (b)
		obj_put(&b->obj);
}

const void *btf_raw(const struct btf_types *b, u32 *size)
{
	if (size)
		*size = b->size;
	return b->raw;
}
