/* vm: what one-row tests can't show: callbacks, tail calls, the observer, limits, refusals of the
 * decoder, two runs on one env. */
#include "map/map.h"
#include "program.h"
#include "tap.h"
#include <pthread.h>

static struct vm_image *image(const char *text, u32 id, env_helper_fn fn)
{
	struct vm_image *img = NULL;
	struct program p;
	struct log err;
	char *why;

	log_init(&err, 200);
	if (program_read(&p, text, &err)) {
		why = log_text(&err, NULL);
		printf("# %s\n", why);
		free(why);
	} else {
		if (fn)
			program_helper(&p, id, fn, 0);
		program_image(&img, &p, NULL);
		program_done(&p);
	}
	log_done(&err);
	return img;
}

static u64 run_mode(const struct vm_image *img, u64 r1, u64 r2, bool observed, int *rc)
{
	struct env env;
	u64 r0 = 0;

	env_init(&env, &env_host_world);
	env_enter(&env);
	*rc = vm_run_raw(img, &env, r1, r2, observed ? 1000000 : 0, observed, &r0);
	env_leave(&env);
	return r0;
}

/* Helper: call r1 with (i, r2) for i in 0..r3-1 until it answers non-zero; the number of calls. */
static u64 loop(u64 func, u64 arg, u64 times, u64 r4, u64 r5, struct env *env)
{
	u64 i = 0;

	while (i < times && !env->call(env, func, i++, arg, 0, 0, 0))
		;
	return i;
}

static void callbacks(void)
{
	/* the callback adds to the caller's stack, calls a subprogram, and stops at 6 */
	struct vm_image *img = image("*(u64 *)(r10 -8) = 0\n"
				     "r6 = 66\n"
				     "r1 = func(each)\n"
				     "r2 = r10\n"
				     "r2 += -8\n"
				     "r3 = 100\n"
				     "call 181\n"
				     "if r6 != 66 goto bad\n"
				     "r2 = *(u64 *)(r10 -8)\n"
				     "r0 <<= 32\n"
				     "r0 |= r2\n"
				     "exit\n"
				     "bad: r0 = -1\n"
				     "exit\n"
				     "each: r6 = r1\n"
				     "r7 = r2\n"
				     "call square\n"
				     "r3 = *(u64 *)(r7 +0)\n"
				     "r3 += r0\n"
				     "*(u64 *)(r7 +0) = r3\n"
				     "r0 = 0\n"
				     "if r6 != 6 goto more\n"
				     "r0 = 1\n"
				     "more: exit\n"
				     "square: r0 = r1\n"
				     "r0 *= r0\n"
				     "exit\n",
				     181, loop);
	int rc;

	for (u32 observed = 0; img && observed < 2; observed++) {
		EQ(run_mode(img, 0, 0, observed, &rc), 7ull << 32 | 91);
		EQ(rc, 0);
	}
	vm_image_free(img);
}

static void nested_callbacks(void)
{
	struct vm_image *img = image("r1 = func(outer)\n"
				     "r2 = 0\n"
				     "r3 = 4\n"
				     "call 181\n"
				     "exit\n"
				     "outer: r6 = r1\n"
				     "r1 = func(inner)\n"
				     "r3 = r6\n"
				     "call 181\n"
				     "r0 = 0\n"
				     "exit\n"
				     "inner: r0 = 0\n"
				     "exit\n",
				     181, loop);
	int rc;

	OK(img && run_mode(img, 0, 0, false, &rc) == 4 && !rc);
	OK(img && run_mode(img, 0, 0, true, &rc) == 4 && !rc);
	vm_image_free(img);
}

struct steps {
	struct vm_observer o;
	const struct vm_image *images[64];
	u32 insns[64], depths[64], n;
	u64 r1[64];
};

static void note(struct vm_observer *o, u32 insn, const u64 *regs, u32 depth)
{
	struct steps *s = container_of(o, struct steps, o);

	if (s->n == 64)
		return;
	s->images[s->n] = o->image;
	s->insns[s->n] = insn;
	s->depths[s->n] = depth;
	s->r1[s->n++] = regs[1];
}

