/* PROG_TEST_RUN for every kind: what all kinds have in common, and who does the rest. */
#include "frame.h"

/* A pointer without a size, or a size without a pointer (bpf_prog_test_run() of the kernel's syscall.c). */
static bool half_given(const void *p, u32 size)
{
	return !p != !size;
}

static bool has_skb(const struct kind *k)
{
	return k->prog_type == BPF_PROG_TYPE_SOCKET_FILTER || k->prog_type == BPF_PROG_TYPE_SCHED_CLS ||
	       k->prog_type == BPF_PROG_TYPE_SCHED_ACT;
}

bool run_takes_packets(const struct kind *k)
{
	return k->prog_type == BPF_PROG_TYPE_XDP || has_skb(k);
}

bool run_test_takes(const struct kind *k, const void *packet, u32 size)
{
	return has_skb(k) ? run_skb_takes(packet, size) : size >= RUN_MIN_PACKET && size <= RUN_MAX_TEST;
}

u32 run_packet(struct prog *p, struct env *env, struct run_buffer *b)
{
	return has_skb(p->kind) ? run_skb(p, env, b) : run_xdp(p, env, b);
}

int run_test(struct prog *p, struct run_test *t)
{
	t->ran = t->ctx_written = false;
	if (half_given(t->ctx_in, t->ctx_size_in) || half_given(t->ctx_out, t->ctx_out_room))
		return -EINVAL;
	if (has_skb(p->kind))
		return run_test_skb(p, t);
	if (p->kind->prog_type == BPF_PROG_TYPE_XDP)
		return run_test_xdp(p, t);
	return -ENOTSUPP_;
}
