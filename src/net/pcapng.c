/* pcapng files: sections of either endian, any number of interfaces, timestamps of any resolution
 * (draft-ietf-opsawg-pcapng). Blocks that hold no packet are passed over. */
#include "source.h"
#include "base/bits.h"
#include "base/vec.h"

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET_OLD = 2,
	BLOCK_PACKET_SIMPLE = 3,
	BLOCK_PACKET = 6,
	OPT_END = 0,
	OPT_TSRESOL = 9,
	MAX_INTERFACES = 65536,
};

struct interface {
	u32 link_type, snaplen;
	u8 tsresol;	/* as in the option: bit 7 chooses powers of 2 instead of 10 */
};

struct pcapng {
	bool swap;
	VEC(struct interface) ifs;
};

static u32 get32(const struct pcapng *f, const u8 *p)
{
	return swap32_if(f->swap, LOAD(u32, p));
}
static u16 get16(const struct pcapng *f, const u8 *p)
{
	return swap16_if(f->swap, LOAD(u16, p));
}

static int damaged(struct net_source *s, struct log *err, const char *what, u64 n)
{
	log_printf(err, "%s: damaged: block at offset %llu: %s %llu", s->name, (unsigned long long)window_offset(&s->w), what,
		   (unsigned long long)n);
	return -EINVAL;
}

static u64 to_ns(u64 ticks, u8 tsresol)
{
	u32 power = tsresol & 0x7f;
	u64 per_second = 1;

	if (tsresol & 0x80) {
		if (power > 63)
			return 0;
		per_second <<= power;
	} else {
		if (power > 19)
			return 0;
		while (power--)
			per_second *= 10;
	}
	return ticks / per_second * 1000000000ull +
	       (u64)((unsigned __int128)(ticks % per_second) * 1000000000ull / per_second);
}

static int add_interface(struct net_source *s, const u8 *body, u32 size, struct log *err)
{
	struct pcapng *f = s->format;
	struct interface i = { .tsresol = 6 };
	u32 at = 8;

	if (size < 8)
		return damaged(s, err, "an interface description of bytes:", size);
	if (f->ifs.n >= MAX_INTERFACES)
		return damaged(s, err, "more interfaces than", MAX_INTERFACES);
	i.link_type = get16(f, body);
	i.snaplen = get32(f, body + 4);
	while (size - at >= 4) {
		u32 code = get16(f, body + at), len = get16(f, body + at + 2);

		if (code == OPT_END)
			break;
		if (len > size - at - 4)
			return damaged(s, err, "an option longer than the block, bytes:", len);
		if (code == OPT_TSRESOL && len >= 1)
			i.tsresol = body[at + 4];
		at += MIN(4 + ROUND_UP(len, 4), size - at);
	}
	return VEC_PUSH(&f->ifs, i) ? 0 : -ENOMEM;
}

/* 1: *out filled; 0: a packet block without a usable packet never happens; -EINVAL */
static int read_packet(struct net_source *s, u32 type, const u8 *body, u32 size, struct net_packet *out, struct log *err)
{
	const struct pcapng *f = s->format;
	u32 header = type == BLOCK_PACKET_SIMPLE ? 4 : 20;
	u64 ticks;

	if (size < header)
		return damaged(s, err, "a packet block of bytes:", size);
	*out = (struct net_packet){ 0 };
	if (type == BLOCK_PACKET)
		out->interface = get32(f, body);
	else if (type == BLOCK_PACKET_OLD)
		out->interface = get16(f, body);
	if (out->interface >= f->ifs.n)
		return damaged(s, err, "no description of interface", out->interface);
	if (type == BLOCK_PACKET_SIMPLE) {
		u32 snaplen = f->ifs.v[0].snaplen;

		out->wire_size = get32(f, body);
		out->size = MIN(out->wire_size, size - header);
		if (snaplen && out->size > snaplen)
			out->size = snaplen;
	} else {
		ticks = (u64)get32(f, body + 4) << 32 | get32(f, body + 8);
		out->time_ns = to_ns(ticks, f->ifs.v[out->interface].tsresol);
		out->size = get32(f, body + 12);
		out->wire_size = get32(f, body + 16);
	}
	if (out->size > size - header || out->size > NET_MAX_PACKET)
		return damaged(s, err, "a packet larger than its block or than 262144 bytes:", out->size);
	out->data = body + header;
	out->link_type = f->ifs.v[out->interface].link_type;
	return 1;
}

/* The section header decides the byte order of all that follows, its own length included. */
static int begin_section(struct net_source *s, const u8 *p, struct log *err)
{
	struct pcapng *f = s->format;
	u32 magic = LOAD(u32, p + 8);

	if (magic != 0x1a2b3c4d && magic != 0x4d3c2b1a)
		return damaged(s, err, "a section with byte-order magic", magic);
	f->swap = magic == 0x4d3c2b1a;
	f->ifs.n = 0;
	return 0;
}

static int pcapng_next(struct net_source *s, struct net_packet *out, struct log *err)
{
	struct pcapng *f = s->format;

	for (;;) {
		const u8 *p = window_at(&s->w);
		u32 type, size;
		int rc = 0;

		if (window_left(&s->w) < 12)
			return 0;
		type = get32(f, p);
		if (LOAD(u32, p) == BLOCK_SECTION && (rc = begin_section(s, p, err)))
			return rc;
		size = get32(f, p + 4);
		if (size < 12 || size % 4 || size > NET_MAX_BLOCK)
			return damaged(s, err, "length", size);
		if (window_left(&s->w) < size)
			return 0;
		window_fetch_ahead(p, size);
		if (get32(f, p + size - 4) != size)
			return damaged(s, err, "its second length differs from", size);
		if (type == BLOCK_INTERFACE)
			rc = add_interface(s, p + 8, size - 12, err);
		else if (type == BLOCK_PACKET || type == BLOCK_PACKET_SIMPLE || type == BLOCK_PACKET_OLD)
			rc = read_packet(s, type, p + 8, size - 12, out, err);
		if (rc < 0)
			return rc;
		s->w.at += size;
		if (rc > 0)
			return 1;
	}
}

static void pcapng_free(struct net_source *s)
{
	struct pcapng *f = s->format;

	VEC_DONE(&f->ifs);
	free(f);
}

int pcapng_begin(struct net_source *s, struct log *err)
{
	if (window_left(&s->w) < 12)
		return 0;
	s->format = calloc(1, sizeof(struct pcapng));
	if (!s->format)
		return -ENOMEM;
	s->free = pcapng_free;
	s->next = pcapng_next;
	return 1;	/* the first section is read like any other block */
}
