/* The table of helpers, and helper_format() apart from any program. What helpers do is compared with the kernel in
 * tests/unit/prog/both.c and frames.c. */
#include "helper/helper.h"
#include "base/abi.h"
#include "env/env.h"
#include "kind/kind.h"
#include "tap.h"

static void table(void)
{
	u32 built = 0, named = 0, circular = 0;

	for (u32 id = 1; id < ABI_FUNC_MAX; id++) {
		const struct helper_proto *p = helper_get(id);

		named += helper_name(id) != NULL;
		circular += helper_id(helper_name(id)) == (int)id;
		built += p && (p->fn || id == BPF_FUNC_tail_call);
		if (p && !p->fn && id != BPF_FUNC_tail_call)
			OK(p->cannot);
	}
	EQ(named, ABI_FUNC_MAX - 1);
	EQ(circular, ABI_FUNC_MAX - 1);
	OK(built >= 32);
	STR(helper_name(1), "map_lookup_elem");
	STR(helper_name(211), "cgrp_storage_delete");
	EQ(helper_id("bpf_csum_diff"), BPF_FUNC_csum_diff);
	EQ(helper_id("nonsense"), -ENOENT);
	OK(!helper_name(0) || !strcmp(helper_name(0), "unspec"));
	OK(!helper_name(ABI_FUNC_MAX) && !helper_get(ABI_FUNC_MAX) && !helper_get(~0u) && !helper_get(0));
}

/* A prototype says what the verifier can enforce: sizes follow their memory, fixed sizes are given. */
static void prototypes(void)
{
	u32 bad = 0;

	for (u32 id = 1; id < ABI_FUNC_MAX; id++) {
		const struct helper_proto *p = helper_get(id);

		for (u32 i = 0; p && i < 5; i++) {
			u32 base = p->arg[i] & HARG_BASE_MASK, before = i ? p->arg[i - 1] & HARG_BASE_MASK : HARG_NONE;

			bad += (base == HARG_SIZE || base == HARG_SIZE_OR_ZERO) && before != HARG_MEM;
			bad += base == HARG_MEM && !(p->arg[i] & HARG_FIXED) && i == 4;
			bad += (p->arg[i] & HARG_FIXED) && !p->size[i];
			bad += base != HARG_NONE && i && before == HARG_NONE;
		}
	}
	EQ(bad, 0);
}

static int format(char *out, u32 size, const char *fmt, const u64 *args, u32 n)
{
	struct env env;

	env_init(&env, &env_host_world);
	return helper_format(&env, out, size, fmt, strlen(fmt) + 1, args, n);
}

static void formats(void)
{
	char out[64], longer[3000];
	u64 args[3] = { -5, addr_of("text"), 0x1234 };

	EQ(format(out, sizeof(out), "%d %s %#", args, 3), -EINVAL);
	EQ(format(out, sizeof(out), "%d %s %x", args, 3), 12);
	STR(out, "-5 text 1234");
	EQ(format(out, 6, "%d %s %x", args, 3), 12);
	STR(out, "-5 te");
	out[0] = 'x';
	EQ(format(out, 0, "%d", args, 3), 2);
	EQ(out[0], 'x');
	EQ(format(NULL, 0, "%d", args, 1), 2);
	EQ(format(out, sizeof(out), "%d %d", args, 1), -EINVAL);
	EQ(format(NULL, 0, "%d %s", NULL, 2), 0); /* only checked */
	EQ(format(NULL, 0, "%d %y", NULL, 2), -EINVAL);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	EQ(format(out, sizeof(out), longer, args, 0), sizeof(longer) - 1);
	EQ(strlen(out), sizeof(out) - 1);
	/* not terminated within its size, and memory that can't be read */
	EQ(helper_format(NULL, out, sizeof(out), "abc", 3, args, 0), -EINVAL);
	args[0] = 8;
	EQ(format(out, sizeof(out), "[%s]", args, 1), 2);
	EQ(format(out, sizeof(out), "%pI4", args, 1), 7);
	STR(out, "0.0.0.0");
	/* a width of many millions costs nothing but time, and is not written */
	EQ(format(out, sizeof(out), "%8000000d", args, 1), 8000000);
}

/* Arguments take at most 512 bytes: twelve strings of 60 do not fit. */
static void too_much(void)
{
	char text[61], out[1024];
	u64 args[12];

	memset(text, 'y', 60);
	text[60] = 0;
	for (u32 i = 0; i < 12; i++)
		args[i] = addr_of(text);
	EQ(format(out, sizeof(out), "%s %s %s %s %s %s %s %s", args, 8), 8 * 60 + 7);
	EQ(format(out, sizeof(out), "%s %s %s %s %s %s %s %s %s %s", args, 10), -ENOSPC);
}

int main(void)
{
	table();
	prototypes();
	formats();
	too_much();
	return tap_done();
}