static void observer(void)
{
	static const u32 insns[] = {0, 1, 3, 4, 5, 8, 9, 8, 9, 6, 7};
	static const u32 depths[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0};
	struct steps s = {.o.step = note};
	struct vm_image *img = image("r6 = r1\n"
				     "r1 = func(each)\n"
				     "r2 = 5\n"
				     "r3 = 2\n"
				     "call 181\n"
				     "r0 += r6\n"
				     "exit\n"
				     "each: r0 = 0\n"
				     "exit\n",
				     181, loop);
	struct env env;
	bool same = true;

	env_init(&env, &env_host_world);
	env_enter(&env);
	EQ(vm_run_observed(img, &env, (void *)1, &s.o), 3);
	env_leave(&env);
	EQ(s.n, ARRAY_SIZE(insns));
	EQ(env.insn_count, ARRAY_SIZE(insns));
	for (u32 i = 0; i < ARRAY_SIZE(insns); i++)
		same &= s.insns[i] == insns[i] && s.depths[i] == depths[i] && s.images[i] == img;
	OK(same);
	EQ(s.r1[7], 1);
	OK(!env.call && !env.engine);
	vm_image_free(img);
}

/* ---- tail calls */

static struct obj owner;
static void owner_free(struct obj *o)
{
}

static struct map *prog_array(void)
{
	struct map_attr attr = {
	    .type = BPF_MAP_TYPE_PROG_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 4};
	static const struct obj_ops ops = {.free = owner_free};
	struct map *m = NULL;

	obj_init(&owner, OBJ_PROG, &ops);
	EQ(map_new(&m, &attr), 0);
	return m;
}

static void slot(struct map *m, u32 i, struct vm_image *img)
{
	obj_get(&owner);
	EQ(map_slot_set(m, i, &owner, img), 0);
}

static struct vm_image *image_with_map(const char *fmt, struct map *m)
{
	char text[1024];

	snprintf(text, sizeof(text), fmt, (unsigned long long)addr_of(m));
	return image(text, 0, NULL);
}

static void tail_calls(void)
{
	struct map *m = prog_array();
	/* the context goes along; 34 runs of the same program end at the limit of 33 */
	struct vm_image *again = image_with_map("r6 = r1\n"
						"r2 = *(u64 *)(r6 +0)\n"
						"r2 += 1\n"
						"*(u64 *)(r6 +0) = r2\n"
						"r2 = 0x%llx\n"
						"r3 = 0\n"
						"tail_call\n"
						"r0 = 5\n"
						"exit\n",
						m);
	/* from a subprogram: the other program's exit goes to the subprogram's caller, whose r6 and
	 * stack are intact */
	struct vm_image *sub = image_with_map("r6 = 600\n"
					      "*(u64 *)(r10 -8) = 50\n"
					      "call f\n"
					      "r0 += r6\n"
					      "r1 = *(u64 *)(r10 -8)\n"
					      "r0 += r1\n"
					      "exit\n"
					      "f: r2 = 0x%llx\n"
					      "r3 = 0x100000001\n" /* the index has 32 bits */
					      "*(u64 *)(r10 -8) = 1\n"
					      "tail_call\n"
					      "r0 = 1000\n"
					      "exit\n",
					      m);
	struct vm_image *seven = image("r6 = 9\nr0 = *(u64 *)(r10 -8)\nr0 += 7\nexit\n", 0, NULL);
	/* empty and outside: goes on */
	struct vm_image *none =
	    image_with_map("r6 = 0x%llx\nr2 = r6\nr3 = 2\ntail_call\nr2 = r6\nr3 = 4\ntail_call\n"
			   "r2 = r6\nr3 = -1\ntail_call\nr0 = 8\nexit\n",
			   m);
	int rc;

	slot(m, 0, again);
	slot(m, 1, seven);
	for (u32 observed = 0; observed < 2; observed++) {
		u64 count = 0;

		EQ(run_mode(again, addr_of(&count), 8, observed, &rc), 5);
		EQ(count, 34);
		EQ(run_mode(sub, 0, 0, observed, &rc), 657);
		EQ(run_mode(none, 0, 0, observed, &rc), 8);
		EQ(rc, 0);
	}
	map_put(m);
	vm_image_free(again);
	vm_image_free(sub);
	vm_image_free(seven);
	vm_image_free(none);
}

