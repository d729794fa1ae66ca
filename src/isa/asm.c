/* Text assembler for test cases: isa_assemble(). Lines, labels and their patches; stmt.c reads the
 * instructions. */
#include "stmt.h"
#include "base/vec.h"
#include <ctype.h>
#include <stdio.h>

struct fixup {
	struct label to;
	u32 at, line;
	bool imm; /* patch imm, not off */
};

struct assembly {
	VEC(struct bpf_insn) insns;
	VEC(struct label) labels;
	VEC(struct fixup) fixups;
	u32 line;
};

static bool label_is(const struct label *a, const struct label *b)
{
	return a->len == b->len && !memcmp(a->name, b->name, a->len);
}

static int wrong(struct assembly *a, struct log *err, const char *what)
{
	log_printf(err, "line %u: %s\n", a->line, what);
	return -EINVAL;
}

/* "name:" before an instruction; also "12:", an index copied from a log, which means nothing. */
static int read_label(struct assembly *a, struct scan *s, struct log *err, bool *found)
{
	struct label l = {.at = a->insns.n};
	struct scan try = *s;
	bool hex, index;
	s64 v;

	*found = false;
	index = isa_scan_number(&try, &v, &hex);
	if ((!index && !isa_scan_word(&try, &l.name, &l.len)) || !isa_scan_is(&try, ":"))
		return 0;
	*s = try;
	*found = true;
	if (index)
		return 0;
	for (u32 i = 0; i < a->labels.n; i++)
		if (label_is(&a->labels.v[i], &l))
			return wrong(a, err, "this label stands elsewhere too");
	return VEC_PUSH(&a->labels, l) ? 0 : -ENOMEM;
}

/* "(bf)" in front; -1 when there is none */
static int read_opcode(struct scan *s)
{
	struct scan try = *s;
	int code = 0;

	if (!isa_scan_is(&try, "(") || try.end - try.p < 3 || try.p[2] != ')')
		return -1;
	for (u32 i = 0; i < 2; i++) {
		int c = tolower((unsigned char)try.p[i]);

		if (!isxdigit(c))
			return -1;
		code = code * 16 + (isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	s->p = try.p + 3;
	return code;
}

static int emit(struct assembly *a, const struct stmt *st)
{
	struct fixup f = {st->to, a->insns.n, a->line, st->to_imm};

	if (st->to.name && !VEC_PUSH(&a->fixups, f))
		return -ENOMEM;
	if (!VEC_PUSH(&a->insns, st->i) || (st->wide && !VEC_PUSH(&a->insns, st->high)))
		return -ENOMEM;
	return 0;
}

static int read_line(struct assembly *a, struct scan s, struct log *err)
{
	struct stmt st = {0};
	const char *expected;
	char text[160];
	bool found;
	int code, rc;

	do {
		rc = read_label(a, &s, err, &found);
		if (rc)
			return rc;
	} while (found);
	if (isa_scan_end(&s))
		return 0;
	code = read_opcode(&s);
	expected = isa_stmt_read(&s, &st);
	if (!expected && !isa_scan_end(&s))
		expected = "the end of the line";
	if (expected) {
		snprintf(text, sizeof(text), "expected %s at \"%.*s\"", expected,
			 (int)MIN(s.end - s.p, (ptrdiff_t)40), s.p);
		return wrong(a, err, text);
	}
	if (code >= 0 && code != st.i.code) {
		snprintf(text, sizeof(text), "this is opcode %02x, not %02x", st.i.code, code);
		return wrong(a, err, text);
	}
	return emit(a, &st);
}

static int patch(struct assembly *a, struct log *err)
{
	for (u32 i = 0; i < a->fixups.n; i++) {
		const struct fixup *f = &a->fixups.v[i];
		const struct label *l = NULL;
		s64 distance;

		a->line = f->line;
		for (u32 j = 0; j < a->labels.n && !l; j++)
			if (label_is(&a->labels.v[j], &f->to))
				l = &a->labels.v[j];
		if (!l)
			return wrong(a, err, "no such label");
		distance = (s64)l->at - f->at - 1;
		if (!f->imm && (distance < INT16_MIN || distance > INT16_MAX))
			return wrong(a, err, "the label is too far away: use gotol");
		if (f->imm)
			a->insns.v[f->at].imm = distance;
		else
			a->insns.v[f->at].off = distance;
	}
	return 0;
}

int isa_assemble(const char *text, struct bpf_insn **insns, u32 *n, struct log *err)
{
	struct assembly a = {0};
	int rc = 0;

	while (*text && !rc) {
		size_t len = strcspn(text, "\n");

		a.line++;
		rc = read_line(&a, isa_scan_line(text, len), err);
		text += len + (text[len] == '\n');
	}
	if (!rc)
		rc = patch(&a, err);
	if (!rc && !a.insns.n)
		rc = wrong(&a, err, "no instruction");
	if (!rc) {
		*insns = a.insns.v;
		*n = a.insns.n;
		a.insns.v = NULL;
	}
	VEC_DONE(&a.insns);
	VEC_DONE(&a.labels);
	VEC_DONE(&a.fixups);
	return rc;
}
