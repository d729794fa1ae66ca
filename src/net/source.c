/* Opening a source of packets and reading it in batches, whatever the format.
 *
 * Regular files are mapped and packets are lent straight from the mapping; pipes are read into a buffer that moves only
 * at the beginning of a batch, when nothing is lent. */
#include "source.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Read more bytes behind the window: > 0, 0 at the end, -errno. Moves the buffer. */
static ssize_t window_fill(struct window *w)
{
	ssize_t n;

	if (w->eof)
		return 0;
	memmove(w->base, w->base + w->at, w->len - w->at);
	w->start += w->at;
	w->len -= w->at;
	w->at = 0;
	if (w->len == w->cap) {
		u8 *bigger = realloc(w->base, w->cap * 2);

		if (!bigger)
			return -ENOMEM;
		w->base = bigger;
		w->cap *= 2;
	}
	if (w->unzip) {
		n = gzip_read(w, w->base + w->len, w->cap - w->len);
	} else {
		do
			n = read(w->fd, w->base + w->len, w->cap - w->len);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			n = -errno;
	}
	if (n < 0)
		return n;
	w->eof = n == 0;
	w->len += n;
	return n;
}

static int window_open(struct window *w, const char *path, struct log *err)
{
	bool is_stdin = !strcmp(path, "-");
	autoclose int fd = is_stdin ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	*w = (struct window){ .fd = -1 };
	if (fd < 0 || fstat(fd, &st)) {
		log_printf(err, "%s: %s", path, strerror(errno));
		return -errno;
	}
	if (S_ISDIR(st.st_mode)) {
		log_printf(err, "%s: is a directory", path);
		return -EISDIR;
	}
	if (S_ISREG(st.st_mode) && !is_stdin && st.st_size > 0) {
		w->base = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (w->base == MAP_FAILED) {
			w->base = NULL;
			log_printf(err, "%s: mmap: %s", path, strerror(errno));
			return -errno;
		}
		w->len = st.st_size;
		w->eof = true;
		return 0;
	}
	w->cap = 256 * 1024;
	w->base = malloc(w->cap);
	if (!w->base)
		return -ENOMEM;
	w->fd = TAKE_FD(fd);
	return 0;
}

static void window_close(struct window *w)
{
	gzip_free(w->unzip);
	if (w->cap)
		free(w->base);
	else if (w->base)
		munmap(w->base, w->len);
	if (w->fd >= 0)
		close(w->fd);
}

void net_close(struct net_source *s)
{
	if (!s)
		return;
	if (s->free)
		s->free(s);
	window_close(&s->w);
	free(s);
}

static void close_source(struct net_source **s)
{
	net_close(*s);
}

/* Formats that this is not, named where a person can act on it. */
static const struct { u8 magic[4]; u8 len; const char *what; } others[] = {
	{ { 0x28, 0xb5, 0x2f, 0xfd }, 4, "zstd-compressed; skep cannot unpack it yet: zstd -dc FILE | skep run --in -" },
	{ { 0xfd, '7', 'z', 'X' }, 4, "xz-compressed; skep cannot unpack it yet: xz -dc FILE | skep run --in -" },
	{ { 0x34, 0xcd, 0xb2, 0xa1 }, 4, "a modified (Kuznetzov) pcap, which is not supported" },
	{ { 0xa1, 0xb2, 0xcd, 0x34 }, 4, "a modified (Kuznetzov) pcap, which is not supported" },
	{ { 0x7f, 'E', 'L', 'F' }, 4, "an ELF object, not a capture" },
};

static int not_a_capture(struct net_source *s, struct log *err)
{
	const u8 *p = window_at(&s->w);
	size_t n = window_left(&s->w);

	for (u32 i = 0; i < ARRAY_SIZE(others); i++)
		if (n >= others[i].len && !memcmp(p, others[i].magic, others[i].len)) {
			log_printf(err, "%s: is %s", s->name, others[i].what);
			return -EINVAL;
		}
	if (n == 0)
		log_printf(err, "%s: is empty (no capture header)", s->name);
	else
		log_printf(err, "%s: is not a capture: begins with %02x%02x%02x%02x, neither pcap nor pcapng", s->name,
			   p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, n > 3 ? p[3] : 0);
	return -EINVAL;
}

