/* Helpers that move a packet's ends or copy its bytes, and PROG_TEST_RUN's own rules: random programs and packets on both
 * floors give the same results, bytes and errors. */
#include "floors.h"
#include "text.h"
#include "tap.h"

static u8 packet[FLOORS_PACKET];
static u64 seed = 0x5eed;

static s32 some_offset(s32 far)
{
	static const s32 special[] = { 0, 1, -1, 4, -4, 14, -14, 216, -216, 217, -217, 256, -256, 3520, -3520, 4096, -4096,
				       INT32_MAX, INT32_MIN, INT32_MIN + 1, 65536 };

	switch (pick(&seed) % 4) {
	case 0:
		return special[pick(&seed) % ARRAY_SIZE(special)];
	case 1:
		return (s32)(pick(&seed) % 64) * 4 - 128;
	default:
		return (s32)(pick(&seed) % (2 * far)) - far;
	}
}

/* r7 gathers every result, so that one difference anywhere shows in the return value. */
static void begin(struct text *t)
{
	t->len = 0;
	add(t, "r6 = r1\nr7 = 0\n");
}

static void gather(struct text *t)
{
	add(t, "r7 *= 31\nr7 += r0\n");
}

static void end(struct text *t)
{
	add(t, "r0 = r7\nexit\n");
}

static void adjust(struct text *t)
{
	static const struct { u32 id; s32 far; } helpers[] = { { 44, 300 }, { 54, 300 }, { 65, 5000 } };
	u32 i = pick(&seed) % ARRAY_SIZE(helpers);

	add(t, "r1 = r6\nr2 = %d\ncall %u\n", some_offset(helpers[i].far), helpers[i].id);
	gather(t);
	if (pick(&seed) % 2)
		return;
	add(t, "r1 = r6\ncall 188\n"); /* xdp_get_buff_len */
	gather(t);
}

/* Write a few bytes where the packet begins now, so that moved and cleared bytes show. */
static void scribble(struct text *t)
{
	add(t, "r2 = *(u32 *)(r6 +0)\nr3 = *(u32 *)(r6 +4)\nr4 = r2\nr4 += 14\nif r4 > r3 goto pc+2\n"
	       "r5 = %u\n*(u64 *)(r2 +%u) = r5\n", (u32)(pick(&seed) & INT32_MAX), (u32)(pick(&seed) % 7));
}

static void scribble_meta(struct text *t)
{
	add(t, "r2 = *(u32 *)(r6 +8)\nr3 = *(u32 *)(r6 +0)\nr4 = r2\nr4 += 4\nif r4 > r3 goto pc+1\n*(u32 *)(r2 +0) = 0x%x\n",
	    (u32)(pick(&seed) & INT32_MAX));
}

static void copy_bytes(struct text *t)
{
	bool store = pick(&seed) % 2;
	u32 off = pick(&seed) % 4 ? pick(&seed) % 200 : (u32)some_offset(80000), len = 1 + pick(&seed) % 64;

	for (u32 i = 0; store && i < 64; i += 8)
		add(t, "*(u64 *)(r10 -%u) = %d\n", 8 + i, (s32)pick(&seed));
	add(t, "r1 = r6\nr2 = %d\nr3 = r10\nr3 += -64\nr4 = %u\ncall %u\n", (s32)off, len, store ? 190 : 189);
	gather(t);
	if (!store) {
		add(t, "if r0 != 0 goto pc+3\nr1 = *(u8 *)(r10 -64)\nr7 *= 31\nr7 += r1\n");
	}
}

static u32 some_size(void)
{
	static const u32 special[] = { 14, 15, 60, 64, 100, 1500, 3519, 3520, 3521, 3600, 7615, 7616, 7617, 9000, 65535, 73152 };

	if (pick(&seed) % 3 == 0)
		return special[pick(&seed) % ARRAY_SIZE(special)];
	return 14 + pick(&seed) % (pick(&seed) % 2 ? 200 : 73139);
}

static bool one_random(u32 kinds)
{
	struct text t = { 0 };
	struct xdp_md ctx = { 0 };
	struct floor_input in = { .packet = packet, .room = FLOORS_PACKET };
	struct floors f;
	bool same;

	begin(&t);
	for (u32 ops = 1 + pick(&seed) % 12; ops; ops--) {
		switch (pick(&seed) % kinds) {
		case 0: adjust(&t); break;
		case 1: scribble(&t); break;
		case 2: scribble_meta(&t); break;
		default: copy_bytes(&t);
		}
	}
	end(&t);
	floors_load(&f, t.buf, BPF_XDP, 0, NULL, 0);
	if (f.user_err || (floors_have_kernel() && f.kernel < 0)) {
		floors_say_logs(&f);
		floors_done(&f);
		return false;
	}
	in.size = some_size();
	if (pick(&seed) % 2) {
		ctx.data = pick(&seed) % 8 ? pick(&seed) % 56 * 4 : 0;
		ctx.data_end = pick(&seed) % 2 ? in.size : pick(&seed) % in.size;
		ctx.ingress_ifindex = pick(&seed) % 2;
		in.ctx = &ctx;
		in.ctx_size = sizeof(ctx);
	}
	in.repeat = pick(&seed) % 16 ? 1 : 2; /* the kernel takes 18 ms to repeat */
	same = floors_agree(&f, &in);
	if (!same)
		printf("# ctx %u data %u data_end %u repeat %u\n%s\n", in.ctx != NULL, ctx.data, ctx.data_end, in.repeat, t.buf);
	floors_done(&f);
	return same;
}

