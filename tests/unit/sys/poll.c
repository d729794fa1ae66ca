/* Ring buffers in epoll sets: level semantics, wake-up flags, every other map. The same steps run
 * on the kernel in tests/link, where a program fills the ring. */
#include "calls.h"
#include "map/map.h"
#include <sys/epoll.h>
#include <sys/mman.h>

#define RING 4096u

static struct ring {
	int fd;
	u64 *consumer, *producer;
} ring;

static void ring_new(void)
{
	ring.fd = new_map(BPF_MAP_TYPE_RINGBUF, 0, 0, RING, 0);
	ring.consumer = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
	ring.producer = mmap(NULL, 4096 + 2 * RING, PROT_READ, MAP_SHARED, ring.fd, 4096);
}

static void submit(u64 flags)
{
	u64 v = 1;

	if (map_ring_output(sys_map_of(ring.fd), &v, sizeof(v), flags))
		OK(!"submitted");
}

static void consume(u32 n)
{
	while (n--)
		__atomic_store_n(ring.consumer, *ring.consumer + 16, __ATOMIC_RELEASE);
}

static int ready(int ep)
{
	struct epoll_event ev;

	return sys_epoll_pwait(ep, &ev, 1, 0, NULL, 8);
}

static void level(void)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = 0x1234}, got;

	ring_new();
	EQ(sys_epoll_ctl(ep, EPOLL_CTL_MOD, ring.fd, &ev), -ENOENT);
	EQ(sys_epoll_ctl(ep, EPOLL_CTL_ADD, ring.fd, &ev), 0);
	EQ(sys_epoll_ctl(ep, EPOLL_CTL_ADD, ring.fd, &ev), -EEXIST);
	EQ(ready(ep), 0);
	submit(0);
	EQ(sys_epoll_pwait(ep, &got, 1, 0, NULL, 8), 1);
	EQ(got.data.u64, 0x1234);
	EQ(got.events, EPOLLIN);
	EQ(ready(ep), 1); /* still there */
	submit(0);
	consume(1);
	EQ(ready(ep), 1); /* one left */
	consume(1);
	EQ(ready(ep), 0);
	EQ(ready(ep), 0);
	submit(BPF_RB_NO_WAKEUP);
	EQ(ready(ep), 0);
	submit(BPF_RB_FORCE_WAKEUP);
	EQ(ready(ep), 1);
	consume(2);
	EQ(ready(ep), 0);
	EQ(sys_epoll_ctl(ep, EPOLL_CTL_DEL, ring.fd, NULL), 0);
	submit(0);
	EQ(ready(ep), 0);
	EQ(sys_epoll_ctl(ep, EPOLL_CTL_ADD, ring.fd, &ev), 0);
	EQ(ready(ep), 1); /* what was there before */
	consume(1);
	EQ(ready(ep), 0);
	EQ(sys_epoll_ctl(ep, EPOLL_CTL_DEL, ring.fd, &ev), 0);
	EQ(sys_epoll_ctl(ep, EPOLL_CTL_DEL, ring.fd, &ev), -ENOENT);
	close(ep);
}

static void edge_and_gone(void)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET};
	u32 id = map_id(ring.fd), fds = count_fds();

	EQ(sys_epoll_ctl(ep, EPOLL_CTL_ADD, ring.fd, &ev), 0);
	submit(0);
	EQ(ready(ep), 1);
	EQ(ready(ep), 0);
	submit(0); /* the consumer has not caught up: no wake-up */
	EQ(ready(ep), 0);
	submit(BPF_RB_FORCE_WAKEUP);
	EQ(ready(ep), 1);
	sys_munmap(ring.consumer, 4096);
	sys_munmap(ring.producer, 4096 + 2 * RING);
	sys_close(ring.fd);
	OK(!map_exists(id));
	EQ(ready(ep), 0);
	EQ(count_fds(), fds - 3);
	close(ep);
}

static void others(void)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), h = new_hash(), h2 = new_hash(), p = new_prog(-1),
	    pipes[2];
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = 7}, got;

	EQ(sys_epoll_ctl(ep, EPOLL_CTL_ADD, h, &ev), 0);
	EQ(sys_epoll_ctl(ep, EPOLL_CTL_ADD, h2, &ev), 0);
	EQ(sys_epoll_pwait(ep, &got, 1, 0, NULL, 8), 1);
	EQ(got.events, EPOLLERR);
	EQ(sys_epoll_ctl(ep, EPOLL_CTL_DEL, h, NULL), 0);
	EQ(sys_epoll_ctl(ep, EPOLL_CTL_DEL, h2, NULL), 0);
	EQ(sys_epoll_ctl(ep, EPOLL_CTL_ADD, p, &ev), -EPERM);
	EQ(sys_epoll_ctl(-1, EPOLL_CTL_ADD, h, &ev), -EBADF);
	EQ(pipe2(pipes, O_CLOEXEC), 0);
	EQ(sys_epoll_ctl(ep, EPOLL_CTL_ADD, pipes[0], &ev), 0);
	EQ(ready(ep), 0);
	EQ(write(pipes[1], "x", 1), 1);
	EQ(ready(ep), 1);
	sys_close(h);
	sys_close(h2);
	sys_close(p);
	sys_close(pipes[0]);
	sys_close(pipes[1]);
	close(ep);
}

int main(void)
{
	level();
	edge_and_gone();
	others();
	return tap_done();
}
