/* An application as others write them: a skeleton, libbpf, nothing of skep's. It is linked and
 * started in every way in which skep can stand in for bpf(2), and on the kernel as it is; every
 * step must go alike. */
#include <dirent.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "app.h"
#include "app.skel.h"
#include "tap.h"

static unsigned received, stop_after, last_key;

static int on_event(void *ctx, void *data, size_t size)
{
	struct event *e = data;

	received++;
	last_key = e->key;
	return stop_after && received == stop_after ? -77 : 0;
}

static int run(struct app_bpf *skel, unsigned char key)
{
	unsigned char packet[64] = {key};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet));
	int err = bpf_prog_test_run_opts(bpf_program__fd(skel->progs.count), &opts);

	return err ? err : (int)opts.retval;
}

static void data(struct app_bpf *skel)
{
	EQ(run(skel, 6), 2);
	EQ(run(skel, 7), 1);
	EQ(skel->bss->seen, 2);
	EQ(skel->data->sequence, 102);
	skel->data->sequence = 1000;
	EQ(run(skel, 7), 1);
	EQ(skel->data->sequence, 1001);
	EQ(skel->bss->lost, 0);
}

static void maps(struct app_bpf *skel)
{
	unsigned key = 7, zero = 0, next = 0;
	int cpus = libbpf_num_possible_cpus(), fd = bpf_map__fd(skel->maps.counts);
	unsigned long long value = 0, per_cpu[256] = {0}, sum = 0;
	struct bpf_map_info info = {0};
	unsigned len = sizeof(info);

	EQ(bpf_map_lookup_elem(fd, &key, &value), 0);
	EQ(value, 6);
	key = 9;
	EQ(bpf_map_lookup_elem(fd, &key, &value), -ENOENT);
	EQ(bpf_map_get_next_key(fd, NULL, &next), 0);
	OK(next == 6 || next == 7);
	EQ(bpf_map_lookup_elem(bpf_map__fd(skel->maps.runs), &zero, per_cpu), 0);
	for (int i = 0; i < cpus && i < 256; i++)
		sum += per_cpu[i];
	EQ(sum, 3);
	EQ(bpf_obj_get_info_by_fd(fd, &info, &len), 0);
	STR(info.name, "counts");
	EQ(info.max_entries, 16);
	EQ(bpf_map_update_elem(bpf_map__fd(skel->maps.rodata), &zero, per_cpu, 0), -EPERM);
}

/* The semantics of poll are the kernel's, level-triggered. */
static void ring(struct app_bpf *skel)
{
	struct ring_buffer *rb =
	    ring_buffer__new(bpf_map__fd(skel->maps.events), on_event, NULL, NULL);

	if (!OK(rb != NULL))
		return;
	skel->data->wake_flags = 0;
	EQ(ring_buffer__poll(rb, 1000), 3); /* what was there before */
	EQ(last_key, 7);
	EQ(ring_buffer__poll(rb, 0), 0);
	run(skel, 1);
	run(skel, 2);
	run(skel, 3);
	received = 0;
	stop_after = 1;
	EQ(ring_buffer__poll(rb, 1000), -77);
	stop_after = 0;
	EQ(received, 1);
	EQ(ring_buffer__poll(rb, 0), 2); /* what the callback left is ready at once */
	EQ(last_key, 3);
	EQ(ring_buffer__poll(rb, 0), 0);
	skel->data->wake_flags = BPF_RB_NO_WAKEUP;
	run(skel, 4);
	EQ(ring_buffer__poll(rb, 0), 0);
	skel->data->wake_flags = BPF_RB_FORCE_WAKEUP;
	run(skel, 5);
	EQ(ring_buffer__poll(rb, 1000), 2);
	EQ(ring_buffer__consume(rb), 0);
	ring_buffer__free(rb);
}

static int open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static struct app_bpf *load(void)
{
	struct app_bpf *skel = app_bpf__open();

	if (!skel)
		return NULL;
	skel->rodata->step = 3;
	if (!app_bpf__load(skel))
		return skel;
	app_bpf__destroy(skel);
	return NULL;
}

int main(void)
{
	struct app_bpf *skel, *second;
	int fds;

	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	skel = load();
	if (!OK(skel != NULL))
		return tap_done();
	data(skel);
	maps(skel);
	ring(skel);
	fds = open_fds();
	second = load();
	OK(second != NULL);
	EQ(run(second, 1), 1);
	EQ(second->bss->seen, 1);
	EQ(skel->bss->seen, 8);
	app_bpf__destroy(second);
	EQ(open_fds(), fds);
	app_bpf__destroy(skel);
	return tap_done();
}
