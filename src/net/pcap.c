/* pcap files: both endians, microseconds and nanoseconds (draft-ietf-opsawg-pcap). */
#include "source.h"
#include "base/bits.h"

struct pcap {
	bool swap;
	u32 link_type, tick_ns;
};

enum { FILE_HEADER = 24, RECORD_HEADER = 16 };

static int pcap_next(struct net_source *s, struct net_packet *out, struct log *err)
{
	const struct pcap *f = s->format;
	const u8 *p = window_at(&s->w);
	u32 size;

	if (window_left(&s->w) < RECORD_HEADER)
		return 0;
	size = swap32_if(f->swap, LOAD(u32, p + 8));
	if (size > NET_MAX_PACKET) {
		log_printf(err, "%s: damaged: the record at offset %llu claims %u bytes; a packet has at most %u", s->name,
			   (unsigned long long)window_offset(&s->w), size, NET_MAX_PACKET);
		return -EINVAL;
	}
	if (window_left(&s->w) - RECORD_HEADER < size)
		return 0;
	window_fetch_ahead(p, RECORD_HEADER + size);
	*out = (struct net_packet){
		.data = p + RECORD_HEADER,
		.size = size,
		.wire_size = swap32_if(f->swap, LOAD(u32, p + 12)),
		.time_ns = swap32_if(f->swap, LOAD(u32, p)) * 1000000000ull +
			   (u64)swap32_if(f->swap, LOAD(u32, p + 4)) * f->tick_ns,
		.link_type = f->link_type,
	};
	s->w.at += RECORD_HEADER + size;
	return 1;
}

static void pcap_free(struct net_source *s)
{
	free(s->format);
}

int pcap_begin(struct net_source *s, struct log *err)
{
	const u8 *p = window_at(&s->w);
	struct pcap *f;
	u32 magic;

	if (window_left(&s->w) < FILE_HEADER)
		return 0;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	s->format = f;
	s->free = pcap_free;
	s->next = pcap_next;
	magic = LOAD(u32, p);
	f->swap = magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1;
	f->tick_ns = magic == 0xa1b23c4d || magic == 0x4d3cb2a1 ? 1 : 1000;
	f->link_type = swap32_if(f->swap, LOAD(u32, p + 20)) & 0x03ffffff;	/* above: FCS length */
	s->w.at += FILE_HEADER;
	return 1;
}
