/* What the array kinds share: checks and the order of keys. Private to map. */
#ifndef MAP_ARRAY_H
#define MAP_ARRAY_H
#include "private.h"

int map_array_check(const struct map_attr *attr);
int map_array_next_key(struct map *m, const void *key, void *next);
int map_array_no_delete(struct map *m, const void *key); /* -EINVAL */
int map_array_check_update(const struct map *m, const void *key, u64 flags);

#endif
