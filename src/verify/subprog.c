/* Functions of a program: where they begin, that jumps stay inside, and how much stack chains of calls need. */
#include "engine.h"
#include "kfunc.h"
#include "btf/btf.h"

static const char needs_cap[] =
	"loading/calling other bpf or kernel functions are allowed for CAP_BPF and CAP_SYS_ADMIN";

s32 subprog_at(const struct verifier *v, u32 insn)
{
	u32 lo = 0, hi = v->n_subprogs;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (v->subprog[mid].start == insn)
			return mid;
		if (v->subprog[mid].start < insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return -1;
}

u32 subprog_of(const struct verifier *v, u32 insn)
{
	u32 i = 0;

	while (i + 1 < v->n_subprogs && v->subprog[i + 1].start <= insn)
		i++;
	return i;
}

const char *subprog_name(const struct verifier *v, u32 n)
{
	u32 id = v->subprog[n].type_id;
	const char *name = id && v->in->btf ? btf_name(v->in->btf, id) : NULL;

	return name ? name : "";
}

bool subprog_calls_sync_callback(const struct bpf_insn *i)
{
	if (!isa_is_helper_call(i))
		return false;
	switch (i->imm) {
	case BPF_FUNC_for_each_map_elem:
	case BPF_FUNC_find_vma:
	case BPF_FUNC_loop:
	case BPF_FUNC_user_ringbuf_drain:
		return true;
	}
	return false;
}

/* Keeps subprog[] in order of start. */
static int add(struct verifier *v, s64 start)
{
	u32 i = v->n_subprogs;

	if (start < 0 || start >= v->n_insns)
		return verify_refuse(v, -EINVAL, "subprog", -1, "call to invalid destination");
	if (subprog_at(v, start) >= 0)
		return 0;
	if (v->n_subprogs >= VERIFY_MAX_SUBPROGS)
		return verify_refuse(v, -E2BIG, "too-many", -1, "too many subprograms");
	for (; i && v->subprog[i - 1].start > start; i--)
		v->subprog[i].start = v->subprog[i - 1].start;
	v->subprog[i].start = start;
	v->n_subprogs++;
	return 0;
}

static bool is_kfunc_call(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | BPF_CALL) && i->src_reg == BPF_PSEUDO_KFUNC_CALL;
}

int subprog_collect(struct verifier *v)
{
	int err = add(v, 0);

	for (u32 i = 0; !err && i < v->n_insns; i++) {
		const struct bpf_insn *in = &v->insns[i];

		if (!isa_is_pseudo_func(in) && !isa_is_pseudo_call(in) && !is_kfunc_call(in))
			continue;
		v->insn_idx = i;
		if (!v->bpf_capable)
			return verify_refuse(v, -EPERM, "unpriv-call", -1, "%s", needs_cap);
		if (is_kfunc_call(in))
			err = kfunc_collect(v, i);
		else
			err = add(v, (s64)i + in->imm + 1);
	}
	if (err)
		return err;
	for (u32 i = 0; i < v->n_subprogs; i++) {
		v->subprog[i].end = i + 1 < v->n_subprogs ? v->subprog[i + 1].start : v->n_insns;
		verify_say(v, ABI_LOG_LEVEL2, "func#%u @%u\n", i, v->subprog[i].start);
	}
	v->subprog[v->n_subprogs].start = v->n_insns;
	return 0;
}

static bool is_jump(u8 code)
{
	u8 class = BPF_CLASS(code);

	return (class == BPF_JMP || class == BPF_JMP32) && BPF_OP(code) != BPF_EXIT && BPF_OP(code) != BPF_CALL;
}

static int check_jump(struct verifier *v, const struct subprog *s, u32 i)
{
	const struct bpf_insn *in = &v->insns[i];
	s64 to = (s64)i + 1 + (in->code == (BPF_JMP32 | BPF_JA) ? in->imm : in->off);

	if (to >= s->start && to < s->end)
		return 0;
	return verify_refuse(v, -EINVAL, "jump-range", -1, "jump out of range from insn %u to %d", i, (s32)to);
}

static bool may_end_function(u8 code)
{
	return code == (BPF_JMP | BPF_EXIT) || code == (BPF_JMP | BPF_JA) || code == (BPF_JMP32 | BPF_JA);
}

