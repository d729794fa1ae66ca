/* Saying no: the table of reasons, the line in the caller's log, and the struct refusal that others make text from.
 *
 * The kernel often prints several lines for one refusal; verify_line() writes the earlier ones, verify_refuse() the last. */
#include "access.h"
#include <stdarg.h>
#include <stdio.h>

static const char *const category[] = {
	[VERIFY_TYPE] = "Register Type Safety",
	[VERIFY_MEMORY] = "Memory Safety",
	[VERIFY_LIFETIME] = "Resource Lifetime Safety",
	[VERIFY_CALL] = "Call Type Safety",
	[VERIFY_CONTEXT] = "Execution Context Safety",
	[VERIFY_STRUCTURE] = "Program Structure",
	[VERIFY_POLICY] = "Policy",
};

static const struct verify_rule rules[] = {
#define RULE(id_, cat, meaning_) { .id = id_, .category = VERIFY_##cat, .meaning = meaning_ },
#include "rules.def"
#undef RULE
};

const struct verify_rule *verify_rule(const char *id)
{
	for (u32 i = 0; id && i < ARRAY_SIZE(rules); i++)
		if (!strcmp(rules[i].id, id))
			return &rules[i];
	return NULL;
}

const char *verify_category(enum verify_category c)
{
	return category[c];
}

/* As the kernel's verbose(): whatever level the caller asked for, unless it asked for none. */
static bool wanted(const struct verifier *v)
{
	return v->log && v->log->level;
}

void verify_line(struct verifier *v, const char *fmt, ...)
{
	va_list ap;

	if (!wanted(v))
		return;
	va_start(ap, fmt);
	log_vprintf(v->log, fmt, ap);
	va_end(ap);
	log_write(v->log, "\n", 1);
}

int verify_refuse(struct verifier *v, int err, const char *rule, int reg, const char *fmt, ...)
{
	struct refusal *why = v->why;
	va_list ap;

	assert(err < 0 && verify_rule(rule));
	if (!why->rule) {
		why->err = err;
		why->rule = rule;
		why->insn = v->insn_idx;
		why->reg = (s8)reg;
		va_start(ap, fmt);
		vsnprintf(why->text, sizeof(why->text), fmt, ap);
		va_end(ap);
	}
	if (wanted(v)) {
		va_start(ap, fmt);
		log_vprintf(v->log, fmt, ap);
		va_end(ap);
		log_write(v->log, "\n", 1);
	}
	return err;
}

struct tnum_text access_tnum(struct tnum t)
{
	struct tnum_text text;
	unsigned long long value = t.value, mask = t.mask;

	if (mask)
		snprintf(text.s, sizeof(text.s), "(0x%llx; 0x%llx)", value, mask);
	else
		snprintf(text.s, sizeof(text.s), value <= UINT16_MAX ? "%llu" : "0x%llx", value);
	return text;
}
