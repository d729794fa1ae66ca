/* How a packet lies in a run_buffer. Private to run/. */
#ifndef RUN_FRAME_H
#define RUN_FRAME_H
#include "run.h"

/* Place for `total` bytes of which the first `meta` are metadata and the first `linear` are contiguous for the program;
 * cleared around, frame set; returns where the bytes go. The caller has checked that all of it fits. */
u8 *run_buffer_place(struct run_buffer *b, u32 meta, u32 linear, u32 total);

int run_test_xdp(struct prog *p, struct run_test *t);	/* xdp.c */

#endif
