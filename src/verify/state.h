/* The verifier's state: registers, stack slots, frames, references, and the states kept for pruning.
 * Private to verify/. Names of register types follow the kernel's, because its log does. */
#ifndef VERIFY_STATE_H
#define VERIFY_STATE_H
#include "value.h"
#include "base/abi.h"

struct map;
struct btf_types;
struct verifier;

enum reg_type {
	REG_NOT_INIT,
	REG_SCALAR,
	REG_CTX,
	REG_CONST_MAP,		/* CONST_PTR_TO_MAP */
	REG_MAP_VALUE,
	REG_MAP_KEY,
	REG_STACK,
	REG_PACKET_META,
	REG_PACKET,
	REG_PACKET_END,
	REG_FLOW_KEYS,
	REG_SOCKET, REG_SOCK_COMMON, REG_TCP_SOCK, REG_XDP_SOCK,
	REG_TP_BUFFER,
	REG_BTF_ID,
	REG_MEM,
	REG_BUF,
	REG_FUNC,
	REG_ARENA,
	REG_DYNPTR,		/* CONST_PTR_TO_DYNPTR */
	REG_TYPE_COUNT,
};
/* flags of a pointer; printed by the kernel as prefixes and suffixes of the type */
#define REGF_NULL (1u << 0)	/* _or_null: PTR_MAYBE_NULL */
#define REGF_RDONLY (1u << 1)
#define REGF_RINGBUF (1u << 2)
#define REGF_USER (1u << 3)
#define REGF_PERCPU (1u << 4)
#define REGF_TRUSTED (1u << 5)
#define REGF_UNTRUSTED (1u << 6)
#define REGF_RCU (1u << 7)
#define REGF_ALLOC (1u << 8)
#define REGF_NON_OWN_REF (1u << 9)
#define REGF_DYNPTR_SLICE (1u << 10)

struct reg {
	u8 type;		/* enum reg_type */
	bool precise;		/* scalars: the exact range matters from here back */
	u16 flags;		/* REGF_* */
	s32 off;		/* fixed part of a pointer's offset; the variable part is in v. Scalars: the "+ constant" of a linked scalar (with LINK_ADD_CONST in id) */
	struct value v;		/* scalar value, or variable part of the offset */
	u32 id;			/* ties copies together: packet pointers, map_value_or_null, linked scalars */
	u32 ref_id;		/* reference this pointer must release; 0: none */
	u32 frameno;		/* REG_STACK: whose stack */
	s32 subreg_def;		/* insn index + 1 that defined it as a 32-bit value; 0: none (zext marking) */
	union {
		struct { struct map *map; u32 map_uid; };	/* CONST_MAP, MAP_VALUE, MAP_KEY */
		u32 range;		/* PACKET*: bytes from the pointer (at off 0) proven; AT_PKT_END / BEYOND_PKT_END as negative s32 */
		struct { u32 mem_size, dynptr_id; };	/* MEM: bytes; the dynptr it is a slice of, 0: none */
		struct { u32 iter_depth; u8 iter_state; const char *iter_kind; };	/* in slots of SLOT_ITER: iter.c */
		struct { u8 dynptr_type; bool dynptr_first; };	/* DYNPTR, and in slots of SLOT_DYNPTR: dynptr.c */
		struct { const struct btf_types *btf; u32 btf_id; };
		u32 subprog;		/* FUNC */
		struct { u64 raw1, raw2; };	/* for copying and comparing */
	};
};
#define REG_LINK_ADD64 (1u << 31)	/* in id: this scalar is base + off */
#define REG_LINK_ADD32 (1u << 30)	/* in id: it is (u32)(base + off), made by a 32-bit addition */
#define REG_LINK_ADD_CONST (REG_LINK_ADD64 | REG_LINK_ADD32)
#define REG_AT_PKT_END (-1)
#define REG_BEYOND_PKT_END (-2)

enum slot_type {	/* of one stack byte */
	SLOT_INVALID, SLOT_SPILL, SLOT_MISC, SLOT_ZERO, SLOT_DYNPTR, SLOT_ITER, SLOT_IRQ_FLAG,
};

struct slot {			/* 8 bytes of stack, slot i covers fp-8*(i+1) .. fp-8*i-1 */
	struct reg spilled;	/* meaningful when type[7] == SLOT_SPILL */
	u8 type[8];		/* enum slot_type; type[7 - i] is byte i counted from the slot's low address: a 4-byte spill to the low half sets type[7..4] */
};

