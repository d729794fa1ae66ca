/* Private to net/: what the readers of the capture formats share. */
#ifndef NET_SOURCE_H
#define NET_SOURCE_H
#include "net.h"

enum { NET_MAX_PACKET = 256 * 1024, NET_MAX_BLOCK = 16 * 1024 * 1024 };

/* The bytes of a file: mapped whole, or (pipes) a buffer that is read into. Parsers look at [at, len) only. */
struct window {
	u8 *base;
	size_t at, len, cap;	/* cap: bytes allocated; 0 when mapped */
	u64 start;		/* file offset of base[0] */
	int fd;			/* owned; -1 when mapped */
	bool eof;
	struct unzip *unzip;	/* gzip: what is read from fd goes through it; else NULL */
};

static inline const u8 *window_at(const struct window *w)
{
	return w->base + w->at;
}
static inline size_t window_left(const struct window *w)
{
	return w->len - w->at;
}
static inline u64 window_offset(const struct window *w)
{
	return w->start + w->at;
}

/* Whoever reads a capture touches each byte once, and where the next record begins stands in this one: as many bytes as this
 * record has are fetched from what lies some records on. Beyond the window nothing happens. */
static inline void window_fetch_ahead(const u8 *p, u32 size)
{
	enum { AHEAD = 2048, LINE = 64, MOST = 1024 };

	size = MIN(size, (u32)MOST);
	for (u32 i = 0; i < size; i += LINE)
		__builtin_prefetch((const void *)((uintptr_t)p + AHEAD + i));
}

struct net_source {
	/* 1: *out is the next packet; 0: more bytes are needed (nothing consumed); -EINVAL: damaged, said in err */
	int (*next)(struct net_source *s, struct net_packet *out, struct log *err);
	void (*free)(struct net_source *s);	/* what the format owns; may be NULL */
	struct window w;
	const char *name;	/* for messages; borrowed from the caller of open */
	bool damaged;		/* said so once: the end from now on */
	void *format;		/* the format's own state */
};

/* gzip.c: begin to unpack the stream that the window now holds the first bytes of; then reads give unpacked bytes. */
int gzip_begin(struct window *w, const char *name, struct log *err);
ssize_t gzip_read(struct window *w, u8 *to, size_t room);	/* as read(2); -EBADMSG: damaged */
void gzip_free(struct unzip *z);

int pcap_begin(struct net_source *s, struct log *err);		/* the file header; 0: more bytes needed, 1: done */
int pcapng_begin(struct net_source *s, struct log *err);

static inline u16 swap16_if(bool swap, u16 x)
{
	return swap ? __builtin_bswap16(x) : x;
}
static inline u32 swap32_if(bool swap, u32 x)
{
	return swap ? __builtin_bswap32(x) : x;
}

#endif