static void random_programs(u32 n, u32 kinds)
{
	u32 bad = 0;

	for (u32 i = 0; i < n && bad < 3; i++)
		bad += !one_random(kinds);
	printf("# %u random programs\n", n);
	EQ(bad, 0);
}

/* ---- PROG_TEST_RUN itself */

static void every_size(void)
{
	struct floors f;
	u32 bad = 0;

	floors_load(&f, "r0 = 2\nexit\n", BPF_XDP, 0, NULL, 0);
	EQ(f.user_err, 0);
	for (u32 size = 0; size < FLOORS_PACKET; size += size < 100 || (size > 3500 && size < 3540) ? 1 : 611) {
		struct floor_input in = { .packet = packet, .size = size, .room = FLOORS_PACKET };

		bad += !floors_agree(&f, &in);
	}
	for (u32 i = 0; i < 400; i++) {
		struct floor_input in = { .packet = packet, .size = some_size() };

		in.room = i % 2 ? pick(&seed) % (in.size + 100) : in.size - pick(&seed) % 14;
		bad += !floors_agree(&f, &in);
	}
	EQ(bad, 0);
	floors_done(&f);
}

static void contexts(void)
{
	static const struct { u32 size; struct xdp_md ctx; } cases[] = {
		{ 100, { 0, 100 } }, { 100, { 0, 50 } }, { 100, { 0, 13 } }, { 100, { 0, 0 } }, { 100, { 4, 100 } },
		{ 100, { 2, 100 } }, { 100, { 0, 101 } }, { 100, { 50, 40 } }, { 100, { 0, 100, 4 } }, { 100, { 88, 100 } },
		{ 100, { 84, 100 } }, { 300, { 216, 300 } }, { 300, { 220, 300 } }, { 300, { 252, 300 } }, { 300, { 256, 300 } },
		{ 4000, { 216, 4000 } }, { 4000, { 0, 4000 } }, { 100, { 0, 100, 0, 1 } }, { 100, { 0, 100, 0, 1, 1 } },
		{ 100, { 0, 100, 0, 0, 1 } }, { 100, { 0, 100, 0, 9999 } }, { 100, { 0, 100, 0, 0, 0, 1 } },
	};
	struct floors f;
	u32 bad = 0;

	floors_load(&f, "r0 = *(u32 *)(r1 +12)\nr0 <<= 8\nr2 = *(u32 *)(r1 +16)\nr0 += r2\nexit\n", BPF_XDP, 0, NULL, 0);
	EQ(f.user_err, 0);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		u8 bytes[40] = { 0 };
		struct floor_input in = { .packet = packet, .size = cases[i].size, .room = 5000, .ctx = bytes };

		memcpy(bytes, &cases[i].ctx, sizeof(cases[i].ctx));
		for (u32 size = 1; size <= sizeof(bytes); size++) {
			in.ctx_size = size;
			bad += !floors_agree(&f, &in);
		}
		bytes[30] = 1;
		bad += !floors_agree(&f, &in);
	}
	EQ(bad, 0);
	floors_done(&f);
}

static void flags(void)
{
	static const struct { u32 flags, batch, repeat; } cases[] = {
		{ 1, 0, 1 }, { 4, 0, 1 }, { 3, 0, 1 }, { 2, 257, 1 }, { 0, 1, 1 }, { 0, 0, 0 }, { 0, 0, 5 }, { 1u << 31, 0, 1 },
	};
	struct floors f;
	u32 bad = 0;

	for (u32 attach = 0; attach < 3; attach++) {
		floors_load(&f, "r0 = 1\nexit\n", (u32[]){ BPF_XDP, BPF_XDP_DEVMAP, BPF_XDP_CPUMAP }[attach], 0, NULL, 0);
		EQ(f.user_err, 0);
		for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
			struct floor_input in = { .packet = packet, .size = 64, .room = 100, .flags = cases[i].flags,
						  .batch_size = cases[i].batch, .repeat = cases[i].repeat };

			bad += !floors_agree(&f, &in);
		}
		if (!attach) { /* the one thing TEST_RUN of the kernel does and this one does not: row in docs/abi.md */
			struct floor_input live = { .packet = packet, .size = 64, .flags = 2 };
			static struct floor_result out;

			floors_run_user(&f, &live, &out);
			EQ(out.err, -EOPNOTSUPP);
		}
		floors_done(&f);
	}
	EQ(bad, 0);
}

int main(void)
{
	for (u32 i = 0; i < sizeof(packet); i++)
		packet[i] = i * 7 + i / 256;
	if (!floors_have_kernel())
		printf("ok %d - compared with the kernel # SKIP bpf(2) needs root\n", ++tap_n);
	every_size();
	contexts();
	flags();
	random_programs(600, 1);
	random_programs(1500, 4);
	return tap_done();
}
