/* What the maps that bpf_redirect_map() sends frames through share: an index, and no updates by
 * programs. Private to map. */
#ifndef MAP_REDIRECT_H
#define MAP_REDIRECT_H
#include "private.h"

/* In the kernel's order: flags, index, then that all elements count as there already. */
static inline int redirect_check_update(const struct map *m, u32 index, u64 flags)
{
	if (flags > BPF_EXIST)
		return -EINVAL;
	if (index >= m->max_entries)
		return -E2BIG;
	return flags == BPF_NOEXIST ? -EEXIST : 0;
}

static inline int redirect_no_update(struct map *m, const void *key, const void *value, u64 flags,
				     u32 cpu)
{
	return -EINVAL; /* programs can't: the verifier refuses it */
}

#endif
