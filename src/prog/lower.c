/* Make verified instructions into what vm runs: accesses of the uapi context become accesses of our own frame, maps and
 * helpers become addresses. This changes and judges nothing; what it needs to know stands in the struct proof.
 *
 * Two steps, because GET_INFO shows what lies between them: shape() rewrites contexts and may make several instructions of
 * one; bind() puts the addresses in. */
#include "passes.h"
#include "helper/helper.h"
#include "base/cleanup.h"
#include "map/map.h"

/* Instructions that shape() writes: out takes over the place of code when all is written. */
struct writer {
	VEC(struct bpf_insn) insns;
	VEC(u32) origin;
};

static bool emit(struct writer *w, struct bpf_insn insn, u32 origin)
{
	return VEC_PUSH(&w->insns, insn) && VEC_PUSH(&w->origin, origin);
}

static u8 size_code(u32 bytes)
{
	switch (bytes) {
	case 1:
		return BPF_B;
	case 2:
		return BPF_H;
	case 4:
		return BPF_W;
	default:
		return BPF_DW;
	}
}

static bool is_load(const struct bpf_insn *insn)
{
	return BPF_CLASS(insn->code) == BPF_LDX;
}

/* A part of a field: load it whole, move the part down, cut it off. Little endian: byte 0 is the lowest. */
static bool narrow(struct writer *w, const struct bpf_insn *insn, u32 skip, u32 bytes, u32 origin)
{
	bool ok = true;

	if (skip)
		ok = emit(w, (struct bpf_insn){ .code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = insn->dst_reg, .imm = skip * 8 },
			  origin);
	if (bytes == 4) /* a mask of 32 ones: mov32 to itself */
		return ok && emit(w, (struct bpf_insn){ .code = BPF_ALU | BPF_MOV | BPF_X, .dst_reg = insn->dst_reg,
							.src_reg = insn->dst_reg }, origin);
	return ok && emit(w, (struct bpf_insn){ .code = BPF_ALU | BPF_AND | BPF_K, .dst_reg = insn->dst_reg,
						.imm = (1 << bytes * 8) - 1 }, origin);
}

/* A load with sign extension was made a plain one; bytes: how many it loaded. */
static bool extend(struct writer *w, const struct bpf_insn *insn, u32 bytes, u32 origin)
{
	return emit(w, (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = insn->dst_reg,
					  .src_reg = insn->dst_reg, .off = bytes * 8 }, origin);
}

/* Jump over the store that follows unless the value is below the limit. As in the kernel: an immediate is compared as a
 * signed number, a register as a 64-bit unsigned one. */
static bool guard(struct writer *w, const struct bpf_insn *store, u32 limit, u32 origin)
{
	if (BPF_CLASS(store->code) == BPF_STX)
		return emit(w, (struct bpf_insn){ .code = BPF_JMP | BPF_JGE | BPF_K, .dst_reg = store->src_reg,
						  .imm = limit, .off = 1 }, origin);
	if (store->imm < (s64)limit)
		return true;
	return emit(w, (struct bpf_insn){ .code = BPF_JMP | BPF_JA, .off = 1 }, origin);
}

static int shape_context(struct load *l, struct writer *w, u32 i)
{
	const struct prog *p = l->p;
	const struct bpf_insn *old = &l->code.insns[i];
	u32 origin = l->code.origin[i], off = p->proof.insn[origin].ctx_off, bytes = isa_size(old->code);
	const struct kind_field *f = kind_access(p->kind, p->attach_type, off, bytes, !is_load(old));
	struct bpf_insn insn = *old;

	if (!f)
		return prog_refuse(l, -EFAULT, "insn %u: no field of %u bytes at %u in the context", origin, bytes, off);
	insn.off = old->off - off + f->frame_off + (f->bytes ? off - f->off : 0);
	insn.code = BPF_CLASS(old->code) | (is_load(old) ? BPF_MEM : BPF_MODE(old->code)) |
		    size_code(f->bytes ? bytes : f->frame_size);
	if (!is_load(old) && f->write_below && !guard(w, &insn, f->write_below, origin))
		return -ENOMEM;
	if (!emit(w, insn, origin))
		return -ENOMEM;
	if (!is_load(old))
		return 0;
	/* as the kernel does it: where its own field is no wider than the load, any part of ours yields all of it */
	if (!f->bytes && bytes < f->size && bytes < f->frame_size && !narrow(w, old, off - f->off, bytes, origin))
		return -ENOMEM;
	if (BPF_MODE(old->code) == BPF_MEMSX && !extend(w, old, bytes, origin))
		return -ENOMEM;
	return 0;
}

