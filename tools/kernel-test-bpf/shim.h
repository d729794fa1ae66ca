/* What the table of the kernel's lib/test_bpf.c needs of the kernel's headers: names of instructions, types, a few functions. Our
 * own text; nothing of the kernel's is in this folder. */
#ifndef KERNEL_TEST_BPF_SHIM_H
#define KERNEL_TEST_BPF_SHIM_H
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/if_ether.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define BIT(n) (1u << (n))
#define BIT_ULL(n) (1ull << (n))
#define __initconst
#define __init
#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define GFP_KERNEL 0
#define kmalloc_array(n, size, flags) calloc(n, size)
#define kfree(p) free(p)
#define MAX_BPF_STACK 512
#if __BYTE_ORDER == __LITTLE_ENDIAN /* in constant initialisers, so no functions */
#define cpu_to_le16(x) ((u16)(x))
#define cpu_to_le32(x) ((u32)(x))
#define cpu_to_le64(x) ((u64)(x))
#define cpu_to_be16(x) __builtin_bswap16(x)
#define cpu_to_be32(x) __builtin_bswap32(x)
#define cpu_to_be64(x) __builtin_bswap64(x)
#undef __BIG_ENDIAN /* libc defines both, the kernel only what is true */
#endif
#define S8_MIN INT8_MIN
#define S16_MIN INT16_MIN
#define S16_MAX INT16_MAX
#define S32_MIN INT32_MIN
#define S32_MAX INT32_MAX
#define U32_MAX UINT32_MAX
#define S64_MIN INT64_MIN
#define S64_MAX INT64_MAX
#define U64_MAX UINT64_MAX
#define noinline __attribute__((noinline))
#define BUG_ON(bad) do { if (bad) abort(); } while (0)

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}
static inline u64 div64_u64_rem(u64 a, u64 b, u64 *rem)
{
	*rem = a % b;
	return a / b;
}

/* Any sequence of numbers will do. */
struct rnd_state { u64 at; };
static inline void prandom_seed_state(struct rnd_state *s, u64 seed)
{
	s->at = seed;
}
static inline u32 prandom_u32_state(struct rnd_state *s)
{
	s->at = s->at * 6364136223846793005ull + 1442695040888963407ull;
	return s->at >> 32;
}

/* ---- instructions */

#define INSN(CODE, DST, SRC, OFF, IMM) \
	((struct bpf_insn){ .code = (CODE), .dst_reg = (DST), .src_reg = (SRC), .off = (OFF), .imm = (IMM) })
#define BPF_RAW_INSN INSN

#define BPF_ALU64_REG(OP, DST, SRC) INSN(BPF_ALU64 | BPF_OP(OP) | BPF_X, DST, SRC, 0, 0)
#define BPF_ALU32_REG(OP, DST, SRC) INSN(BPF_ALU | BPF_OP(OP) | BPF_X, DST, SRC, 0, 0)
#define BPF_ALU64_IMM(OP, DST, IMM) INSN(BPF_ALU64 | BPF_OP(OP) | BPF_K, DST, 0, 0, IMM)
#define BPF_ALU32_IMM(OP, DST, IMM) INSN(BPF_ALU | BPF_OP(OP) | BPF_K, DST, 0, 0, IMM)
#define BPF_ENDIAN(TYPE, DST, LEN) INSN(BPF_ALU | BPF_END | BPF_SRC(TYPE), DST, 0, 0, LEN)
#define BPF_MOV64_REG(DST, SRC) BPF_ALU64_REG(BPF_MOV, DST, SRC)
#define BPF_MOV32_REG(DST, SRC) BPF_ALU32_REG(BPF_MOV, DST, SRC)
#define BPF_MOV64_IMM(DST, IMM) BPF_ALU64_IMM(BPF_MOV, DST, IMM)
#define BPF_MOV32_IMM(DST, IMM) BPF_ALU32_IMM(BPF_MOV, DST, IMM)
#define BPF_ZEXT_REG(DST) INSN(BPF_ALU | BPF_MOV | BPF_X, DST, DST, 0, 1)
#define BPF_LD_IMM64(DST, IMM) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, DST, 0, 0, (u32)(IMM)), INSN(0, 0, 0, 0, (u64)(IMM) >> 32)
#define BPF_LD_ABS(SIZE, IMM) INSN(BPF_LD | BPF_SIZE(SIZE) | BPF_ABS, 0, 0, 0, IMM)
#define BPF_LD_IND(SIZE, SRC, IMM) INSN(BPF_LD | BPF_SIZE(SIZE) | BPF_IND, 0, SRC, 0, IMM)
#define BPF_LDX_MEM(SIZE, DST, SRC, OFF) INSN(BPF_LDX | BPF_SIZE(SIZE) | BPF_MEM, DST, SRC, OFF, 0)
#define BPF_STX_MEM(SIZE, DST, SRC, OFF) INSN(BPF_STX | BPF_SIZE(SIZE) | BPF_MEM, DST, SRC, OFF, 0)
#define BPF_ST_MEM(SIZE, DST, OFF, IMM) INSN(BPF_ST | BPF_SIZE(SIZE) | BPF_MEM, DST, 0, OFF, IMM)
#define BPF_ATOMIC_OP(SIZE, OP, DST, SRC, OFF) INSN(BPF_STX | BPF_SIZE(SIZE) | BPF_ATOMIC, DST, SRC, OFF, OP)
#define BPF_STX_XADD(SIZE, DST, SRC, OFF) BPF_ATOMIC_OP(SIZE, BPF_ADD, DST, SRC, OFF)
#define BPF_JMP_REG(OP, DST, SRC, OFF) INSN(BPF_JMP | BPF_OP(OP) | BPF_X, DST, SRC, OFF, 0)
#define BPF_JMP_IMM(OP, DST, IMM, OFF) INSN(BPF_JMP | BPF_OP(OP) | BPF_K, DST, 0, OFF, IMM)
#define BPF_JMP32_REG(OP, DST, SRC, OFF) INSN(BPF_JMP32 | BPF_OP(OP) | BPF_X, DST, SRC, OFF, 0)
#define BPF_JMP32_IMM(OP, DST, IMM, OFF) INSN(BPF_JMP32 | BPF_OP(OP) | BPF_K, DST, 0, OFF, IMM)
#define BPF_JMP_A(OFF) INSN(BPF_JMP | BPF_JA, 0, 0, OFF, 0)
#define BPF_EXIT_INSN() INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define __BPF_STMT(CODE, K) ((struct sock_filter){ .code = (CODE), .k = (K) })
#define __BPF_JUMP(CODE, K, JT, JF) ((struct sock_filter){ .code = (CODE), .jt = (JT), .jf = (JF), .k = (K) })

#endif
