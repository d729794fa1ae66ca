/* What oracle.c, oracle_state.c and oracle_memory.c share. */
#ifndef DIFFER_ORACLE_PRIVATE_H
#define DIFFER_ORACLE_PRIVATE_H
#include "oracle.h"
#include "verify/state.h"
#include <setjmp.h>

enum { SEEN_MAX = 8192, REGIONS = 64 };

struct seen {			/* a state of the verifier */
	u32 next;		/* index + 1 of an older one of the same instruction; 0: none */
	u32 depth;		/* frames below the running one, from where the walk began */
	bool kept;		/* numbers marked precise must hold */
	u16 live;
	struct reg regs[11];
};

struct region { u64 start, size; };

struct oracle {
	struct verify_watch watch;
	struct vm_observer observer;
	struct prog *p;		/* borrowed */
	bool has_states, overflow;
	struct seen *seen;	/* owned, n_seen of them */
	u32 n_seen, seen_cap;
	u32 *first;		/* per loaded instruction: index + 1 of its newest state; owned */
	/* the run */
	struct env_frame *frame;
	jmp_buf out;
	u64 steps, max_steps, checks;
	u64 top[64];		/* of the stack of each running function, outermost first */
	u32 depth;
	struct region region[REGIONS];
	u32 n_regions;
	bool many_regions;	/* more than fit: what goes through map values is not checked any more */
	struct { bool set; u32 depth; u64 size; } result;	/* the last call gives a pointer to so many bytes */
	struct { const struct map *map; u32 depth; } each;	/* bpf_for_each_map_elem that runs: of it, by whom */
	char text[2048];
};

void oracle_broken(struct oracle *o, enum oracle_end how, const char *fmt, ...) PRINTF(3, 4) __attribute__((noreturn));
void oracle_check_state(struct oracle *o, u32 insn, const u64 *regs);
void oracle_memory_start(struct oracle *o);
void oracle_check_memory(struct oracle *o, u32 at, const u64 *regs);

#endif
