/* Programs on a struct __sk_buff: the skb that a packet becomes, and PROG_TEST_RUN.
 *
 * Everything here is the kernel's bpf_prog_test_run_skb() seen from outside: a linear skb on the loopback device; traffic
 * control begins at the Ethernet header, a socket filter behind it; without a context from the caller wire_len stays 0. */
#include "frame.h"
#include "base/cleanup.h"
#include "base/csum.h"
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <arpa/inet.h>
#include <net/if.h>
#include <sys/ioctl.h>

enum {
	HEADROOM = 64,				/* NET_SKB_PAD */
	MAX_SIZE = RUN_PAGE - HEADROOM - RUN_TAILROOM,
	MAX_WIRE = 65536,			/* GSO_LEGACY_MAX_SIZE */
	MAX_SEGS = 65535,			/* GSO_MAX_SEGS */
	LOOPBACK = 1,
};
#define CHECKSUM_COMPLETE (1u << 2)		/* BPF_F_TEST_SKB_CHECKSUM_COMPLETE */

static bool begins_at_l2(const struct kind *k)
{
	return k->prog_type != BPF_PROG_TYPE_SOCKET_FILTER;
}

/* ---- the skb */

static u16 ethertype(const u8 *mac, const u8 *end)
{
	u16 proto;

	memcpy(&proto, mac + 12, sizeof(proto));
	if (ntohs(proto) >= ETH_P_802_3_MIN)
		return proto;
	/* a length: Novell's raw frames begin with ones */
	return htons(end - mac >= ETH_HLEN + 2 && mac[14] == 0xff && mac[15] == 0xff ? ETH_P_802_3 : ETH_P_802_2);
}

/* Loopback has no broadcast address: there a broadcast is a multicast. */
static u8 packet_type(const u8 *dest, const u8 *own, u32 ifindex)
{
	static const u8 everyone[ETH_ALEN] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	if (!memcmp(dest, own, ETH_ALEN))
		return PACKET_HOST;
	if (!(dest[0] & 1))
		return PACKET_OTHERHOST;
	return ifindex == LOOPBACK || memcmp(dest, everyone, ETH_ALEN) ? PACKET_MULTICAST : PACKET_BROADCAST;
}

/* The address of an interface; loopback's, and those of interfaces without one, are zero. */
static void own_address(u8 address[ETH_ALEN], u32 ifindex)
{
	struct ifreq req = { 0 };
	int fd;

	memset(address, 0, ETH_ALEN);
	if (ifindex == LOOPBACK || !if_indextoname(ifindex, req.ifr_name))
		return;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (!ioctl(fd, SIOCGIFHWADDR, &req))
		memcpy(address, req.ifr_hwaddr.sa_data, ETH_ALEN);
	close(fd);
}

void run_skb_build(struct env_skb *s, const struct kind *k, u32 ifindex)
{
	const struct env_frame f = s->frame;
	u8 own[ETH_ALEN];

	own_address(own, ifindex);
	*s = (struct env_skb){
		.frame = f,
		.mac = f.data,
		.net = f.data + ETH_HLEN,
		.protocol = ethertype(f.data, f.packet_end),
		.pkt_type = packet_type(f.data, own, ifindex),
		.ifindex = ifindex,
		.transport = 0xffff,
		.headroom = HEADROOM,
	};
	s->frame.flags = ENV_FRAME_SKB;
	s->frame.ingress_ifindex = 0;
	s->frame.data = begins_at_l2(k) ? s->mac : s->net;
	s->frame.data_meta = s->frame.data;
	s->frame.data_end = f.packet_end; /* all of it is linear */
	s->len = s->frame.data_end - s->frame.data;
}

static void set_room(struct run_buffer *b)
{
	b->frame.hard_start = b->mem;
	b->frame.hard_end = b->mem + b->size;
}

u32 run_skb(struct prog *p, struct env *env, struct run_buffer *b)
{
	if (!(b->frame.flags & ENV_FRAME_SKB)) {
		run_skb_build(&b->skb, p->kind, LOOPBACK);
		set_room(b);
	}
	env->frame = &b->frame;
	b->frame.env = env;
	env->tail_calls = 0;
	env->redirect.set = false;
	return prog_run(p, env, &b->skb);
}

/* ---- PROG_TEST_RUN */

#define END_OF(member) (offsetof(struct __sk_buff, member) + sizeof(((struct __sk_buff *)0)->member))

/* What the caller may not set: the places between the fields that are taken over. */
static const struct { u16 from, to; } must_be_zero[] = {
	{ 0, offsetof(struct __sk_buff, mark) },
	{ END_OF(mark), offsetof(struct __sk_buff, priority) },
	{ END_OF(ifindex), offsetof(struct __sk_buff, cb) },
	{ END_OF(cb), offsetof(struct __sk_buff, tstamp) },
	{ END_OF(gso_segs), offsetof(struct __sk_buff, gso_size) },
	{ END_OF(gso_size), offsetof(struct __sk_buff, hwtstamp) },
	{ END_OF(hwtstamp), sizeof(struct __sk_buff) },
};

