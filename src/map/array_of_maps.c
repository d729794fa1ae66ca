/* ARRAY_OF_MAPS: slots (slots.h) that hold maps. A program's look-up gives the map itself, user
 * space's its id. */
#include "inner.h"
#include "slots.h"

static int array_of_maps_new(struct map **out, const struct map_attr *attr)
{
	struct map *template = NULL;
	int err = map_inner_new(&template, attr);

	if (!err)
		err = map_slots_new(out, attr, &map_array_of_maps_ops);
	if (err)
		map_inner_free(template);
	else
		(*out)->inner = template;
	return err;
}

static void array_of_maps_free(struct map *m)
{
	map_inner_free(m->inner);
	map_slots_free(m);
}

static void *array_of_maps_lookup(struct map *m, const void *key, u32 cpu)
{
	return slot_get(m, LOAD(u32, key));
}

int map_array_of_maps_set(struct map *m, u32 index, struct map *inner)
{
	return map_slots_set(m, index, &inner->obj, inner);
}

const struct map_ops map_array_of_maps_ops = {
    .check = map_slots_check,
    .new = array_of_maps_new,
    .free = array_of_maps_free,
    .lookup = array_of_maps_lookup,
    .update = map_slots_no_update,
    .delete = map_slots_delete,
    .copy_out = map_slots_copy_out,
    .next_key = map_array_next_key,
    .memory = map_slots_memory,
};
