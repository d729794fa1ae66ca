/* Private to vm: the decoded form of a program that the interpreter runs.
 *
 * One struct vm_insn stands for each slot of the program, so that an index stays an index; what an
 * instruction needs is worked out beforehand: operands widened as the operation uses them,
 * distances in bytes, addresses in place. */
#ifndef VM_IMAGE_H
#define VM_IMAGE_H
#include "vm.h"
#include "isa/isa.h"

/* What the interpreter dispatches on: the rows of insn.def, and what only decoding makes. */
enum vm_op {
	VM_OP_TRAP = ISA_ID_MAX, /* the second slot of a ld_imm64, the end of the program: proved
				    unreachable */
	VM_OP_CALL_END,		 /* CALL, and the run ends with its result when that is 0 */
#define MOV_ALU(id, bits) VM_OP_MOV_##id,
#define JCC_JA(id, bits)  VM_OP_JA_##id,
#include "fuse.def"
#undef MOV_ALU
#undef JCC_JA
	VM_OP_MAX
};

struct vm_insn {
	u16 op;
	u8 dst, src; /* registers, <= 10 */
	s32 off;     /* memory: bytes; jumps and subprogram calls: bytes from this vm_insn;
			LD_ABS/LD_IND: the offset */
	u64 imm; /* operand; address of the function called; stack bytes of the subprogram called */
};
static_assert(sizeof(struct vm_insn) == 16, "four instructions a cache line");

/* Where a function begins. The address of an entry is a callback's value. */
struct vm_entry {
	const struct vm_insn *start;
	const struct vm_image *image;
	u32 stack; /* bytes, a multiple of 8, <= 512 */
};

struct vm_image {
	struct vm_insn *insns; /* n_insns and a trap behind them */
	u32 n_insns;
	struct vm_entry *entries; /* a function each; entries[0] is the program's */
	u32 n_entries;
	env_helper_fn (*resolve)(u64 value);
};

/* State of one vm_run; env->engine points at it. */
struct vm_state {
	struct env *env;
	struct vm_observer *observer;
	env_helper_fn (*resolve)(u64 value);
	u64 count, limit; /* instructions; counting instances only */
	u32 depth;	  /* frames below a callback that runs; observed instance only */
	int error;	  /* -ELOOP: limit reached; -EFAULT: came to a trap. 0 otherwise */
};

/* Mark the pairs of fuse.def. */
void vm_fuse(struct vm_image *img);

#define VM_CALLS      8		 /* kernel: MAX_CALL_FRAMES, the functions of one program on top of each other */
#define VM_STACK      512	 /* kernel: MAX_BPF_STACK */
#define VM_TAIL_CALLS 33	 /* kernel: MAX_TAIL_CALL_CNT */
/* A tail call out of the deepest function leaves its callers where they are, and the new program calls on top of them. */
#define VM_FRAMES     (VM_CALLS + VM_TAIL_CALLS * (VM_CALLS - 1))
#define VM_LOOPS      (8u << 20) /* kernel: BPF_MAX_LOOPS, what may_goto allows one call of a function \
				  */

/* The instances of interp.inc: run from an entry until its exit. */
typedef u64 vm_execute_fn(struct vm_state *state, const struct vm_entry *entry, u64 r1, u64 r2,
			  u64 r3, u64 r4, u64 r5);
vm_execute_fn vm_execute_fast, vm_execute_counted, vm_execute_observed;

/* The program a tail call goes to, counted; NULL: it cannot, go on behind it. */
const struct vm_entry *vm_tail_target(struct env *env, u64 map, u32 index);

#endif
