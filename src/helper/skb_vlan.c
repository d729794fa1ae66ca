/* VLAN tags: the outermost one is kept beside the packet (vlan_proto, vlan_tci), inner ones in it. */
#include "skb.h"

static void set_tag(struct env_skb *s, u16 proto, u16 tci)
{
	s->vlan_proto = proto;
	s->vlan_tci = tci;
	s->vlan_present = 1;
}

/* The kept tag goes into the packet, behind the addresses. */
static int insert(struct env_skb *s)
{
	u16 tag[2] = { s->vlan_proto, htons(s->vlan_tci) };
	int err;

	if (s->frame.data != s->mac)
		return -EINVAL;
	err = skb_need_head(s, SKB_VLAN);
	if (err)
		return err;
	skb_push(s, SKB_VLAN);
	memmove(s->frame.data, s->frame.data + SKB_VLAN, 12);
	memcpy(s->frame.data + 12, tag, sizeof(tag));
	s->mac -= SKB_VLAN;
	s->protocol = s->vlan_proto;
	s->net -= SKB_VLAN;
	skb_csum_push(s, s->frame.data + 12, SKB_VLAN, 0);
	return 0;
}

HELPER(skb_vlan_push)
{
	struct env_skb *s = as_skb(r1);
	u16 proto = skb_is_vlan(r2) ? r2 : htons(SKB_ETH_8021Q);
	int err = s->vlan_present ? insert(s) : 0;

	if (!err)
		set_tag(s, proto, r3);
	skb_note_mac_len(s);
	return r0_int(err);
}

SKB_PROTO(skb_vlan_push, .changes_packet = true, .arg = { HARG_CTX, HARG_ANYTHING, HARG_ANYTHING });

/* What follows a removed tag; `next` is the type or length behind it. */
static u16 inner_protocol(const u8 *next)
{
	u16 proto = LOAD(u16, next);

	if (ntohs(proto) >= 1536)
		return proto;
	return htons(LOAD(u16, next + 2) == 0xffff ? 1 /* ETH_P_802_3 */ : 4 /* ETH_P_802_2 */);
}

/* Take the first tag out of the packet. */
static int take_out(struct env_skb *s, u16 *tci)
{
	u8 *old = s->frame.data;

	if (old != s->mac)
		return -EINVAL;
	if (s->len < SKB_ETH + SKB_VLAN)
		return -ENOMEM;
	skb_csum_pull(s, old + 12, SKB_VLAN);
	*tci = ntohs(LOAD(u16, old + SKB_ETH));
	s->protocol = inner_protocol(old + SKB_ETH + 2);
	memmove(old + SKB_VLAN, old, 12);
	skb_pull(s, SKB_VLAN);
	s->mac += SKB_VLAN;
	if (s->net - s->frame.data < SKB_ETH)
		s->net = s->frame.data + SKB_ETH;
	skb_note_mac_len(s);
	return 0;
}

static int pop(struct env_skb *s)
{
	u16 proto, tci;
	int err = 0;

	if (s->vlan_present) {
		s->vlan_present = s->vlan_proto = s->vlan_tci = 0;
	} else {
		if (!skb_is_vlan(s->protocol))
			return 0;
		err = take_out(s, &tci);
	}
	if (err || !skb_is_vlan(s->protocol))
		return err;
	/* the next one is kept beside the packet */
	proto = s->protocol;
	err = take_out(s, &tci);
	if (!err)
		set_tag(s, proto, tci);
	return err;
}

HELPER(skb_vlan_pop)
{
	return r0_int(pop(as_skb(r1)));
}

SKB_PROTO(skb_vlan_pop, .changes_packet = true, .arg = { HARG_CTX });
