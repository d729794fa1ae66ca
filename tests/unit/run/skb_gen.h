/* Random programs on a struct __sk_buff, for comparing floors: every helper, field and way of loading, with arguments that are
 * mostly sensible. What a program saw, it mixes into r0 and leaves in cb[0..1]. */
#ifndef TEST_SKB_GEN_H
#define TEST_SKB_GEN_H
#include "base/abi.h"

enum { SKB_GEN_INSNS = 1000 };
struct skb_gen {
	u64 seed;
	u32 type;		/* BPF_PROG_TYPE_* */
	u32 n;
	struct bpf_insn insns[SKB_GEN_INSNS];
};
u32 skb_gen_random(struct skb_gen *g, u32 below);
void skb_gen_program(struct skb_gen *g, u32 steps);
u32 skb_gen_packet(struct skb_gen *g, u8 *packet, u32 room);	/* its size */
void skb_gen_ctx(struct skb_gen *g, struct __sk_buff *ctx, u32 size);
void skb_gen_print(const struct skb_gen *g);

#endif
