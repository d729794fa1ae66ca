/* The function and line records that come with a program: brought to our sizes here, judged by verify, and moved along when
 * code is removed. */
#include "passes.h"

enum { MIN_FUNC = 8, MIN_LINE = 16, MAX_RECORD = 252 };

/* n records of any legal size as n records of `want` bytes. What a caller's larger record has beyond that must be zero. */
static int normalise(struct load *l, const char *name, const void *from, u32 n, u32 size, u32 want, void **out)
{
	const u8 *rec = from;
	u8 *to;

	to = calloc(n, want);
	if (!to)
		return -ENOMEM;
	for (u32 i = 0; i < n; i++, rec += size) {
		for (u32 tail = want; tail < size; tail++) {
			if (rec[tail]) {
				free(to);
				return prog_refuse(l, -E2BIG, "nonzero tailing record in %s", name);
			}
		}
		memcpy(to + (size_t)i * want, rec, MIN(size, want));
	}
	*out = to;
	return 0;
}

static bool bad_size(u32 size, u32 min)
{
	return size < min || size > MAX_RECORD || size % 4;
}

int prog_read_records(struct load *l)
{
	const struct prog_attr *attr = l->attr;
	struct prog *p = l->p;
	int err;

	if (attr->func_info_cnt) {
		if (bad_size(attr->func_info_rec_size, MIN_FUNC))
			return prog_refuse(l, -EINVAL, "invalid func info rec size %u", attr->func_info_rec_size);
		err = normalise(l, "func info", attr->func_info, attr->func_info_cnt, attr->func_info_rec_size,
				sizeof(*p->func_info), (void **)&p->func_info);
		if (err)
			return err;
		p->n_func_info = attr->func_info_cnt;
	}
	if (attr->line_info_cnt) {
		if (attr->line_info_cnt > INT32_MAX / sizeof(*p->line_info) || bad_size(attr->line_info_rec_size, MIN_LINE))
			return -EINVAL;
		err = normalise(l, "line_info", attr->line_info, attr->line_info_cnt, attr->line_info_rec_size,
				sizeof(*p->line_info), (void **)&p->line_info);
		if (err)
			return err;
		p->n_line_info = attr->line_info_cnt;
	}
	return 0;
}

/* A removed instruction's line passes to the next one that stays, unless that has a line of its own: of the records that
 * come to the same place the last one counts. */
static void move_lines(struct prog *p, const u32 *at, u32 n_after)
{
	u32 kept = 0;

	for (u32 i = 0; i < p->n_line_info; i++) {
		struct bpf_line_info line = p->line_info[i];

		line.insn_off = at[line.insn_off];
		if (line.insn_off == n_after)
			continue;
		if (kept && p->line_info[kept - 1].insn_off == line.insn_off)
			kept--;
		p->line_info[kept++] = line;
	}
	p->n_line_info = kept;
}

/* Function records are one a function, in order; those of functions that are gone go too. */
static void move_funcs(struct prog *p, const u32 *at, u32 n_before)
{
	u32 kept = 0;

	for (u32 i = 0; i < p->n_func_info; i++) {
		struct bpf_func_info func = p->func_info[i];
		u32 end = i + 1 < p->n_func_info ? p->func_info[i + 1].insn_off : n_before;

		if (at[func.insn_off] == at[end])
			continue;
		func.insn_off = at[func.insn_off];
		p->func_info[kept++] = func;
	}
	p->n_func_info = kept;
}

void prog_move_records(struct load *l, const u32 *at, u32 n_before, u32 n_after)
{
	move_lines(l->p, at, n_after);
	move_funcs(l->p, at, n_before);
}
