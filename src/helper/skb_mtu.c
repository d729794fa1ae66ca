/* bpf_check_mtu and bpf_get_netns_cookie: what the machine's interfaces and name space say. */
#include "skb.h"
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif
enum {
	LOOPBACK = 1, LOOPBACK_MTU = 65536,
	FIRST_NETNS = 1,	/* told to callers without a socket, whatever name space they are in */
};

/* An interface's MTU and L2 header; the run's loopback is there even where we may not ask. 0 or -ENODEV. */
static int interface(u32 ifindex, u32 *mtu, u32 *header)
{
	struct ifreq req = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = -ENODEV;

	*mtu = LOOPBACK_MTU;
	*header = SKB_ETH;
	if (fd >= 0 && if_indextoname(ifindex, req.ifr_name) && !ioctl(fd, SIOCGIFMTU, &req)) {
		*mtu = req.ifr_mtu;
		err = 0;
		if (!ioctl(fd, SIOCGIFHWADDR, &req) && req.ifr_hwaddr.sa_family != ARPHRD_ETHER &&
		    req.ifr_hwaddr.sa_family != ARPHRD_LOOPBACK)
			*header = 0;
	}
	if (fd >= 0)
		close(fd);
	return ifindex == LOOPBACK ? 0 : err;
}

static int fits(const struct env_frame *f, u32 ifindex, u32 *len, s32 diff, u64 flags)
{
	const struct env_skb *s = f->flags & ENV_FRAME_SKB ? (const struct env_skb *)f : NULL;
	u32 own = s ? s->ifindex : f->ingress_ifindex, mtu, header;
	s32 size;
	int err;

	/* segments exist for skbs only, and then nothing is to be added to them */
	if (flags & ~(u64)(s ? BPF_MTU_CHK_SEGS : 0) || (flags && (diff || *len)))
		return -EINVAL;
	err = interface(ifindex ? ifindex : own, &mtu, &header);
	if (err)
		return err;
	size = *len ? *len + header : f->packet_end - f->data;
	size = (u32)size + (u32)diff;
	*len = mtu;
	if (size <= (s32)(mtu + header))
		return BPF_MTU_CHK_RET_SUCCESS;
	if (!s || !s->gso_size)
		return BPF_MTU_CHK_RET_FRAG_NEEDED;
	/* a packet that is sent in segments may be longer than they are; TEST_RUN's are of no type that has headers */
	return flags && s->gso_size > mtu ? BPF_MTU_CHK_RET_SEGS_TOOBIG : BPF_MTU_CHK_RET_SUCCESS;
}

HELPER(check_mtu)
{
	return r0_int(fits(ptr_of(r1), r2, ptr_of(r3), r4, r5));
}

PROTO(check_mtu) = {
	.fn = check_mtu,
	.ret = HRET_INTEGER,
	.arg = { HARG_CTX, HARG_ANYTHING, HARG_MEM | HARG_FIXED | HARG_WRITE | HARG_ALIGNED, HARG_ANYTHING, HARG_ANYTHING },
	.size = { 0, 0, sizeof(u32) },
};

HELPER(get_netns_cookie)
{
	socklen_t size = sizeof(u64);
	u64 cookie = 0;
	int fd;

	if (!r1)
		return FIRST_NETNS;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size);
	close(fd);
	return cookie;
}

SKB_PROTO(get_netns_cookie, .arg = { HARG_CTX | HARG_NULL_OK });
