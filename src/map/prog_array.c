/* PROG_ARRAY: slots (slots.h) that hold programs; a tail call jumps to the slot's image. */
#include "slots.h"

static int prog_array_new(struct map **out, const struct map_attr *attr)
{
	return map_slots_new(out, attr, &map_prog_array_ops);
}

static void *prog_array_lookup(struct map *m, const void *key, u32 cpu)
{
	return NULL; /* programs reach it through tail calls only; the verifier refuses the rest */
}

int map_slot_set(struct map *m, u32 index, struct obj *owner, void *image)
{
	assert(m->type == BPF_MAP_TYPE_PROG_ARRAY);
	return map_slots_set(m, index, owner, image);
}

void *map_slot_image(struct map *m, u32 index)
{
	return slot_get(m, index);
}

const struct map_ops map_prog_array_ops = {
    .check = map_slots_check,
    .new = prog_array_new,
    .free = map_slots_free,
    .unused = map_slots_empty, /* programs in it may hold the array itself: it goes when nobody has
				  a descriptor */
    .lookup = prog_array_lookup,
    .update = map_slots_no_update,
    .delete = map_slots_delete,
    .copy_out = map_slots_copy_out,
    .next_key = map_array_next_key,
    .memory = map_slots_memory,
};
