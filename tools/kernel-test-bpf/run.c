/* The table of the kernel's lib/test_bpf.c (TABLE, cut out of it by `run`) on skep's interpreter,
 * in all its instances, past the verifier, as isa-vectors does. Prints TAP, and at the end how many passed, failed and were skipped
 * and why. */
#include "shim.h"
#include TABLE
#include "base/abi.h"
#include "env/env.h"
#include "vm/vm.h"

enum { MAX_STEPS = 100000000 };
enum outcome { PASSED, FAILED, CLASSIC_PROGRAM, HELPER_CALL, LOADS_PACKET, N_OUTCOMES };
static const char *const skipped_because[] = {
	[CLASSIC_PROGRAM] = "classic", [HELPER_CALL] = "calls a function of the kernel", [LOADS_PACKET] = "loads from an sk_buff",
};
static u32 counts[N_OUTCOMES];

/* As the kernel finds the length of a filter without one: up to the last that is not zero. */
static u32 length_of(const struct bpf_test *t)
{
	u32 n = MAX_INSNS;

	while (n > 1 && !t->u.insns_int[n - 1].code && !t->u.insns_int[n - 1].imm)
		n--;
	return n;
}

/* Why these instructions can't be run without the kernel around them; PASSED: they can. */
static enum outcome usable(const struct bpf_insn *insns, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		u8 class = BPF_CLASS(insns[i].code), mode = BPF_MODE(insns[i].code);

		if (insns[i].code == (BPF_JMP | BPF_CALL))
			return HELPER_CALL;
		if (class == BPF_LD && (mode == BPF_ABS || mode == BPF_IND))
			return LOADS_PACKET;
		if (insns[i].code == (BPF_LD | BPF_IMM | BPF_DW))
			i++;
	}
	return PASSED;
}

/* Counted comes first: it ends what runs for ever. */
static const struct { const char *name; u64 max_insns; bool observed; } instances[] = {
	{ "counted", MAX_STEPS, false }, { "fast", 0, false }, { "observed", MAX_STEPS, true },
};

static enum outcome run_once(struct bpf_test *t, const struct vm_image *image, u32 sub, u32 instance, char *why, size_t room)
{
	size_t size = max(t->test[sub].data_size, MAX_DATA);
	u8 *data = calloc(1, size);
	struct env env = { 0 };
	u64 r0 = 0;
	int rc;

	if (!data)
		abort();
	memcpy(data, t->data, MAX_DATA);
	env_enter(&env);
	rc = vm_run_raw(image, &env, t->aux & FLAG_NO_DATA ? 0 : (uintptr_t)data, 0, instances[instance].max_insns,
			instances[instance].observed, &r0);
	env_leave(&env);
	free(data);
	if (!rc && (u32)r0 == t->test[sub].result)
		return PASSED;
	snprintf(why, room, "%s, part %u: %d, 0x%llx instead of 0x%x", instances[instance].name, sub, rc, (unsigned long long)r0,
		 t->test[sub].result);
	return FAILED;
}

static enum outcome run_parts(struct bpf_test *t, const struct vm_image *image, char *why, size_t room)
{
	for (u32 sub = 0; sub < MAX_SUBTESTS; sub++) {
		if (sub && !t->test[sub].data_size && !t->test[sub].result)
			break;
		for (u32 i = 0; i < ARRAY_SIZE(instances); i++)
			if (run_once(t, image, sub, i, why, room))
				return FAILED;
	}
	return PASSED;
}

static enum outcome run_insns(struct bpf_test *t, const struct bpf_insn *insns, u32 n, char *why, size_t room)
{
	struct vm_func all = { 0, n, 512 };
	struct vm_code code = { .insns = insns, .n_insns = n, .funcs = &all, .n_funcs = 1 };
	struct vm_image *image = NULL;
	enum outcome o = usable(insns, n);
	int rc;

	if (o)
		return o;
	rc = vm_image_new(&image, &code);
	if (rc) {
		snprintf(why, room, "not taken by the interpreter: %d", rc);
		return FAILED;
	}
	o = run_parts(t, image, why, room);
	vm_image_free(image);
	return o;
}

static enum outcome run_test(struct bpf_test *t, char *why, size_t room)
{
	enum outcome o;

	if ((t->aux & TEST_TYPE_MASK) == CLASSIC)
		return CLASSIC_PROGRAM;
	if (!t->fill_helper)
		return run_insns(t, t->u.insns_int, length_of(t), why, room);
	if (t->fill_helper(t)) {
		snprintf(why, room, "its instructions could not be made");
		return FAILED;
	}
	o = run_insns(t, t->u.ptr.insns, t->u.ptr.len, why, room);
	free(t->u.ptr.insns);
	return o;
}

int main(void)
{
	u32 n = ARRAY_SIZE(tests);

	for (u32 i = 0; i < n; i++) {
		char why[128] = "";
		enum outcome o = run_test(&tests[i], why, sizeof(why));

		counts[o]++;
		printf("%sok %u - %s", o == FAILED ? "not " : "", i + 1, tests[i].descr);
		if (o > FAILED)
			printf(" # SKIP %s", skipped_because[o]);
		printf("\n");
		if (o == FAILED)
			printf("# %s\n", why);
	}
	printf("1..%u\ntest_bpf: %u passed, %u failed, %u skipped (", n, counts[PASSED], counts[FAILED],
	       n - counts[PASSED] - counts[FAILED]);
	for (u32 o = FAILED + 1; o < N_OUTCOMES; o++)
		printf("%u %s%s", counts[o], skipped_because[o], o + 1 < N_OUTCOMES ? ", " : ")\n");
	return counts[FAILED] != 0;
}