/* The observer sees which image runs: the caller's again after a tail call inside a subprogram. */
static void tail_call_observed(void)
{
	struct map *m = prog_array();
	struct vm_image *to = image("r0 = 3\nexit\n", 0, NULL);
	struct vm_image *from =
	    image_with_map("call f\nexit\nf: r2 = 0x%llx\nr3 = 0\ntail_call\nexit\n", m);
	struct steps s = {.o.step = note};
	struct env env;

	slot(m, 0, to);
	env_init(&env, &env_host_world);
	env_enter(&env);
	EQ(vm_run_observed(from, &env, NULL, &s.o), 3);
	env_leave(&env);
	EQ(env.tail_calls, 1);
	EQ(s.n, 7);
	OK(s.images[3] == from && s.images[4] == to && s.images[5] == to && s.images[6] == from);
	OK(s.insns[4] == 0 && s.insns[6] == 1 && s.depths[4] == 1 && s.depths[6] == 0);
	map_put(m);
	vm_image_free(to);
	vm_image_free(from);
}

/* ---- two threads on the same memory: additions with and without fetch, and a compare-and-exchange
 * loop */

static u64 shared_words[4] __attribute__((aligned(16)));

static void *add_to_shared(void *image_)
{
	u64 r0;
	struct env env;

	env_init(&env, &env_host_world);
	env_enter(&env);
	vm_run_raw(image_, &env, addr_of(shared_words), sizeof(shared_words), 0, false, &r0);
	env_leave(&env);
	return NULL;
}

static void atomics_between_threads(void)
{
	struct vm_image *img = image("r6 = 300000\n"
				     "loop: r2 = 1\n"
				     "lock *(u64 *)(r1 +0) += r2\n"
				     "r2 = 3\n"
				     "r2 = atomic_fetch_add((u32 *)(r1 +8), r2)\n"
				     "again: r0 = *(u64 *)(r1 +16)\n"
				     "r3 = r0\n"
				     "r4 = r0\n"
				     "r3 += 2\n"
				     "r0 = atomic64_cmpxchg((u64 *)(r1 +16), r0, r3)\n"
				     "if r0 != r4 goto again\n"
				     "r6 += -1\n"
				     "if r6 != 0 goto loop\n"
				     "exit\n",
				     0, NULL);
	pthread_t other;

	EQ(pthread_create(&other, NULL, add_to_shared, img), 0);
	add_to_shared(img);
	pthread_join(other, NULL);
	EQ(shared_words[0], 600000);
	EQ(shared_words[1], 1800000);
	EQ(shared_words[2], 1200000);
	EQ(shared_words[3], 0);
	vm_image_free(img);
}

/* A helper that runs another program on the same env, as nested hooks do. */
static struct vm_image *inner_image;
static u64 run_inner(u64 r1, u64 r2, u64 r3, u64 r4, u64 r5, struct env *env)
{
	env_call_fn call = env->call;
	void *engine = env->engine;
	u64 r0 = vm_run(inner_image, env, ptr_of(r1));

	OK(env->call == call && env->engine == engine);
	return r0;
}

static void nested_runs(void)
{
	struct vm_image *outer = image("r1 = 20\ncall 9\nr0 += 1\nexit\n", 9, run_inner);
	int rc;

	inner_image = image("r0 = r1\nr0 *= 2\nexit\n", 0, NULL);
	EQ(run_mode(outer, 0, 0, false, &rc), 41);
	vm_image_free(outer);
	vm_image_free(inner_image);
}

