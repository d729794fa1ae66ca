/* Judging a program: the passes, in the kernel's order, so that of several faults the same one is told. */
#include "engine.h"
#include "prune.h"
#include <time.h>

static int walk_main(struct verifier *v)
{
	return walk_function(v, 0);
}

/* Global functions that are called, each on its own; they may call further ones. */
static int walk_globals(struct verifier *v)
{
	bool more = v->in->n_func_info;

	while (more) {
		more = false;
		for (u32 n = 1; n < v->n_subprogs; n++) {
			struct subprog *s = &v->subprog[n];
			int err;

			if (!s->is_global || !s->called || s->verified)
				continue;
			err = walk_function(v, n);
			if (err)
				return err;
			verify_say(v, LOG_ANY, "Func#%u ('%s') is safe for any args that match its prototype\n", n,
				   subprog_name(v, n));
			s->verified = true;
			more = true;
		}
	}
	return 0;
}

static int (*const passes[])(struct verifier *v) = {
	info_check_early,
	subprog_collect,
	subprog_check_jumps,
	info_check,
	resolve_imm64,
	cfg_check,
	cfg_postorder,
	scc_compute,
	live_registers,
	live_init,
	walk_main,
	walk_globals,
	subprog_check_stack,
};

static void set_rights(struct verifier *v)
{
	u32 caps = v->in->caps, flags = v->in->prog_flags;
	bool admin = caps & VERIFY_CAP_SYS_ADMIN, perfmon = admin || caps & VERIFY_CAP_PERFMON;

	v->bpf_capable = admin || caps & VERIFY_CAP_BPF;
	v->allow_ptr_leaks = perfmon;
	v->allow_uninit_stack = perfmon;
	v->bypass_spec_v1 = perfmon;
	v->bypass_spec_v4 = perfmon;
	v->strict_alignment = flags & ABI_F_STRICT_ALIGNMENT && !(flags & ABI_F_ANY_ALIGNMENT);
	v->test_state_freq = v->bpf_capable && flags & ABI_F_TEST_STATE_FREQ;
	v->test_reg_invariants = v->bpf_capable && flags & ABI_F_TEST_REG_INVARIANTS;
}

static int setup(struct verifier *v)
{
	set_rights(v);
	v->log_start = v->log ? v->log->total : 0;
	v->cur_history = -1;
	v->why->reg = -1;
	v->info = calloc(v->n_insns, sizeof(*v->info));
	if (!v->info)
		return -ENOMEM;
	if (equal_init(v) || precise_init(v))
		return -ENOMEM;
	return 0;
}

static void done(struct verifier *v)
{
	live_done(v);
	state_pool_done(&v->pool);
	free(v->backtrack);
	free(v->ids);
	free(v->postorder);
	free(v->info);
	free(v);
}

static u64 now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The kernel ends every log with these, whatever the verdict. */
static void say_stats(struct verifier *v, u64 start)
{
	if (!v->log || !v->log->level)
		return;
	if (v->log->level & ABI_LOG_STATS) {
		log_printf(v->log, "verification time %llu usec\nstack depth ", (unsigned long long)(now_us() - start));
		for (u32 i = 0; i < v->n_subprogs; i++)
			log_printf(v->log, "%s%u", i ? "+" : "", v->subprog[i].stack_depth);
		log_printf(v->log, "\n");
	}
	log_printf(v->log,
		   "processed %u insns (limit %u) max_states_per_insn %u total_states %u peak_states %u mark_read %u\n",
		   v->insns_processed, VERIFY_MAX_INSNS_PROCESSED, v->max_states_per_insn, v->total_states, v->peak_states,
		   v->longest_mark_read);
}

/* Every refusal has a reason, also one that came as a bare error number. */
static void complete(struct refusal *why, int err)
{
	why->err = err;
	if (why->rule)
		return;
	why->rule = err == -ENOMEM ? "memory" : "internal";
}

int verify_program(const struct verify_input *in, struct proof *proof, struct refusal *why)
{
	struct verifier *v = calloc(1, sizeof(*v));
	u64 start = now_us();
	int err;

	*why = (struct refusal){ .reg = -1 };
	if (!v) {
		complete(why, -ENOMEM);
		return -ENOMEM;
	}
	v->in = in;
	v->why = why;
	v->log = in->log;
	v->insns = in->insns;
	v->n_insns = in->n_insns;
	err = in->n_insns ? setup(v) : -EINVAL;
	for (u32 i = 0; i < ARRAY_SIZE(passes) && !err; i++)
		err = passes[i](v);
	say_stats(v, start);
	if (!err)
		err = proof_make(v, proof);
	if (err)
		complete(why, err);
	done(v);
	return err;
}
