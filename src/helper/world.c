/* Helpers that ask the world: clocks, random numbers, CPU, task. Answers come from env->world, so that a run can be
 * repeated exactly. */
#include "proto.h"
#include <sched.h>
#include <time.h>

#define CLOCK_HELPER(name, clock)                                                                  \
	HELPER(name)                                                                               \
	{                                                                                          \
		return env->world->ops->ktime(env->world, clock);                                  \
	}                                                                                          \
	PROTO(name) = {                                                                            \
		.fn = name,                                                                        \
		.ret = HRET_INTEGER,                                                               \
	}

CLOCK_HELPER(ktime_get_ns, CLOCK_MONOTONIC);
CLOCK_HELPER(ktime_get_boot_ns, CLOCK_BOOTTIME);
CLOCK_HELPER(ktime_get_coarse_ns, CLOCK_MONOTONIC_COARSE);
CLOCK_HELPER(ktime_get_tai_ns, CLOCK_TAI);

HELPER(jiffies64)
{
	return env->world->ops->jiffies(env->world);
}

PROTO(jiffies64) = {
	.fn = jiffies64,
	.ret = HRET_INTEGER,
};

HELPER(get_prandom_u32)
{
	return env->world->ops->random(env->world, env);
}

PROTO(get_prandom_u32) = {
	.fn = get_prandom_u32,
	.ret = HRET_INTEGER,
};

HELPER(get_smp_processor_id)
{
	return env->cpu;
}

PROTO(get_smp_processor_id) = {
	.fn = get_smp_processor_id,
	.ret = HRET_INTEGER,
	.fastcall = true,
};

/* The node of the CPU that really runs this, not of the leased number: placement of memory is what it is asked for. */
HELPER(get_numa_node_id)
{
	unsigned int cpu, node = 0;

	return getcpu(&cpu, &node) ? 0 : node;
}

PROTO(get_numa_node_id) = {
	.fn = get_numa_node_id,
	.ret = HRET_INTEGER,
};

HELPER(get_current_pid_tgid)
{
	return env->world->ops->pid_tgid(env->world);
}

PROTO(get_current_pid_tgid) = {
	.fn = get_current_pid_tgid,
	.ret = HRET_INTEGER,
};
