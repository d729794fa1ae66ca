/* Fuzz target: captures. Opens the bytes as a file and as a pipe, reads all packets, and touches every byte that was lent. */
#include "net/net.h"
#include <stdio.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static u32 read_all(const char *path)
{
	struct net_source *s = NULL;
	struct net_packet p[16];
	struct log err;
	u32 sum = 0;
	int n;

	log_init(&err, 4096);
	if (!net_open_capture(&s, path, &err))
		while ((n = net_read(s, p, 16, &err)) > 0)
			for (int i = 0; i < n; i++)
				for (u32 k = 0; k < p[i].size; k++)
					sum += p[i].data[k];
	net_close(s);
	log_done(&err);
	return sum;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static volatile u32 kept;
	static int fd = -1;
	char path[32];

	if (fd < 0)
		fd = memfd_create("capture", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	kept = read_all(path);
	/* the same bytes as a stream: what a pipe's reader goes through */
	if (lseek(fd, 0, SEEK_SET) == 0 && dup2(fd, 0) == 0)
		kept += read_all("-");
	return 0;
}
