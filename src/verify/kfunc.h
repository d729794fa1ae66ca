/* Calls of kernel functions: shared by kfunc.c, iter.c, and prune.c's look at iterators. */
#ifndef VERIFY_KFUNC_H
#define VERIFY_KFUNC_H
#include "access.h"

int kfunc_collect(struct verifier *v, u32 insn);	/* add_kfunc_call: what does it name? */
int kfunc_call(struct verifier *v, const struct bpf_insn *i);

/* iter.c */
int iter_arg(struct verifier *v, const struct kfunc *k, u32 regno);
int iter_next(struct verifier *v, u32 frameno, u32 slot);	/* after the call: r0 is set */
void iter_place(struct verifier *v, u32 *frameno, u32 *slot);
bool iter_is_active(struct verifier *v);
bool iter_depths_differ(const struct state *old, const struct state *cur);
const char *iter_state_name(const struct reg *r);
int iter_irq_save(struct verifier *v, u32 regno);
int iter_irq_restore(struct verifier *v, u32 regno);

#endif
