/* Helpers: the function with its prototype right under it; helper.def lists every id of 6.18 with its name.
 *
 * A row whose prototype is not built has only the name: the verifier refuses it by name. Prototypes say what each argument
 * must be, in the verifier's terms; the verifier, and nobody else, enforces them. */
#ifndef HELPER_HELPER_H
#define HELPER_HELPER_H
#include "env/env.h"

/* What an argument must be. Base types in the low byte, flags above. The names follow the kernel's ARG_* */
enum helper_arg {
	HARG_NONE,
	HARG_CONST_MAP_PTR,
	HARG_MAP_KEY,		/* readable, map->key_size bytes */
	HARG_MAP_VALUE,		/* readable, map->value_size bytes */
	HARG_MEM,		/* pointer to memory whose size is the next argument (or fixed: sizes[]) */
	HARG_SIZE,		/* size of the memory before it, > 0 */
	HARG_SIZE_OR_ZERO,
	HARG_CONST_ALLOC_SIZE_OR_ZERO,	/* constant; size of the memory returned */
	HARG_CTX,
	HARG_ANYTHING,		/* any initialised scalar or pointer the caller may pass */
	HARG_SPIN_LOCK,
	HARG_RINGBUF_MEM,	/* a reservation; released by HARG_RELEASE */
	HARG_FUNC,		/* pointer to a subprogram */
	HARG_STACK,		/* pointer to stack (callback contexts) */
	HARG_CONST_STR,		/* NUL-terminated string in a read-only map */
	HARG_LONG_OUT,		/* pointer to 8 aligned bytes that the helper writes (HARG_MEM|UNINIT|FIXED in 6.12+) */
	HARG_INT_OUT,
	HARG_DYNPTR,
	HARG_TIMER,
	HARG_KPTR,
	HARG_BTF_ID,
	HARG_BTF_ID_SOCK_COMMON,
	HARG_SOCKET,
	HARG_SOCK_COMMON,
	HARG_PERCPU_BTF_ID,
	HARG_BASE_MASK = 0xff,
	HARG_NULL_OK = 1 << 8,	/* PTR_MAYBE_NULL */
	HARG_RDONLY = 1 << 9,	/* MEM_RDONLY: the helper only reads */
	HARG_UNINIT = 1 << 10,	/* memory need not be initialised: the helper writes all of it */
	HARG_WRITE = 1 << 11,	/* MEM_WRITE: the helper writes it */
	HARG_FIXED = 1 << 12,	/* size is sizes[i], not the next argument */
	HARG_ALIGNED = 1 << 13,
	HARG_RELEASE = 1 << 14,	/* OBJ_RELEASE */
	HARG_DYNPTR_SHIFT = 16,	/* HARG_DYNPTR: enum dynptr_type, 0: any */
};
#define HARG_DYNPTR_OF(type) ((u32)(type) << HARG_DYNPTR_SHIFT)
#define HARG_DYNPTR_TYPE(arg) ((arg) >> HARG_DYNPTR_SHIFT)
enum dynptr_type {	/* what is behind a dynptr; the kernel's numbers */
	DYNPTR_INVALID, DYNPTR_LOCAL, DYNPTR_RINGBUF, DYNPTR_SKB, DYNPTR_XDP, DYNPTR_SKB_META,
};

enum helper_ret {
	HRET_INTEGER,
	HRET_VOID,
	HRET_MAP_VALUE,		/* with HRET_NULL_OK: lookup */
	HRET_MEM,		/* of the size in HARG_CONST_ALLOC_SIZE_OR_ZERO */
	HRET_RINGBUF_MEM,	/* the same, as a reservation that must be released */
	HRET_DYNPTR_MEM,	/* a slice of HARG_CONST_ALLOC_SIZE_OR_ZERO bytes of the HARG_DYNPTR argument */
	HRET_SOCKET,
	HRET_TCP_SOCK,
	HRET_SOCK_COMMON,
	HRET_BTF_ID,
	HRET_MEM_OR_BTF_ID,
	HRET_BASE_MASK = 0xff,
	HRET_NULL_OK = 1 << 8,
};

