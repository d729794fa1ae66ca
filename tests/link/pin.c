/* What libbpf does besides loading: pins (by call, by name, of a whole object), maps of maps filled
 * at load, batches, queues. Every step must go alike on skep and on the kernel. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "pin.skel.h"
#include "tap.h"

#define AT "/sys/fs/bpf"
#define N  64

static int run(struct bpf_program *p)
{
	unsigned char packet[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet));
	int err = bpf_prog_test_run_opts(bpf_program__fd(p), &opts);

	return err ? err : (int)opts.retval;
}

static unsigned long long count_in(int fd)
{
	unsigned long long value = 0;
	unsigned key = 7;

	return bpf_map_lookup_elem(fd, &key, &value) ? 0 : value;
}

static unsigned id_of(int fd)
{
	struct bpf_map_info info = {0};
	unsigned len = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &len) ? 0 : info.id;
}

/* The map is found by its name when a second object is loaded, also when the first is gone. */
static void by_name(void)
{
	struct pin_bpf *first = pin_bpf__open_and_load(), *second;
	unsigned id;
	int fd;

	if (!OK(first != NULL))
		return;
	OK(bpf_map__is_pinned(first->maps.shared));
	STR(bpf_map__get_pin_path(first->maps.shared), AT "/shared");
	EQ(run(first->progs.count), 2);
	id = id_of(bpf_map__fd(first->maps.shared));
	pin_bpf__destroy(first);

	fd = bpf_obj_get(AT "/shared");
	OK(fd >= 0);
	EQ(id_of(fd), id);
	EQ(count_in(fd), 1);
	close(fd);

	second = pin_bpf__open_and_load();
	if (!OK(second != NULL))
		return;
	EQ(id_of(bpf_map__fd(second->maps.shared)), id);
	EQ(run(second->progs.count), 2);
	EQ(count_in(bpf_map__fd(second->maps.shared)), 2);
	EQ(bpf_map__unpin(second->maps.shared, NULL), 0);
	EQ(bpf_obj_get(AT "/shared"), -ENOENT);
	EQ(count_in(bpf_map__fd(second->maps.shared)), 2);
	pin_bpf__destroy(second);
}

static void by_call(struct pin_bpf *skel)
{
	int fd, prog;
	struct statfs st;

	EQ(bpf_map__unpin(skel->maps.shared, NULL), 0);
	EQ(bpf_map__pin(skel->maps.left, AT "/one/left"), 0); /* makes the folder */
	EQ(bpf_map__pin(skel->maps.left, AT "/one/left"), 0); /* it knows */
	EQ(bpf_map__pin(skel->maps.right, AT "/one/left"), -EEXIST);
	EQ(bpf_map__pin(skel->maps.queue, "/tmp/queue"), -EINVAL); /* no bpffs */
	EQ(bpf_program__pin(skel->progs.count, AT "/one/count"), 0);
	EQ(access(AT "/one/count", F_OK), 0);
	EQ(statfs(AT "/one", &st), 0);
	EQ((unsigned)st.f_type, 0xcafe4a11);
	fd = bpf_obj_get(AT "/one/left");
	OK(fd >= 0);
	EQ(id_of(fd), id_of(bpf_map__fd(skel->maps.left)));
	prog = bpf_obj_get(AT "/one/count");
	OK(prog >= 0);
	close(fd);
	close(prog);
	EQ(bpf_map__unpin(skel->maps.left, AT "/one/left"), 0);
	EQ(bpf_program__unpin(skel->progs.count, AT "/one/count"), 0);
	EQ(bpf_program__unpin(skel->progs.count, AT "/one/count"), -ENOENT);
	EQ(rmdir(AT "/one"), 0);
	EQ(access(AT "/one", F_OK), -1);

	EQ(mkdir(AT "/x", 0700), 0);
	EQ(mkdir(AT "/x", 0700), -1);
	EQ(rmdir(AT "/x"), 0);
}

