/* What the generator knows while it writes, and the pieces its files offer to each other.
 *
 *   gen.c       functions, blocks, conditions and loops      gen_data.c   numbers, memory, the stack
 *   gen_call.c  maps, helpers, functions, callbacks          gen_wild.c   damage */
#ifndef DIFFER_GEN_PRIVATE_H
#define DIFFER_GEN_PRIVATE_H
#include "gen.h"
#include "isa/isa.h"

enum what { NONE, NUM, CTX, PKT, END, META, STACK, VALUE, N_WHAT };

struct held {			/* by a register or a stack slot */
	u8 what;
	u8 map;			/* VALUE */
	u32 room;		/* PKT, VALUE, STACK: bytes that may be touched from here */
	u64 max;		/* NUM: bound known to the generator */
};

/* 8-byte stack slots, slot i at fp-8*(i+1). From AREA on they hold numbers alone, and pointers to them may be taken. */
enum { SLOTS = 12, AREA = 8, AREA_OFF = -8 * SLOTS, AREA_SIZE = 8 * (SLOTS - AREA) };

struct known {			/* at one place of the program */
	struct held reg[10];
	struct held slot[SLOTS];
};

struct gen {
	struct gen_program *p;
	u64 rnd;
	struct known now;
	u16 fixed;		/* registers that must keep what they hold (loops) */
	u16 numbers;		/* registers that may change, but stay numbers */
	u16 fixed_slots;
	u32 func;		/* being written */
	u32 depth, loops;	/* of blocks, of loops */
	bool no_exit;		/* in something that must be finished: no early return */
	bool no_move;		/* the packet may not be moved */
	bool cut;		/* it may have lost its end */
	u32 budget;		/* instructions left for the function */
	u32 exits[32], n_exits;	/* jumps to the function's early exit */
	struct { u32 at, func; } call[24];	/* to be pointed at functions */
	u32 n_calls;
	struct { u8 kind; u8 uses; bool packet_moves; } func_info[GEN_FUNCS];
	u32 n_funcs;		/* planned */
};

static inline u32 rnd(struct gen *g, u32 below)
{
	return (u32)((gen_rnd64(&g->rnd) >> 32) * below >> 32);
}
static inline bool chance(struct gen *g, u32 percent)
{
	return rnd(g, 100) < percent;
}
#define PICK(g, ...) ({ static const s64 pick_[] = { __VA_ARGS__ }; pick_[rnd(g, ARRAY_SIZE(pick_))]; })

/* gen.c */
void put(struct gen *g, u8 code, u8 dst, u8 src, s64 off, s64 imm);
void put_mov(struct gen *g, u8 dst, u8 src);		/* with what is known of it */
void put_imm(struct gen *g, u8 dst, s64 imm);
void put_map(struct gen *g, u8 dst, u32 map);
u32 put_jump(struct gen *g, u8 code, u8 dst, u8 src, s64 imm);	/* forward, to be landed by land() */
void land(struct gen *g, u32 jump);			/* it goes here */
void block(struct gen *g, u32 statements);		/* up to so many */
void branch_block(struct gen *g, u32 jump, u32 statements);	/* a block that the jump, already put, goes around */
void set_num(struct gen *g, u8 reg, u64 max);
int find_reg(struct gen *g, enum what what);		/* -1: none */
int find_pointer(struct gen *g);			/* with room */
int free_reg(struct gen *g, bool for_number);		/* a register to write; -1: none */
int num_reg(struct gen *g);				/* a number, made if need be */
bool may_write(const struct gen *g, u8 reg, bool number);
s64 constant(struct gen *g);
void forget_packet(struct gen *g);
void clobber(struct gen *g);				/* r0-r5, after a call */
bool has_area(const struct gen *g);			/* the stack's area may be used in this function */
bool may_call(const struct gen *g);			/* r0-r5 are free to be used for one */

/* gen_data.c: a statement each; gen_call.c: the same */
void do_alu(struct gen *g);
void do_unary(struct gen *g);
void do_move(struct gen *g);
void do_context(struct gen *g);
void do_load_absolute(struct gen *g);
void do_load(struct gen *g);
void do_store(struct gen *g);
void do_atomic(struct gen *g);
void do_spill(struct gen *g);
void do_fill(struct gen *g);
void do_stack_index(struct gen *g);
void do_packet_check(struct gen *g);
void do_packet_index(struct gen *g);
void do_value_index(struct gen *g);
void do_packet_size(struct gen *g);
void do_lookup(struct gen *g);
void do_update(struct gen *g);
void do_delete(struct gen *g);
void do_ring(struct gen *g);
void do_data(struct gen *g);
void do_move_packet(struct gen *g);
void do_bytes(struct gen *g);
void do_csum(struct gen *g);
void do_small_helper(struct gen *g);
void do_call(struct gen *g);
void do_callback(struct gen *g);
void do_queue(struct gen *g);
void do_each(struct gen *g);
void do_tail_call(struct gen *g);
void gen_damage(struct gen_program *p, u64 *rnd);

#endif
