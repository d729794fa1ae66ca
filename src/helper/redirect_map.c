/* bpf_redirect_map: XDP frames to what a map names: an interface, a CPU, a socket. Only noted down; who ran the program acts
 * on it when r0 says XDP_REDIRECT. */
#include "proto.h"
#include "map/map.h"
#include <linux/bpf.h>

enum { FALLBACK = XDP_ABORTED | XDP_DROP | XDP_PASS | XDP_TX };	/* flags: the action when there is no such element */

static bool is_devmap(const struct map *m)
{
	return m->type == BPF_MAP_TYPE_DEVMAP || m->type == BPF_MAP_TYPE_DEVMAP_HASH;
}

/* With BPF_F_BROADCAST the key plays no part. */
static struct env_redirect target(const struct map *m, u32 key, u64 flags, const struct bpf_devmap_val *dev)
{
	bool broadcast = flags & BPF_F_BROADCAST;

	return (struct env_redirect){
		.set = true,
		.ifindex = dev && !broadcast && is_devmap(m) ? dev->ifindex : 0,
		.flags = broadcast ? flags : 0,
		.map_type = m->type,
		.map_id = m->obj.id,
		.key = broadcast ? 0 : key,
	};
}

/* __bpf_xdp_redirect_map() of the kernel: bad flags leave alone what an earlier call noted down, a missing element clears it */
HELPER(redirect_map)
{
	struct map *m = ptr_of(r1);
	u64 flags = r3, known = FALLBACK | (is_devmap(m) ? BPF_F_BROADCAST | BPF_F_EXCLUDE_INGRESS : 0);
	u32 key = r2;	/* the kernel's look-ups take 32 bits of it */
	void *found;

	if (flags & ~known)
		return XDP_ABORTED;
	found = m->ops->lookup(m, &key, env->cpu);
	if (!found && !(flags & BPF_F_BROADCAST)) {
		env->redirect = (struct env_redirect){ .set = false };
		return flags & FALLBACK;
	}
	env->redirect = target(m, key, flags, found);
	return XDP_REDIRECT;
}

PROTO(redirect_map) = {
	.fn = redirect_map,
	.ret = HRET_INTEGER,
	.arg = { HARG_CONST_MAP_PTR, HARG_ANYTHING, HARG_ANYTHING },
};
