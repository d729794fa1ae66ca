/* Questions about program kinds that all kinds answer from their tables. */
#include "kind.h"
#include "lists.h"
#include "base/bits.h"

static const struct {
	const char *name;
	u32 caps;
	const struct kind *kind; /* NULL: known to the kernel, not built here */
} kinds[] = {
#define BPF KIND_CAP_BPF
#define NET_ADMIN KIND_CAP_NET_ADMIN
#define PERFMON KIND_CAP_PERFMON
#define KIND(type, name, caps, ops) [type] = { #name, caps, ops },
#include "kind.def"
#undef KIND
#undef BPF
#undef NET_ADMIN
#undef PERFMON
};
static_assert(ARRAY_SIZE(kinds) == ABI_PROG_MAX, "kind.def has a row for every program type of 6.18");

const struct kind *kind_get(u32 prog_type)
{
	return prog_type < ARRAY_SIZE(kinds) ? kinds[prog_type].kind : NULL;
}

const char *kind_name(u32 prog_type)
{
	return prog_type < ARRAY_SIZE(kinds) ? kinds[prog_type].name : "unknown";
}

u32 kind_caps(u32 prog_type)
{
	return prog_type < ARRAY_SIZE(kinds) ? kinds[prog_type].caps : KIND_CAP_BPF;
}

static bool in_list(const u16 *list, u32 id)
{
	for (; *list; list++)
		if (*list == id)
			return true;
	return false;
}

bool kind_allows(const struct kind *k, u32 helper_id, u32 attach_type)
{
	return helper_id && (in_list(kind_base_helpers, helper_id) || in_list(k->helpers, helper_id));
}

static bool field_takes(const struct kind_field *f, u32 attach_type, u32 off, u32 size, bool write)
{
	if (f->attach_only && f->attach_only != attach_type + 1)
		return false;
	if (write && !f->write)
		return false;
	if (f->bytes || (off == f->off && size == f->size))
		return true;
	return !write && f->narrow_read && size < f->size;
}

const struct kind_field *kind_access(const struct kind *k, u32 attach_type, u32 off, u32 size, bool write)
{
	if (!size || !is_pow2(size) || off % size || off >= k->ctx_size)
		return NULL;
	for (u32 i = 0; i < k->n_fields; i++) {
		const struct kind_field *f = &k->fields[i];

		if (off >= f->off && off + size <= f->off + f->size)
			return field_takes(f, attach_type, off, size, write) ? f : NULL;
	}
	return NULL;
}
