/* Private to isa: reading one statement of assembler text into an instruction. */
#ifndef ISA_STMT_H
#define ISA_STMT_H
#include "scan.h"

struct label {
	const char *name; /* in the text; NULL: none */
	u32 len, at;	  /* instruction it stands before */
};

/* The instruction being read: a second slot when wide, a label to go to when to.name. */
struct stmt {
	struct bpf_insn i, high;
	struct label to;
	bool wide, to_imm; /* to_imm: the distance to the label goes to imm, not off */
};

/* NULL, or what was expected where s stands now. */
const char *isa_stmt_read(struct scan *s, struct stmt *st);

#endif
