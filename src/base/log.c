#include "log.h"
#include <stdio.h>

void log_init(struct log *log, size_t max)
{
	*log = (struct log){ .max = max };
}

void log_done(struct log *log)
{
	if (!log)
		return;
	free(log->buf);
	*log = (struct log){ 0 };
}

/* Make room so that bytes [0, want) of the ring exist. Failing keeps what is there: text is then lost, not a verdict. */
static void grow(struct log *log, u64 want)
{
	size_t size = log->size ? log->size : 256;
	char *buf;

	if (want > log->max)
		want = log->max;
	while (size < want)
		size *= 2;
	if (size > log->max)
		size = log->max;
	if (size <= log->size)
		return;
	buf = realloc(log->buf, size);
	if (!buf)
		return;
	log->buf = buf;
	log->size = size;
}

void log_write(struct log *log, const char *text, size_t len)
{
	if (!log)
		return;
	grow(log, log->total + len);
	for (size_t i = 0; log->size && i < len; i++) {
		u64 at = log->total + i;

		if (at < log->size)
			log->buf[at] = text[i];
		else if (!log->keep_head)
			log->buf[at % log->size] = text[i];
	}
	log->total += len;
	if (log->total > log->peak)
		log->peak = log->total;
}

void log_vprintf(struct log *log, const char *fmt, va_list ap)
{
	char small[512], *text = small;
	va_list again;
	int n;

	if (!log)
		return;
	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	if (n >= (int)sizeof(small)) {
		text = malloc(n + 1);
		if (text)
			vsnprintf(text, n + 1, fmt, again);
		else
			text = small, n = sizeof(small) - 1;
	}
	va_end(again);
	if (n > 0)
		log_write(log, text, n);
	if (text != small)
		free(text);
}

void log_printf(struct log *log, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_vprintf(log, fmt, ap);
	va_end(ap);
}

void log_reset(struct log *log, u64 total)
{
	if (log && total < log->total)
		log->total = total;
}

char *log_text(const struct log *log, size_t *len)
{
	u64 n = MIN(log->total, (u64)log->size), first = 0;
	char *text = malloc(n + 1);

	if (!text)
		return NULL;
	if (log->total > log->size && !log->keep_head)
		first = log->total - n;
	for (u64 i = 0; i < n; i++)
		text[i] = log->buf[(first + i) % log->size];
	text[n] = 0;
	if (len)
		*len = n;
	return text;
}
