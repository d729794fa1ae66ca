/* What ARRAY_OF_MAPS and HASH_OF_MAPS share: the template of their inner maps. Private to map. */
#ifndef MAP_INNER_H
#define MAP_INNER_H
#include "private.h"

int map_inner_new(struct map **out, const struct map_attr *attr); /* the template for attr->inner */
void map_inner_free(struct map *template);
int map_inner_fits(const struct map *outer, const struct map *inner); /* 0, -EINVAL */

#endif