static int shape_one(struct load *l, struct writer *w, u32 i)
{
	const struct bpf_insn *insn = &l->code.insns[i];
	u32 origin = l->code.origin[i];

	if (l->p->proof.insn[origin].ptr == PROOF_CTX)
		return shape_context(l, w, i);
	return emit(w, *insn, origin) ? 0 : -ENOMEM;
}

/* Every target of the old code is a place in the new one. */
static int retarget(struct load *l, struct writer *w, const u32 *at)
{
	const struct code *c = &l->code;

	for (u32 i = 0; i < c->n; i++) {
		u32 target;
		s64 by;

		if (prog_target(c->insns, i, &target)) {
			by = (s64)at[target] - at[i] - 1;
			if (BPF_CLASS(c->insns[i].code) == BPF_JMP && BPF_OP(c->insns[i].code) != BPF_CALL && by != (s16)by)
				return prog_refuse(l, -ERANGE, "insn %u cannot be patched due to 16-bit range", c->origin[i]);
			prog_set_target(w->insns.v, at[i], at[target]);
		}
		if (isa_is_ld_imm64(&c->insns[i]))
			i++;
	}
	return 0;
}

static int shape_all(struct load *l, struct writer *w, u32 *at)
{
	struct code *c = &l->code;
	int err;

	for (u32 i = 0; i < c->n; i++) {
		at[i] = w->insns.n;
		if (isa_is_ld_imm64(&c->insns[i])) {
			if (!emit(w, c->insns[i], c->origin[i]) || !emit(w, c->insns[i + 1], c->origin[i + 1]))
				return -ENOMEM;
			at[++i] = w->insns.n - 1;
			continue;
		}
		err = shape_one(l, w, i);
		if (err)
			return err;
	}
	at[c->n] = w->insns.n;
	return retarget(l, w, at);
}

static void move_along(struct load *l, const u32 *at)
{
	for (u32 i = 0; i < l->code.funcs.n; i++) {
		struct vm_func *f = &l->code.funcs.v[i];

		f->start = at[f->start];
		f->end = at[f->end];
	}
	prog_move_records(l, at, l->code.n, at[l->code.n]);
}

static int shape(struct load *l)
{
	autofree u32 *at = calloc((size_t)l->code.n + 1, sizeof(*at));
	struct writer w = { 0 };
	int err = at ? shape_all(l, &w, at) : -ENOMEM;

	if (err) {
		VEC_DONE(&w.insns);
		VEC_DONE(&w.origin);
		return err;
	}
	move_along(l, at);
	free(l->code.insns);
	free(l->code.origin);
	l->code.insns = w.insns.v;
	l->code.origin = w.origin.v;
	l->code.n = w.insns.n;
	return 0;
}

/* ---- addresses */

static bool names_map(const struct bpf_insn *insn)
{
	return isa_is_ld_imm64(insn) && insn->src_reg && insn->src_reg != BPF_PSEUDO_FUNC && insn->src_reg != BPF_PSEUDO_BTF_ID;
}

static bool names_value(const struct bpf_insn *insn)
{
	return insn->src_reg == BPF_PSEUDO_MAP_VALUE || insn->src_reg == BPF_PSEUDO_MAP_IDX_VALUE;
}

