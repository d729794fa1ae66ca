/* Judge a program; change nothing; leave a `struct proof`, or a `struct refusal` and words in the log.
 *
 * The model is the kernel's: register types, tnum plus signed/unsigned 64/32-bit ranges, stack slots byte by byte, ids that
 * tie copies together, references, precision on demand, pruning by state equivalence, a million-instruction budget. */
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H
#include "base/abi.h"
#include "base/log.h"

struct map;
struct kind;
struct btf_types;
struct state;

#define VERIFY_CAP_BPF 1u
#define VERIFY_CAP_PERFMON 2u
#define VERIFY_CAP_NET_ADMIN 4u
#define VERIFY_CAP_SYS_ADMIN 8u

/* Whoever wants to know the states that the walk goes through: the state oracle of tests/differ. struct state is verify's own
 * (state.h). Each state is told once, before its instruction is judged, unless the path was pruned there; one that is kept for
 * pruning is told when it is let go, because only then it is known which of its numbers mattered (reg.precise). */
struct verify_watch {
	void (*state)(struct verify_watch *w, const struct state *s, u32 insn, u16 live_regs, bool kept);
	bool all_precise;	/* treat every number as one that matters: pruning compares them all, so each range must hold */
};

/* What is judged. Borrowed for the call. */
struct verify_input {
	const struct bpf_insn *insns;	/* as handed to PROG_LOAD: map fds and pseudo sources still in them */
	u32 n_insns;
	const struct kind *kind;
	u32 attach_type, prog_flags, caps;
	bool gpl;
	const struct btf_types *btf;	/* program BTF or NULL */
	const void *func_info;		/* struct bpf_func_info records, already size-normalised to 8 bytes */
	u32 n_func_info;
	const void *line_info;		/* struct bpf_line_info records, 16 bytes each */
	u32 n_line_info;
	/* ld_imm64 map sources: the index of the map behind descriptor `fd` (or fd_array index) in the program's list of used
	 * maps; adds it on first use. -errno as the kernel's: -EBADF, -EINVAL, -E2BIG. */
	int (*use_map)(void *ctx, s32 fd, bool fd_is_index, struct map **map);
	void *ctx;
	struct log *log;		/* may be NULL; log->level decides how much is said */
	bool want_trail;		/* second run after a refusal: record where bounds came from */
	struct verify_watch *watch;	/* NULL: nobody */
	u32 max_insns;			/* a smaller budget than the kernel's million instructions processed; 0: that */
};

enum proof_ptr {	/* what a load or store goes through */
	PROOF_NONE, PROOF_CTX, PROOF_STACK, PROOF_MAP_VALUE, PROOF_PACKET, PROOF_MEM, PROOF_BTF /* may fault: use the memory reader */,
	PROOF_MIXED,
};

/* Per instruction, over all paths that reach it. Absent facts are 0 (the safe value). */
struct proof_insn {
	u8 seen;		/* some path gets here; 0: dead code */
	u8 ptr;			/* enum proof_ptr of the memory access, PROOF_MIXED if paths differ */
	u8 zext;		/* a 32-bit definition whose upper half is read later */
	u8 div_safe;		/* the divisor is never 0 here */
	s16 map;		/* helper call: index + 1 in the used maps of the one map that r1 always is; 0: not known */
	u16 call_stack;		/* bytes of stack of the callee (subprogram calls) */
	u8 const_key;		/* helper call on an array: the key is always const_key_value and in range */
	u32 const_key_value;
	u16 ctx_off;		/* PROOF_CTX: offset in the uapi context */
	u8 branch;		/* conditional jump: bit 0 taken seen, bit 1 fall-through seen */
};

struct proof_func { u32 start, end; u16 stack; bool is_callback, is_global, has_tail_call, might_throw; };

struct proof {
	struct proof_insn *insn;	/* n_insns of them, owned */
	u32 n_insns;
	struct proof_func *func;	/* owned; func[0] is the main program */
	u32 n_funcs;
	u32 *map_of;			/* per instruction: for ld_imm64 map sources the used-map index + 1, else 0. Owned */
	u32 verified_insns;		/* processed, as info.verified_insns */
	u32 peak_states, total_states, max_states_per_insn, longest_mark_read;
	u32 stack_depth;		/* of the deepest call chain, bytes */
};

/* Why not. Texts are made from it; see words.c (kernel's) and report/ (a person's). */
struct refusal {
	int err;		/* negative errno of the load */
	const char *rule;	/* id of verify/rules.def, e.g. "packet-bounds" */
	u32 insn;
	s8 reg;			/* -1: none */
	char text[512];		/* the kernel's last log line about it, without newline */
};

/* The table of reasons, rules.def. */
enum verify_category {
	VERIFY_TYPE, VERIFY_MEMORY, VERIFY_LIFETIME, VERIFY_CALL, VERIFY_CONTEXT, VERIFY_STRUCTURE, VERIFY_POLICY,
};
struct verify_rule {
	const char *id;
	enum verify_category category;
	const char *meaning;	/* one line: what the rule protects */
};
const struct verify_rule *verify_rule(const char *id);	/* NULL: no such rule */
const char *verify_category(enum verify_category c);	/* "Memory Safety" */

/* 0 and *proof filled, or -errno and *why filled. proof_done/verify free what they own. */
int verify_program(const struct verify_input *in, struct proof *proof, struct refusal *why);
void verify_proof_done(struct proof *proof);

#endif
