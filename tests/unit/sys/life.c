/* How long objects live: by descriptors, mappings, programs; and that nothing of theirs stays
 * behind. */
#include "calls.h"
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void descriptors(void)
{
	int m = new_hash(), twice, far;
	u32 id = map_id(m);
	char link[64] = "", path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", m);
	OK(readlink(path, link, sizeof(link) - 1) > 0);
	STR(link, "/memfd:bpf-map (deleted)");
	EQ(fcntl(m, F_GETFD), FD_CLOEXEC);
	OK(put(m, 1, 5) == 0);
	twice = dup(m);
	far = fcntl(m, F_DUPFD, 300);
	EQ(get(twice, 1), 5);
	EQ(get(far, 1), 5);
	EQ(sys_close(m), 0);
	EQ(get(m, 1), -EBADF);
	OK(map_exists(id));
	EQ(sys_close(twice), 0);
	EQ(get(far, 1), 5);
	EQ(sys_dup3(far, 200, O_CLOEXEC), 200);
	EQ(sys_close(far), 0);
	EQ(get(200, 1), 5);
	EQ(sys_close(200), 0);
	OK(!map_exists(id));
	EQ(by_id(BPF_MAP_GET_FD_BY_ID, id), -ENOENT);
	m = new_hash();
	OK(map_id(m) > id);
	sys_close(m);
}

/* Descriptors that sys never saw in use, in both orders of closing. */
static void unseen(void)
{
	int m = new_hash(), twice = dup(m);
	u32 id = map_id(m);

	sys_close(twice);
	OK(map_exists(id));
	sys_close(m);
	OK(!map_exists(id));
	m = new_hash();
	id = map_id(m);
	twice = dup(m);
	sys_close(m);
	sys_close(twice);
	OK(!map_exists(id));
}

static void replaced(void)
{
	int m = new_hash(), null = open("/dev/null", O_RDONLY);
	u32 id = map_id(m);

	EQ(sys_dup2(null, m), m);
	EQ(get(m, 1), -EINVAL);
	OK(!map_exists(id));
	sys_close(m);
	EQ(get(m, 1), -EBADF);
	EQ(sys_dup2(null, null), null);
	EQ(sys_dup2(900, 900), -EBADF);
	EQ(sys_dup2(900, null), -EBADF);
	EQ(sys_dup3(null, null, 0), -EINVAL);
	sys_close(null);
}

static void mapped(void)
{
	int m = new_map(BPF_MAP_TYPE_ARRAY, 4, 8, 4, BPF_F_MMAPABLE);
	u64 *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, m, 0);
	u32 id = map_id(m);

	sys_close(m);
	OK(map_exists(id));
	p[1] = 9;
	m = by_id(BPF_MAP_GET_FD_BY_ID, id);
	EQ(get(m, 1), 9);
	sys_close(m);
	OK(map_exists(id));
	EQ(sys_munmap(p, 4096), 0);
	OK(!map_exists(id));
}

static void held_by_programs(void)
{
	int m = new_hash(), p = new_prog(m);
	u32 id = map_id(m);

	OK(p >= 0);
	put(m, 1, 7);
	sys_close(m);
	OK(map_exists(id));
	m = by_id(BPF_MAP_GET_FD_BY_ID, id);
	EQ(get(m, 1), 7);
	EQ(map_id(m), id);
	sys_close(m);
	sys_close(p);
	OK(!map_exists(id));
}

/* Two counts: a prog_array is emptied with its last user, although a program still holds it. */
static void prog_array(void)
{
	int array = new_map(BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 2, 0), p = new_prog(-1),
	    holder = new_prog(array);
	u32 id = map_id(array), key = 0, fd = p, got;

	EQ(elem(BPF_MAP_UPDATE_ELEM, array, &key, &fd, 0), 0);
	EQ(elem(BPF_MAP_LOOKUP_ELEM, array, &key, &got, 0), 0);
	sys_close(p);
	EQ(count_ids(BPF_PROG_GET_NEXT_ID), 2);
	sys_close(array);
	OK(map_exists(id));
	EQ(count_ids(BPF_PROG_GET_NEXT_ID), 1);
	array = by_id(BPF_MAP_GET_FD_BY_ID, id);
	EQ(elem(BPF_MAP_LOOKUP_ELEM, array, &key, &got, 0), -ENOENT);
	sys_close(array);
	sys_close(holder);
	OK(!map_exists(id));
	EQ(count_ids(BPF_PROG_GET_NEXT_ID), 0);
}