/* What GET_INFO shows of a map: its id instead of a descriptor or an index. */
static void show_map(struct bpf_insn *insn, const struct map *m)
{
	insn->src_reg = names_value(insn) ? BPF_PSEUDO_MAP_VALUE : BPF_PSEUDO_MAP_FD;
	insn->imm = m->obj.id;
}

static int bind_map(struct load *l, struct bpf_insn *insn, struct map *m)
{
	u64 addr = addr_of(m);
	int err;

	if (names_value(insn)) {
		err = m->ops->direct_value ? m->ops->direct_value(m, insn[1].imm, &addr) : -ENOTSUPP_;
		if (err)
			return prog_refuse(l, err, "no value at offset %d of map '%s'", insn[1].imm, m->name);
	}
	insn[0].src_reg = 0;
	insn[0].imm = (u32)addr;
	insn[1].imm = addr >> 32;
	return 0;
}

static int bind_helper(struct load *l, struct bpf_insn *insn, u32 i)
{
	const struct helper_proto *proto = helper_get(insn->imm);

	if (insn->imm == BPF_FUNC_tail_call) {
		*insn = (struct bpf_insn){ .code = BPF_JMP | ABI_TAIL_CALL };
		l->p->may_tail_call = true;
		return 0;
	}
	if (!proto || !proto->fn)
		return prog_refuse(l, -EINVAL, "bpf_%s can't run here: %s", helper_name(insn->imm) ?: "unknown",
				   proto && proto->cannot ? proto->cannot : "not built");
	l->aux[i].addr = (u64)(uintptr_t)proto->fn;
	l->p->may_change_packet |= proto->changes_packet;
	return 0;
}

static bool is_kfunc_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_KFUNC_CALL;
}

static int bind_kfunc(struct load *l, const struct bpf_insn *insn, u32 i)
{
	const struct kfunc *k = kfunc_get(insn->imm);

	if (!k || !k->fn)
		return prog_refuse(l, -EINVAL, "kernel function %d can't run here", insn->imm);
	l->aux[i].addr = (u64)(uintptr_t)k->fn;
	return 0;
}

static int bind(struct load *l)
{
	struct code *c = &l->code;
	int err = 0;

	for (u32 i = 0; i < c->n && !err; i++) {
		struct bpf_insn *insn = &c->insns[i];

		if (names_map(insn)) {
			u32 map = l->p->proof.map_of[c->origin[i]];

			if (!map || map > l->p->n_maps)
				return prog_refuse(l, -EFAULT, "insn %u: a map that verify did not see", c->origin[i]);
			show_map(&l->p->xlated[i], l->p->maps[map - 1]);
			err = bind_map(l, insn, l->p->maps[map - 1]);
		} else if (BPF_CLASS(insn->code) == BPF_LD && (BPF_MODE(insn->code) == BPF_ABS || BPF_MODE(insn->code) == BPF_IND)) {
			l->aux[i].addr = (u64)(uintptr_t)helper_skb_load_abs;
		} else if (isa_is_helper_call(insn)) {
			err = bind_helper(l, insn, i);
		} else if (is_kfunc_call(insn)) {
			err = bind_kfunc(l, insn, i);
		}
		if (isa_is_ld_imm64(insn))
			i++;
	}
	return err;
}

int prog_lower(struct load *l)
{
	struct prog *p = l->p;
	int err = shape(l);

	if (err)
		return err;
	l->aux = calloc(l->code.n, sizeof(*l->aux));
	p->xlated = malloc(l->code.n * sizeof(*p->xlated));
	p->origin = malloc(l->code.n * sizeof(*p->origin));
	if (!l->aux || !p->xlated || !p->origin)
		return -ENOMEM;
	memcpy(p->xlated, l->code.insns, l->code.n * sizeof(*p->xlated));
	memcpy(p->origin, l->code.origin, l->code.n * sizeof(*p->origin));
	p->n_xlated = l->code.n;
	return bind(l);
}
