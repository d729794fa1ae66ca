/* bpf_redirect_map on both floors: what it returns for elements that are there and that are not; what it notes down here. */
#include "floors.h"
#include "text.h"
#include "tap.h"

#define BROADCAST BPF_F_BROADCAST
#define EXCLUDE	  BPF_F_EXCLUDE_INGRESS
#define KEY_HIGH  (1ull << 32)

static u8 packet[64];
static const struct floor_input input = { .packet = packet, .size = sizeof(packet), .room = 256, .repeat = 1 };
static const u32 loopback[2] = { 1, 0 };	/* a devmap's element 0: the interface; a cpumap's: a queue of 1 */

/* Map 0 has element 0 alone. */
static const struct {
	u32 type;
	u64 key, flags;
	u32 want;
} rows[] = {
	{ BPF_MAP_TYPE_DEVMAP, 0, 0, XDP_REDIRECT },
	{ BPF_MAP_TYPE_DEVMAP, 0, XDP_DROP, XDP_REDIRECT },
	{ BPF_MAP_TYPE_DEVMAP, KEY_HIGH, XDP_DROP, XDP_REDIRECT },
	{ BPF_MAP_TYPE_DEVMAP, 1, 0, XDP_ABORTED },
	{ BPF_MAP_TYPE_DEVMAP, 1, XDP_DROP, XDP_DROP },
	{ BPF_MAP_TYPE_DEVMAP, 9, XDP_PASS, XDP_PASS },
	{ BPF_MAP_TYPE_DEVMAP, 9, XDP_TX, XDP_TX },
	{ BPF_MAP_TYPE_DEVMAP, 0, XDP_REDIRECT, XDP_ABORTED },
	{ BPF_MAP_TYPE_DEVMAP, 0, 1ull << 32, XDP_ABORTED },
	{ BPF_MAP_TYPE_DEVMAP, 1, BROADCAST | XDP_PASS, XDP_REDIRECT },
	{ BPF_MAP_TYPE_DEVMAP, 0, BROADCAST | EXCLUDE, XDP_REDIRECT },
	{ BPF_MAP_TYPE_DEVMAP, 1, EXCLUDE | XDP_PASS, XDP_PASS },
	{ BPF_MAP_TYPE_DEVMAP, 0, EXCLUDE, XDP_REDIRECT },
	{ BPF_MAP_TYPE_DEVMAP_HASH, 0, 0, XDP_REDIRECT },
	{ BPF_MAP_TYPE_DEVMAP_HASH, 4, XDP_TX, XDP_TX },
	{ BPF_MAP_TYPE_DEVMAP_HASH, 4, BROADCAST, XDP_REDIRECT },
	{ BPF_MAP_TYPE_DEVMAP_HASH, 4, 1 << 5, XDP_ABORTED },
	{ BPF_MAP_TYPE_CPUMAP, 0, 0, XDP_REDIRECT },
	{ BPF_MAP_TYPE_CPUMAP, 1, XDP_PASS, XDP_PASS },
	{ BPF_MAP_TYPE_CPUMAP, 99, XDP_DROP, XDP_DROP },
	{ BPF_MAP_TYPE_CPUMAP, 0, BROADCAST, XDP_ABORTED },
	{ BPF_MAP_TYPE_CPUMAP, 0, EXCLUDE, XDP_ABORTED },
	{ BPF_MAP_TYPE_XSKMAP, 0, XDP_PASS, XDP_PASS },
	{ BPF_MAP_TYPE_XSKMAP, 9, 0, XDP_ABORTED },
	{ BPF_MAP_TYPE_XSKMAP, 0, BROADCAST, XDP_ABORTED },
};

static struct floor_map map_of(u32 type, u32 value_size)
{
	return (struct floor_map){ type, 4, value_size, 4, 0, type == BPF_MAP_TYPE_XSKMAP ? NULL : loopback };
}

static void returns(void)
{
	static struct floor_result user, kernel;
	u32 bad = 0;

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct floor_map map = map_of(rows[i].type, rows[i].type == BPF_MAP_TYPE_XSKMAP || i % 2 ? 4 : 8);
		struct text t = { 0 };
		struct floors f;

		add(&t, "r1 = map_fd(0)\nr2 = 0x%llx\nr3 = 0x%llx\ncall 51\nexit\n",
		    (unsigned long long)rows[i].key, (unsigned long long)rows[i].flags);
		floors_make_maps(&map, 1);
		floors_load(&f, t.buf, BPF_XDP, 0, &map, 1);
		if (f.user_err || (floors_have_kernel() && f.kernel < 0)) {
			floors_say_logs(&f);
			bad++;
		} else {
			floors_run_user(&f, &input, &user);
			kernel.retval = rows[i].want;
			if (floors_have_kernel())
				floors_run_kernel(&f, &input, &kernel);
			if (user.retval != rows[i].want || kernel.retval != rows[i].want) {
				printf("# row %u: here %u, kernel %u, want %u\n", i, user.retval, kernel.retval, rows[i].want);
				bad++;
			}
		}
		floors_done(&f);
		floors_drop_maps(&map, 1);
	}
	EQ(bad, 0);
}

/* Run here; what is left in the record? */
static struct env_redirect noted(const char *text, struct floor_map *map, u32 want)
{
	struct run_test run = { .data_in = packet, .data_size_in = sizeof(packet), .repeat = 1 };
	struct floors f;