/* Closed behind our back: found out before an id is told. */
static void unnoticed(void)
{
	int m = new_hash(), p = new_prog(m), other = new_hash();
	u32 id = map_id(m), other_id = map_id(other);

	raw(SYS_close, other);
	OK(!map_exists(other_id));
	raw(SYS_close, m);
	OK(map_exists(id));
	raw(SYS_close, p);
	EQ(by_id(BPF_MAP_GET_FD_BY_ID, id), -ENOENT);
	EQ(count_ids(BPF_MAP_GET_NEXT_ID), 0);
	EQ(count_ids(BPF_PROG_GET_NEXT_ID), 0);
}

static void many(void)
{
	u32 before = count_fds(), bad = 0;

	for (u32 i = 0; i < 1000; i++) {
		int m = i % 3 ? new_hash() : new_map(BPF_MAP_TYPE_ARRAY, 4, 8, 4, BPF_F_MMAPABLE);
		int p = new_prog(m);

		bad += m < 0 || p < 0;
		sys_close(m);
		sys_close(p);
	}
	EQ(bad, 0);
	EQ(count_fds(), before);
	EQ(count_ids(BPF_MAP_GET_NEXT_ID), 0);
	EQ(count_ids(BPF_PROG_GET_NEXT_ID), 0);
}

static void close_range_leaves_ours(void)
{
	int keep, m = new_hash(), p = new_prog(m);
	u32 before = count_fds();

	EQ(sys_close_range(m, ~0u, 0), 0);
	EQ(get(m, 1), -EBADF);
	EQ(fcntl(p, F_GETFD), -1);
	EQ(count_ids(BPF_MAP_GET_NEXT_ID), 0);
	EQ(count_fds(), before - 4);
	m = new_hash();
	keep = new_hash();
	put(keep, 1, 3);
	EQ(sys_close_range(keep + 1, ~0u, 0), 0);
	EQ(get(keep, 1), 3);
	EQ(sys_close_range(9, 8, 0), -EINVAL);
	EQ(sys_close_range(keep, keep, 8), -EINVAL);
	sys_close(m);
	sys_close(keep);
	EQ(count_ids(BPF_MAP_GET_NEXT_ID), 0);
}

/* Whoever closes all numbers, or wants one that is ours, does not take objects away. */
static void hidden_ones(void)
{
	int m = new_hash(), hidden = -1, null = open("/dev/null", O_RDONLY);
	struct stat want, st;
	u32 id = map_id(m);

	fstat(m, &want);
	for (int fd = m + 1; fd < 9000 && hidden < 0; fd++)
		if (fstat(fd, &st) == 0 && st.st_ino == want.st_ino)
			hidden = fd;
	OK(hidden > 300);
	EQ(sys_close(hidden), -EBADF);
	EQ(get(hidden, 1), -EBADF);
	EQ(sys_dup3(hidden, 100, 0), -EBADF);
	put(m, 1, 4);
	EQ(sys_dup2(null, hidden), hidden);
	fstat(hidden, &st);
	OK(S_ISCHR(st.st_mode));
	sys_close(hidden);
	EQ(get(m, 1), 4);
	sys_close(null);
	null = by_id(BPF_MAP_GET_FD_BY_ID, id);
	EQ(get(null, 1), 4);
	sys_close(null);
	OK(map_exists(id));
	sys_close(m);
	OK(!map_exists(id));
}

static void over_a_socket(void)
{
	int pair[2], m = new_hash(), got;
	u32 id = map_id(m);
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} u = {.h = {.cmsg_level = SOL_SOCKET,
		     .cmsg_type = SCM_RIGHTS,
		     .cmsg_len = CMSG_LEN(sizeof(int))}};
	struct iovec one = {"x", 1};
	struct msghdr msg = {
	    .msg_iov = &one, .msg_iovlen = 1, .msg_control = &u, .msg_controllen = sizeof(u)};

	put(m, 1, 6);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	memcpy(CMSG_DATA(&u.h), &m, sizeof(m));
	EQ(sendmsg(pair[0], &msg, 0), 1);
	sys_close(m);
	OK(map_exists(id));
	one.iov_base = (char[1]){0};
	EQ(recvmsg(pair[1], &msg, 0), 1);
	memcpy(&got, CMSG_DATA(&u.h), sizeof(got));
	EQ(get(got, 1), 6);
	sys_close(got);
	OK(!map_exists(id));
	sys_close(pair[0]);
	sys_close(pair[1]);
}

int main(void)
{
	int keep;

	raw(SYS_close_range, 3, ~0u, 0); /* what the caller left open would be counted */
	OK(sys_bpf(sys_self(), SYS_MAGIC_CMD, 0, 0) == SYS_MAGIC_ANSWER);
	descriptors();
	unseen();
	replaced();
	mapped();
	held_by_programs();
	prog_array();
	unnoticed();
	many();
	close_range_leaves_ours();
	hidden_ones();
	over_a_socket();
	/* again with objects around, so that nothing above rested on there being none */
	keep = new_hash();
	descriptors();
	unseen();
	replaced();
	sys_close(keep);
	return tap_done();
}
