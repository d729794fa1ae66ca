/* Random programs that mean something: pointers to context, packet, stack and map values, bounded loops, checks where the
 * verifier wants them, functions, callbacks. Most are acceptable and give the same result wherever they run; a program marked
 * wild was damaged afterwards, so that it may read what was never written. */
#ifndef DIFFER_GEN_H
#define DIFFER_GEN_H
#include "base/abi.h"

enum { GEN_INSNS = 640, GEN_FUNCS = 6 };

/* Maps by number, as programs name them (imm of ld_imm64): maps.def. */
enum gen_map {
#define MAP(name, type, key, value, entries, flags, fill) GEN_##name,
#include "maps.def"
#undef MAP
	GEN_MAPS
};
struct gen_map_spec { const char *name; u32 type, key, value, entries, flags; u32 fill; /* keys 0.. put in before each program */ };
extern const struct gen_map_spec gen_maps[GEN_MAPS];

/* GEN_CALLBACK: of bpf_loop; GEN_EACH: of bpf_for_each_map_elem */
enum gen_func_kind { GEN_MAIN, GEN_STATIC, GEN_GLOBAL, GEN_CALLBACK, GEN_EACH, GEN_KINDS };

struct gen_program {
	u64 seed;
	u32 type;		/* BPF_PROG_TYPE_* */
	bool wild;
	struct bpf_insn insn[GEN_INSNS];
	u32 n;
	struct { u32 start; u8 kind; } func[GEN_FUNCS];
	u32 n_funcs;
	bool needs_btf;		/* global functions or callbacks */
	u32 maps;		/* bit per map named */
	u32 flags;		/* BPF_F_* of prog_flags */
};

/* The program of a number: the same every time, but another with another compiler (the order in which arguments are evaluated).
 * Findings are kept as instructions, not as numbers. */
void gen_make(struct gen_program *p, u32 type, u64 seed);
/* BTF of all programs: func_info type ids by enum gen_func_kind. */
const void *gen_btf(u32 *size, u32 ids[GEN_KINDS]);
/* Would the kernel (6.18) risk its life over this? A sign mask and a constant in a loop fork states without end. */
bool gen_is_dangerous(const struct gen_program *p);

/* splitmix64 */
static inline u64 gen_rnd64(u64 *s)
{
	u64 z = *s += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

#endif
