/* A loaded program. prog_load() is a list of passes: check attributes, read instructions and BTF, verify, remove dead code,
 * lower, image. What is here once it returned 0 is proven and ready to run. */
#ifndef PROG_PROG_H
#define PROG_PROG_H
#include "base/obj.h"
#include "base/log.h"
#include "base/abi.h"
#include "verify/verify.h"
#include "vm/vm.h"
#include "kind/kind.h"

struct map;
struct btf_types;

/* PROG_LOAD's attributes, copied out of the caller's memory by sys; borrowed for the call. */
struct prog_attr {
	u32 type, attach_type, flags, caps, ifindex;
	u32 attach_btf_id;
	bool attach_to;			/* attach_prog_fd was given */
	const struct bpf_insn *insns;
	u32 n_insns;
	const char *license;		/* NUL-terminated */
	char name[16];
	struct btf_types *btf;		/* NULL without prog_btf_fd */
	const void *func_info, *line_info, *core_relos;
	u32 func_info_rec_size, func_info_cnt, line_info_rec_size, line_info_cnt, core_relo_rec_size, core_relo_cnt;
	/* map behind a descriptor, with a reference for the caller; -EBADF: closed, -EINVAL: not a map */
	int (*map_by_fd)(void *ctx, s32 fd, bool fd_is_index, struct map **map);
	void *ctx;
	struct log *log;		/* may be NULL */
	u32 uid;
	u32 max_insns;			/* budget of the verifier, if it is to be smaller than the kernel's; 0: as there */
};

struct prog {
	struct obj obj;
	const struct kind *kind;
	u32 attach_type, flags, uid;
	char name[16];
	u8 tag[8];		/* as the kernel computes it since 6.18: SHA-256 of the instructions with map fds cleared */
	bool gpl;
	u64 load_time;		/* ns since boot */
	struct map **maps;	/* used maps, a reference each */
	u32 n_maps;
	struct btf_types *btf;
	struct bpf_func_info *func_info;
	u32 n_func_info;
	struct bpf_line_info *line_info;
	u32 n_line_info;
	struct bpf_insn *loaded;	/* as handed in (for dump) */
	u32 n_loaded;
	struct bpf_insn *xlated;	/* after lower, as GET_INFO shows them */
	u32 n_xlated;
	u32 *origin;		/* per xlated instruction: the index in `loaded` that it came from (proof is by that index) */
	u32 verified_insns;
	struct vm_image *image;
	struct proof proof;
	_Atomic u64 run_cnt, run_time_ns;
	bool may_tail_call, may_change_packet;
};

/* The checks that need no pointer: flags, size, capabilities, attach type, in the kernel's order. sys calls it before it
 * copies instructions; prog_load() calls it again. */
int prog_check_attr(const struct prog_attr *attr);
int prog_load(struct prog **out, const struct prog_attr *attr, struct refusal *why);
/* May this program stand in (or call into) a prog_array? The first one decides what all others must be like: its kind,
 * frags, expected attach type, as the kernel's bpf_prog_map_compatible. 0 or -EINVAL. sys asks before map_slot_set(). */
int prog_fits_map(struct prog *p, struct map *m);
/* The tag of n instructions, as info shows it for a program and for each of its functions. */
void prog_make_tag(u8 tag[8], const struct bpf_insn *insns, u32 n);
int prog_add_map(struct prog *p, struct map *m);	/* PROG_BIND_MAP; 0 also when it is there already */
static inline void prog_put(struct prog *p)
{
	if (p)
		obj_put(&p->obj);
}
/* Run p once on a prepared env (env_enter done) with its context. */
static inline u64 prog_run(struct prog *p, struct env *env, void *ctx)
{
	return unlikely(env->counting) ? vm_run_counted(p->image, env, ctx) : vm_run(p->image, env, ctx);
}

#endif
