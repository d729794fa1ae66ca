/* Fields of a value that belong to the kernel: locks, timers, lists, pointers to kernel objects. The value's BTF shows them
 * by the names of their types (btf_parse_fields() of kernel/bpf/btf.c); what it would not honour is plain memory.
 *
 * A program reaches them only through helpers, and no copy of a value touches them: value.c. */
#include "private.h"
#include "btf/btf.h"

enum {
	DEPTH_MAX = 15,	   /* the kernel's MAX_RESOLVE_DEPTH */
	WORK_MAX = 100000, /* members looked at: empty structs can nest without end */
};

static const struct type {
	const char *name;
	u8 size, align;
	bool once; /* at most one in a struct, none in arrays */
	bool array_ok;
} types[] = {
    [MAP_FIELD_SPIN_LOCK] = {"bpf_spin_lock", 4, 4, true, false},
    [MAP_FIELD_RES_SPIN_LOCK] = {"bpf_res_spin_lock", 4, 4, true, false},
    [MAP_FIELD_TIMER] = {"bpf_timer", 16, 8, true, false},
    [MAP_FIELD_WQ] = {"bpf_wq", 16, 8, true, false},
    [MAP_FIELD_TASK_WORK] = {"bpf_task_work", 8, 8, true, false},
    [MAP_FIELD_LIST_HEAD] = {"bpf_list_head", 16, 8, false, true},
    [MAP_FIELD_RB_ROOT] = {"bpf_rb_root", 16, 8, false, true},
    [MAP_FIELD_REFCOUNT] = {"bpf_refcount", 4, 4, false, false},
    [MAP_FIELD_KPTR_UNREF] = {"kptr", 8, 8, false, true},
    [MAP_FIELD_KPTR_REF] = {"kptr", 8, 8, false, true},
    [MAP_FIELD_KPTR_PERCPU] = {"percpu_kptr", 8, 8, false, true},
    [MAP_FIELD_UPTR] = {"uptr", 8, 8, false, true},
};
static_assert(ARRAY_SIZE(types) == MAP_FIELD_COUNT, "a row for every special field");

const char *map_field_name(enum map_field_type type)
{
	return types[type].name;
}

const struct map_field *map_field(const struct map *m, enum map_field_type type)
{
	if (!m->record)
		return NULL;
	for (u32 i = 0; i < m->record->n; i++)
		if (m->record->field[i].type == type)
			return &m->record->field[i];
	return NULL;
}

bool map_has_fields(const struct map *m, u32 mask)
{
	return m->record && m->record->mask & mask;
}

/* ---- finding them */

struct found {
	const struct btf_types *btf;
	struct map_record *rec;
	u32 work;
};

static int add(struct found *f, enum map_field_type type, u32 off, u32 btf_id)
{
	struct map_record *r = f->rec;

	if (r->n == MAP_FIELDS_MAX)
		return -E2BIG;
	r->field[r->n++] =
	    (struct map_field){.type = type, .off = off, .size = types[type].size, .btf_id = btf_id};
	r->mask |= 1u << type;
	return 1;
}

/* Fields from..from + n - 1 stand in the first of nelems elements of an array: the others have them, too. */
static int repeat(struct found *f, u32 from, u32 n, u32 nelems, u32 size)
{
	struct map_record *r = f->rec;

	for (u32 i = 0; i < n; i++)
		if (!types[r->field[from + i].type].array_ok)
			return -EINVAL;
	if ((u64)n * nelems > MAP_FIELDS_MAX - from)
		return -E2BIG;
	for (u32 k = 1; k < nelems; k++)
		for (u32 i = 0; i < n; i++) {
			struct map_field *to = &r->field[r->n++];

			*to = r->field[from + i];
			to->off += k * size;
		}
	return (int)(n * nelems);
}

static bool is_struct(const struct btf_type *t)
{
	return t && btf_kind_of(t) == BTF_KIND_STRUCT;
}

