/* The maps a program uses: a reference each, in order of first use; and what a prog_array asks of its programs. */
#include "passes.h"
#include "map/map.h"

enum { MAX_MAPS = 64 }; /* MAX_USED_MAPS */

static int find_map(const struct prog *p, const struct map *m)
{
	for (u32 i = 0; i < p->n_maps; i++)
		if (p->maps[i] == m)
			return i;
	return -ENOENT;
}

/* Takes over the caller's reference; its index in the list. */
static int append_map(struct prog *p, struct map *m)
{
	struct map **maps = realloc(p->maps, (p->n_maps + 1) * sizeof(*maps));

	if (!maps) {
		map_put(m);
		return -ENOMEM;
	}
	p->maps = maps;
	p->maps[p->n_maps] = m;
	return p->n_maps++;
}

int prog_use_map(void *load, s32 fd, bool fd_is_index, struct map **map)
{
	struct load *l = load;
	struct map *m;
	int index, err;

	err = l->attr->map_by_fd(l->attr->ctx, fd, fd_is_index, &m);
	if (err)
		return err;
	index = find_map(l->p, m);
	if (index >= 0) {
		map_put(m); /* the list holds one */
	} else {
		if (l->p->n_maps == MAX_MAPS) {
			map_put(m);
			return -E2BIG;
		}
		index = append_map(l->p, m);
		if (index < 0)
			return index;
	}
	*map = l->p->maps[index];
	return index;
}

int prog_add_map(struct prog *p, struct map *m)
{
	int index = find_map(p, m);

	if (index < 0) {
		obj_get(&m->obj);
		index = append_map(p, m);
	}
	return index < 0 ? index : 0;
}

int prog_fits_map(struct prog *p, struct map *m)
{
	bool frags = p->flags & ABI_F_XDP_HAS_FRAGS, same;

	pthread_mutex_lock(&m->owner.lock);
	if (!m->owner.set) {
		m->owner.set = true;
		m->owner.type = p->kind->prog_type;
		m->owner.attach_type = p->attach_type;
		m->owner.xdp_has_frags = frags;
	}
	same = m->owner.type == p->kind->prog_type && m->owner.attach_type == p->attach_type &&
	       m->owner.xdp_has_frags == frags;
	pthread_mutex_unlock(&m->owner.lock);
	return same ? 0 : -EINVAL;
}

int prog_check_maps(struct load *l)
{
	for (u32 i = 0; i < l->p->n_maps; i++) {
		struct map *m = l->p->maps[i];

		if (m->type == BPF_MAP_TYPE_PROG_ARRAY && prog_fits_map(l->p, m))
			return prog_refuse(l, -EINVAL, "prog_array '%s' holds programs of another kind", m->name);
	}
	return 0;
}
