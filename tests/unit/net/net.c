/* net: captures of both formats, both endians, both resolutions; damage; writing what was read. */
#include "net/net.h"
#include "base/bits.h"
#include "tap.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <zlib.h>

static char dir[] = "/tmp/skep-net-XXXXXX", path[64];

static const char *file(const void *data, size_t size)
{
	int fd;

	snprintf(path, sizeof(path), "%s/x", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	return path;
}

static u32 be(u32 x)
{
	return __builtin_bswap32(x);
}

static void pcap_all_forms(void)
{
	static const struct { bool swap; u32 magic; u64 ns; } form[] = {
		{ false, 0xa1b2c3d4, 7000000005000ull }, { true, 0xa1b2c3d4, 7000000005000ull },
		{ false, 0xa1b23c4d, 7000000000005ull }, { true, 0xa1b23c4d, 7000000000005ull },
	};

	for (u32 i = 0; i < ARRAY_SIZE(form); i++) {
		u32 w[11] = { form[i].magic, 4 << 16 | 2, 0, 0, 65535, 1, 7000, 5, 3, 60, 0 };
		struct net_packet p[4];
		struct net_source *s = NULL;
		struct log err;

		if (form[i].swap)
			for (u32 k = 0; k < 10; k++)
				w[k] = be(w[k]);
		memcpy(&w[10], "abc", 3);
		log_init(&err, 4096);
		EQ(net_open_capture(&s, file(w, 43), &err), 0);
		EQ(net_read(s, p, 4, &err), 1);
		EQ(p[0].size, 3);
		EQ(p[0].wire_size, 60);
		EQ(p[0].time_ns, form[i].ns);
		EQ(p[0].link_type, 1);
		OK(!memcmp(p[0].data, "abc", 3));
		EQ(net_read(s, p, 4, &err), 0);
		net_close(s);
		/* every truncation of it: the header is refused, a record that breaks off is an error, never a packet */
		for (u32 size = 0; size < 43; size++) {
			s = NULL;
			if (net_open_capture(&s, file(w, size), &err) == 0) {
				int n = net_read(s, p, 4, &err);

				if (size == 24 ? n != 0 : n != -EINVAL)
					tap_ok(0, __FILE__, __LINE__, "truncation");
			} else if (size >= 24) {
				tap_ok(0, __FILE__, __LINE__, "header refused");
			}
			net_close(s);
		}
		log_done(&err);
	}
}

static u32 block(u8 *to, u32 type, const void *body, u32 size)
{
	u32 total = 12 + ROUND_UP(size, 4);

	memset(to, 0, total);
	STORE(u32, to, type);
	STORE(u32, to + 4, total);
	memcpy(to + 8, body, size);
	STORE(u32, to + total - 4, total);
	return total;
}

static void pcapng_two_interfaces(void)
{
	u8 f[512];
	u32 n = 0, shb[4] = { 0x1a2b3c4d, 1, ~0u, ~0u };
	u32 if0[2] = { 1, 0 }, if1[5] = { 113, 0, 1 << 16 | 9, 9, 0 };
	u32 p0[6] = { 0, 0, 5, 4, 4, 0x64636261 }, p1[6] = { 1, 0, 5, 2, 99, 0x6665 }, simple[2] = { 4, 0x31313131 };
	u32 other[3] = { 1, 2, 3 };
	struct net_packet p[8];
	struct net_source *s = NULL;
	struct log err;

	log_init(&err, 4096);
	n += block(f + n, 0x0a0d0d0a, shb, 16);
	n += block(f + n, 1, if0, 8);
	n += block(f + n, 1, if1, 20);
	n += block(f + n, 6, p0, 24);
	n += block(f + n, 0xbad, other, 12);
	n += block(f + n, 6, p1, 22);
	n += block(f + n, 3, simple, 8);
	EQ(net_open_capture(&s, file(f, n), &err), 0);
	EQ(net_read(s, p, 8, &err), 3);
	EQ(p[0].time_ns, 5000);
	EQ(p[1].time_ns, 5);
	EQ(p[1].link_type, 113);
	EQ(p[1].size, 2);
	EQ(p[1].wire_size, 99);
	EQ(p[2].size, 4);
	net_close(s);
	/* flip every byte: never a crash, never a packet outside the file */
	for (u32 i = 0; i < n; i++) {
		f[i] ^= 0xff;
		s = NULL;
		if (net_open_capture(&s, file(f, n), &err) == 0)
			while (net_read(s, p, 8, &err) > 0)
				;
		net_close(s);
		f[i] ^= 0xff;
	}
	OK("every byte flipped");
	log_done(&err);
}

static void write_and_read(const char *name)
{
	char out[96];
	struct net_sink *k = NULL;
	struct net_source *s = NULL;
	struct net_packet p = { .data = (const u8 *)"hello", .size = 5, .wire_size = 77, .time_ns = 1234567890123456789ull }, q[2];
	struct log err;

	log_init(&err, 4096);
	snprintf(out, sizeof(out), "%s/%s", dir, name);
	EQ(net_create_capture(&k, out, 1, &err), 0);
	EQ(net_write(k, &p), 0);
	EQ(net_finish(k), 0);
	EQ(net_open_capture(&s, out, &err), 0);
	EQ(net_read(s, q, 2, &err), 1);
	EQ(q[0].time_ns, p.time_ns);
	EQ(q[0].size, 5);
	EQ(q[0].wire_size, 77);
	net_close(s);
	EQ(net_create_capture(&k, "/dev/full", 1, &err), 0);
	net_write(k, &p);
	EQ(net_finish(k), -ENOSPC);
	unlink(out);
	log_done(&err);
}

static void from_a_pipe(void)
{
	u32 head[6] = { 0xa1b2c3d4, 4 << 16 | 2, 0, 0, 65535, 1 }, rec[4] = { 1, 2, 1000, 1000 };
	u8 body[1000] = { 0 };
	struct net_source *s = NULL;
	struct net_packet p[64];
	int fds[2], total = 0, n, keep = dup(0);
	struct log err;

	log_init(&err, 4096);
	if (pipe(fds))
		abort();
	if (fork() == 0) {
		bool ok = write(fds[1], head, 24) == 24;

		for (int i = 0; i < 1000 && ok; i++)
			ok = write(fds[1], rec, 16) == 16 && write(fds[1], body, 1000) == 1000;
		_exit(!ok);
	}
	close(fds[1]);
	dup2(fds[0], 0);
	close(fds[0]);
	EQ(net_open_capture(&s, "-", &err), 0);
	while ((n = net_read(s, p, 64, &err)) > 0)
		total += n;
	EQ(n, 0);
	EQ(total, 1000);
	net_close(s);
	dup2(keep, 0);
	wait(NULL);
	log_done(&err);
}

/* The same capture plain, as one gzip member, as two, cut, and damaged. */
static void gzipped(void)
{
	u32 w[11] = { 0xa1b2c3d4, 4 << 16 | 2, 0, 0, 65535, 1, 7000, 5, 3, 60, 0 };
	u8 zipped[512];
	struct net_source *s = NULL;
	struct net_packet p[4];
	uLongf n = 0;
	struct log err;

	memcpy(&w[10], "abc", 3);
	log_init(&err, 4096);
	for (u32 half = 0; half < 43; half += 20) {
		n = 0;
		for (u32 from = 0; from < 43; from = from ? 43 : half ? half : 43) {
			u32 to = !from && half ? half : 43;
			z_stream z = { .next_in = (u8 *)w + from, .avail_in = to - from, .next_out = zipped + n, .avail_out = 512 - n };

			deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
			EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
			n += z.total_out;
			deflateEnd(&z);
		}
		EQ(net_open_capture(&s, file(zipped, n), &err), 0);
		EQ(net_read(s, p, 4, &err), 1);
		OK(p[0].size == 3 && !memcmp(p[0].data, "abc", 3));
		EQ(net_read(s, p, 4, &err), 0);
		net_close(s);
	}
	for (u32 size = 2; size < n; size++) {
		s = NULL;
		if (!net_open_capture(&s, file(zipped, size), &err))
			for (int rc = 1; rc > 0;)
				if ((rc = net_read(s, p, 4, &err)) == 0)
					tap_ok(0, __FILE__, __LINE__, "a cut gzip stream ends well");
		net_close(s);
	}
	zipped[n / 2] ^= 0x55;
	s = NULL;
	OK(net_open_capture(&s, file(zipped, n), &err) < 0 || net_read(s, p, 4, &err) < 0 || net_read(s, p, 4, &err) < 0);
	net_close(s);
	log_done(&err);
}

static void filters(void)
{
	static const u8 arp[42] = { [12] = 8, [13] = 6 };
	struct net_packet p = { .data = arp, .size = 42, .wire_size = 42, .link_type = 1 };
	struct net_filter *f = NULL;
	struct log err;
	char *text;

	log_init(&err, 4096);
	EQ(net_filter_new(&f, "arp", &err), 0);
	OK(net_filter_match(f, &p));
	p.size = 13;
	OK(!net_filter_match(f, &p));
	p.size = 42;
	p.link_type = 101;
	OK(!net_filter_match(f, &p));
	net_filter_free(f);
	f = NULL;
	EQ(net_filter_new(&f, "tcp port", &err), -EINVAL);
	text = log_text(&err, NULL);
	OK(strstr(text, "filter \"tcp port\": "));
	free(text);
	log_done(&err);
}

static void hex(void)
{
	struct net_source *s = NULL;
	struct net_packet p;
	struct log err;
	char *text;

	log_init(&err, 4096);
	EQ(net_open_hex(&s, "0x0a0B:ff 01", &err), 0);
	EQ(net_read(s, &p, 1, &err), 1);
	EQ(p.size, 4);
	EQ(p.data[1], 0x0b);
	EQ(net_read(s, &p, 1, &err), 0);
	net_close(s);
	EQ(net_open_hex(&s, "abc", &err), -EINVAL);
	EQ(net_open_hex(&s, "zz", &err), -EINVAL);
	EQ(net_open_capture(&s, "/nonexistent", &err), -ENOENT);
	EQ(net_open_capture(&s, "/", &err), -EISDIR);
	text = log_text(&err, NULL);
	OK(strstr(text, "odd number") && strstr(text, "'z'") && strstr(text, "No such file"));
	free(text);
	log_done(&err);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	pcap_all_forms();
	pcapng_two_interfaces();
	write_and_read("w.pcap");
	write_and_read("w.pcapng");
	from_a_pipe();
	gzipped();
	filters();
	hex();
	unlink(path);
	rmdir(dir);
	return tap_done();
}
