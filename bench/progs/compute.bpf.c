/* What the engines' figures are about: six programs that compute, and two that show what a run costs by itself. Each reads the
 * first kilobyte of its packet and returns a number that depends on all of it. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define SIZE 1024
#define ROLLED _Pragma("clang loop unroll(disable) vectorize(disable)")

/* The packet's first SIZE bytes, or NULL. */
static __always_inline u8 *packet(struct xdp_md *ctx)
{
	u8 *start = (u8 *)(long)ctx->data;

	return start + SIZE > (u8 *)(long)ctx->data_end ? 0 : start;
}

static __always_inline u32 fold(u64 x)
{
	return x ^ x >> 32;
}

/* division and unpredictable branches */
SEC("xdp")
int primes(struct xdp_md *ctx)
{
	u32 found = 0;

	ROLLED for (u32 n = 3; n < 1200; n += 2) {
		u32 prime = 1;

		ROLLED for (u32 d = 3; d * d <= n; d += 2) {
			if (n % d)
				continue;
			prime = 0;
			break;
		}
		found += prime;
	}
	return found;
}

/* a byte load and a 64-bit multiplication in one chain */
SEC("xdp")
int hash_bytes(struct xdp_md *ctx)
{
	u64 h = 14695981039346656037ull;
	u8 *p = packet(ctx);

	if (!p)
		return -1;
	ROLLED for (u32 i = 0; i < SIZE; i++)
		h = (h ^ p[i]) * 1099511628211ull;
	return fold(h);
}

/* memory alone: half of the packet onto the other half */
SEC("xdp")
int copy_words(struct xdp_md *ctx)
{
	u64 sum = 0;
	u8 *p = packet(ctx);

	if (!p)
		return -1;
	ROLLED for (u32 i = 0; i < SIZE / 2; i += 8) {
		u64 word = *(u64 *)(p + i);

		*(u64 *)(p + SIZE / 2 + i) = word;
		sum += word;
	}
	return fold(sum);
}

/* jumps: a little machine whose code is the packet */
SEC("xdp")
int machine(struct xdp_md *ctx)
{
	u64 a = 3, b = 5;
	u8 *p = packet(ctx);

	if (!p)
		return -1;
	ROLLED for (u32 i = 0; i < SIZE; i++) {
		u32 op = p[i];

		switch (op >> 4) {
		case 0: a += op; break;
		case 1: b += a; break;
		case 2: a ^= b; break;
		case 3: b -= op; break;
		case 4: a = a << 7 | a >> 57; break;
		case 5: b = b << 11 | b >> 53; break;
		case 6: a *= 9; break;
		case 7: b *= 5; break;
		case 8: a -= b; break;
		case 9: b ^= op << 3; break;
		case 10: a = ~a; break;
		case 11: b += 0x7f4a; break;
		case 12: a ^= a >> 9; break;
		case 13: b ^= a & 0xffff; break;
		case 14: a += b & op; break;
		default: b |= 1; break;
		}
	}
	return fold(a ^ b);
}

/* 32-bit arithmetic: three words mixed by subtraction, exclusive or and rotation */
#define ROTATE(x, k) ((x) << (k) | (x) >> (32 - (k)))
#define MIX(x, y, z, k) ((x) -= (z), (x) ^= ROTATE(z, k), (z) += (y))
SEC("xdp")
int mix_words(struct xdp_md *ctx)
{
	u32 a = 0x9e3779b9, b = a, c = SIZE;
	u8 *p = packet(ctx);

	if (!p)
		return -1;
	ROLLED for (u32 i = 0; i + 12 <= SIZE; i += 12) {
		a += *(u32 *)(p + i);
		b += *(u32 *)(p + i + 4);
		c += *(u32 *)(p + i + 8);
		MIX(a, b, c, 4);
		MIX(b, c, a, 6);
		MIX(c, a, b, 8);
		MIX(a, b, c, 16);
		MIX(b, c, a, 19);
		MIX(c, a, b, 4);
	}
	return a ^ b ^ c;
}

/* calls of a subprogram */
static __noinline u64 step(u64 h, u64 byte)
{
	h = (h ^ byte) * 0xff51afd7ed558ccdull;
	return h ^ h >> 33;
}

SEC("xdp")
int calls(struct xdp_md *ctx)
{
	u64 h = 1;
	u8 *p = packet(ctx);

	if (!p)
		return -1;
	ROLLED for (u32 i = 0; i < SIZE / 4; i++)
		h = step(h, p[i]);
	return fold(h);
}

/* what a filter does to one packet */
SEC("xdp")
int parse(struct xdp_md *ctx)
{
	u8 *p = packet(ctx);

	if (!p || p[12] != 8 || p[13] != 0 || p[14] >> 4 != 4)
		return XDP_PASS;
	if (p[23] == 17 && p[36] == 0 && p[37] == 53)
		return XDP_DROP;
	return p[22] > 1 ? XDP_TX : XDP_PASS;
}

/* nothing */
SEC("xdp")
int drop(struct xdp_md *ctx)
{
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
