/* Helpers about text: trace_printk, trace_vprintk, snprintf, strncmp. */
#include "proto.h"

enum {
	PRINTK_ARGS = 3, /* of trace_printk: r3, r4, r5 */
	MAX_ARGS = 12,	 /* MAX_BPRINTF_VARARGS */
	LINE = 1024,	 /* MAX_BPRINTF_BUF */
};

static int trace(struct env *env, const char *fmt, u32 fmt_size, const u64 *args, u32 n_args)
{
	char line[LINE];
	int len = helper_format(env, line, sizeof(line), fmt, fmt_size, args, n_args);

	if (len >= 0 && env->trace)
		env->trace->line(env->trace, line, strlen(line));
	return len;
}

HELPER(trace_printk)
{
	return r0_int(trace(env, ptr_of(r1), r2, (u64[]){ r3, r4, r5 }, PRINTK_ARGS));
}

PROTO(trace_printk) = {
	.fn = trace_printk,
	.ret = HRET_INTEGER,
	.arg = { HARG_MEM | HARG_RDONLY, HARG_SIZE }, /* as in the kernel, nothing is asked of r3-r5 */
	.gpl_only = true,
	.needs_perfmon = true,
};

static bool bad_array(u64 array, u32 size)
{
	return size % 8 || size > MAX_ARGS * 8 || (size && !array);
}

static const u64 *load_array(u64 args[MAX_ARGS], u64 array, u32 size)
{
	if (size)
		memcpy(args, ptr_of(array), size); /* may be unaligned */
	return args;
}

HELPER(trace_vprintk)
{
	u64 args[MAX_ARGS];
	u32 size = r4;

	if (bad_array(r3, size))
		return r0_int(-EINVAL);
	return r0_int(trace(env, ptr_of(r1), r2, load_array(args, r3, size), size / 8));
}

PROTO(trace_vprintk) = {
	.fn = trace_vprintk,
	.ret = HRET_INTEGER,
	.arg = { HARG_MEM | HARG_RDONLY, HARG_SIZE, HARG_MEM | HARG_NULL_OK | HARG_RDONLY,
		 HARG_SIZE_OR_ZERO },
	.gpl_only = true,
	.needs_perfmon = true,
};

HELPER(bpf_snprintf)
{
	u64 args[MAX_ARGS];
	u32 size = r5;
	int len;

	if (bad_array(r4, size))
		return r0_int(-EINVAL);
	/* HARG_CONST_STR: there is a NUL in the format */
	len = helper_format(env, ptr_of(r1), r2, ptr_of(r3), UINT32_MAX,
			    load_array(args, r4, size), size / 8);
	return r0_int(len < 0 ? len : len + 1);
}

PROTO(snprintf) = {
	.fn = bpf_snprintf,
	.ret = HRET_INTEGER,
	.arg = { HARG_MEM | HARG_NULL_OK | HARG_WRITE, HARG_SIZE_OR_ZERO, HARG_CONST_STR,
		 HARG_MEM | HARG_NULL_OK | HARG_RDONLY, HARG_SIZE_OR_ZERO },
	.gpl_only = true,
	.needs_perfmon = true,
};

HELPER(bpf_strncmp)
{
	const u8 *a = ptr_of(r1), *b = ptr_of(r3);
	u32 size = r2;

	for (u32 i = 0; i < size; i++) {
		if (a[i] != b[i])
			return r0_int(a[i] < b[i] ? -1 : 1);
		if (!a[i])
			break;
	}
	return 0;
}

PROTO(strncmp) = {
	.fn = bpf_strncmp,
	.ret = HRET_INTEGER,
	.arg = { HARG_MEM | HARG_RDONLY, HARG_SIZE, HARG_CONST_STR },
};
