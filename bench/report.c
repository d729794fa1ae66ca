/* What came out: aligned on the terminal as soon as a table is complete, Markdown for the page. */
#include "bench.h"
#include <stdarg.h>

enum { COLUMNS = 16 };

void bench_report_init(struct bench_report *r)
{
	*r = (struct bench_report){0};
	r->page = open_memstream(&r->page_text, &r->page_size);
	r->targets = open_memstream(&r->targets_text, &r->targets_size);
	if (!r->page || !r->targets)
		abort();
}

void bench_section(struct bench_report *r, const char *title, const char *text)
{
	printf("\n== %s\n", title);
	fprintf(r->page, "\n## %s\n\n%s\n", title, text);
}

void bench_note(struct bench_report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	va_start(ap, fmt);
	fputc('\n', r->page);
	vfprintf(r->page, fmt, ap);
	fputc('\n', r->page);
	va_end(ap);
}

void bench_failure(struct bench_report *r, const char *fmt, ...)
{
	va_list ap;

	r->failed++;
	fflush(stdout);
	fputs("bench: FAILED: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	va_start(ap, fmt);
	fputs("\n**Failed**: ", r->page);
	vfprintf(r->page, fmt, ap);
	fputc('\n', r->page);
	va_end(ap);
}

void bench_table(struct bench_report *r, const char *columns)
{
	r->table = open_memstream(&r->cells, &r->cells_size);
	if (!r->table)
		abort();
	fprintf(r->table, "%s\n", columns);
}

void bench_row(struct bench_report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(r->table, fmt, ap);
	va_end(ap);
	fputc('\n', r->table);
}

static u32 split(char *line, char *cell[COLUMNS])
{
	u32 n = 0;

	for (char *next; line && n < COLUMNS; line = next) {
		next = strchr(line, '|');
		if (next)
			*next++ = 0;
		cell[n++] = line;
	}
	return n;
}

static void widen(const char *row, u32 width[COLUMNS])
{
	u32 column = 0;

	for (const char *start = row;; start++) {
		u32 len = strcspn(start, "|\n");

		if (column < COLUMNS)
			width[column] = MAX(width[column], len);
		column++;
		start += len;
		if (*start != '|')
			return;
	}
}

static void show_row(struct bench_report *r, char *row, const u32 width[COLUMNS], bool head)
{
	char *cell[COLUMNS];
	u32 n = split(row, cell);

	for (u32 i = 0; i < n; i++) {
		printf(i ? "  %*s" : "%-*s", (int)width[i], cell[i]);
		fprintf(r->page, "| %s ", cell[i]);
	}
	fputs("\n", stdout);
	fputs("|\n", r->page);
	for (u32 i = 0; head && i < n; i++)
		fputs(i ? "|---:" : "|---", r->page);
	if (head)
		fputs("|\n", r->page);
}

void bench_table_end(struct bench_report *r)
{
	u32 width[COLUMNS] = {0};
	bool head = true;

	fclose(r->table);
	fputc('\n', r->page);
	for (char *p = r->cells; *p; p = strchr(p, '\n') + 1)
		widen(p, width);
	for (char *p = r->cells, *end; *p; p = end) {
		end = strchr(p, '\n');
		*end++ = 0;
		show_row(r, p, width, head);
		head = false;
	}
	fflush(stdout);
	free(r->cells);
	r->cells = NULL;
	r->table = NULL;
}

void bench_target(struct bench_report *r, const char *what, double value, double limit, bool hard)
{
	bool met = value <= limit;

	fprintf(r->targets, "%s|%.2f|%.2f|%s\n", what, value, limit, met ? "met" : "**missed**");
	if (!met && hard)
		bench_failure(r, "%s: %.2f, the limit is %.2f", what, value, limit);
}

/* Two cells may be wanted in one printf. */
static char *slot(void)
{
	static char text[16][24];
	static u32 next;

	return text[next++ % 16];
}

const char *bench_ratio(double a, double b)
{
	char *s = slot();

	if (a > 0 && b > 0)
		snprintf(s, sizeof(char[24]), "%.2f", a / b);
	else
		strcpy(s, "-");
	return s;
}

const char *bench_ns(double ns)
{
	char *s = slot();

	if (ns <= 0)
		strcpy(s, "-");
	else
		snprintf(s, sizeof(char[24]), ns < 1000 ? "%.1f" : "%.0f", ns);
	return s;
}

const char *bench_ms(double ns)
{
	char *s = slot();

	if (ns <= 0)
		strcpy(s, "-");
	else
		snprintf(s, sizeof(char[24]), "%.2f", ns / 1e6);
	return s;
}

const char *bench_count(u64 n)
{
	char *s = slot();

	if (!n)
		strcpy(s, "-");
	else
		snprintf(s, sizeof(char[24]), "%llu", (unsigned long long)n);
	return s;
}
