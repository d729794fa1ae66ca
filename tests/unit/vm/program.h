/* Bare programs for the tests of vm: from hex or assembler text, past the verifier, to an image. */
#ifndef PROGRAM_H
#define PROGRAM_H
#include "base/log.h"
#include "vm/vm.h"

struct program {
	struct bpf_insn *insns;
	u32 n;
	struct vm_func
	    *funcs; /* every subprogram that is called or pointed at, 512 bytes of stack each */
	u32 n_funcs;
	struct vm_aux *aux;
};

/* Hex digits (8 bytes an instruction) or assembler text; 0 or -errno with a sentence in err. */
int program_read(struct program *p, const char *text, struct log *err);
void program_done(struct program *p);
/* Every helper call with this id goes to fn. */
void program_helper(struct program *p, u32 id, env_helper_fn fn, u32 flags);
int program_image(struct vm_image **img, const struct program *p,
		  env_helper_fn (*resolve)(u64 value));

/* Bytes written as hex, blanks allowed; malloc'ed (exactly n bytes, at least 1), NULL: not hex. */
u8 *program_bytes(const char *hex, u32 *n);

#endif
