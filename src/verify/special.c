/* Fields within map values that belong to the kernel: locks, timers, lists, pointers to kernel objects. The value's BTF
 * shows them by the names of their types; programs may reach them only through helpers. */
#include "access.h"
#include "btf/btf.h"

enum { MAX_DEPTH = 16, MAX_WORK = 100000 };

struct search {
	const struct btf_types *btf;
	s64 min;
	u64 max;
	struct special *found;
	u32 work; /* types still to be looked at: the BTF may be hostile */
};

static const char *const special_types[] = {
	"bpf_spin_lock", "bpf_res_spin_lock", "bpf_timer",    "bpf_wq",
	"bpf_list_head", "bpf_rb_root",	      "bpf_refcount", "bpf_task_work",
};

static const char *const kptr_tags[] = { "kptr_untrusted", "kptr", "percpu_kptr", "uptr" };

static const char *find_name(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; name && i < n; i++)
		if (!strcmp(names[i], name))
			return names[i];
	return NULL;
}

static bool hit(struct search *s, u64 off, u64 size, const char *name, bool kptr)
{
	if (s->min >= (s64)(off + size) || off >= s->max)
		return false;
	*s->found = (struct special){ .off = (u32)off, .size = (u32)size, .name = name, .kptr = kptr };
	return true;
}

static bool search_type(struct search *s, u32 id, u64 off, u32 depth);

static bool search_members(struct search *s, const struct btf_type *t, u64 off, u32 depth)
{
	const struct btf_member *m = (const struct btf_member *)(t + 1);

	for (u32 i = 0; i < btf_vlen_of(t); i++) {
		u32 bit = BTF_INFO_KFLAG(t->info) ? BTF_MEMBER_BIT_OFFSET(m[i].offset) : m[i].offset;

		if (search_type(s, m[i].type, off + bit / 8, depth + 1))
			return true;
	}
	return false;
}

static bool search_array(struct search *s, const struct btf_type *t, u64 off, u32 depth)
{
	const struct btf_array *a = (const struct btf_array *)(t + 1);
	s64 size = btf_size(s->btf, a->type);

	for (u32 i = 0; size > 0 && i < a->nelems && s->work; i++)
		if (search_type(s, a->type, off + i * (u64)size, depth + 1))
			return true;
	return false;
}

static bool search_section(struct search *s, const struct btf_type *t, u32 depth)
{
	const struct btf_var_secinfo *var = (const struct btf_var_secinfo *)(t + 1);

	for (u32 i = 0; i < btf_vlen_of(t); i++) {
		const struct btf_type *vt = btf_type(s->btf, var[i].type);

		if (vt && search_type(s, vt->type, var[i].offset, depth + 1))
			return true;
	}
	return false;
}

/* Can this type hold anything special? Most are numbers and arrays of numbers, which need no walk. */
static bool search_type(struct search *s, u32 id, u64 off, u32 depth)
{
	const struct btf_type *t = btf_skip(s->btf, id, NULL);
	const struct btf_type *to;
	const char *name;

	if (!t || depth > MAX_DEPTH || !s->work)
		return false;
	s->work--;
	switch (btf_kind_of(t)) {
	case BTF_KIND_STRUCT:
		name = find_name(special_types, ARRAY_SIZE(special_types), btf_str(s->btf, t->name_off));
		return name ? hit(s, off, t->size, name, false) : search_members(s, t, off, depth);
	case BTF_KIND_UNION:
		return search_members(s, t, off, depth);
	case BTF_KIND_ARRAY: {
		const struct btf_type *elem = btf_skip(s->btf, ((const struct btf_array *)(t + 1))->type, NULL);

		if (elem && (btf_kind_of(elem) == BTF_KIND_INT || btf_kind_of(elem) == BTF_KIND_ENUM))
			return false;
		return search_array(s, t, off, depth);
	}
	case BTF_KIND_PTR:
		to = btf_type(s->btf, t->type);
		if (!to || btf_kind_of(to) != BTF_KIND_TYPE_TAG)
			return false;
		name = find_name(kptr_tags, ARRAY_SIZE(kptr_tags), btf_str(s->btf, to->name_off));
		return name && hit(s, off, 8, name, true);
	default:
		return false;
	}
}

bool special_overlap(const struct map *m, s64 min, u64 max, struct special *found)
{
	struct search s = { .btf = m->btf, .min = min, .max = max, .found = found, .work = MAX_WORK };
	const struct btf_type *t = m->btf && m->btf_value_id ? btf_skip(m->btf, m->btf_value_id, NULL) : NULL;

	if (!t)
		return false;
	if (btf_kind_of(t) == BTF_KIND_DATASEC)
		return search_section(&s, t, 0);
	return search_type(&s, m->btf_value_id, 0, 0);
}
