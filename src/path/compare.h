/* Private to path/: what the two children of a comparison tell their parent, as records on a pipe. */
#ifndef PATH_COMPARE_H
#define PATH_COMPARE_H
#include "path.h"
#include <stdio.h>

enum compare_kind {
	COMPARE_BEGIN = 1,	/* a: the program asks for time or random numbers */
	COMPARE_PACKET,		/* a: status, b: verdict, or with a status the size that went in; data: the packet afterwards */
	COMPARE_EVENT,		/* a: index of the map, or COMPARE_CONTEXT; data: the record. Comes before the packet that caused it */
	COMPARE_FOREIGN,	/* a: link type */
	COMPARE_MAP_NAME,	/* a: index; data: name */
	COMPARE_MAP,		/* a: index, b: 1 when the kind chooses what to evict; data: sorted entries */
	COMPARE_END,		/* a: 0 or -errno; data: the sentence */
};

#define COMPARE_CONTEXT 0xffffffffu	/* the context afterwards, told like an event of no map */

struct compare_record {
	u32 kind, a, b, size;	/* size bytes follow */
};

/* Runs in the child; everything goes to out. */
void compare_child(const struct path_compare *how, enum load_floor floor, FILE *out);

#endif
