/* bpf_probe_read and its kin: memory at any address, which may not be there. There is one address space here, so the user's
 * and the kernel's are the same. */
#include "proto.h"

/* The kernel's own reader turns user addresses down as such (copy_from_kernel_nofault_allowed). */
static int fault(u64 addr, bool kernel)
{
	return kernel && (s64)addr >= 0 ? -ERANGE : -EFAULT;
}

static u64 read_all(struct env *env, void *to, u32 size, u64 from, bool kernel)
{
	int err = env_read_memory(env, to, from, size) ? fault(from, kernel) : 0;

	if (err)
		memset(to, 0, size);
	return r0_int(err);
}

/* A string with its NUL, cut at size. The bytes behind it are untouched, as in the kernel; after a fault all are zero. */
static u64 read_str(struct env *env, char *to, u32 size, u64 from, bool kernel)
{
	const u32 page = 4096;
	u32 n = 0;

	if (!size)
		return 0;
	while (n < size - 1) {
		u32 part = MIN(size - 1 - n, page - (u32)((from + n) % page));
		char piece[4096], *end;

		if (env_read_memory(env, piece, from + n, part)) {
			memset(to, 0, size);
			return r0_int(fault(from, kernel));
		}
		end = memchr(piece, 0, part);
		if (end) {
			memcpy(to + n, piece, end - piece);
			n += end - piece;
			break;
		}
		memcpy(to + n, piece, part);
		n += part;
	}
	to[n] = 0;
	return n + 1;
}

#define READ(name, kernel)                                                                                                    \
	HELPER(name)                                                                                                  \
	{                                                                                                             \
		return read_all(env, ptr_of(r1), r2, r3, kernel);                                                             \
	}                                                                                                             \
	PROTO(name) = {                                                                                               \
		.fn = name,                                                                                           \
		.ret = HRET_INTEGER,                                                                                  \
		.arg = { HARG_MEM | HARG_UNINIT | HARG_WRITE, HARG_SIZE_OR_ZERO, HARG_ANYTHING },                     \
		.gpl_only = true,                                                                                     \
		.needs_perfmon = true,                                                                                \
	}

#define READ_STR(name, kernel)                                                                                                \
	HELPER(name)                                                                                                  \
	{                                                                                                             \
		return read_str(env, ptr_of(r1), r2, r3, kernel);                                                             \
	}                                                                                                             \
	PROTO(name) = {                                                                                               \
		.fn = name,                                                                                           \
		.ret = HRET_INTEGER,                                                                                  \
		.arg = { HARG_MEM | HARG_UNINIT | HARG_WRITE, HARG_SIZE_OR_ZERO, HARG_ANYTHING },                     \
		.gpl_only = true,                                                                                     \
		.needs_perfmon = true,                                                                                \
	}

READ(probe_read, false);
READ(probe_read_user, false);
READ(probe_read_kernel, true);
READ_STR(probe_read_str, false);
READ_STR(probe_read_user_str, false);
READ_STR(probe_read_kernel_str, true);