/* A pointer with one of the tags that make it the kernel's. 0: it has none. */
static int add_pointer(struct found *f, const struct btf_type *t, u32 off)
{
	static const struct {
		const char *tag;
		u8 type;
	} tags[] = {
	    {"kptr_untrusted", MAP_FIELD_KPTR_UNREF},
	    {"kptr", MAP_FIELD_KPTR_REF},
	    {"percpu_kptr", MAP_FIELD_KPTR_PERCPU},
	    {"uptr", MAP_FIELD_UPTR},
	};
	const struct btf_type *to, *inner;
	const char *name;
	u32 id;

	if (t && btf_kind_of(t) == BTF_KIND_VOLATILE)
		t = btf_type(f->btf, t->type);
	if (!t || btf_kind_of(t) != BTF_KIND_PTR)
		return 0;
	to = btf_type(f->btf, t->type);
	if (!to || btf_kind_of(to) != BTF_KIND_TYPE_TAG || BTF_INFO_KFLAG(to->info))
		return 0;
	inner = btf_type(f->btf, to->type);
	if (inner && btf_kind_of(inner) == BTF_KIND_TYPE_TAG)
		return -EINVAL;
	name = btf_str(f->btf, to->name_off);
	for (u32 i = 0; name && i < ARRAY_SIZE(tags); i++) {
		if (strcmp(tags[i].tag, name))
			continue;
		if (!is_struct(btf_skip(f->btf, to->type, &id)))
			return -EINVAL;
		return add(f, tags[i].type, off, id);
	}
	return 0;
}

static int find_members(struct found *f, const struct btf_type *t, u32 at, u32 depth);

static int add_named(struct found *f, const struct btf_type *t, u32 off, u32 *seen, bool *is_special)
{
	const char *name = btf_str(f->btf, t->name_off);

	*is_special = false;
	for (u32 i = 0; name && i < MAP_FIELD_KPTR_UNREF; i++) {
		if (strcmp(types[i].name, name))
			continue;
		*is_special = true;
		if (types[i].once && *seen & 1u << i)
			return -E2BIG;
		*seen |= 1u << i;
		if (off % types[i].align || !is_struct(t) || t->size != types[i].size)
			return 0;
		return add(f, i, off, 0);
	}
	return 0;
}

/* btf_find_field_one(): a member or variable of type t at off, of `size` bytes in all (0: whatever the type has). */
static int find_one(struct found *f, const struct btf_type *t, u32 off, u32 size, u32 *seen, u32 depth)
{
	u32 nelems = 1, from = f->rec->n, n = 0, elem;
	bool special;
	int err;

	while (t && btf_kind_of(t) == BTF_KIND_ARRAY && n < DEPTH_MAX) {
		const struct btf_array *a = (const struct btf_array *)(t + 1);

		nelems *= a->nelems;
		t = btf_type(f->btf, a->type);
		n++;
	}
	if (n == DEPTH_MAX || !f->work--)
		return -E2BIG;
	if (!t || !nelems)
		return 0;
	elem = is_struct(t) || btf_kind_of(t) == BTF_KIND_UNION ? t->size : 8;
	if (size && size != elem * nelems)
		return 0;
	err = add_named(f, t, off, seen, &special);
	if (!err && !special && btf_kind_of(t) == BTF_KIND_STRUCT)
		err = depth + 1 < DEPTH_MAX ? find_members(f, t, off, depth + 1) : -E2BIG;
	else if (!err && !special && off % 8 == 0)
		err = add_pointer(f, t, off);
	if (err <= 0 || nelems == 1)
		return err;
	return repeat(f, from, (u32)err, nelems, elem);
}

static int find_members(struct found *f, const struct btf_type *t, u32 at, u32 depth)
{
	const struct btf_member *m = (const struct btf_member *)(t + 1);
	u32 seen = 0, total = 0;

	for (u32 i = 0; i < btf_vlen_of(t); i++) {
		u32 bit = BTF_INFO_KFLAG(t->info) ? BTF_MEMBER_BIT_OFFSET(m[i].offset) : m[i].offset;
		int n;

		if (bit % 8)
			return -EINVAL;
		n = find_one(f, btf_type(f->btf, m[i].type), at + bit / 8, 0, &seen, depth);
		if (n < 0)
			return n;
		total += (u32)n;
	}
	return (int)total;
}

static int find_variables(struct found *f, const struct btf_type *t)
{
	const struct btf_var_secinfo *var = (const struct btf_var_secinfo *)(t + 1);
	u32 seen = 0;

	for (u32 i = 0; i < btf_vlen_of(t); i++) {
		const struct btf_type *v = btf_type(f->btf, var[i].type);
		int n = v ? find_one(f, btf_type(f->btf, v->type), var[i].offset, var[i].size, &seen, 0) : 0;

		if (n < 0)
			return n;
	}
	return 0;
}

