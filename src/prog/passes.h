/* The passes of prog_load() and what they hand to each other. Private to prog/. */
#ifndef PROG_PASSES_H
#define PROG_PASSES_H
#include "prog.h"
#include "base/vec.h"
#include "isa/isa.h"

/* Instructions under way, beside each the index in prog->loaded that it came from. */
struct code {
	struct bpf_insn *insns;
	u32 *origin;
	u32 n;
	VEC(struct vm_func) funcs;	/* sorted; funcs.v[0].start == 0 */
};

struct load {
	const struct prog_attr *attr;
	struct refusal *why;
	struct prog *p;			/* being made */
	struct code code;		/* after trim: the program without dead code; after lower: with addresses */
	struct vm_aux *aux;		/* made by lower, one an instruction */
};

/* Say why not, once, in the caller's log and in load->why; returns err. */
int prog_refuse(struct load *l, int err, const char *fmt, ...) PRINTF(3, 4);

int prog_check_names(struct load *l);		/* attr.c: kind and name */
bool prog_license_is_gpl(const char *license);	/* attr.c */
void prog_make_tag(u8 tag[8], const struct bpf_insn *insns, u32 n);			/* tag.c */
int prog_read_records(struct load *l);	/* records.c: func_info and line_info in our sizes */
/* Where instruction i leads to besides the next one (a jump's target, the function it calls or takes the address of). */
bool prog_target(const struct bpf_insn *insns, u32 i, u32 *target);
void prog_set_target(struct bpf_insn *insns, u32 i, u32 target);
int prog_trim(struct load *l);		/* trim.c: constant branches, dead code, jumps to the next instruction */
void prog_move_records(struct load *l, const u32 *at, u32 n_before, u32 n_after);	/* records.c: after trim moved code */
int prog_lower(struct load *l);		/* lower.c: contexts, maps, helpers */
int prog_use_map(void *load, s32 fd, bool fd_is_index, struct map **map);		/* maps.c */
int prog_check_maps(struct load *l);	/* maps.c: prog_arrays of another kind of program */

#endif