struct helper_proto {
	env_helper_fn fn;	/* NULL: verifies, but this build cannot run it; `cannot` says why. (tail_call has
				 * neither: prog/lower.c makes an instruction of it) */
	const char *cannot;
	u32 ret;
	u32 arg[5];
	u32 size[5];		/* bytes, where HARG_FIXED */
	bool gpl_only;
	bool pkt_access;	/* packet pointers may be passed as memory */
	bool changes_packet;	/* invalidates packet pointers */
	bool might_sleep;
	bool needs_perfmon;	/* callers without CAP_PERFMON may not use it */
	bool fastcall;		/* keeps r1-r5: the kernel's allow_fastcall (only where it is inlined) */
};

const char *helper_name(u32 id);			/* without "bpf_": "map_lookup_elem"; NULL: no such id in 6.18 */
const struct helper_proto *helper_get(u32 id);		/* NULL: unknown or not built */
int helper_id(const char *name);			/* with or without "bpf_"; -ENOENT */

/* Kernel functions that programs call by their BTF id. What the verifier asks of an argument is said here and not taken from
 * BTF, so that a table row is all there is to know; the types themselves are the kernel's. */
enum kfunc_arg {
	KARG_NONE,
	KARG_SCALAR,
	KARG_CONST,		/* a known constant (__k) */
	KARG_DYNPTR,		/* initialised */
	KARG_DYNPTR_UNINIT,
	KARG_ITER,		/* struct bpf_iter_NAME on the stack: uninitialised for KFUNC_ITER_NEW */
	KARG_IRQ_FLAG,		/* unsigned long on the stack */
	KARG_MEM_OPT,		/* memory or NULL; the next argument, KARG_CONST, is its size */
	KARG_STR,		/* constant string in a read-only map */
};
enum kfunc_ret { KRET_VOID, KRET_INT, KRET_LONG, KRET_MEM, KRET_SLICE /* of the dynptr, as large as KARG_CONST */ };
enum kfunc_special {
	KFUNC_PLAIN, KFUNC_RCU_LOCK, KFUNC_RCU_UNLOCK, KFUNC_PREEMPT_DISABLE, KFUNC_PREEMPT_ENABLE, KFUNC_IRQ_SAVE,
	KFUNC_IRQ_RESTORE, KFUNC_DYNPTR_CLONE,
};
#define KFUNC_ITER_NEW 1u
#define KFUNC_ITER_NEXT 2u
#define KFUNC_ITER_DESTROY 4u
#define KFUNC_RET_NULL 8u
#define KFUNC_RDONLY 16u	/* the memory returned */
struct kfunc {
	const char *name;
	env_helper_fn fn;
	u8 arg[5], ret, special;
	u16 flags, size;	/* size: bytes of KRET_MEM; of the iterator */
	const char *iter;	/* "num" */
};
const struct kfunc *kfunc_by_name(const char *name);	/* NULL: not built */
const struct kfunc *kfunc_get(u32 btf_id);		/* the same by id in the kernel's BTF */
u32 kfunc_args(const struct kfunc *k);

/* printf in the kernel's bpf_trace_printk dialect; used by trace_printk, trace_vprintk, snprintf.
 * Returns the length as the kernel's snprintf would (out holds at most size - 1 of it and a NUL), -EINVAL for a format the
 * kernel refuses, -ENOSPC when the arguments outgrow the kernel's 512 bytes for them. fmt need not be terminated.
 * args NULL: only check the format for n_args arguments; 0 or -EINVAL. */
int helper_format(struct env *env, char *out, u32 size, const char *fmt, u32 fmt_size, const u64 *args, u32 n_args);

/* What LD_ABS and LD_IND do in kinds with a struct env_skb (a vm_load_abs_fn): size bytes in network order at off, which is
 * negative for offsets from the L3 and L2 headers (SKF_NET_OFF, SKF_LL_OFF). False: outside of the packet. */
bool helper_skb_load_abs(void *ctx, s64 off, u32 size, u64 *out, struct env *env);

/* Test builds only (meson -Dbreak_helper=csum_diff): that helper's result is one too large, so that a comparison of two
 * floors must notice. NULL in every other build. */
const char *helper_broken(void);

#endif
