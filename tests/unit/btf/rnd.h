/* A small seeded generator (splitmix64), so that a run can be repeated from its seed. */
#ifndef RND_H
#define RND_H
#include "base/types.h"

static u64 rnd_state;

static inline u64 rnd(void)
{
	u64 z = (rnd_state += 0x9e3779b97f4a7c15ull);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}
static inline u32 rnd_below(u32 n)
{
	return n ? rnd() % n : 0;
}
static inline bool one_in(u32 n)
{
	return !rnd_below(n);
}

#endif
