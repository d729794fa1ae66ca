/* The control group of a packet's socket. TEST_RUN's socket is made by the process that asks, so it is that one's: its place in
 * the cgroup2 tree, whose directories' inode numbers are the ids. */
#include "skb.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

enum { ROOT_ID = 1 };

/* "/", "/a/b": this process's group; empty where there are no groups. */
static void own_group(char *path, u32 room)
{
	char text[PATH_MAX + 512], *at = NULL, *end;
	int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	path[0] = 0;
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	text[n] = 0;
	at = !strncmp(text, "0::", 3) ? text : strstr(text, "\n0::");
	if (!at)
		return;
	at = strchr(at, '/');
	if (!at)
		return;
	end = strchrnul(at, '\n');
	snprintf(path, room, "%.*s", (int)(end - at), at);
}

static u64 id_of(const char *path)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char full[PATH_MAX + 64];
	struct stat st;

	if (!path[0])
		return 0;
	if (!path[1])
		return ROOT_ID;
	for (u32 i = 0; i < ARRAY_SIZE(mounts); i++) {
		snprintf(full, sizeof(full), "%s%s", mounts[i], path);
		if (!stat(full, &st))
			return st.st_ino;
	}
	return 0;
}

/* Cut off what lies below `level` names; false: it is not that deep. */
static bool cut(char *path, s64 level)
{
	char *at = path;

	if (level < 0 || !path[0])
		return false;
	for (; level && *at && at[1]; level--)
		at = strchrnul(at + 1, '/');
	if (level)
		return false;
	at[at == path] = 0; /* the root keeps its slash */
	return true;
}

HELPER(skb_cgroup_id)
{
	char path[PATH_MAX];

	own_group(path, sizeof(path));
	return id_of(path);
}

SKB_PROTO(skb_cgroup_id, .arg = { HARG_CTX });

HELPER(skb_ancestor_cgroup_id)
{
	char path[PATH_MAX];

	own_group(path, sizeof(path));
	return cut(path, (s32)r2) ? id_of(path) : 0;
}

SKB_PROTO(skb_ancestor_cgroup_id, .arg = { HARG_CTX, HARG_ANYTHING });
