/* The short integer names and the macros that every module uses. */
#ifndef BASE_TYPES_H
#define BASE_TYPES_H
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define MAX(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define ROUND_UP(x, n) (((x) + (n) - 1) / (n) * (n))
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

#define ENOTSUPP_ 524 /* the kernel's ENOTSUPP, which libc does not name */

/* A user-space pointer carried in a 64-bit field, as bpf(2) carries all of them. */
static inline void *ptr_of(u64 addr)
{
	return (void *)(uintptr_t)addr;
}
static inline u64 addr_of(const void *p)
{
	return (u64)(uintptr_t)p;
}

#endif
