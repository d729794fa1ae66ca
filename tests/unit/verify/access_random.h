/* Random programs that mean something: registers are mostly used as what they hold. */
#ifndef ACCESS_RANDOM_H
#define ACCESS_RANDOM_H
#include "access.h"

/* Fill c (insns is malloc'ed) from a seed; the same seed gives the same program. */
void access_random(struct access_case *c, u64 seed);

#endif
