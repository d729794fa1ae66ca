/* Hostile inputs made from good ones. A mutant is a function of (kind, number, seed): a failure is made again from its name. */
#ifndef HOSTILE_MUTATE_H
#define HOSTILE_MUTATE_H
#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *v;	/* malloc'ed */
	size_t n;
};

struct mutator {
	const char *name;
	/* How many different mutants there are of this file, all of them tried; NULL: as many as one likes. */
	uint32_t (*count)(const struct bytes *good);
	/* Change b, a copy of the good file, in place (it may become shorter). */
	void (*make)(struct bytes *b, uint32_t nr, uint64_t *rnd);
};

extern const struct mutator object_mutators[], capture_mutators[]; /* end with a name of NULL */

/* splitmix64: one state, any seed will do */
static inline uint64_t rnd_next(uint64_t *s)
{
	uint64_t z = (*s += 0x9e3779b97f4a7c15ull);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}
static inline uint64_t rnd_below(uint64_t *s, uint64_t n)
{
	return n ? rnd_next(s) % n : 0;
}

#endif
