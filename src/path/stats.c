/* How many instructions the packets took: quantiles from counts in buckets, exact up to 4,095, within 1 % above. */
#include "path.h"

enum { EXACT = 4096, SUB = 128, SUB_BITS = 7, EXACT_BITS = 12 };

static u32 bucket_of(u64 n)
{
	u32 octave;

	if (n < EXACT)
		return n;
	octave = 63 - __builtin_clzll(n);
	return EXACT + (octave - EXACT_BITS) * SUB + ((n >> (octave - SUB_BITS)) & (SUB - 1));
}

/* The largest number that falls into a bucket. */
static u64 top_of(u32 bucket)
{
	u32 octave, sub;

	if (bucket < EXACT)
		return bucket;
	octave = (bucket - EXACT) / SUB + EXACT_BITS;
	sub = (bucket - EXACT) % SUB;
	return (1ull << octave) + ((u64)(sub + 1) << (octave - SUB_BITS)) - 1;
}

void path_stats_add(struct path_stats *s, u64 insns)
{
	static_assert(PATH_BUCKETS == EXACT + (64 - EXACT_BITS) * SUB, "a bucket for every number");
	s->bucket[bucket_of(insns)]++;
	s->n++;
	if (insns > s->max)
		s->max = insns;
}

u64 path_stats_quantile(const struct path_stats *s, double q)
{
	u64 rank = q * s->n, seen = 0;

	for (u32 i = 0; i < PATH_BUCKETS; i++) {
		seen += s->bucket[i];
		if (seen > rank)
			return top_of(i) < s->max ? top_of(i) : s->max;
	}
	return s->max;
}
