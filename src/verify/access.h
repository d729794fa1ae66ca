/* What the files about memory access and calls share with each other: mem.c ctx.c stack.c packet.c ptr.c null.c special.c
 * lock.c unpriv.c
 * mem_insn.c mem_helper.c call.c call_args.c refs.c. */
#ifndef VERIFY_ACCESS_H
#define VERIFY_ACCESS_H
#include "verifier.h"

/* A tnum in the log's syntax: "(0x0; 0xff)"; a constant as a number. */
struct tnum_text {
	char s[48];
};
struct tnum_text access_tnum(struct tnum t);

/* The frame whose stack a REG_STACK pointer points into. */
static inline struct frame *access_frame(struct verifier *v, const struct reg *r)
{
	return v->cur->frame[r->frameno];
}

/* Any number. Without CAP_BPF nothing is tracked back, so every number counts as precise. */
static inline void access_unknown(struct verifier *v, struct reg *r)
{
	reg_mark_unknown(r);
	r->precise = !v->bpf_capable;
}

/* ptr.c: a register that points at something gone: unreadable, or any number for those who may leak. */
void ptr_invalidate(struct verifier *v, struct reg *r);

/* mem.c. `off` includes the register's fixed offset. */
int mem_region(struct verifier *v, u32 regno, s32 off, s32 size, u32 mem_size, bool zero_ok);
int mem_map_flags(struct verifier *v, u32 regno, s32 off, s32 size, bool write);
int mem_map_value(struct verifier *v, u32 regno, s32 off, s32 size, bool zero_ok, bool direct);
bool mem_is_constant(const struct map *m); /* its contents never change again */
int mem_aligned(struct verifier *v, u32 regno, s32 off, u32 size, bool strict_once);
/* check_ptr_off_reg: the pointer as it was given, at most a fixed offset added. */
int mem_unmoved(struct verifier *v, const struct reg *r, u32 regno, bool fixed_ok);

/* ctx.c */
int ctx_access(struct verifier *v, u32 insn, s32 off, u32 size, bool write, int value_regno, bool sign_extend);

/* stack.c */
int stack_access(struct verifier *v, u32 regno, s32 off, u32 size, bool write, int value_regno);
int stack_helper(struct verifier *v, u32 regno, s32 off, s32 size, bool zero_ok, bool write, struct mem_raw *raw);
/* Are the size (at most 4) bytes at a REG_STACK register those of a constant, spilled there or in bytes of 0? It is marked
 * precise; -EOPNOTSUPP: not one. As in the kernel *value is all of the constant, although the bytes, *stored, may be its
 * middle: if *value is small, so is *stored. */
int stack_constant(struct verifier *v, const struct reg *r, u32 size, s64 *value, u32 *stored);

/* packet.c */
int packet_access(struct verifier *v, u32 regno, s32 off, s32 size, bool zero_ok);
bool packet_helper_ok(const struct verifier *v, bool pkt_access);

/* special.c: fields of a map's value that only helpers may touch. direct: a load or store, which may touch whole pointers */
int special_check(struct verifier *v, u32 regno, s32 off, s32 size, bool direct);
int special_access(struct verifier *v, u32 regno, s32 off, int value_regno);	/* the rules of those pointers, after it */

/* dynptr.c */
const char *dynptr_type_name(u32 type);
int dynptr_overwrite(struct verifier *v, struct frame *f, u32 slot);	/* a store is about to touch the slot */
void dynptr_mark_reg(struct verifier *v, struct reg *r, u32 type);	/* a register that points at one elsewhere */
int dynptr_arg(struct verifier *v, u32 regno, u32 arg);		/* HARG_DYNPTR and its flags */
int dynptr_clone(struct verifier *v, u32 regno, u32 type, u32 ref);	/* made from one of that type and reference */
int dynptr_check_release(struct verifier *v, u32 regno);
int dynptr_release(struct verifier *v, u32 regno);
const struct reg *dynptr_known(struct verifier *v, u32 regno);	/* type, id and ref_id of the one at regs[regno], which passed */

/* lock.c */
bool lock_may_be_in(const struct reg *r);
int lock_arg(struct verifier *v, u32 regno, bool taken);	/* bpf_spin_lock (taken) or bpf_spin_unlock is called with it */
int lock_check_map(struct verifier *v, const struct map *m);	/* may programs of this kind use such values? */

/* unpriv.c: what callers without CAP_PERFMON may do with pointers; no demands on the others */
struct ptr_mask {
	bool to_left;
	u32 limit;
	u8 state;
};
int unpriv_alu(struct verifier *v, const struct bpf_insn *i, const struct reg *ptr, const struct reg *off,
	       bool ptr_is_dst, struct ptr_mask *mask, bool commit);
int unpriv_bounds(struct verifier *v, u32 regno);

/* refs.c */
void refs_remove(struct state *s, u32 i);
bool refs_forget(struct state *s, u32 id); /* the reference, not the pointers; false: not there */

#endif