static bool has(const struct map_record *r, enum map_field_type type)
{
	return r->mask & 1u << type;
}

/* They do not overlap, and lists and trees come with the lock that protects them. */
static int check_record(const struct map_record *r, u32 value_size)
{
	bool lock = has(r, MAP_FIELD_SPIN_LOCK), res_lock = has(r, MAP_FIELD_RES_SPIN_LOCK);
	u32 next = 0;

	for (u32 i = 0; i < r->n; i++) {
		if (r->field[i].off + r->field[i].size > value_size)
			return -EFAULT;
		if (r->field[i].off < next)
			return -EEXIST;
		next = r->field[i].off + r->field[i].size;
	}
	if (lock && res_lock)
		return -EINVAL;
	return (has(r, MAP_FIELD_LIST_HEAD) || has(r, MAP_FIELD_RB_ROOT)) && !lock && !res_lock ? -EINVAL : 0;
}

/* Which kinds of maps may have which fields (map_check_btf() of kernel/bpf/syscall.c). */
#define KIND(x) (1ull << (BPF_MAP_TYPE_##x))
#define STORAGES                                                                                   \
	(KIND(SK_STORAGE) | KIND(INODE_STORAGE) | KIND(TASK_STORAGE) | 1ull << ABI_MAP_CGRP_STORAGE)
#define LOCKABLE (KIND(HASH) | KIND(ARRAY) | KIND(CGROUP_STORAGE) | STORAGES)
#define WITH_LRU (KIND(HASH) | KIND(LRU_HASH) | KIND(ARRAY))
#define WITH_KPTR                                                                                  \
	(WITH_LRU | KIND(PERCPU_HASH) | KIND(LRU_PERCPU_HASH) | KIND(PERCPU_ARRAY) | STORAGES)

static const u64 kinds_of[] = {
    [MAP_FIELD_SPIN_LOCK] = LOCKABLE,	[MAP_FIELD_RES_SPIN_LOCK] = LOCKABLE,
    [MAP_FIELD_TIMER] = WITH_LRU,	[MAP_FIELD_WQ] = WITH_LRU,
    [MAP_FIELD_TASK_WORK] = WITH_LRU,	[MAP_FIELD_LIST_HEAD] = WITH_LRU,
    [MAP_FIELD_RB_ROOT] = WITH_LRU,	[MAP_FIELD_REFCOUNT] = WITH_KPTR,
    [MAP_FIELD_KPTR_UNREF] = WITH_KPTR, [MAP_FIELD_KPTR_REF] = WITH_KPTR,
    [MAP_FIELD_KPTR_PERCPU] = WITH_KPTR, [MAP_FIELD_UPTR] = KIND(TASK_STORAGE),
};
static_assert(ARRAY_SIZE(kinds_of) == MAP_FIELD_COUNT, "a row for every special field");

static int check_kind(const struct map_record *r, const struct map_attr *attr)
{
	if (attr->flags & (BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG))
		return -EACCES;
	for (u32 i = 0; i < MAP_FIELD_COUNT; i++)
		if (r->mask & 1u << i && !(kinds_of[i] >> attr->type & 1))
			return -EOPNOTSUPP;
	return 0;
}

int map_record_new(struct map_record **out, const struct map_attr *attr)
{
	struct map_record rec = {0};
	struct found f = {.btf = attr->btf, .rec = &rec, .work = WORK_MAX};
	const struct btf_type *t = btf_skip(attr->btf, attr->btf_value_id, NULL);
	int err = -EINVAL;

	*out = NULL;
	if (t && btf_kind_of(t) == BTF_KIND_DATASEC)
		err = find_variables(&f, t);
	else if (is_struct(t))
		err = find_members(&f, t, 0, 0);
	/* fields that contradict each other are not the kernel's: plain bytes, as for it */
	if (err < 0 || !rec.n || check_record(&rec, attr->value_size))
		return 0;
	err = check_kind(&rec, attr);
	if (err)
		return err;
	*out = malloc(sizeof(rec));
	if (!*out)
		return -ENOMEM;
	**out = rec;
	return 0;
}