	floors_make_maps(map, 1);
	floors_load(&f, text, BPF_XDP, 0, map, 1);
	EQ(f.user_err, 0);
	EQ(run_test(f.user, &run), 0);
	EQ(run.retval, want);
	floors_done(&f);
	return run.redirect;
}

static void records(void)
{
	struct floor_map dev = map_of(BPF_MAP_TYPE_DEVMAP, 4), cpu = map_of(BPF_MAP_TYPE_CPUMAP, 8);
	struct env_redirect r = noted("r1 = map_fd(0)\nr2 = 0\nr3 = 0\ncall 51\nexit\n", &dev, XDP_REDIRECT);

	OK(r.set);
	EQ(r.ifindex, 1);
	EQ(r.map_type, BPF_MAP_TYPE_DEVMAP);
	EQ(r.map_id, dev.user->obj.id);
	floors_drop_maps(&dev, 1);

	r = noted("r1 = map_fd(0)\nr2 = 3\nr3 = 24\ncall 51\nexit\n", &dev, XDP_REDIRECT);
	OK(r.set && r.flags == (BROADCAST | EXCLUDE) && !r.ifindex);
	floors_drop_maps(&dev, 1);

	/* the last look-up counts */
	r = noted("r1 = 7\nr2 = 0\ncall 23\nr1 = map_fd(0)\nr2 = 3\nr3 = 2\ncall 51\nexit\n", &dev, XDP_PASS);
	OK(!r.set);
	floors_drop_maps(&dev, 1);
	r = noted("r1 = map_fd(0)\nr2 = 0\nr3 = 0\ncall 51\nr1 = 7\nr2 = 0\ncall 23\nexit\n", &dev, XDP_REDIRECT);
	OK(r.set && r.ifindex == 7 && !r.map_type);
	floors_drop_maps(&dev, 1);

	r = noted("r1 = map_fd(0)\nr2 = 0\nr3 = 0\ncall 51\nexit\n", &cpu, XDP_REDIRECT);
	OK(r.set && r.map_type == BPF_MAP_TYPE_CPUMAP && !r.key && !r.ifindex);
	EQ(r.map_id, cpu.user->obj.id);
	floors_drop_maps(&cpu, 1);
}

/* ---- what the verifier makes of these maps */

#define LOOKUP "*(u32 *)(r10 -4) = 0\nr2 = r10\nr2 += -4\nr1 = map_fd(0)\ncall 1\nif r0 == 0 goto pc+1\n"

static const struct {
	const char *what;
	u32 type, key, value;
	const char *text;
	int user, kernel;
} loads[] = {
	{ "devmap: look up", BPF_MAP_TYPE_DEVMAP, 4, 8, LOOKUP "r0 = *(u32 *)(r0 +0)\nexit\n", 0, 0 },
	{ "devmap: write", BPF_MAP_TYPE_DEVMAP, 4, 8, LOOKUP "*(u32 *)(r0 +0) = 1\nr0 = 0\nexit\n", -EACCES, -EACCES },
	{ "devmap: beyond", BPF_MAP_TYPE_DEVMAP, 4, 4, LOOKUP "r0 = *(u32 *)(r0 +4)\nexit\n", -EACCES, -EACCES },
	{ "devmap_hash: look up", BPF_MAP_TYPE_DEVMAP_HASH, 4, 4, LOOKUP "r0 = *(u32 *)(r0 +0)\nexit\n", 0, 0 },
	{ "cpumap: look up", BPF_MAP_TYPE_CPUMAP, 4, 4, LOOKUP "r0 = 0\nexit\n", -EINVAL, -EINVAL },
	{ "xskmap: look up", BPF_MAP_TYPE_XSKMAP, 4, 4, LOOKUP "r0 = 0\nexit\n", -EOPNOTSUPP, 0 },
	{ "devmap: delete", BPF_MAP_TYPE_DEVMAP, 4, 4,
	  "*(u32 *)(r10 -4) = 0\nr2 = r10\nr2 += -4\nr1 = map_fd(0)\ncall 3\nr0 = 0\nexit\n", -EACCES, -EACCES },
	{ "redirect_map: array", BPF_MAP_TYPE_ARRAY, 4, 4, "r1 = map_fd(0)\nr2 = 0\nr3 = 0\ncall 51\nexit\n", -EINVAL, -EINVAL },
	{ "redirect_map: no map", BPF_MAP_TYPE_DEVMAP, 4, 4, "r1 = 0\nr2 = 0\nr3 = 0\ncall 51\nexit\n", -EACCES, -EACCES },
};

static void verdicts(void)
{
	for (u32 i = 0; i < ARRAY_SIZE(loads); i++) {
		struct floor_map map = { loads[i].type, loads[i].key, loads[i].value, 4 };
		struct floors f;

		floors_make_maps(&map, 1);
		floors_load(&f, loads[i].text, BPF_XDP, 0, &map, 1);
		printf("# %s\n", loads[i].what);
		if (f.user_err != loads[i].user)
			floors_say_logs(&f);
		EQ(f.user_err, loads[i].user);
		if (floors_have_kernel())
			EQ(f.kernel < 0 ? f.kernel : 0, loads[i].kernel);
		floors_done(&f);
		floors_drop_maps(&map, 1);
	}
}

int main(void)
{
	returns();
	records();
	verdicts();
	return tap_done();
}
