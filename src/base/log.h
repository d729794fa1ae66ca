/* A growing text with a bound: what a pass has to say to whoever called it.
 *
 * A log never fails and never becomes a verdict: past its bound it keeps the last `max` bytes (or, with
 * `keep_head`, the first ones) and goes on counting in `total`, as the kernel's verifier log does.
 * log_printf(NULL, ...) is allowed and does nothing. */
#ifndef BASE_LOG_H
#define BASE_LOG_H
#include "types.h"
#include <stdarg.h>

struct log {
	char *buf;	/* owned; a ring of `size` bytes once total > max */
	size_t size;	/* bytes allocated */
	size_t max;	/* bound in bytes; 0 means: only count */
	u64 total;	/* bytes ever written */
	u64 peak;	/* the largest total there ever was (log_reset takes back): what log_true_size reports */
	bool keep_head;	/* past the bound keep the beginning, not the end */
	u32 level;	/* verifier logs: the caller's BPF_LOG_LEVEL bits; others: free */
};

void log_init(struct log *log, size_t max);
void log_done(struct log *log);
void log_printf(struct log *log, const char *fmt, ...) PRINTF(2, 3);
void log_vprintf(struct log *log, const char *fmt, va_list ap);
void log_write(struct log *log, const char *text, size_t len);
/* Take back everything after position `total` (a mark that was read from log->total). */
void log_reset(struct log *log, u64 total);
/* The kept text, NUL-terminated and in order; a malloc'ed copy, NULL without memory. *len may be NULL. */
char *log_text(const struct log *log, size_t *len);

#endif
