/* PROG_TEST_RUN for every kind: what all kinds have in common, and who does the rest. */
#include "frame.h"

/* A pointer without a size, or a size without a pointer (bpf_prog_test_run() of the kernel's syscall.c). */
static bool half_given(const void *p, u32 size)
{
	return !p != !size;
}

int run_test(struct prog *p, struct run_test *t)
{
	t->ran = t->ctx_written = false;
	if (half_given(t->ctx_in, t->ctx_size_in) || half_given(t->ctx_out, t->ctx_out_room))
		return -EINVAL;
	switch (p->kind->prog_type) {
	case BPF_PROG_TYPE_XDP:
		return run_test_xdp(p, t);
	}
	return -ENOTSUPP_;
}
