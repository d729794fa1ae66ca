/* What every file of helper/ needs to define helpers: HELPER(name) opens the function, its prototype PROTO(name) follows
 * right under it. Arguments are r1..r5 and env, as the engines pass them. */
#ifndef HELPER_PROTO_H
#define HELPER_PROTO_H
#include "helper.h"

#define HELPER(name)                                                                               \
	static u64 name(u64 r1, u64 r2, u64 r3, u64 r4, u64 r5, struct env *env)

#define PROTO(name)                                                                                \
	extern const struct helper_proto helper_##name##_proto;                                    \
	const struct helper_proto helper_##name##_proto

/* A negative errno (or any int) as r0 carries it. */
static inline u64 r0_int(int x)
{
	return (u64)(s64)x;
}

#endif
