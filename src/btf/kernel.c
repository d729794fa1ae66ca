/* The running kernel's own types, read once, when somebody first asks. */
#include "types.h"
#include "base/cleanup.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct btf_types *kernel;

static bool read_all(int fd, char *to, size_t size)
{
	size_t at = 0;

	while (at < size) {
		ssize_t n = read(fd, to + at, size - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
	}
	return true;
}

static void read_kernel(void)
{
	autoclose int fd = open(KERNEL_BTF, O_RDONLY | O_CLOEXEC);
	autofree char *data = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0 || st.st_size > UINT32_MAX)
		return;
	data = malloc(st.st_size);
	if (data && read_all(fd, data, st.st_size))
		btf_parse_shapes(&kernel, data, st.st_size, NULL, NULL);
}

const struct btf_types *btf_kernel(void)
{
	pthread_once(&once, read_kernel);
	return kernel;
}
