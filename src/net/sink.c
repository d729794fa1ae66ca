/* Writing captures: pcap with nanoseconds, or pcapng when the name ends in .pcapng. */
#include "net.h"
#include "base/cleanup.h"
#include <fcntl.h>
#include <stdio.h>

struct net_sink {
	FILE *f;
	bool ng;
	u32 link_type;
	int failed;	/* first -errno of a write */
};

static void put(struct net_sink *s, const void *p, size_t n)
{
	if (!s->failed && n && fwrite(p, 1, n, s->f) != n)
		s->failed = errno ? -errno : -EIO;
}

static void begin_pcap(struct net_sink *s)
{
	u32 header[6] = { 0xa1b23c4d, 4 << 16 | 2, 0, 0, 262144, s->link_type };

	put(s, header, sizeof(header));
}

static void begin_pcapng(struct net_sink *s)
{
	u32 section[7] = { 0x0a0d0d0a, 28, 0x1a2b3c4d, 0 << 16 | 1, 0xffffffff, 0xffffffff, 28 };
	/* link type, no snap length, if_tsresol = 9 (ns), end of options */
	u32 interface[8] = { 1, 32, s->link_type & 0xffff, 0, 1 << 16 | 9, 9, 0, 32 };

	put(s, section, sizeof(section));
	put(s, interface, sizeof(interface));
}

int net_create_capture(struct net_sink **out, const char *path, u32 link_type, struct log *err)
{
	struct net_sink *s = calloc(1, sizeof(*s));
	size_t len = strlen(path);
	int rc;

	if (!s)
		return -ENOMEM;
	s->ng = len > 7 && !strcmp(path + len - 7, ".pcapng");
	s->link_type = link_type;
	s->f = fopen(path, "wbe");
	if (!s->f) {
		rc = -errno;
		log_printf(err, "%s: %s", path, strerror(errno));
		free(s);
		return rc;
	}
	if (s->ng)
		begin_pcapng(s);
	else
		begin_pcap(s);
	*out = s;
	return 0;
}

int net_write(struct net_sink *s, const struct net_packet *p)
{
	static const u8 zeros[4];

	if (s->ng) {
		u32 padded = ROUND_UP(p->size, 4), total = 32 + padded;
		u32 header[7] = { 6, total, 0, p->time_ns >> 32, (u32)p->time_ns, p->size, p->wire_size };

		put(s, header, sizeof(header));
		put(s, p->data, p->size);
		put(s, zeros, padded - p->size);
		put(s, &total, sizeof(total));
	} else {
		u32 header[4] = { p->time_ns / 1000000000u, p->time_ns % 1000000000u, p->size, p->wire_size };

		put(s, header, sizeof(header));
		put(s, p->data, p->size);
	}
	return s->failed;
}

int net_finish(struct net_sink *s)
{
	int rc;

	if (!s)
		return 0;
	rc = s->failed;
	if (fclose(s->f) && !rc)
		rc = -errno;
	free(s);
	return rc;
}