/* All maps and programs of an object; libbpf remembers where it pinned what, so it is a fresh one. */
static void whole(void)
{
	struct pin_bpf *skel = pin_bpf__open_and_load();
	int fd;

	if (!OK(skel != NULL))
		return;
	EQ(bpf_map__unpin(skel->maps.shared, NULL), 0);
	EQ(bpf_map__set_pin_path(skel->maps.shared, NULL), 0);
	EQ(bpf_object__pin(skel->obj, AT "/all"), 0);
	fd = bpf_obj_get(AT "/all/queue");
	OK(fd >= 0);
	close(fd);
	EQ(bpf_object__unpin_programs(skel->obj, AT "/all"), 0);
	EQ(bpf_object__unpin_maps(skel->obj, AT "/all"), 0);
	EQ(bpf_obj_get(AT "/all/queue"), -ENOENT);
	EQ(rmdir(AT "/all"), 0);
	pin_bpf__destroy(skel);
}

static void inner_maps(struct pin_bpf *skel)
{
	int outer = bpf_map__fd(skel->maps.outer), left = bpf_map__fd(skel->maps.left), fd;
	unsigned k0 = 0, k1 = 1, k2 = 2, id = 0;
	unsigned long long value = 5;

	EQ(bpf_map_lookup_elem(outer, &k0, &id), -ENOENT);
	EQ(bpf_map_lookup_elem(outer, &k1, &id), 0);
	EQ(id, id_of(left));
	EQ(bpf_map_lookup_elem(outer, &k2, &id), 0);
	EQ(id, id_of(bpf_map__fd(skel->maps.right)));
	EQ(bpf_map_update_elem(left, &k1, &value, 0), 0);
	value = 0;
	fd = bpf_map_get_fd_by_id(id_of(left));
	EQ(bpf_map_lookup_elem(fd, &k1, &value), 0);
	EQ(value, 5);
	close(fd);
	EQ(bpf_map_delete_elem(outer, &k1), 0);
	EQ(bpf_map_lookup_elem(outer, &k1, &id), -ENOENT);
	EQ(bpf_map_update_elem(outer, &k0, &left, 0), 0);
}

static void queue(struct pin_bpf *skel)
{
	int fd = bpf_map__fd(skel->maps.queue);
	unsigned long long value = 1;

	EQ(bpf_map_update_elem(fd, NULL, &value, 0), 0);
	value = 2;
	EQ(bpf_map_update_elem(fd, NULL, &value, 0), 0);
	EQ(bpf_map_lookup_elem(fd, NULL, &value), 0);
	EQ(value, 1);
	EQ(bpf_map_lookup_and_delete_elem(fd, NULL, &value), 0);
	EQ(bpf_map_lookup_and_delete_elem(fd, NULL, &value), 0);
	EQ(value, 2);
	EQ(bpf_map_lookup_and_delete_elem(fd, NULL, &value), -ENOENT);
}

static void batches(struct pin_bpf *skel)
{
	int fd = bpf_map__fd(skel->maps.shared), err;
	unsigned keys[N], got[N], n = N, all = 0, cookie = 0;
	unsigned long long values[N], found[N], sum = 0;

	bpf_map_delete_elem(fd, (unsigned[]){7});
	for (unsigned i = 0; i < N; i++) {
		keys[i] = i;
		values[i] = i;
	}
	EQ(bpf_map_update_batch(fd, keys, values, &n, NULL), 0);
	EQ(n, N);
	for (void *in = NULL;; in = &cookie) {
		n = 20;
		err = bpf_map_lookup_batch(fd, in, &cookie, got, found, &n, NULL);
		for (unsigned i = 0; i < n; i++)
			sum += found[i] == got[i] ? found[i] : 1000;
		all += n;
		if (err)
			break;
	}
	EQ(err, -ENOENT);
	EQ(all, N);
	EQ(sum, N * (N - 1) / 2);
	n = 10;
	EQ(bpf_map_delete_batch(fd, keys, &n, NULL), 0);
	n = N;
	EQ(bpf_map_lookup_and_delete_batch(fd, NULL, &cookie, got, found, &n, NULL), -ENOENT);
	EQ(n, N - 10);
	EQ(bpf_map_get_next_key(fd, NULL, &n), -ENOENT);
}

int main(void)
{
	struct pin_bpf *skel;

	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(NULL);
	by_name();
	skel = pin_bpf__open_and_load();
	if (!OK(skel != NULL))
		return tap_done();
	batches(skel);
	by_call(skel);
	inner_maps(skel);
	queue(skel);
	pin_bpf__destroy(skel);
	whole();
	return tap_done();
}
