/* fork, vfork, threads. */
#include "calls.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

static int child(int (*fn)(int), int arg)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(fn(arg));
	waitpid(pid, &status, 0);
	return status;
}

static int use(int m)
{
	int p, mine;

	if (get(m, 1) != 5 || put(m, 1, 6) || get(m, 1) != 6)
		return 1;
	mine = new_hash();
	p = new_prog(mine);
	if (mine < 0 || p < 0 || put(mine, 1, 1) || sys_close(mine) || sys_close(p))
		return 2;
	return sys_close(m) ? 3 : get(m, 1) != -EBADF;
}

static void forked(void)
{
	int m = new_hash(), a = new_map(BPF_MAP_TYPE_ARRAY, 4, 8, 4, BPF_F_MMAPABLE);

	put(m, 1, 5);
	put(a, 1, 5);
	EQ(child(use, m), 0);
	EQ(get(m, 1), 5); /* the child has its own copy */
	EQ(child(use, a), 0);
	EQ(get(a, 1), 6); /* but the same memory */
	sys_close(m);
	sys_close(a);
	EQ(count_ids(BPF_MAP_GET_NEXT_ID), 0);
}

static int wait_for(int fd)
{
	char c;

	return read(fd, &c, 1) == 0 ? 0 : 1;
}

/* The child's descriptor is a holder, too. */
static void held_by_child(void)
{
	int m = new_hash(), ends[2], status;
	u32 id = map_id(m);
	pid_t pid;

	EQ(pipe2(ends, O_CLOEXEC), 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		_exit(wait_for(ends[0]));
	}
	sys_close(m);
	OK(map_exists(id));
	sys_close(ends[1]);
	waitpid(pid, &status, 0);
	EQ(status, 0);
	OK(!map_exists(id));
	sys_close(ends[0]);
}

/* A child of vfork closes its own descriptors in our memory. */
static void vforked(void)
{
	int m = new_hash(), status, null = open("/dev/null", O_RDONLY);
	pid_t pid;

	put(m, 1, 5);
	pid = vfork();
	if (pid == 0) {
		sys_close_range(3, ~0u, 0);
		sys_close(m);
		sys_dup2(0, m);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	EQ(get(m, 1), 5);
	OK(map_exists(map_id(m)));
	OK(fcntl(null, F_GETFD) >= 0);
	sys_close(null);
	sys_close(m);
	EQ(count_ids(BPF_MAP_GET_NEXT_ID), 0);
}

static int shared_map;
static _Atomic u32 bad;

static void *churn(void *arg)
{
	for (u32 i = 0; i < 1500; i++) {
		int m = new_hash(), d;

		d = dup(m);
		if (put(d, 1, i) || get(m, 1) != i || put(shared_map, i % 4, i) ||
		    get(shared_map, i % 4) < 0)
			atomic_fetch_add(&bad, 1);
		sys_close(i % 2 ? m : d);
		if (get(i % 2 ? d : m, 1) != i)
			atomic_fetch_add(&bad, 1);
		sys_close(i % 2 ? d : m);
	}
	return arg;
}

/* One thread uses a number while another closes it and makes it something else: any answer but a
 * crash or a wrong map's. */
static _Atomic int target = -1;

static void *reader(void *arg)
{
	for (u32 i = 0; i < 20000; i++) {
		s64 r = get(atomic_load(&target), 1);

		if (r != 77 && r != -EBADF && r != -EINVAL && r != -ENOENT)
			atomic_fetch_add(&bad, 1);
	}
	return arg;
}

static void threads(void)
{
	pthread_t t[4];

	shared_map = new_hash();
	for (u32 i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, churn, NULL);
	for (u32 i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	EQ(bad, 0);
	sys_close(shared_map);
	EQ(count_ids(BPF_MAP_GET_NEXT_ID), 0);
	for (u32 i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, reader, NULL);
	for (u32 i = 0; i < 1000; i++) {
		int m = new_hash();

		put(m, 1, 77);
		atomic_store(&target, m);
		sys_close(m);
	}
	for (u32 i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	EQ(bad, 0);
	EQ(count_ids(BPF_MAP_GET_NEXT_ID), 0);
}

int main(void)
{
	forked();
	held_by_child();
	vforked();
	threads();
	return tap_done();
}
