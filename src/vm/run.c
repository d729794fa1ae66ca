/* Ways into the interpreter: a run, an observed run, a bare one, and the call back from a helper
 * into the program. */
#include "image.h"
#include "map/map.h"

static u64 call_fast(struct env *env, u64 func, u64 r1, u64 r2, u64 r3, u64 r4, u64 r5)
{
	return vm_execute_fast(env->engine, ptr_of(func), r1, r2, r3, r4, r5);
}

static u64 call_counted(struct env *env, u64 func, u64 r1, u64 r2, u64 r3, u64 r4, u64 r5)
{
	return vm_execute_counted(env->engine, ptr_of(func), r1, r2, r3, r4, r5);
}

static u64 call_observed(struct env *env, u64 func, u64 r1, u64 r2, u64 r3, u64 r4, u64 r5)
{
	struct vm_state *state = env->engine;
	const struct vm_image *image = state->observer->image;
	u64 r0 = vm_execute_observed(state, ptr_of(func), r1, r2, r3, r4, r5);

	state->observer->image = image;
	return r0;
}

/* One run: env belongs to it meanwhile, and is given back as it was, so that a helper may run
 * another program on it. */
static inline u64 run(struct vm_state *state, const struct vm_image *img, u64 r1, u64 r2,
		      vm_execute_fn *execute, env_call_fn call)
{
	struct env *env = state->env;
	env_call_fn outer_call = env->call;
	void *outer = env->engine;
	u32 outer_tail_calls = env->tail_calls;
	u64 r0;

	state->resolve = img->resolve;
	env->call = call;
	env->engine = state;
	env->tail_calls = 0;
	r0 = execute(state, &img->entries[0], r1, r2, 0, 0, 0);
	env->call = outer_call;
	env->engine = outer;
	if (outer)
		env->tail_calls = outer_tail_calls;
	return r0;
}

u64 vm_run(const struct vm_image *img, struct env *env, void *ctx)
{
	struct vm_state state = {.env = env};

	return run(&state, img, addr_of(ctx), 0, vm_execute_fast, call_fast);
}

u64 vm_run_counted(const struct vm_image *img, struct env *env, void *ctx)
{
	struct vm_state state = {.env = env, .limit = UINT64_MAX};
	u64 r0 = run(&state, img, addr_of(ctx), 0, vm_execute_counted, call_counted);

	env->insn_count += state.count;
	return r0;
}

u64 vm_run_observed(const struct vm_image *img, struct env *env, void *ctx,
		    struct vm_observer *observer)
{
	struct vm_state state = {.env = env, .observer = observer, .limit = UINT64_MAX};
	u64 r0 = run(&state, img, addr_of(ctx), 0, vm_execute_observed, call_observed);

	env->insn_count += state.count;
	return r0;
}

static void ignore(struct vm_observer *o, u32 insn, const u64 *regs, u32 depth)
{
}

int vm_run_raw(const struct vm_image *img, struct env *env, u64 r1, u64 r2, u64 max_insns,
	       bool observed, u64 *r0)
{
	struct vm_observer nobody = {.step = ignore};
	struct vm_state state = {
	    .env = env, .observer = &nobody, .limit = max_insns ? max_insns : UINT64_MAX};

	if (observed)
		*r0 = run(&state, img, r1, r2, vm_execute_observed, call_observed);
	else if (max_insns)
		*r0 = run(&state, img, r1, r2, vm_execute_counted, call_counted);
	else
		*r0 = run(&state, img, r1, r2, vm_execute_fast, call_fast);
	return state.error;
}

const struct vm_entry *vm_tail_target(struct env *env, u64 map, u32 index)
{
	const struct vm_image *img;

	if (env->tail_calls >= VM_TAIL_CALLS)
		return NULL;
	img = map_slot_image(ptr_of(map), index);
	if (!img)
		return NULL;
	env->tail_calls++;
	return &img->entries[0];
}
