/* Helpers on checksums: those in headers, and what the skb itself says of its checksum. */
#include "skb.h"

enum { CSUM_LEVEL_MAX = 3, MANGLED_ZERO = 0xffff };

/* A checksum in a header at an even offset that is all in the packet; NULL: there is none. */
static u8 *field(struct env_skb *s, u64 off)
{
	if ((u32)off > 0xffff || off & 1 || (u32)off + 2 > s->len)
		return NULL;
	return s->frame.data + (u32)off;
}

static u16 by_diff(u16 sum, u32 diff)
{
	return csum_fold(csum_add(diff, (u16)~sum | 0xffff0000u));
}

static u16 replace4(u16 sum, u32 from, u32 to)
{
	return csum_fold(csum_add(csum_sub((u16)~sum | 0xffff0000u, from), to));
}

static u16 add16(u16 a, u16 b)
{
	a += b;
	return a + (a < b);
}

static u16 replace2(u16 sum, u16 from, u16 to)
{
	return ~add16(add16(~sum, ~from), to);
}

HELPER(l3_csum_replace)
{
	struct env_skb *s = as_skb(r1);
	u8 *p;

	if (r5 & ~(u64)BPF_F_HDR_FIELD_MASK)
		return r0_int(-EINVAL);
	p = field(s, r2);
	if (!p)
		return r0_int(-EFAULT);
	switch (r5) {
	case 0:
		if (r3)
			return r0_int(-EINVAL);
		STORE(u16, p, by_diff(LOAD(u16, p), r4));
		return 0;
	case 2:
		STORE(u16, p, replace2(LOAD(u16, p), r3, r4));
		return 0;
	case 4:
		STORE(u16, p, replace4(LOAD(u16, p), r3, r4));
		return 0;
	default:
		return r0_int(-EINVAL);
	}
}

SKB_PROTO(l3_csum_replace, .changes_packet = true,
	  .arg = { HARG_CTX, HARG_ANYTHING, HARG_ANYTHING, HARG_ANYTHING, HARG_ANYTHING });

/* The pseudo header's part of a change also belongs to the sum over the whole packet, which does not see that header. */
static void pseudo_changed(struct env_skb *s, u32 from, u32 to)
{
	if (s->ip_summed == ENV_CSUM_COMPLETE)
		s->csum = ~csum_add(csum_sub(~s->csum, from), to);
}

static int l4_replace(struct env_skb *s, u8 *p, u64 from, u64 to, u64 flags)
{
	bool pseudo = flags & BPF_F_PSEUDO_HDR;
	u16 sum = LOAD(u16, p);

	switch (flags & BPF_F_HDR_FIELD_MASK) {
	case 0:
		if (from)
			return -EINVAL;
		STORE(u16, p, by_diff(sum, to));
		if (pseudo && !(flags & SKB_F_IPV6) && s->ip_summed == ENV_CSUM_COMPLETE)
			s->csum = ~csum_sub(to, s->csum);
		return 0;
	case 2:
		from = (u16)from;
		to = (u16)to;
		break;
	case 4:
		break;
	default:
		return -EINVAL;
	}
	STORE(u16, p, replace4(sum, from, to));
	if (pseudo)
		pseudo_changed(s, from, to);
	return 0;
}

HELPER(l4_csum_replace)
{
	const u64 known = BPF_F_MARK_MANGLED_0 | BPF_F_MARK_ENFORCE | BPF_F_PSEUDO_HDR | BPF_F_HDR_FIELD_MASK | SKB_F_IPV6;
	struct env_skb *s = as_skb(r1);
	bool none_is_zero = r5 & BPF_F_MARK_MANGLED_0;
	u8 *p;
	int err;

	if (r5 & ~known)
		return r0_int(-EINVAL);
	p = field(s, r2);
	if (!p)
		return r0_int(-EFAULT);
	/* UDP: a checksum of 0 says that there is none */
	if (none_is_zero && !(r5 & BPF_F_MARK_ENFORCE) && !LOAD(u16, p))
		return 0;
	err = l4_replace(s, p, r3, r4, r5);
	if (!err && none_is_zero && !LOAD(u16, p))
		STORE(u16, p, MANGLED_ZERO);
	return r0_int(err);
}

SKB_PROTO(l4_csum_replace, .changes_packet = true,
	  .arg = { HARG_CTX, HARG_ANYTHING, HARG_ANYTHING, HARG_ANYTHING, HARG_ANYTHING });

HELPER(csum_update)
{
	struct env_skb *s = as_skb(r1);

	if (s->ip_summed != ENV_CSUM_COMPLETE)
		return r0_int(-ENOTSUPP_);
	return s->csum = csum_add(s->csum, r2);
}

SKB_PROTO(csum_update, .arg = { HARG_CTX, HARG_ANYTHING });

void skb_csum_reset(struct env_skb *s)
{
	if (s->ip_summed != ENV_CSUM_UNNECESSARY)
		return;
	s->ip_summed = ENV_CSUM_NONE;
	s->csum_level = 0;
}

static void level_up(struct env_skb *s)
{
	if (s->ip_summed == ENV_CSUM_UNNECESSARY) {
		if (s->csum_level < CSUM_LEVEL_MAX)
			s->csum_level++;
	} else if (s->ip_summed == ENV_CSUM_NONE) {
		s->ip_summed = ENV_CSUM_UNNECESSARY;
		s->csum_level = 0;
	}
}

static void level_down(struct env_skb *s)
{
	if (s->ip_summed != ENV_CSUM_UNNECESSARY)
		return;
	if (!s->csum_level)
		s->ip_summed = ENV_CSUM_NONE;
	else
		s->csum_level--;
}

HELPER(csum_level)
{
	struct env_skb *s = as_skb(r1);

	switch (r2) {
	case BPF_CSUM_LEVEL_INC:
		level_up(s);
		return 0;
	case BPF_CSUM_LEVEL_DEC:
		level_down(s);
		return 0;
	case BPF_CSUM_LEVEL_RESET:
		skb_csum_reset(s);
		return 0;
	case BPF_CSUM_LEVEL_QUERY:
		return r0_int(s->ip_summed == ENV_CSUM_UNNECESSARY ? s->csum_level : -EACCES);
	default:
		return r0_int(-EINVAL);
	}
}

SKB_PROTO(csum_level, .arg = { HARG_CTX, HARG_ANYTHING });
