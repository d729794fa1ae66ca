/* A growing array of any type:  struct { int *v; u32 n, cap; } list = { 0 };  VEC_PUSH(&list, 3)  free(list.v) */
#ifndef BASE_VEC_H
#define BASE_VEC_H
#include "types.h"

#define VEC(type) struct { type *v; u32 n, cap; }
/* True when room for `more` further elements is there. */
#define VEC_ROOM(vec, more) \
	((vec)->n + (u64)(more) <= (vec)->cap || vec_grow((void **)&(vec)->v, &(vec)->cap, (vec)->n + (u64)(more), sizeof(*(vec)->v)))
/* Append; false without memory. */
#define VEC_PUSH(vec, ...) (VEC_ROOM(vec, 1) && ((vec)->v[(vec)->n++] = (__VA_ARGS__), true))
#define VEC_DONE(vec) (free((vec)->v), (vec)->v = NULL, (vec)->n = (vec)->cap = 0)

static inline bool vec_grow(void **v, u32 *cap, u64 want, size_t elem)
{
	u64 n = *cap ? *cap : 8;
	void *p;

	while (n < want)
		n *= 2;
	if (n > UINT32_MAX || n > SIZE_MAX / elem)
		return false;
	p = realloc(*v, n * elem);
	if (!p)
		return false;
	*v = p;
	*cap = n;
	return true;
}

#endif