static void limits(void)
{
	struct vm_image *endless = image("goto pc-1\nexit\n", 0, NULL);
	struct vm_image *deep = image("call f\nexit\nf: call f\nexit\n", 0, NULL);
	struct vm_image *falls_off = image("r0 = 1\n", 0, NULL);
	struct vm_image *exact = image("r0 = 1\nr0 = 2\nexit\n", 0, NULL);
	struct env env;
	u64 r0;
	int rc;

	env_init(&env, &env_host_world);
	env_enter(&env);
	EQ(vm_run_raw(endless, &env, 0, 0, 1000, false, &r0), -ELOOP);
	EQ(vm_run_raw(endless, &env, 0, 0, 1000, true, &r0), -ELOOP);
	EQ(vm_run_raw(exact, &env, 0, 0, 3, true, &r0), 0);
	EQ(vm_run_raw(exact, &env, 0, 0, 2, true, &r0), -ELOOP);
	env_leave(&env);
	run_mode(deep, 0, 0, false, &rc);
	EQ(rc, -EFAULT);
	run_mode(falls_off, 0, 0, false, &rc);
	EQ(rc, -EFAULT);
	vm_image_free(endless);
	vm_image_free(deep);
	vm_image_free(falls_off);
	vm_image_free(exact);
}

/* Programs that no verifier let through: no image rather than a wild jump. */
static bool refused(const struct bpf_insn *insns, u32 n)
{
	const struct vm_func f = {0, n, 512};
	const struct vm_code code = {insns, NULL, n, &f, 1, NULL};
	struct vm_image *img = NULL;
	int rc = vm_image_new(&img, &code);

	assert(!rc == !!img);
	vm_image_free(img);
	return rc == -EINVAL;
}

static void refusals(void)
{
	const struct bpf_insn exit_ = {.code = 0x95};
	u32 accepted = 0;

	OK(!refused(&exit_, 1));
	OK(refused((struct bpf_insn[]){{.code = 0xff}, exit_}, 2));
	OK(refused((struct bpf_insn[]){{.code = 0xbf, .off = 7}, exit_}, 2));
	OK(refused((struct bpf_insn[]){{.code = 0xdb, .imm = 0x77}, exit_}, 2));
	OK(refused((struct bpf_insn[]){{.code = 0xbf, .dst_reg = 11}, exit_}, 2));
	OK(refused((struct bpf_insn[]){{.code = 0xbf, .src_reg = 15}, exit_}, 2));
	OK(refused((struct bpf_insn[]){{.code = 0x05, .off = 1}, exit_}, 2));
	OK(refused((struct bpf_insn[]){{.code = 0x05, .off = -2}, exit_}, 2));
	OK(refused((struct bpf_insn[]){{.code = 0x06, .imm = 0x7fffffff}, exit_}, 2));
	OK(refused((struct bpf_insn[]){{.code = 0x05, .off = 1}, {.code = 0x18}, {0}, exit_}, 4));
	OK(refused((struct bpf_insn[]){exit_, {.code = 0x18}}, 2));
	OK(refused((struct bpf_insn[]){{.code = 0x18}, exit_, exit_}, 3));
	OK(refused((struct bpf_insn[]){{.code = 0x85, .imm = 1}, exit_}, 2));
	OK(refused((struct bpf_insn[]){{.code = 0x85, .src_reg = 1, .imm = 0}, exit_}, 2));
	OK(refused((struct bpf_insn[]){{.code = 0x18, .src_reg = 4, .imm = 5}, {0}, exit_}, 3));
	for (u32 code = 0; code < 256; code++)
		accepted += !refused((struct bpf_insn[]){{.code = code}, exit_}, 2);
	printf("# %u opcode bytes run alone\n", accepted);
	OK(accepted > 80 && accepted < 128);
}

int main(void)
{
	callbacks();
	nested_callbacks();
	observer();
	tail_calls();
	tail_call_observed();
	atomics_between_threads();
	nested_runs();
	limits();
	refusals();
	return tap_done();
}
