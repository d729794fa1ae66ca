/* Random programs on random packets, on skep and (as root) on the kernel: the same verdict, result, packet and context.
 *
 * The argument is a seed; a second one the number of programs. Without one the seed is fixed. */
#include "skb_gen.h"
#include "sys/sys.h"
#include "tap.h"
#include <errno.h>
#include <sys/syscall.h>

enum { ROOM = 80000 };

struct result {
	int load, err;
	u32 retval, size, ctx_size;
	struct __sk_buff ctx;
	u8 data[ROOM];
};

static long floor_bpf(bool kernel, u32 cmd, union abi_attr *attr)
{
	long r = kernel ? syscall(SYS_bpf, cmd, attr, sizeof(*attr)) : sys_bpf(sys_self(), cmd, addr_of(attr), sizeof(*attr));

	return kernel && r < 0 ? -errno : r;
}

struct input {
	u8 packet[4096];
	u32 size;
	struct __sk_buff ctx;
	bool with_ctx;
	u32 flags, repeat;
};

static char said[65536];

static void run(bool kernel, const struct skb_gen *g, const struct input *in, struct result *out)
{
	union abi_attr attr = { .prog_load = {
		.prog_type = g->type, .insn_cnt = g->n, .insns = addr_of(g->insns), .license = addr_of("GPL"),
		.log_level = 1, .log_buf = addr_of(said), .log_size = sizeof(said),
	} };
	long fd = floor_bpf(kernel, BPF_PROG_LOAD, &attr);

	memset(out, 0, sizeof(*out));
	out->load = fd < 0 ? fd : 0;
	if (fd < 0)
		return;
	attr = (union abi_attr){ .test = {
		.prog_fd = fd, .data_in = addr_of(in->packet), .data_size_in = in->size, .data_out = addr_of(out->data),
		.data_size_out = ROOM, .repeat = in->repeat, .flags = in->flags, .ctx_out = addr_of(&out->ctx),
		.ctx_size_out = sizeof(out->ctx),
	} };
	if (in->with_ctx) {
		attr.test.ctx_in = addr_of(&in->ctx);
		attr.test.ctx_size_in = sizeof(in->ctx);
	}
	out->err = floor_bpf(kernel, BPF_PROG_TEST_RUN, &attr);
	out->retval = attr.test.retval;
	out->size = attr.test.data_size_out;
	out->ctx_size = attr.test.ctx_size_out;
	if (kernel)
		close(fd);
	else
		sys_close(fd);
}

static bool same(const struct result *a, const struct result *b)
{
	if (a->load != b->load || a->err != b->err)
		return false;
	return a->err || a->load || !memcmp(a, b, sizeof(*a));
}

static void say(const struct skb_gen *g, const struct input *in, const struct result *u, const struct result *k)
{
	u32 at = 0;

	printf("# %s: %u bytes, flags %u, repeat %u\n", g->type == BPF_PROG_TYPE_SOCKET_FILTER ? "filter" : "tc", in->size, in->flags,
	       in->repeat);
	printf("# user load %d err %d retval %x size %u; kernel load %d err %d retval %x size %u\n", u->load, u->err, u->retval,
	       u->size, k->load, k->err, k->retval, k->size);
	while (at < ROOM && u->data[at] == k->data[at])
		at++;
	if (at < ROOM)
		printf("# data differs at %u: %02x %02x\n", at, u->data[at], k->data[at]);
	for (at = 0; at < sizeof(u->ctx); at++)
		if (((const u8 *)&u->ctx)[at] != ((const u8 *)&k->ctx)[at])
			break;
	if (at < sizeof(u->ctx))
		printf("# ctx differs at %u\n", at);
	for (u32 i = 0; i < in->size && i < 64; i++)
		printf(i % 32 ? " %02x" : "\n# %02x", in->packet[i]);
	printf("\n");
	skb_gen_print(g);
}

/* The same seed makes the same program, up to its number of steps. */
static void make(struct skb_gen *g, struct input *in, u64 seed, u32 most)
{
	u32 steps;

	memset(in, 0, sizeof(*in));
	g->seed = seed * 0x9e3779b97f4a7c15ull;
	skb_gen_random(g, 2);
	g->type = (const u32[]){ BPF_PROG_TYPE_SOCKET_FILTER, BPF_PROG_TYPE_SCHED_CLS, BPF_PROG_TYPE_SCHED_CLS,
				 BPF_PROG_TYPE_SCHED_ACT }[skb_gen_random(g, 4)];
	in->size = skb_gen_packet(g, in->packet, sizeof(in->packet));
	in->with_ctx = skb_gen_random(g, 2);
	in->repeat = skb_gen_random(g, 4) ? 1 : 2;
	in->flags = skb_gen_random(g, 8) ? 0 : 4;
	skb_gen_ctx(g, &in->ctx, in->size);
	steps = 1 + skb_gen_random(g, skb_gen_random(g, 2) ? 6 : 40);
	skb_gen_program(g, MIN(steps, most));
}

static bool have_kernel(void)
{
	union abi_attr attr = { .map_create = { BPF_MAP_TYPE_ARRAY, 4, 4, 1 } };
	long fd = geteuid() ? -1 : floor_bpf(true, BPF_MAP_CREATE, &attr);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The shortest beginning of a program on which the floors differ, for the reader. */
static void shortest(struct skb_gen *g, struct input *in, u64 seed, struct result *user, struct result *kernel)
{
	for (u32 steps = 0; steps < 64; steps++) {
		make(g, in, seed, steps);
		run(false, g, in, user);
		run(true, g, in, kernel);
		if (!same(user, kernel))
			return;
	}
}

int main(int argc, char **argv)
{
	u64 seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1, n = argc > 2 ? strtoull(argv[2], NULL, 0) : 3000;
	static struct result user, again, kernel;
	u32 different = 0, refused = 0, failed = 0;
	bool ask = have_kernel();
	struct skb_gen g;
	struct input in;

	for (u64 i = 0; i < n; i++) {
		make(&g, &in, seed + i, UINT32_MAX);
		run(false, &g, &in, &user);
		run(ask, &g, &in, ask ? &kernel : &again);
		refused += !!user.load;
		failed += !!user.err;
		if (same(&user, ask ? &kernel : &again))
			continue;
		if (different++ >= 5)
			continue;
		printf("# seed %llu\n", (unsigned long long)(seed + i));
		if (ask)
			shortest(&g, &in, seed + i, &user, &kernel);
		say(&g, &in, &user, ask ? &kernel : &again);
		if (user.load != kernel.load && ask)
			printf("# %s\n", said);
	}
	EQ(different, 0);
	printf("# %llu programs, %u refused by both, %u runs refused\n", (unsigned long long)n, refused, failed);
	OK(refused < n / 10 && failed < n / 4);
	if (!ask)
		printf("ok %d - compared with the kernel # SKIP bpf(2) needs root\n", ++tap_n);
	return tap_done();
}
