/* The log of btf_parse, in the words and the layout of the kernel's BTF_LOAD log: one line a type
 * with its details, one line a member, and the reason at the end of the line that is refused. */
#include "check.h"
#include <stdio.h>

const char *btf_say_name(const struct btf_types *b, u32 off)
{
	const char *name = off ? btf_str(b, off) : "(anon)";

	return name ? name : "(invalid-name-offset)";
}

/* The kernel formats each piece in 1,024 bytes (BPF_VERIFIER_TMP_LOG_SIZE) and cuts what is longer,
 * as a decl tag may be. */
static void say_cut(const struct btf_check *c, const char *fmt, va_list ap)
{
	char piece[1024];
	int n;

	if (!c->log)
		return;
	n = vsnprintf(piece, sizeof(piece), fmt, ap);
	if (n > 0)
		log_write(c->log, piece, MIN((size_t)n, sizeof(piece) - 1));
}

void btf_say(const struct btf_check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_cut(c, fmt, ap);
	va_end(ap);
}

static const char *encoding_name(u32 encoding)
{
	switch (encoding) {
	case 0:
		return "(none)";
	case BTF_INT_SIGNED:
		return "SIGNED";
	case BTF_INT_CHAR:
		return "CHAR";
	case BTF_INT_BOOL:
		return "BOOL";
	}
	return "UNKN";
}

static void say_params(const struct btf_check *c, const struct btf_type *t)
{
	const struct btf_param *p = btf_params(t);
	u32 n = btf_vlen_of(t);

	btf_say(c, "return=%u args=(", t->type);
	for (u32 i = 0; i < n; i++) {
		btf_say(c, "%s", i ? ", " : "");
		if (i == n - 1 && !p[i].type)
			btf_say(c, "vararg");
		else
			btf_say(c, "%u %s", p[i].type, btf_say_name(c->b, p[i].name_off));
	}
	btf_say(c, n ? ")" : "void)");
}

static void say_details(const struct btf_check *c, const struct btf_type *t)
{
	u32 word;

	switch (btf_kind_of(t)) {
	case BTF_KIND_INT:
		word = btf_int_word(t);
		btf_say(c, "size=%u bits_offset=%u nr_bits=%u encoding=%s", t->size,
			BTF_INT_OFFSET(word), BTF_INT_BITS(word),
			encoding_name(BTF_INT_ENCODING(word)));
		break;
	case BTF_KIND_ARRAY:
		btf_say(c, "type_id=%u index_type_id=%u nr_elems=%u", btf_array_of(t)->type,
			btf_array_of(t)->index_type, btf_array_of(t)->nelems);
		break;
	case BTF_KIND_FWD:
		btf_say(c, "%s", btf_kflag(t) ? "union" : "struct");
		break;
	case BTF_KIND_FUNC_PROTO:
		say_params(c, t);
		break;
	case BTF_KIND_VAR:
		btf_say(c, "type_id=%u linkage=%u", t->type, btf_var_linkage(t));
		break;
	case BTF_KIND_FLOAT:
		btf_say(c, "size=%u", t->size);
		break;
	case BTF_KIND_DECL_TAG:
		btf_say(c, "type=%u component_idx=%d", t->type, btf_tag_component(t));
		break;
	default:
		if (btf_traits(t) & KIND_SIZED)
			btf_say(c, "size=%u vlen=%u", t->size, btf_vlen_of(t));
		else
			btf_say(c, "type_id=%u", t->type);
	}
}

static void say_why(const struct btf_check *c, const char *why, va_list ap)
{
	if (why) {
		btf_say(c, " ");
		say_cut(c, why, ap);
	}
	btf_say(c, "\n");
}

static void say_head(const struct btf_check *c, const struct btf_type *t, const char *space)
{
	btf_say(c, "[%u] %s %.1023s%s", c->at, btf_kinds[btf_kind_of(t)].name,
		btf_say_name(c->b, t->name_off), space);
}

void btf_say_type(const struct btf_check *c, const struct btf_type *t, const char *why, ...)
{
	va_list ap;

	if (!c->log)
		return;
	say_head(c, t, " ");
	say_details(c, t);
	va_start(ap, why);
	say_why(c, why, ap);
	va_end(ap);
}

/* Without details: they lie outside the section, or are what is wrong. */
void btf_say_kind(const struct btf_check *c, const struct btf_type *t, const char *why, ...)
{
	va_list ap;

	if (!c->log)
		return;
	say_head(c, t, "");
	va_start(ap, why);
	say_why(c, why, ap);
	va_end(ap);
}

void btf_say_member(const struct btf_check *c, const struct btf_type *t, const struct btf_member *m,
		    const char *why, ...)
{
	va_list ap;

	if (!c->log)
		return;
	if (c->resolving)
		btf_say_type(c, t, NULL);
	btf_say(c, "\t%s type_id=%u", btf_say_name(c->b, m->name_off), m->type);
	if (btf_kflag(t))
		btf_say(c, " bitfield_size=%u", btf_member_width(t, m));
	btf_say(c, " bits_offset=%u", btf_member_bit(t, m));
	va_start(ap, why);
	say_why(c, why, ap);
	va_end(ap);
}

void btf_say_var(const struct btf_check *c, const struct btf_type *t,
		 const struct btf_var_secinfo *v, const char *why)
{
	if (!c->log)
		return;
	if (c->resolving)
		btf_say_type(c, t, NULL);
	btf_say(c, "\t type_id=%u offset=%u size=%u%s%s\n", v->type, v->offset, v->size,
		why ? " " : "", why ? why : "");
}
