/* bpf_spin_lock() and bpf_spin_unlock() on the lock in a map's value. The verifier sees that one is held at a time, for a few
 * instructions without calls, and given back. */
#include "proto.h"
#include "map/map.h"

HELPER(spin_lock)
{
	map_value_lock(ptr_of(r1));
	return 0;
}

PROTO(spin_lock) = {
	.fn = spin_lock,
	.ret = HRET_VOID,
	.arg = { HARG_SPIN_LOCK },
};

HELPER(spin_unlock)
{
	map_value_unlock(ptr_of(r1));
	return 0;
}

PROTO(spin_unlock) = {
	.fn = spin_unlock,
	.ret = HRET_VOID,
	.arg = { HARG_SPIN_LOCK },
};
