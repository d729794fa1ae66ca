/* Two oracles over an observed run of a verified program.
 *
 * The state oracle: every register lies within one of the states that the verifier kept for the instruction. The program is
 * verified once more with a watch, which records the states; with `all_precise` every range must hold, without it those of
 * pointers, and those numbers that the verifier found to matter at the states it kept for pruning.
 *
 * The memory oracle: every load and store lies within what the proof says it goes through: the packet as it is now, the stacks
 * of the running functions, the context, an element of a map that the program could have, a reservation of a ring buffer. */
#ifndef DIFFER_ORACLE_H
#define DIFFER_ORACLE_H
#include "prog/prog.h"
#include "run/run.h"

struct oracle;

/* use_map as in struct verify_input. NULL: no memory, or the program is refused this time, or there are too many states:
 * *err is 0 for the last. */
struct oracle *oracle_new(struct prog *p, u32 caps, bool all_precise, int (*use_map)(void *, s32, bool, struct map **), void *ctx,
			  int *err);
void oracle_free(struct oracle *o);

enum oracle_end { ORACLE_OK, ORACLE_LIMIT /* more than max_steps */, ORACLE_STATE, ORACLE_MEMORY };
/* Run on a filled buffer; env_enter() must have been done. A run that breaks a rule or the limit is left at once: what the
 * program held then (reservations) stays held. */
enum oracle_end oracle_run(struct oracle *o, struct env *env, struct run_buffer *b, u64 max_steps, u32 *r0);
const char *oracle_text(const struct oracle *o);	/* what was broken */
u64 oracle_checks(const struct oracle *o);		/* registers compared with a state that said something */

/* The same without states: the memory oracle alone. */
struct oracle *oracle_memory_only(struct prog *p);

#endif
