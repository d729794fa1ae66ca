/* Pruning, inside: what equal.c and prune.c share. */
#ifndef VERIFY_PRUNE_H
#define VERIFY_PRUNE_H
#include "state.h"

enum exact {
	NOT_EXACT,	/* imprecise numbers may differ */
	EXACT,		/* nothing may differ: the program is going in circles */
	RANGE_WITHIN,	/* as NOT_EXACT with every number precise: used where precision is not known yet */
};

int equal_init(struct verifier *v);
bool state_equal(struct verifier *v, struct state *old, struct state *cur, enum exact exact);
void equal_begin(struct verifier *v);	/* no ids are paired yet */
bool equal_exact(struct verifier *v, const struct reg *old, const struct reg *cur);	/* the same, ids paired since equal_begin() */
bool reg_same(const struct reg *a, const struct reg *b);	/* ids, references and precision apart */

#endif
