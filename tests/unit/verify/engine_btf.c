/* BTF for the functions of a case: int, struct xdp_md, structs of any size, and a FUNC with its prototype for each. */
#include "engine.h"
#include <stdio.h>

struct builder {
	u32 type[16384], n;	/* type section, in words */
	char str[32768];
	u32 n_str, n_types;
};

static u32 str(struct builder *b, const char *s)
{
	u32 at = b->n_str;

	strcpy(b->str + at, s);
	b->n_str += strlen(s) + 1;
	assert(b->n_str < sizeof(b->str) - 64);
	return at;
}

static void word(struct builder *b, u32 w)
{
	assert(b->n < ARRAY_SIZE(b->type));
	b->type[b->n++] = w;
}

static u32 type(struct builder *b, const char *name, u32 kind, u32 vlen, u32 size)
{
	word(b, name ? str(b, name) : 0);
	word(b, kind << 24 | vlen);
	word(b, size);
	return ++b->n_types;
}

static u32 struct_ptr(struct builder *b, const char *name, u32 size)
{
	return type(b, NULL, BTF_KIND_PTR, 0, type(b, name, BTF_KIND_STRUCT, 0, size));
}

/* tags: bit 0 "arg:nonnull", bit 1 "arg:ctx" */
static u32 arg_type(struct builder *b, const char *text, u32 *tags)
{
	char name[16];
	u32 size;

	*tags = strchr(text, '!') ? 1 : 0;
	if (!strcmp(text, "int"))
		return 1;
	if (!strncmp(text, "ctx", 3)) {
		*tags = text[3] == '!' ? 2 : 0;
		return struct_ptr(b, "xdp_md", 24);
	}
	if (!strcmp(text, "struct"))
		return type(b, "by_value", BTF_KIND_STRUCT, 0, 8);
	if (!strcmp(text, "fwd*"))
		return type(b, NULL, BTF_KIND_PTR, 0, type(b, "unknown", BTF_KIND_FWD, 0, 0));
	if (sscanf(text, "mem%u", &size) == 1) {
		snprintf(name, sizeof(name), "mem%u", size);
		return struct_ptr(b, name, size);
	}
	if (!strncmp(text, "void*", 5)) {
		*tags = text[5] == '!' ? 2 : 0;
		return type(b, NULL, BTF_KIND_PTR, 0, 0);
	}
	printf("Bail out! no such argument: %s\n", text);
	exit(1);
}

static u32 func(struct builder *b, const struct engine_func *f)
{
	char text[128], *arg, *save;
	u32 args[16], tags[16], n = 0, proto, id;

	snprintf(text, sizeof(text), "%s", f->args);
	for (arg = strtok_r(text, ", ", &save); arg; arg = strtok_r(NULL, ", ", &save), n++)
		args[n] = arg_type(b, arg, &tags[n]);
	proto = type(b, NULL, BTF_KIND_FUNC_PROTO, n, f->returns_void ? 0 : 1);
	for (u32 i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "a%u", i);
		word(b, str(b, name));
		word(b, args[i]);
	}
	id = type(b, f->name, BTF_KIND_FUNC, f->global ? BTF_FUNC_GLOBAL : BTF_FUNC_STATIC, proto);
	for (u32 i = 0; i < n; i++)
		if (tags[i]) {
			type(b, tags[i] & 1 ? "arg:nonnull" : "arg:ctx", BTF_KIND_DECL_TAG, 0, id);
			word(b, i);
		}
	return id;
}

static int by_number(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Where functions begin: 0 and everything that is called or named. */
static u32 starts(const struct engine_case *c, u32 *start)
{
	u32 n = 1, out = 1;

	start[0] = 0;
	for (u32 i = 0; i < c->n && n < MAX_FUNCS; i++) {
		const struct bpf_insn *in = &c->insns[i];

		if ((in->code == (BPF_JMP | BPF_CALL) && in->src_reg == BPF_PSEUDO_CALL) ||
		    (in->code == (BPF_LD | BPF_IMM | BPF_DW) && in->src_reg == BPF_PSEUDO_FUNC))
			start[n++] = i + 1 + in->imm;
	}
	qsort(start, n, sizeof(*start), by_number);
	for (u32 i = 1; i < n; i++)
		if (start[i] != start[out - 1])
			start[out++] = start[i];
	return out;
}

void *engine_btf(struct engine_case *c, u32 *size)
{
	static struct builder b;
	struct btf_header *h;
	u32 start[MAX_FUNCS], n_starts, line;
	char *blob;

	if (!c->n_funcs && !c->n_lines)
		return NULL;
	memset(&b, 0, sizeof(b));
	b.n_str = 1;
	type(&b, "int", BTF_KIND_INT, 0, 4);
	word(&b, BTF_INT_SIGNED << 24 | 32);
	n_starts = starts(c, start);
	free(c->func_info);
	c->func_info = calloc(c->n_funcs + 1, sizeof(*c->func_info));
	for (u32 i = 0; i < c->n_funcs; i++) {
		const struct engine_func *f = &c->func[i];

		c->func_info[i].insn_off = f->has_offset ? f->offset : i < n_starts ? start[i] : c->n;
		c->func_info[i].type_id = func(&b, f);
	}
	line = str(&b, "source text");
	for (u32 i = 0; i < c->n_lines; i++)
		c->line_info[i] = (struct bpf_line_info){ c->line[i], line, line, 1 << 10 };
	*size = sizeof(*h) + b.n * 4 + b.n_str;
	blob = calloc(1, *size);
	h = (struct btf_header *)blob;
	*h = (struct btf_header){ .magic = 0xeb9f, .version = 1, .hdr_len = sizeof(*h), .type_len = b.n * 4,
				  .str_off = b.n * 4, .str_len = b.n_str };
	memcpy(blob + sizeof(*h), b.type, b.n * 4);
	memcpy(blob + sizeof(*h) + b.n * 4, b.str, b.n_str);
	return blob;
}