int net_open_capture(struct net_source **out, const char *path, struct log *err)
{
	CLEANUP(close_source) struct net_source *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return -ENOMEM;
	s->name = strcmp(path, "-") ? path : "standard input";
	rc = window_open(&s->w, path, err);
	if (rc)
		return rc;
	for (;;) {
		rc = 0;
		if (window_left(&s->w) >= 4) {
			u32 magic = LOAD(u32, window_at(&s->w));

			if (magic == 0xa1b2c3d4 || magic == 0xd4c3b2a1 || magic == 0xa1b23c4d || magic == 0x4d3cb2a1)
				rc = pcap_begin(s, err);
			else if (magic == 0x0a0d0d0a)
				rc = pcapng_begin(s, err);
			else if ((magic & 0xffff) == 0x8b1f && !s->w.unzip) {
				rc = gzip_begin(&s->w, s->name, err);
				if (!rc)
					continue;
			}
			else
				rc = not_a_capture(s, err);
		}
		if (rc < 0)
			return rc;
		if (rc > 0)
			break;
		rc = window_fill(&s->w);
		if (rc < 0) {
			log_printf(err, "%s: %s", s->name, rc == -EBADMSG ? "the gzip stream is damaged or breaks off" : strerror(-rc));
			return -EINVAL;
		}
		if (!rc && window_left(&s->w) < 4)
			return not_a_capture(s, err);
		if (!rc) {
			log_printf(err, "%s: breaks off inside the capture header (%zu bytes)", s->name, window_left(&s->w));
			return -EINVAL;
		}
	}
	*out = TAKE(s);
	return 0;
}

int net_read(struct net_source *s, struct net_packet *packets, u32 max, struct log *err)
{
	u32 n = 0;
	int rc;

	while (n < max && !s->damaged) {
		/* What is lent stays valid: a message about damage waits for the next call, and so does a refill. */
		rc = s->next(s, &packets[n], n ? NULL : err);
		if (rc > 0) {
			n++;
			continue;
		}
		if (n)
			return n;
		if (rc < 0) {
			s->damaged = true;
			return rc;
		}
		rc = window_fill(&s->w);
		if (rc < 0) {
			s->damaged = true;
			log_printf(err, "%s: %s", s->name, rc == -EBADMSG ? "the gzip stream is damaged or breaks off" : strerror(-rc));
			return rc == -EBADMSG ? -EINVAL : rc;
		}
		if (rc == 0) {
			s->damaged = true;
			if (!window_left(&s->w))
				return 0;
			log_printf(err, "%s: breaks off inside a packet record at offset %llu (%zu bytes left)", s->name,
				   (unsigned long long)window_offset(&s->w), window_left(&s->w));
			return -EINVAL;
		}
	}
	return n;
}

/* ---- one packet from hex text */

static int hex_next(struct net_source *s, struct net_packet *out, struct log *err)
{
	if (s->format)
		return 0;
	s->format = s;	/* given out */
	*out = (struct net_packet){ .data = s->w.base, .size = s->w.len, .wire_size = s->w.len, .link_type = 1 };
	s->w.at = s->w.len;
	return 1;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

int net_open_hex(struct net_source **out, const char *hex, struct log *err)
{
	CLEANUP(close_source) struct net_source *s = calloc(1, sizeof(*s));
	u32 n = 0;

	if (!s)
		return -ENOMEM;
	s->name = "--data";
	s->next = hex_next;
	s->w = (struct window){ .fd = -1, .eof = true, .cap = strlen(hex) / 2 + 1 };
	s->w.base = malloc(s->w.cap);
	if (!s->w.base)
		return -ENOMEM;
	if (hex[0] == '0' && (hex[1] | 32) == 'x')
		hex += 2;
	for (const char *p = hex; *p; p++) {
		int digit = hex_digit(*p);

		if (digit < 0 && strchr(" :-\n\t", *p))
			continue;
		if (digit < 0) {
			log_printf(err, "--data: '%c' at position %zu is not a hexadecimal digit", *p, (size_t)(p - hex) + 1);
			return -EINVAL;
		}
		if (n & 1)
			s->w.base[n / 2] |= digit;
		else
			s->w.base[n / 2] = digit << 4;
		n++;
	}
	if (n & 1) {
		log_printf(err, "--data: an odd number of hexadecimal digits (%u)", n);
		return -EINVAL;
	}
	if (n / 2 > NET_MAX_PACKET) {
		log_printf(err, "--data: %u bytes; a packet has at most %u", n / 2, NET_MAX_PACKET);
		return -EINVAL;
	}
	s->w.len = n / 2;
	*out = TAKE(s);
	return 0;
}

/* https://www.tcpdump.org/linktypes.html */
static const struct { u32 id; const char *name; } link_types[] = {
	{ 0, "NULL (BSD loopback)" }, { 1, "EN10MB (Ethernet)" }, { 9, "PPP" }, { 12, "RAW (IP)" }, { 50, "PPP_HDLC" },
	{ 101, "RAW (IP)" }, { 105, "IEEE802_11" }, { 108, "LOOP" }, { 113, "LINUX_SLL" }, { 127, "IEEE802_11_RADIO" },
	{ 147, "USER0" }, { 189, "USB_LINUX" }, { 220, "USB_LINUX_MMAPPED" }, { 228, "IPV4" }, { 229, "IPV6" },
	{ 239, "NFLOG" }, { 276, "LINUX_SLL2" },
};

const char *net_link_type_name(u32 link_type)
{
	for (u32 i = 0; i < ARRAY_SIZE(link_types); i++)
		if (link_types[i].id == link_type)
			return link_types[i].name;
	return "unknown";
}
