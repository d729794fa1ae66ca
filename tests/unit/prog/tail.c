/* Tail calls, subprograms and loops across programs, on both floors: depth, empty slots, stack and registers, and which
 * programs may stand in one prog_array. */
#include "floors.h"
#include "text.h"
#include "tap.h"
#include <sys/syscall.h>

static u8 packet[256];

/* Put program f into slot `index` of map m on both floors; the errors. */
static void put(struct floor_map *m, u32 index, struct floors *f, int *user, int *kernel)
{
	union abi_attr attr = { .elem = { m->kernel, addr_of(&index), addr_of(&f->kernel) } };

	*user = prog_fits_map(f->user, m->user) ?: map_slot_set(m->user, index, &f->user->obj, f->user->image);
	*kernel = 0;
	if (floors_have_kernel() && syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr)))
		*kernel = -errno;
	else if (!floors_have_kernel())
		*kernel = *user;
}

static bool set(struct floor_map *m, u32 index, struct floors *f)
{
	int user, kernel;

	put(m, index, f, &user, &kernel);
	if (user || kernel)
		printf("# slot %u: skep %d, kernel %d\n", index, user, kernel);
	return !user && !kernel;
}

static void run_same(struct floors *f, const char *what)
{
	struct floor_input in = { .packet = packet, .size = 64, .room = 256, .repeat = 1 };

	if (f->user_err || (floors_have_kernel() && f->kernel < 0))
		floors_say_logs(f);
	printf("# %s\n", what);
	OK(!f->user_err && floors_agree(f, &in));
}

/* A program that counts in the packet and calls itself: how often does it get through? */
static void depth(void)
{
	struct floor_map maps[] = { { BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 3 } };
	struct floors f;

	floors_make_maps(maps, 1);
	floors_load(&f,
		    "r6 = r1\nr2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr4 = r2\nr4 += 8\nif r4 > r3 goto out\n"
		    "r5 = *(u64 *)(r2 +0)\nr5 += 1\n*(u64 *)(r2 +0) = r5\nr2 = map_fd(0)\nr3 = 1\ncall 12\n"
		    "out:\nr0 = 7\nexit\n", BPF_XDP, 0, maps, 1);
	run_same(&f, "an empty slot falls through");
	OK(set(&maps[0], 1, &f));
	run_same(&f, "33 tail calls");
	floors_done(&f);
	floors_drop_maps(maps, 1);
}

static void chain(void)
{
	struct floor_map maps[] = { { BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4 }, { BPF_MAP_TYPE_ARRAY, 4, 8, 1 } };
	struct floors a, b, c;
	static const char *const indices[] = { "0", "1", "2", "3", "4", "-1", "2147483647" };

	floors_make_maps(maps, 2);
	/* b writes its own stack and leaves; c calls a function that adds up */
	floors_load(&b, "*(u64 *)(r10 -8) = 5\nr0 = *(u64 *)(r10 -8)\nr0 += 100\nexit\n", BPF_XDP, 0, maps, 2);
	floors_load(&c, "r1 = 3\nr2 = 4\ncall add\nr0 += 1000\nexit\nadd:\nr0 = r1\nr0 += r2\n*(u64 *)(r10 -512) = r0\n"
			"r0 = *(u64 *)(r10 -512)\nexit\n", BPF_XDP, 0, maps, 2);
	OK(!b.user_err && !c.user_err);
	OK(set(&maps[0], 1, &b));
	OK(set(&maps[0], 2, &c));
	for (u32 i = 0; i < ARRAY_SIZE(indices); i++) {
		struct text t = { .len = 0 };

		add(&t, "*(u64 *)(r10 -8) = 77\nr2 = map_fd(0)\nr3 = %s\ncall 12\nr0 = *(u64 *)(r10 -8)\nexit\n", indices[i]);
		floors_load(&a, t.buf, BPF_XDP, 0, maps, 2);
		run_same(&a, indices[i]);
		floors_done(&a);
	}
	/* only the low half of the index counts */
	floors_load(&a, "r3 = 0x100000001\nr2 = map_fd(0)\ncall 12\nr0 = 1\nexit\n", BPF_XDP, 0, maps, 2);
	run_same(&a, "an index above 32 bits");
	floors_done(&a);
	/* a program lives as long as its slot does */
	floors_done(&b);
	floors_load(&a, "r3 = 1\nr2 = map_fd(0)\ncall 12\nr0 = 1\nexit\n", BPF_XDP, 0, maps, 2);
	run_same(&a, "the slot's program has no other holder");
	floors_done(&a);
	floors_done(&c);
	floors_drop_maps(maps, 2);
}

/* The first program decides what others must be like. */
static void owners(void)
{
	static const struct { u32 attach, flags; } kinds[] = {
		{ BPF_XDP, 0 }, { BPF_XDP, ABI_F_XDP_HAS_FRAGS }, { BPF_XDP_CPUMAP, 0 }, { 0, 0 }, { BPF_XDP_DEVMAP, ABI_F_XDP_HAS_FRAGS },
	};

	for (u32 first = 0; first < ARRAY_SIZE(kinds); first++) {
		for (u32 second = 0; second < ARRAY_SIZE(kinds); second++) {
			struct floor_map maps[] = { { BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 2 } };
			struct floors a, b, caller;
			int user, kernel;

			floors_make_maps(maps, 1);
			floors_load(&a, "r0 = 1\nexit\n", kinds[first].attach, kinds[first].flags, maps, 1);
			floors_load(&b, "r0 = 1\nexit\n", kinds[second].attach, kinds[second].flags, maps, 1);
			OK(set(&maps[0], 0, &a));
			put(&maps[0], 1, &b, &user, &kernel);
			EQ(user, kernel);
			floors_load(&caller, "r3 = 1\nr2 = map_fd(0)\ncall 12\nr0 = 1\nexit\n", kinds[second].attach,
				    kinds[second].flags, maps, 1);
			if (floors_have_kernel())
				EQ(caller.user_err, caller.kernel < 0 ? caller.kernel : 0);
			floors_done(&caller);
			floors_done(&b);
			floors_done(&a);
			floors_drop_maps(maps, 1);
		}
	}
}

/* The last user of a prog_array goes: its slots empty, although a program still holds it. */
static void emptied(void)
{
	struct floor_map maps[] = { { BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 1 } };
	struct floors target, caller;

	floors_make_maps(maps, 1);
	floors_load(&target, "r0 = 9\nexit\n", BPF_XDP, 0, maps, 1);
	floors_load(&caller, "r3 = 0\nr2 = map_fd(0)\ncall 12\nr0 = 1\nexit\n", BPF_XDP, 0, maps, 1);
	OK(set(&maps[0], 0, &target));
	run_same(&caller, "held by a user");
	floors_drop_maps(maps, 1);
	usleep(100000); /* the kernel empties it in a worker */
	run_same(&caller, "held by the program alone");
	floors_done(&caller);
	floors_done(&target);
}

int main(void)
{
	if (!floors_have_kernel())
		printf("ok %d - compared with the kernel # SKIP bpf(2) needs root\n", ++tap_n);
	depth();
	chain();
	owners();
	emptied();
	return tap_done();
}
