/* One's complement sums (RFC 1071), as Internet checksums and helpers on them need. A sum is 32 bits, not folded, of 16-bit
 * words in network order as this machine reads them. */
#ifndef BASE_CSUM_H
#define BASE_CSUM_H
#include "bits.h"
#include <string.h>

static inline u32 csum_add(u32 a, u32 b)
{
	a += b;
	return a + (a < b);
}

static inline u32 csum_sub(u32 a, u32 b)
{
	return csum_add(a, ~b);
}

/* n bytes onto seed; a last part of a word counts as if zeros followed. At most 2^30 bytes. */
static inline u32 csum_bytes(const void *p, u32 n, u32 seed)
{
	const u8 *bytes = p;
	u64 sum = seed;
	u32 last = 0, i;

	for (i = 0; i + 4 <= n; i += 4)
		sum += LOAD(u32, bytes + i);
	memcpy(&last, bytes + i, n - i);
	sum += last;
	sum = (sum & 0xffffffff) + (sum >> 32);
	return (u32)((sum & 0xffffffff) + (sum >> 32));
}

/* What a header carries: 16 bits, inverted. */
static inline u16 csum_fold(u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (u16)~(sum + (sum >> 16));
}

#endif
