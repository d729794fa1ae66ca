/* How a packet lies in a run_buffer. Private to run/. */
#ifndef RUN_FRAME_H
#define RUN_FRAME_H
#include "run.h"

/* Place for `total` bytes of which the first `meta` are metadata and the first `linear` are contiguous for the program;
 * cleared around, frame set; returns where the bytes go. The caller has checked that all of it fits. */
u8 *run_buffer_place(struct run_buffer *b, u32 meta, u32 linear, u32 total);

int run_test_xdp(struct prog *p, struct run_test *t);	/* xdp.c */
int run_test_skb(struct prog *p, struct run_test *t);	/* skb.c */

/* A filled buffer becomes the skb that TEST_RUN would make of it, arrived on interface `ifindex` (1: loopback). */
void run_skb_build(struct env_skb *s, const struct kind *k, u32 ifindex);
bool run_skb_takes(const u8 *packet, u32 size);
u32 run_skb(struct prog *p, struct env *env, struct run_buffer *b);

/* ---- steps of TEST_RUN that do not depend on the kind (test.c) */
struct run_buffer *run_borrow_buffer(void);		/* NULL: no memory; holds the largest packet TEST_RUN takes */
void run_return_buffer(struct run_buffer **b);
/* The caller's context of ctx_size_in bytes; what is missing is zero, what is too much must be (-E2BIG). */
int run_read_ctx(const struct run_test *t, void *ctx, u32 size);
/* Run it t->repeat times; fills in retval, duration and redirect. */
void run_repeat(struct prog *p, struct run_test *t, struct run_buffer *b);
int run_give_data(struct run_test *t, const struct env_frame *f);
int run_give_ctx(struct run_test *t, const void *ctx, u32 size);

#endif
