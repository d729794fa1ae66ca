/* What lies in the 16 bytes of a dynptr. Private to helper/. */
#ifndef HELPER_DYNPTR_H
#define HELPER_DYNPTR_H
#include "proto.h"

enum { DYNPTR_SIZE_MAX = (1 << 24) - 1, DYNPTR_TYPE_SHIFT = 28 };
#define DYNPTR_RDONLY (1u << 31)

struct dynptr {
	u8 *data;	/* NULL: invalid, every access fails */
	u32 size;	/* bytes; type and DYNPTR_RDONLY in the highest bits */
	u32 offset;
};
static_assert(sizeof(struct dynptr) == 16, "as many bytes as struct bpf_dynptr");

/* The memory [off, off + len) of it; NULL: not all there. */
static inline u8 *dynptr_part(const struct dynptr *d, u32 off, u32 len)
{
	u32 size = d->size & DYNPTR_SIZE_MAX;

	return len <= size && off <= size - len ? d->data + d->offset + off : NULL;
}

#endif
