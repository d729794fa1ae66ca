/* bpf_csum_diff: the one's complement sum of what comes in minus what goes out, as checksum updates need it. */
#include "proto.h"
#include "base/bits.h"

static u32 fold32(u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	return (sum & 0xffffffff) + (sum >> 32);
}

/* Sum of 32-bit words with end-around carry, onto seed: 0 only if all of it is 0. A last part of a word counts as if zeros
 * followed. */
static u32 sum_words(const u8 *p, u32 size, u32 seed)
{
	u64 sum = seed;
	u32 last = 0, i;

	for (i = 0; i + 4 <= size; i += 4)
		sum += LOAD(u32, p + i); /* at most 2^30 words: no overflow */
	memcpy(&last, p + i, size - i);
	return fold32(sum + last);
}

/* Since 6.13 the result is folded to 16 bits on every architecture, and sizes need not be multiples of 4. */
static u32 fold16(u32 sum)
{
	sum += sum >> 16 | sum << 16;
	return sum >> 16;
}

HELPER(csum_diff)
{
	u32 from_size = r2, to_size = r4, seed = r5;
	u32 sum = seed;

	if (from_size && to_size)
		sum = fold32((u64)sum_words(ptr_of(r3), to_size, seed) +
			     (u32)~sum_words(ptr_of(r1), from_size, 0));
	else if (to_size)
		sum = sum_words(ptr_of(r3), to_size, seed);
	else if (from_size)
		sum = ~sum_words(ptr_of(r1), from_size, ~seed);
	return fold16(sum);
}

PROTO(csum_diff) = {
	.fn = csum_diff,
	.ret = HRET_INTEGER,
	.arg = { HARG_MEM | HARG_NULL_OK | HARG_RDONLY, HARG_SIZE_OR_ZERO,
		 HARG_MEM | HARG_NULL_OK | HARG_RDONLY, HARG_SIZE_OR_ZERO, HARG_ANYTHING },
	.pkt_access = true,
};
