/* Tunnel keys: what a program tells a tunnel interface to put around the packet, and reads back. A packet of TEST_RUN came
 * through no tunnel, so there is nothing to read until something was set. */
#include "skb.h"

/* struct bpf_tunnel_key as of 6.18; older and shorter forms are beginnings of it. */
struct key {
	u32 id;
	u32 remote[4];		/* IPv4: the first, in host order; IPv6: network order */
	u8 tos, ttl;
	u16 ext;		/* or flags, network order */
	u32 label;
	u32 local[4];
};
static_assert(sizeof(struct key) == 44, "as large as the kernel's");
static_assert(sizeof(struct key) == sizeof(((struct env_skb *)0)->tunnel_key), "and as its place");

enum {	/* flags of the calls */
	KEY_IPV6 = 1 << 0, ZERO_CSUM = 1 << 1, DONT_FRAGMENT = 1 << 2, SEQ_NUMBER = 1 << 3, NO_KEY = 1 << 4,
	GET_FLAGS = 1 << 4,
	SET_KNOWN = KEY_IPV6 | ZERO_CSUM | DONT_FRAGMENT | SEQ_NUMBER | NO_KEY,
};
enum {	/* what tunnel_flags shows of them: IP_TUNNEL_*_BIT */
	TUN_CSUM = 1 << 0, TUN_KEY = 1 << 2, TUN_SEQ = 1 << 3, TUN_DONT_FRAGMENT = 1 << 8, TUN_NOCACHE = 1 << 13,
};

static bool is_key_size(u32 size)
{
	return size == sizeof(struct key) || size == offsetof(struct key, local) || size == offsetof(struct key, label) ||
	       size == offsetof(struct key, ext) || size == offsetof(struct key, remote[1]);
}

static u16 shown_flags(u64 flags)
{
	u16 shown = TUN_NOCACHE;

	if (!(flags & ZERO_CSUM))
		shown |= TUN_CSUM;
	if (!(flags & NO_KEY))
		shown |= TUN_KEY;
	if (flags & SEQ_NUMBER)
		shown |= TUN_SEQ;
	if (flags & DONT_FRAGMENT)
		shown |= TUN_DONT_FRAGMENT;
	return htons(shown);
}

static int set_key(struct env_skb *s, const void *from, u32 size, u64 flags)
{
	struct key key = { 0 };

	if (flags & ~(u64)SET_KNOWN || !is_key_size(size))
		return -EINVAL;
	memcpy(&key, from, size);
	if ((!(flags & KEY_IPV6) && key.label) || key.ext)
		return -EINVAL;
	if (flags & KEY_IPV6) {
		key.label &= 0xfffff;
	} else {
		memset(&key.remote[1], 0, sizeof(key.remote) - sizeof(key.remote[0]));
		memset(&key.local[1], 0, sizeof(key.local) - sizeof(key.local[0]));
	}
	memcpy(s->tunnel_key, &key, sizeof(key));
	s->tunnel = flags & KEY_IPV6 ? ENV_TUNNEL_IPV6 : ENV_TUNNEL_IPV4;
	s->tunnel_flags = shown_flags(flags);
	return 0;
}

HELPER(skb_set_tunnel_key)
{
	return r0_int(set_key(as_skb(r1), ptr_of(r2), r3, r4));
}

SKB_PROTO(skb_set_tunnel_key, .arg = { HARG_CTX, HARG_MEM | HARG_RDONLY, HARG_SIZE, HARG_ANYTHING });

static int get_key(const struct env_skb *s, void *to, u32 size, u64 flags)
{
	struct key set, key;

	if (!s->tunnel || flags & ~(u64)(KEY_IPV6 | GET_FLAGS))
		return -EINVAL;
	if ((s->tunnel == ENV_TUNNEL_IPV6) != !!(flags & KEY_IPV6))
		return -EPROTO;
	if (!is_key_size(size) || (size == offsetof(struct key, remote[1]) && flags & KEY_IPV6))
		return -EINVAL;
	memcpy(&set, s->tunnel_key, sizeof(set));
	/* what is read is how a packet arrived: from where it would be sent to */
	key = set;
	memcpy(key.remote, set.local, sizeof(key.remote));
	memcpy(key.local, set.remote, sizeof(key.local));
	if (flags & GET_FLAGS)
		key.ext = s->tunnel_flags;
	memcpy(to, &key, size);
	return 0;
}

HELPER(skb_get_tunnel_key)
{
	int err = get_key(as_skb(r1), ptr_of(r2), r3, r4);

	if (err)
		memset(ptr_of(r2), 0, (u32)r3);
	return r0_int(err);
}

SKB_PROTO(skb_get_tunnel_key, .arg = { HARG_CTX, HARG_MEM | HARG_UNINIT | HARG_WRITE, HARG_SIZE, HARG_ANYTHING });
