/* Where tc programs send packets: noted down in the env; who ran the program acts on it when r0 says TC_ACT_REDIRECT. */
#include "skb.h"
#include <linux/pkt_cls.h>
#include <net/if.h>

enum { NEIGHBOUR = 1 << 16, PEER = 1 << 17 };	/* kinds of redirect, beside BPF_F_INGRESS, in env_redirect.flags */

static u64 note(struct env *env, u32 ifindex, u64 flags)
{
	env->redirect = (struct env_redirect){ .set = true, .ifindex = ifindex, .flags = flags };
	return TC_ACT_REDIRECT;
}

u64 skb_redirect(struct env *env, u32 ifindex, u64 flags)
{
	return flags & ~(u64)BPF_F_INGRESS ? TC_ACT_SHOT : note(env, ifindex, flags);
}

HELPER(redirect_peer)
{
	return r2 ? TC_ACT_SHOT : note(env, r1, PEER);
}

SKB_PROTO(redirect_peer, .arg = { HARG_ANYTHING, HARG_ANYTHING });

HELPER(redirect_neigh)
{
	s32 size = r3;

	if ((size && (u32)size < sizeof(struct bpf_redir_neigh)) || r4)
		return TC_ACT_SHOT;
	return note(env, r1, NEIGHBOUR);
}

SKB_PROTO(redirect_neigh,
	  .arg = { HARG_ANYTHING, HARG_MEM | HARG_NULL_OK | HARG_RDONLY, HARG_SIZE_OR_ZERO, HARG_ANYTHING });

/* The packet goes on here as well; that a copy was sent is counted. */
HELPER(clone_redirect)
{
	struct env_skb *s = as_skb(r1);
	char name[IF_NAMESIZE];
	u32 ifindex = r2;

	if (r3 & ~(u64)BPF_F_INGRESS)
		return r0_int(-EINVAL);
	if (s->gso_size && !s->gso_typed)
		return r0_int(-EBADMSG);
	if (ifindex != 1 && !if_indextoname(ifindex, name)) /* 1: the loopback of the run's world */
		return r0_int(-EINVAL);
	if (s->mac >= s->net || !s->len)
		return r0_int(-ERANGE);
	env->clone = (struct env_redirect){ .set = true, .ifindex = ifindex, .flags = r3 };
	env->clones++;
	return 0;
}

SKB_PROTO(clone_redirect, .changes_packet = true, .arg = { HARG_CTX, HARG_ANYTHING, HARG_ANYTHING });
