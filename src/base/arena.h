/* Memory that lives and dies together: allocate many, free once. Zeroed; aligned to 16 bytes. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H
#include "types.h"

struct arena {
	struct arena_block *blocks;	/* newest first */
	char *at, *end;			/* free part of the newest block */
	size_t used;			/* bytes handed out */
};

void *arena_alloc(struct arena *a, size_t size);	/* NULL without memory */
void *arena_copy(struct arena *a, const void *from, size_t size);
char *arena_strdup(struct arena *a, const char *s);
void arena_done(struct arena *a);

#endif
