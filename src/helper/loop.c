/* bpf_loop: call a function of the running program again and again. */
#include "proto.h"

#define MAX_LOOPS (8u * 1024 * 1024) /* the kernel's BPF_MAX_LOOPS */

HELPER(loop)
{
	u32 n = r1;

	if (r4)
		return r0_int(-EINVAL);
	if (n > MAX_LOOPS)
		return r0_int(-E2BIG);
	for (u32 i = 0; i < n; i++)
		if (env->call(env, r2, i, r3, 0, 0, 0))
			return i + 1;
	return n;
}

PROTO(loop) = {
	.fn = loop,
	.ret = HRET_INTEGER,
	.arg = { HARG_ANYTHING, HARG_FUNC, HARG_STACK | HARG_NULL_OK, HARG_ANYTHING },
};
