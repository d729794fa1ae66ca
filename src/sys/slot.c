/* Maps whose values are descriptors: the map gets the object. Which programs may stand in one array
 * is prog_fits_map()'s to say, which maps in a map of maps its template's. */
#include "sys.h"
#include "door.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "map/map.h"
#include "prog/prog.h"

static int put_prog(struct map *m, const void *key, s32 fd, u64 flags)
{
	autounpin struct sys_handle *h = NULL;
	u32 index = LOAD(u32, key);
	struct prog *p;
	int err;

	err = map_slot_check(m, index, flags);
	if (err)
		return err;
	p = sys_get_prog(fd, &h, &err);
	if (!p)
		return err;
	err = prog_fits_map(p, m);
	return err ? err : map_slot_set(m, index, &p->obj, p->image);
}

static int put_map(struct map *m, const void *key, s32 fd, u64 flags)
{
	autounpin struct sys_handle *h = NULL;
	int err = map_inner_check(m, key, flags);
	struct map *inner;
	u32 mode;

	if (err)
		return err;
	inner = sys_get_map(fd, &h, &mode, &err);
	return inner ? map_inner_set(m, key, inner, flags) : err;
}

static int put_event(struct map *m, const void *key, s32 fd, u64 flags)
{
	autounpin struct sys_handle *h = NULL;
	u32 index = LOAD(u32, key);
	int err = map_slot_check(m, index, flags);
	struct map_event *e;

	if (err)
		return err;
	e = sys_get_event(fd, &h, &err);
	return e ? map_perf_set(m, index, e) : err;
}

int sys_slot_update(struct map *m, const void *key, const void *value, u64 flags)
{
	static int (*const put[])(struct map * m, const void *key, s32 fd, u64 flags) = {
	    [MAP_FDS_PROGS] = put_prog,
	    [MAP_FDS_MAPS] = put_map,
	    [MAP_FDS_EVENTS] = put_event,
	};

	return put[map_kind(m->type)->values_are_fds](m, key, LOAD(s32, value), flags);
}
