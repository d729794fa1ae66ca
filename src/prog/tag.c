/* A program's tag: the first 8 bytes of the SHA-256 (FIPS 180-4) of its instructions as loaded, with map descriptors cleared,
 * because those differ from load to load. Kernels before 6.18 used SHA-1. */
#include "passes.h"
#include "base/bits.h"
#include <endian.h>

enum { BLOCK = 64 };

static const u32 round_constant[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static u32 ror(u32 x, int by)
{
	return x >> by | x << (32 - by);
}

static void sha256_block(u32 state[8], const u8 *block)
{
	u32 w[64], s[8];

	for (int i = 0; i < 16; i++)
		w[i] = be32toh(LOAD(u32, block + 4 * i));
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] + (ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		u32 choose = (s[4] & s[5]) ^ (~s[4] & s[6]);
		u32 most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
		u32 t1 = s[7] + (ror(s[4], 6) ^ ror(s[4], 11) ^ ror(s[4], 25)) + choose + round_constant[i] + w[i];
		u32 t2 = (ror(s[0], 2) ^ ror(s[0], 13) ^ ror(s[0], 22)) + most;

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

/* The instructions as they are hashed: a map's descriptor is 0, and so is the offset into its value. */
static struct bpf_insn hashed(const struct bpf_insn *insns, u32 i, bool *after_map)
{
	struct bpf_insn insn = insns[i];

	if (!*after_map && isa_is_ld_imm64(&insn) &&
	    (insn.src_reg == BPF_PSEUDO_MAP_FD || insn.src_reg == BPF_PSEUDO_MAP_VALUE)) {
		insn.imm = 0;
		*after_map = true;
		return insn;
	}
	if (*after_map && !insn.code && !insn.dst_reg && !insn.src_reg && !insn.off)
		insn.imm = 0;
	*after_map = false;
	return insn;
}

void prog_make_tag(u8 tag[8], const struct bpf_insn *insns, u32 n)
{
	u32 state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	u8 block[BLOCK];
	bool after_map = false;
	u32 fill = 0;

	for (u32 i = 0; i < n; i++) {
		STORE(struct bpf_insn, block + fill, hashed(insns, i, &after_map));
		fill += sizeof(*insns);
		if (fill == BLOCK) {
			sha256_block(state, block);
			fill = 0;
		}
	}
	block[fill++] = 0x80;
	memset(block + fill, 0, BLOCK - fill);
	if (fill > BLOCK - 8) {
		sha256_block(state, block);
		memset(block, 0, BLOCK);
	}
	STORE(u64, block + BLOCK - 8, htobe64((u64)n * sizeof(*insns) * 8));
	sha256_block(state, block);
	STORE(u32, tag, htobe32(state[0]));
	STORE(u32, tag + 4, htobe32(state[1]));
}
