/* The packet of a struct env_skb: its ends, its room, its checksum. See skb.h. */
#include "skb.h"

/* Put the packet where there are `head` bytes before it, header pointers along with it. */
static void move(struct env_skb *s, u8 *to)
{
	struct env_frame *f = &s->frame;
	u8 *from = MIN(f->data, s->mac ? s->mac : f->data); /* a socket filter's L2 header lies before data */
	s64 by = to - from;

	memmove(to, from, f->data_end - from);
	f->data += by;
	f->data_meta += by;
	f->data_end += by;
	f->packet_end += by;
	s->mac += by;
	s->net += by;
}

static void note_lowest(struct env_frame *f)
{
	if (f->data < f->lowest)
		f->lowest = f->data;
}

int skb_need_head(struct env_skb *s, u32 n)
{
	struct env_frame *f = &s->frame;
	s64 room = (f->hard_end - f->hard_start) - (f->data_end - f->data);

	if (n > room)
		return -ENOMEM;
	if (n > s->headroom) {
		u32 more = ROUND_UP(n - s->headroom, SKB_PAD);

		s->headroom += more;
		s->transport += more;
	}
	if (n <= (u64)(f->data - f->hard_start))
		return 0;
	move(s, f->hard_start + n + (room - n) / 2);
	return 0;
}

void skb_push(struct env_skb *s, u32 by)
{
	s->frame.data -= by;
	s->frame.data_meta = s->frame.data;
	s->len += by;
	s->headroom -= by;
	note_lowest(&s->frame);
}

void skb_pull(struct env_skb *s, u32 by)
{
	s->frame.data += by;
	s->frame.data_meta = s->frame.data;
	s->len -= by;
	s->headroom += by;
}

int skb_set_len(struct env_skb *s, u32 len)
{
	struct env_frame *f = &s->frame;

	if (len > s->len && len - s->len > (u64)(f->hard_end - f->data_end)) {
		if (len > (u64)(f->hard_end - f->hard_start))
			return -ENOMEM;
		move(s, f->hard_start);
		note_lowest(f);
	}
	if (len > s->len)
		memset(f->data_end, 0, len - s->len);
	f->data_end = f->packet_end = f->data + len;
	s->len = len;
	return 0;
}

void skb_clear_hash(struct env_skb *s)
{
	s->hash = 0;
	s->hash_set = false;
}

/* ---- checksums */

/* A sum of bytes that begin at an odd place counts with its bytes swapped. */
static u32 at(u32 sum, u32 off)
{
	return off & 1 ? sum >> 8 | sum << 24 : sum;
}

void skb_csum_push(struct env_skb *s, const void *p, u32 n, u32 off)
{
	if (s->ip_summed == ENV_CSUM_COMPLETE)
		s->csum = csum_add(s->csum, at(csum_bytes(p, n, 0), off));
}

/* Subtracting so leaves the sum of nothing at 0, which the other way makes the other zero, ~0. */
void skb_csum_pull(struct env_skb *s, const void *p, u32 n)
{
	if (s->ip_summed == ENV_CSUM_COMPLETE)
		s->csum = -csum_bytes(p, n, -s->csum);
}

void skb_csum_pull_at(struct env_skb *s, const void *p, u32 n, u32 off)
{
	if (s->ip_summed == ENV_CSUM_COMPLETE)
		s->csum = csum_sub(s->csum, at(csum_bytes(p, n, 0), off));
}