static int check_ctx(const struct __sk_buff *ctx)
{
	const u8 *bytes = (const u8 *)ctx;

	for (u32 i = 0; i < ARRAY_SIZE(must_be_zero); i++)
		for (u32 at = must_be_zero[i].from; at < must_be_zero[i].to; at++)
			if (bytes[at])
				return -EINVAL;
	return 0;
}

static int take_ctx(struct env_skb *s, const struct __sk_buff *ctx)
{
	if (check_ctx(ctx))
		return -EINVAL;
	s->mark = ctx->mark;
	s->priority = ctx->priority;
	s->frame.ingress_ifindex = ctx->ingress_ifindex;
	s->tstamp = ctx->tstamp;
	memcpy(s->cb, ctx->cb, sizeof(s->cb));
	s->wire_len = s->len;
	if (ctx->wire_len) {
		if (ctx->wire_len < s->len || ctx->wire_len > MAX_WIRE)
			return -EINVAL;
		s->wire_len = ctx->wire_len;
	}
	if (ctx->gso_segs > MAX_SEGS)
		return -EINVAL;
	s->gso_segs = ctx->gso_segs;
	s->gso_size = ctx->gso_size;
	s->hwtstamp = ctx->hwtstamp;
	return 0;
}

static void fill_ctx(struct __sk_buff *ctx, const struct env_skb *s)
{
	ctx->mark = s->mark;
	ctx->priority = s->priority;
	ctx->ingress_ifindex = s->frame.ingress_ifindex;
	ctx->ifindex = s->ifindex;
	ctx->tstamp = s->tstamp;
	ctx->wire_len = s->wire_len;
	memcpy(ctx->cb, s->cb, sizeof(s->cb));
	ctx->gso_segs = s->gso_segs;
	ctx->hwtstamp = s->hwtstamp;
}

static int check(const struct run_test *t)
{
	if (t->flags & ~CHECKSUM_COMPLETE || t->cpu || t->batch_size)
		return -EINVAL;
	if (t->data_size_in < ETH_HLEN || t->data_size_in > MAX_SIZE)
		return -EINVAL;
	return t->data_in ? 0 : -EFAULT;
}

/* A socket filter's packet goes back to the caller with an empty L2 header before it. */
static void show_l2(struct env_skb *s)
{
	memset(s->frame.data - ETH_HLEN, 0, ETH_HLEN);
	s->frame.data -= ETH_HLEN;
	s->frame.data_meta = s->frame.data;
	s->len += ETH_HLEN;
}

/* With CHECKSUM_COMPLETE the skb carries the sum from its L3 header on, and must still carry it afterwards. */
static u32 l3_sum(const struct env_skb *s)
{
	return csum_bytes(s->net, s->frame.data_end > s->net ? s->frame.data_end - s->net : 0, 0);
}

static void begin_sum(struct env_skb *s)
{
	s->csum = l3_sum(s);
	s->ip_summed = ENV_CSUM_COMPLETE;
}

static bool sum_is_right(const struct env_skb *s)
{
	return csum_fold(s->csum) == csum_fold(l3_sum(s));
}

/* Since 6.18 what says that it is IP must have room for an IP header. */
static bool is_malformed(u16 protocol, u32 l3)
{
	return (protocol == htons(ETH_P_IP) && l3 < 20) || (protocol == htons(ETH_P_IPV6) && l3 < 40);
}

bool run_skb_takes(const u8 *packet, u32 size)
{
	return size >= ETH_HLEN && size <= MAX_SIZE && !is_malformed(ethertype(packet, packet + size), size - ETH_HLEN);
}

static int build(struct run_buffer *b, const struct prog *p, const struct run_test *t, const struct __sk_buff *ctx)
{
	char name[IF_NAMESIZE];
	u32 ifindex = ctx->ifindex > LOOPBACK ? ctx->ifindex : LOOPBACK;

	if (ifindex != LOOPBACK && !if_indextoname(ifindex, name))
		return -ENODEV;
	memcpy(run_buffer_place(b, 0, t->data_size_in, t->data_size_in), t->data_in, t->data_size_in);
	run_skb_build(&b->skb, p->kind, ifindex);
	set_room(b);
	if (is_malformed(b->skb.protocol, t->data_size_in - ETH_HLEN))
		return -EINVAL;
	return t->ctx_in || t->ctx_out ? take_ctx(&b->skb, ctx) : 0;
}

int run_test_skb(struct prog *p, struct run_test *t)
{
	struct run_buffer *b CLEANUP(run_return_buffer) = NULL;
	struct __sk_buff ctx = { 0 };
	int err = check(t);

	err = err ?: run_read_ctx(t, &ctx, sizeof(ctx));
	if (err)
		return err;
	b = run_borrow_buffer();
	if (!b)
		return -ENOMEM;
	err = build(b, p, t, &ctx);
	if (err)
		return err;
	if (t->flags & CHECKSUM_COMPLETE)
		begin_sum(&b->skb);
	run_repeat(p, t, b);
	if (!begins_at_l2(p->kind))
		show_l2(&b->skb);
	if (t->flags & CHECKSUM_COMPLETE && !sum_is_right(&b->skb))
		return -EBADMSG;
	err = run_give_data(t, &b->frame);
	if (err)
		return err;
	fill_ctx(&ctx, &b->skb);
	return run_give_ctx(t, &ctx, sizeof(ctx));
}