struct frame {			/* one function activation */
	struct reg regs[11];
	u32 frameno, subprog;
	s32 callsite;		/* insn of the call; -1: main */
	u32 n_slots;		/* stack bytes in use / 8 */
	struct slot *slots;	/* owned, n_slots of them (capacity may be larger) */
	u32 slots_cap;
	/* callbacks */
	bool in_callback, in_async_callback, in_exception_callback;
	struct { s64 min, max; } callback_ret;	/* allowed return range */
	u32 callback_depth;
	struct frame *next_free;	/* in the pool */
};

enum { STATE_MAX_FRAMES = 8 };

/* Frames and slots that were given back, for the next copy: states are copied at every branch. Owned by the verifier. */
struct state_pool {
	struct frame *frames;	/* free ones, linked by next_free; they keep their slots' memory */
	u32 n_frames;
};
void state_pool_done(struct state_pool *p);

struct ref {			/* a thing acquired and not released */
	u8 type;		/* REF_POINTER, REF_LOCK, REF_IRQ ... */
	u32 id;			/* ref_id of the pointers to it */
	u32 insn;		/* where it was acquired */
	const void *lock;
};
enum { REF_POINTER = 1, REF_LOCK, REF_RES_LOCK, REF_IRQ };

struct state {
	struct state_pool *pool;
	struct frame *frame[STATE_MAX_FRAMES];	/* owned; frame[cur] is the running one */
	u32 cur;
	struct ref *refs;			/* owned */
	u32 n_refs, refs_cap;
	u32 active_locks, active_rcu_locks, active_preempt_locks;
	u32 active_irq_id;	/* ref id of the irq flag saved last; 0: interrupts are on */
	bool in_sleepable;
	bool forced;		/* kept states: every number here, and in the states before, was forced to be precise */
	bool cleaned;		/* kept states: what is dead was already forgotten */
	u32 branches;		/* children not yet fully explored; pruning may use a state only at 0 (loops: see prune.c) */
	u32 insn, prev_insn;	/* current / previous instruction */
	u32 first_insn, last_insn;	/* for precision: the segment from the parent state */
	struct state *parent;
	struct jump_history { u32 insn, prev; u32 flags; u64 linked_regs; } *history;	/* owned; flags and linked_regs: precise.c */
	u32 n_history, history_cap;
	u32 dfs_depth, callback_unroll_depth, may_goto_depth;
	struct state *equal_state;	/* back edges of loops: the kept state this one was found equal to */
};

/* Copies are deep. false / NULL: no memory (the load then fails with -ENOMEM). */
bool state_copy(struct state *to, const struct state *from);	/* `to` is zeroed or was filled before: its memory is used again */
void state_done(struct state *s);
/* A frame with an empty stack, nothing in its registers but r10. NULL: no memory. */
struct frame *state_frame_new(struct state_pool *p, u32 frameno, u32 subprog, s32 callsite);
void state_frame_free(struct state_pool *p, struct frame *f);
static inline struct frame *state_frame(struct state *s)
{
	return s->frame[s->cur];
}
static inline struct reg *state_regs(struct state *s)
{
	return s->frame[s->cur]->regs;
}
bool state_stack_room(struct frame *f, u32 bytes);	/* make slots for fp-bytes .. fp; new bytes SLOT_INVALID */

/* Registers. A mark replaces all but subreg_def. */
void reg_mark_unknown(struct reg *r);		/* SCALAR, any value */
void reg_mark_not_init(struct reg *r);
void reg_mark_const(struct reg *r, u64 value);	/* SCALAR */
void reg_mark_pointer(struct reg *r, enum reg_type type);	/* offset 0, flags 0, ids 0 */
bool reg_is_const_zero(const struct reg *r);
static inline bool reg_is_pointer(const struct reg *r)
{
	return r->type > REG_SCALAR;
}
static inline bool reg_is_packet(const struct reg *r)
{
	return r->type == REG_PACKET || r->type == REG_PACKET_META;
}
/* Call fn on every register of every frame, spilled ones included. */
void state_each_reg(struct state *s, void (*fn)(struct reg *r, void *arg), void *arg);

#endif
