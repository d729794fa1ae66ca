/* Programs in a prog_array: a value is a descriptor, the slot gets the program. Which programs may stand in one array is
 * prog_fits_map()'s to say. */
#include "sys.h"
#include "door.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "map/map.h"
#include "prog/prog.h"

int sys_slot_update(struct map *m, const void *key, const void *value, u64 flags)
{
	autounpin struct sys_handle *h = NULL;
	u32 index = LOAD(u32, key);
	struct prog *p;
	int err;

	err = map_slot_check(m, index, flags);
	if (err)
		return err;
	p = sys_get_prog(LOAD(s32, value), &h, &err);
	if (!p)
		return err;
	err = prog_fits_map(p, m);
	return err ? err : map_slot_set(m, index, &p->obj, p->image);
}
