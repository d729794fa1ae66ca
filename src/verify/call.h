/* One helper call being checked: shared by call.c (the call and its result), call_args.c (arguments) and call_map.c (which
 * helpers work on which maps). */
#ifndef VERIFY_CALL_H
#define VERIFY_CALL_H
#include "access.h"

struct call {
	u32 id;
	const struct helper_proto *proto;
	struct map *map; /* HARG_CONST_MAP_PTR; NULL: none yet */
	u32 map_uid;
	struct mem_raw raw;	/* memory that the helper fills */
	bool raw_ok;		/* the memory argument before the size needs no initialised bytes */
	u32 release_regno;	/* argument that is released; 0: none */
	u32 ref_id;		/* reference that an argument holds; 0: none */
	u32 dynptr_regno;	/* HARG_DYNPTR; 0: none */
	u32 dynptr_id;		/* HRET_DYNPTR_MEM: whose slice the result is */
	u64 alloc_size;		/* HARG_CONST_ALLOC_SIZE_OR_ZERO */
	u64 max_size;		/* largest value of the last HARG_SIZE */
	u32 subprog;		/* HARG_FUNC */
	s64 const_key;		/* of an array look-up; -1: not constant. Decides whether the element is there */
	u32 stored_key;		/* what the helper will read */
};

/* call_args.c */
int call_check_args(struct verifier *v, struct call *c);

/* call_map.c */
int call_check_map(struct verifier *v, const struct call *c);
bool call_map_null_elidable(const struct map *m);	/* a key in range is always there */

#endif
