/* Bytes, hashes and sets of bits. */
#ifndef BASE_BITS_H
#define BASE_BITS_H
#include "types.h"

static inline u64 round_up_pow2(u64 x)
{
	return x <= 1 ? 1 : 1ull << (64 - __builtin_clzll(x - 1));
}
static inline bool is_pow2(u64 x)
{
	return x && !(x & (x - 1));
}

/* Unaligned loads and stores, which C forbids through a cast pointer. */
#define LOAD(type, p) ({ type load_; memcpy(&load_, (p), sizeof(load_)); load_; })
#define STORE(type, p, x) ({ type store_ = (x); memcpy((p), &store_, sizeof(store_)); })

static inline bool bit_test(const u64 *set, u32 i)
{
	return set[i / 64] >> (i % 64) & 1;
}
static inline void bit_set(u64 *set, u32 i)
{
	set[i / 64] |= 1ull << (i % 64);
}
static inline void bit_clear(u64 *set, u32 i)
{
	set[i / 64] &= ~(1ull << (i % 64));
}

#endif
