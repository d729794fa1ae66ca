#include "arena.h"

enum { BLOCK = 64 * 1024 };

struct arena_block {
	struct arena_block *next;
	_Alignas(16) char data[];
};

void *arena_alloc(struct arena *a, size_t size)
{
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = ROUND_UP(size ? size : 1, 16);
	if (size > (size_t)(a->end - a->at)) {
		size_t room = MAX(size, (size_t)BLOCK);
		struct arena_block *b = calloc(1, sizeof(*b) + room);

		if (!b)
			return NULL;
		b->next = a->blocks;
		a->blocks = b;
		a->at = b->data;
		a->end = b->data + room;
	}
	p = a->at;
	a->at += size;
	a->used += size;
	return p;
}

void *arena_copy(struct arena *a, const void *from, size_t size)
{
	void *p = arena_alloc(a, size);

	return p && size ? memcpy(p, from, size) : p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_copy(a, s, strlen(s) + 1);
}

void arena_done(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *b = a->blocks;

		a->blocks = b->next;
		free(b);
	}
	*a = (struct arena){ 0 };
}
