/* libbpf's perf_buffer on events of skep's: opened, mapped, enabled, put into a map, polled. The
 * samples are written as the helper writes them. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "map/map.h"
#include "sys/sys.h"
#include "tap.h"

static unsigned long long samples, bytes, lost, wrong;

static void on_sample(void *ctx, int cpu, void *data, __u32 size)
{
	unsigned n = *(unsigned *)data;

	wrong += n != samples || size < 4;
	samples++;
	bytes += size;
}

static void on_lost(void *ctx, int cpu, unsigned long long n)
{
	lost += n;
	samples += n; /* they were counted by the writer */
}

static int send(int fd, u64 flags, unsigned n, u32 more)
{
	static const u8 tail[4096] = {1, 2, 3};
	struct map_perf_part part[] = {{&n, sizeof(n)}, {tail, more}};
	struct env env;
	int err;

	env_init(&env, NULL);
	env_enter(&env);
	err = map_perf_output(sys_map_of(fd), flags, &env, part, 2);
	env_leave(&env);
	return err;
}

static void round_trip(struct perf_buffer *pb, int fd)
{
	EQ(perf_buffer__poll(pb, 0), 0);
	EQ(send(fd, BPF_F_CURRENT_CPU, 0, 10), 0);
	EQ(perf_buffer__poll(pb, 1000), 1);
	EQ(samples, 1);
	EQ(bytes, 20); /* with its padding: the length and it are whole 8 bytes */
	EQ(perf_buffer__poll(pb, 0), 0);
	for (unsigned i = 1; i < 1000; i++) {
		if (send(fd, BPF_F_CURRENT_CPU, i, i % 200))
			wrong++;
		if (i % 7 == 0)
			perf_buffer__poll(pb, 0);
	}
	perf_buffer__consume(pb);
	EQ(samples, 1000);
	EQ(lost, 0);
	EQ(wrong, 0);
}

/* A reader that does not come loses samples and is told how many. */
static void overflow(struct perf_buffer *pb, int fd)
{
	unsigned n = samples, failed = 0;

	for (unsigned i = 0; i < 40; i++) {
		int err = send(fd, BPF_F_CURRENT_CPU, n + i, 1000);

		failed += err == -ENOSPC;
		OK(!err || err == -ENOSPC);
	}
	OK(failed > 0);
	EQ(perf_buffer__poll(pb, 1000), 1);
	EQ(lost, 0); /* it is said with the next sample */
	EQ(samples, n + 40 - failed);
	EQ(send(fd, BPF_F_CURRENT_CPU, n + 40, 8), 0);
	EQ(perf_buffer__poll(pb, 1000), 1);
	EQ(lost, failed);
	EQ(wrong, 0);
	EQ(samples, n + 41);
}

static void errors(int fd)
{
	EQ(send(fd, 999, 0, 8), -E2BIG);
	EQ(send(fd, libbpf_num_possible_cpus(), 0, 8), -ENOENT);
	if (libbpf_num_possible_cpus() > 1)
		EQ(send(fd, 1, 0, 8), -EOPNOTSUPP); /* another CPU's */
}

int main(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "events", 4, 4,
				libbpf_num_possible_cpus() + 1, NULL);
	struct perf_buffer *pb;

	EQ(send(fd, BPF_F_CURRENT_CPU, 0, 8), -ENOENT);
	pb = perf_buffer__new(fd, 4, on_sample, on_lost, NULL, NULL);
	if (!OK(pb != NULL))
		return tap_done();
	round_trip(pb, fd);
	overflow(pb, fd);
	errors(fd);
	perf_buffer__free(pb);
	EQ(send(fd, BPF_F_CURRENT_CPU, 0, 8), -ENOENT); /* libbpf took them out */
	close(fd);
	EQ(perf_buffer__new(-1, 4, on_sample, on_lost, NULL, NULL) == NULL, 1);
	return tap_done();
}
