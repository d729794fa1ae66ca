/* gzip-compressed captures: the window's bytes go through zlib on their way in. Several members in a row are one stream, as for
 * gunzip. */
#include "source.h"
#include "base/cleanup.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <zlib.h>

enum { IN_ROOM = 64 * 1024, GZIP_WINDOW = 15 + 16 };

struct unzip {
	z_stream z;
	int fd;			/* where compressed bytes come from; owned; -1: all of them are in `in` */
	u8 *in;			/* compressed bytes; owned when `in_room`, else mapped */
	size_t in_size, in_room;
	bool in_ended;		/* nothing more comes from fd */
	bool between;		/* a member has ended; another may begin */
};

void gzip_free(struct unzip *z)
{
	if (!z)
		return;
	inflateEnd(&z->z);
	if (z->in_room)
		free(z->in);
	else if (z->in)
		munmap(z->in, z->in_size);
	if (z->fd >= 0)
		close(z->fd);
	free(z);
}

/* The window's file or mapping becomes the stream's input, and the window an empty buffer. */
int gzip_begin(struct window *w, const char *name, struct log *err)
{
	struct unzip *z = calloc(1, sizeof(*z));
	u8 *base = malloc(256 * 1024);

	if (!z || !base || inflateInit2(&z->z, GZIP_WINDOW) != Z_OK) {
		free(z);
		free(base);
		return -ENOMEM;
	}
	z->fd = w->fd;
	z->in = w->base;
	z->in_size = w->len;
	z->in_room = w->cap;
	z->in_ended = w->eof;
	z->z.next_in = w->base + w->at;
	z->z.avail_in = w->len - w->at;
	*w = (struct window){ .base = base, .cap = 256 * 1024, .fd = -1, .unzip = z };
	return 0;
}

/* More compressed bytes: 1, 0 at their end, -errno. */
static int refill(struct unzip *z)
{
	ssize_t n;

	if (z->in_ended)
		return 0;
	do
		n = read(z->fd, z->in, z->in_room);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	z->in_ended = n == 0;
	z->z.next_in = z->in;
	z->z.avail_in = n;
	return n > 0;
}

ssize_t gzip_read(struct window *w, u8 *to, size_t room)
{
	struct unzip *z = w->unzip;

	z->z.next_out = to;
	z->z.avail_out = room;
	while (z->z.avail_out == room) {
		int rc = z->z.avail_in ? 1 : refill(z);

		if (rc < 0)
			return rc;
		if (rc == 0)
			return z->between ? 0 : -EBADMSG;
		if (z->between && inflateReset(&z->z) != Z_OK)
			return -EBADMSG;
		z->between = false;
		rc = inflate(&z->z, Z_NO_FLUSH);
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
			return -EBADMSG;
		z->between = rc == Z_STREAM_END;
	}
	return room - z->z.avail_out;
}
