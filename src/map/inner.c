/* The template of a map of maps: a map without storage that says what the inner maps look like. The
 * verifier judges by it what a program does with an inner map; every map that is put in must be
 * like it. It belongs to the outer map. */
#include "inner.h"
#include "btf/btf.h"

static bool record_equal(const struct map_record *a, const struct map_record *b)
{
	if (!a || !b)
		return a == b;
	return a->mask == b->mask && a->n == b->n &&
	       !memcmp(a->field, b->field, a->n * sizeof(*a->field));
}

/* bpf_map_meta_equal() of kernel/bpf/map_in_map.c */
bool map_meta_equal(const struct map *template, const struct map *m)
{
	return template->type == m->type && template->key_size == m->key_size &&
	       template->value_size == m->value_size && template->flags == m->flags &&
	       record_equal(template->record, m->record);
}

static void not_counted(struct obj *o)
{
	assert(!"templates are not counted");
}

static const struct obj_ops template_ops = {.free = not_counted};

/* bpf_map_meta_alloc() */
int map_inner_new(struct map **out, const struct map_attr *attr)
{
	const struct map *like = attr->inner;
	struct map *t;

	if (!like)
		return attr->inner_err ? attr->inner_err : -EBADF;
	if (like->inner)
		return -EINVAL;
	if (!like->ops->meta_equal)
		return -ENOTSUPP_;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	obj_init(&t->obj, OBJ_MAP, &template_ops);
	t->ops = like->ops;
	t->type = like->type;
	t->key_size = like->key_size;
	t->value_size = like->value_size;
	t->max_entries = like->max_entries;
	t->flags = like->flags;
	t->extra = like->extra;
	t->stride = like->stride;
	t->memfd = -1;
	if (like->record) {
		t->record = malloc(sizeof(*t->record));
		if (!t->record) {
			free(t);
			return -ENOMEM;
		}
		*t->record = *like->record;
		t->btf = like->btf;
		obj_get(btf_obj(t->btf));
	}
	*out = t;
	return 0;
}

void map_inner_free(struct map *template)
{
	if (template && template->btf)
		btf_put(template->btf);
	if (template)
		free(template->record);
	free(template);
}

int map_inner_fits(const struct map *outer, const struct map *inner)
{
	const struct map *t = outer->inner;

	return t->ops->meta_equal(t, inner) ? 0 : -EINVAL;
}

int map_inner_check(const struct map *m, const void *key, u64 flags)
{
	if (m->type == BPF_MAP_TYPE_ARRAY_OF_MAPS)
		return map_slot_check(m, LOAD(u32, key), flags);
	return atomic_load(&m->frozen) ? -EPERM : 0;
}

int map_inner_set(struct map *m, const void *key, struct map *inner, u64 flags)
{
	int err = map_inner_check(m, key, flags);

	if (!err)
		err = map_inner_fits(m, inner);
	if (err)
		return err;
	if (m->type == BPF_MAP_TYPE_ARRAY_OF_MAPS)
		return map_array_of_maps_set(m, LOAD(u32, key), inner);
	return map_hash_of_maps_set(m, key, inner, flags);
}