int subprog_check_jumps(struct verifier *v)
{
	for (u32 n = 0; n < v->n_subprogs; n++) {
		struct subprog *s = &v->subprog[n];

		for (u32 i = s->start; i < s->end; i++) {
			const struct bpf_insn *in = &v->insns[i];
			u8 mode = BPF_MODE(in->code);
			int err;

			v->insn_idx = i;
			if (isa_is_helper_call(in) && in->imm == BPF_FUNC_tail_call)
				s->has_tail_call = true;
			if (BPF_CLASS(in->code) == BPF_LD && (mode == BPF_ABS || mode == BPF_IND))
				s->has_ld_abs = true;
			err = is_jump(in->code) ? check_jump(v, s, i) : 0;
			if (err)
				return err;
		}
		if (!may_end_function(v->insns[s->end - 1].code))
			return verify_refuse(v, -EINVAL, "fall-off-end", -1, "last insn is not an exit or jmp");
	}
	return 0;
}

/* What a frame of `depth` bytes takes from the 512: the kernel's JIT aligns frames to 16. */
static u32 frame_size(u32 depth)
{
	return ROUND_UP(depth, 16);
}

struct chain {			/* calls on the way from the entry to where the scan is */
	struct { u32 insn, subprog; } at[STATE_MAX_FRAMES];
	u32 n;
	u32 depth;
	/* per function and number of calls above it: the most bytes above it with which it was found to fit, + 1. What fits under
	 * more fits under less: without this the scan would be exponential in calls. */
	u16 fits[VERIFY_MAX_SUBPROGS][STATE_MAX_FRAMES];
};

static bool fits_already(struct chain *c, u32 n, u32 above)
{
	for (u32 i = above; i < STATE_MAX_FRAMES; i++)
		if (c->fits[n][i] > c->depth)
			return true;
	if (above < STATE_MAX_FRAMES)
		c->fits[n][above] = c->depth + 1;
	return false;
}

static int enter(struct verifier *v, struct chain *c, u32 n)
{
	const struct subprog *s = &v->subprog[n];

	if (n && s->has_tail_call && c->depth >= 256)
		return verify_refuse(v, -EACCES, "tail-call-stack", -1,
				     "tail_calls are not allowed when call stack of previous frames is %u bytes. Too large",
				     c->depth);
	c->depth += frame_size(s->stack_depth);
	if (c->depth > VERIFY_MAX_STACK)
		return verify_refuse(v, -EACCES, "stack-depth", -1, "combined stack size of %u calls is %u. Too large",
				     c->n + 1, c->depth);
	v->max_depth = MAX(v->max_depth, c->depth);
	return 0;
}

/* The function whose frame comes on top at instruction i, called or named (a callback); -1: none. */
static s32 callee_at(const struct verifier *v, u32 i)
{
	const struct bpf_insn *in = &v->insns[i];
	s32 n;

	if (!isa_is_pseudo_call(in) && !isa_is_pseudo_func(in))
		return -1;
	n = subprog_at(v, i + in->imm + 1);
	return n >= 0 && v->subprog[n].is_async_cb && !isa_is_pseudo_call(in) ? -1 : n;
}

/* From instruction i of function n into the callee. */
static int descend(struct verifier *v, struct chain *c, u32 n, u32 i, u32 callee)
{
	v->insn_idx = i;
	if (c->n + 1 >= STATE_MAX_FRAMES)
		return verify_refuse(v, -E2BIG, "call-depth", -1, "the call stack of %u frames is too deep !", c->n + 1);
	c->at[c->n].insn = i;
	c->at[c->n].subprog = n;
	c->n++;
	return enter(v, c, callee);
}

/* Every chain of calls from `entry`. Calls that verification never took count as well, as in the kernel; recursion ends at the
 * limit of frames. */
static int scan_chains(struct verifier *v, struct chain *c, u32 entry)
{
	u32 n = entry, i = v->subprog[entry].start;
	int err = enter(v, c, n);

	while (!err) {
		s32 callee;

		if (i >= v->subprog[n].end) {
			if (!c->n)
				return 0;
			c->depth -= frame_size(v->subprog[n].stack_depth);
			c->n--;
			n = c->at[c->n].subprog;
			i = c->at[c->n].insn + 1;
			continue;
		}
		callee = callee_at(v, i);
		if (callee < 0 || fits_already(c, callee, c->n + 1)) {
			i++;
			continue;
		}
		err = descend(v, c, n, i, callee);
		n = callee;
		i = v->subprog[n].start;
	}
	return err;
}

static int check_chains(struct verifier *v, u32 entry)
{
	struct chain *c = calloc(1, sizeof(*c));
	int err = c ? scan_chains(v, c, entry) : -ENOMEM;

	free(c);
	return err;
}

int subprog_check_stack(struct verifier *v)
{
	int err = 0;

	for (u32 n = v->n_subprogs; n-- && !err;)
		if (!n || v->subprog[n].is_async_cb)
			err = check_chains(v, n);
	return err;
}
