/* Bare programs for the tests of vm: see program.h. */
#include "program.h"
#include "isa/isa.h"
#include <ctype.h>

static int digit(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10
					    : -1;
}

u8 *program_bytes(const char *hex, u32 *n)
{
	u8 *bytes = malloc(strlen(hex) / 2 + 1);

	*n = 0;
	while (bytes && *hex) {
		if (isspace((unsigned char)*hex)) {
			hex++;
			continue;
		}
		if (digit(hex[0]) < 0 || digit(hex[1]) < 0) {
			free(bytes);
			return NULL;
		}
		bytes[(*n)++] = digit(hex[0]) * 16 + digit(hex[1]);
		hex += 2;
	}
	/* exactly as long as said, so that ASan sees what reaches past it */
	return bytes ? realloc(bytes, *n ? *n : 1) : NULL;
}

static int by_start(const void *a, const void *b)
{
	const struct vm_func *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int find_functions(struct program *p)
{
	u8 *starts = calloc(1, p->n + 1);

	p->funcs = calloc(p->n + 1, sizeof(*p->funcs));
	if (!starts || !p->funcs) {
		free(starts);
		return -ENOMEM;
	}
	starts[0] = 1;
	for (u32 i = 0; i < p->n; i++) {
		s64 to = (s64)i + 1 + p->insns[i].imm;

		if ((isa_is_pseudo_call(&p->insns[i]) || isa_is_pseudo_func(&p->insns[i])) &&
		    to >= 0 && to < p->n)
			starts[to] = 1;
		if (isa_is_ld_imm64(&p->insns[i]))
			i++;
	}
	for (u32 i = 0; i < p->n; i++)
		if (starts[i])
			p->funcs[p->n_funcs++] = (struct vm_func){i, 0, 512};
	qsort(p->funcs, p->n_funcs, sizeof(*p->funcs), by_start);
	for (u32 i = 0; i < p->n_funcs; i++)
		p->funcs[i].end = i + 1 < p->n_funcs ? p->funcs[i + 1].start : p->n;
	free(starts);
	return 0;
}

int program_read(struct program *p, const char *text, struct log *err)
{
	bool hex = text[strspn(text, "0123456789abcdefABCDEF \t\n")] == 0;
	u32 bytes;
	int rc;

	*p = (struct program){0};
	if (hex) {
		p->insns = (struct bpf_insn *)program_bytes(text, &bytes);
		p->n = bytes / 8;
		if (!p->insns || bytes % 8 || !p->n) {
			log_printf(err, "not a whole number of instructions in hex");
			program_done(p);
			return -EINVAL;
		}
	} else {
		rc = isa_assemble(text, &p->insns, &p->n, err);
		if (rc)
			return rc;
	}
	p->aux = calloc(p->n, sizeof(*p->aux));
	if (!p->aux || find_functions(p)) {
		program_done(p);
		return -ENOMEM;
	}
	return 0;
}

void program_done(struct program *p)
{
	free(p->insns);
	free(p->funcs);
	free(p->aux);
	*p = (struct program){0};
}

void program_helper(struct program *p, u32 id, env_helper_fn fn, u32 flags)
{
	for (u32 i = 0; i < p->n; i++)
		if (isa_is_helper_call(&p->insns[i]) && (u32)p->insns[i].imm == id)
			p->aux[i] = (struct vm_aux){addr_of((void *)fn), flags};
}

int program_image(struct vm_image **img, const struct program *p,
		  env_helper_fn (*resolve)(u64 value))
{
	const struct vm_code code = {p->insns, p->aux, p->n, p->funcs, p->n_funcs, resolve};

	return vm_image_new(img, &code);
}
