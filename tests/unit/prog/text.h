/* Program texts put together piece by piece, and numbers that are the same in every run. */
#ifndef TEST_TEXT_H
#define TEST_TEXT_H
#include "base/log.h"
#include <stdarg.h>
#include <stdio.h>

struct text {
	char buf[65536];
	u32 len;
};

static inline void PRINTF(2, 3) add(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->len += vsnprintf(t->buf + t->len, sizeof(t->buf) - t->len, fmt, ap);
	va_end(ap);
	assert(t->len < sizeof(t->buf));
}

static inline u64 pick(u64 *seed) /* xorshift64* */
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 0x2545f4914f6cdd1dull;
}

#endif
