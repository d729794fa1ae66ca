/* The proof: what verification found out about each instruction, for whoever rewrites, compiles and runs the program. */
#include "engine.h"

/* key_state: see struct insn_info */
enum { KEY_CONSTANT = 1 };

static void fill_insn(const struct verifier *v, u32 i, struct proof_insn *p)
{
	const struct insn_info *info = &v->info[i];
	const struct bpf_insn *in = &v->insns[i];

	p->seen = info->seen;
	p->ptr = info->ptr_class;
	p->zext = info->zext;
	p->div_safe = info->seen && !info->div_by_zero_possible;
	p->map = info->map_call && info->map_call != VERIFY_MANY ? (s16)info->map_call : 0;
	if (info->key_state == KEY_CONSTANT && info->key <= UINT32_MAX) {
		p->const_key = 1;
		p->const_key_value = info->key;
	}
	p->ctx_off = info->ctx_off;
	p->branch = info->branch_seen;
	if (isa_is_pseudo_call(in)) {
		s32 n = subprog_at(v, i + in->imm + 1);

		p->call_stack = n >= 0 ? v->subprog[n].stack_depth : 0;
	}
}

static void fill_func(const struct subprog *s, struct proof_func *f)
{
	*f = (struct proof_func){
		.start = s->start,
		.end = s->end,
		.stack = s->stack_depth,
		.is_callback = s->is_cb,
		.is_global = s->is_global,
		.has_tail_call = s->has_tail_call,
		.might_throw = s->might_throw,
	};
}

int proof_make(struct verifier *v, struct proof *proof)
{
	struct proof p = {
		.n_insns = v->n_insns,
		.n_funcs = v->n_subprogs,
		.verified_insns = v->insns_processed,
		.peak_states = v->peak_states,
		.total_states = v->total_states,
		.max_states_per_insn = v->max_states_per_insn,
		.longest_mark_read = v->longest_mark_read,
		.stack_depth = v->max_depth,
	};

	p.insn = calloc(v->n_insns, sizeof(*p.insn));
	p.func = calloc(v->n_subprogs, sizeof(*p.func));
	p.map_of = calloc(v->n_insns, sizeof(*p.map_of));
	if (!p.insn || !p.func || !p.map_of) {
		verify_proof_done(&p);
		return -ENOMEM;
	}
	for (u32 i = 0; i < v->n_insns; i++) {
		fill_insn(v, i, &p.insn[i]);
		p.map_of[i] = v->info[i].map_index;
	}
	for (u32 i = 0; i < v->n_subprogs; i++)
		fill_func(&v->subprog[i], &p.func[i]);
	*proof = p;
	return 0;
}

void verify_proof_done(struct proof *proof)
{
	if (!proof)
		return;
	free(proof->insn);
	free(proof->func);
	free(proof->map_of);
	*proof = (struct proof){ 0 };
}
