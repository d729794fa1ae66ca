/* The table of helpers by id and by name, expanded from helper.def. */
#include "helper.h"
#include "base/abi.h"

#define BUILT(id, name) extern const struct helper_proto helper_##name##_proto;
#define NAMED(id, name)
#include "helper.def"
#undef BUILT
#undef NAMED

static const struct {
	const char *name;
	const struct helper_proto *proto; /* NULL: not built */
} helpers[] = {
#define BUILT(id, name) [id] = { #name, &helper_##name##_proto },
#define NAMED(id, name) [id] = { #name, NULL },
#include "helper.def"
#undef BUILT
#undef NAMED
};
static_assert(ARRAY_SIZE(helpers) == ABI_FUNC_MAX, "helper.def has a row for every helper of 6.18");

#ifdef HELPER_BREAK
static struct helper_proto broken_proto;
static const struct helper_proto *broken_from;

static u64 one_too_large(u64 r1, u64 r2, u64 r3, u64 r4, u64 r5, struct env *env)
{
	return broken_from->fn(r1, r2, r3, r4, r5, env) + 1;
}

__attribute__((constructor)) static void break_helper(void)
{
	int id = helper_id(HELPER_BREAK);

	assert(id > 0 && helpers[id].proto && helpers[id].proto->fn);
	assert(helpers[id].proto->ret == HRET_INTEGER);
	broken_from = helpers[id].proto;
	broken_proto = *broken_from;
	broken_proto.fn = one_too_large;
}

static const struct helper_proto *maybe_broken(const struct helper_proto *proto)
{
	return proto && proto == broken_from ? &broken_proto : proto;
}

const char *helper_broken(void)
{
	return HELPER_BREAK;
}
#else
static const struct helper_proto *maybe_broken(const struct helper_proto *proto)
{
	return proto;
}

const char *helper_broken(void)
{
	return NULL;
}
#endif

const char *helper_name(u32 id)
{
	return id < ARRAY_SIZE(helpers) ? helpers[id].name : NULL;
}

const struct helper_proto *helper_get(u32 id)
{
	return id < ARRAY_SIZE(helpers) ? maybe_broken(helpers[id].proto) : NULL;
}

int helper_id(const char *name)
{
	if (!strncmp(name, "bpf_", 4))
		name += 4;
	for (u32 id = 1; id < ARRAY_SIZE(helpers); id++)
		if (!strcmp(helpers[id].name, name))
			return id;
	return -ENOENT;
}
