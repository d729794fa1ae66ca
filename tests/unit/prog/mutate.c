/* Programs with a few bits changed, on both floors: what the kernel refuses is refused here, and what both accept gives the
 * same result and leaves the same packet and maps.
 *
 * A program of ours may return a pointer, which no two machines have in common, or read stack that it never wrote (zeros
 * here, anything there): what depends on either is left out.
 * Arguments: how many mutants (default 600), then a seed. */
#include "floors.h"
#include "text.h"
#include "isa/isa.h"
#include "tap.h"
#include <sys/syscall.h>

enum { N_MAPS = 4, MAX = 512, CLEARED = 64 };

static u8 packet[256];
static u64 seed = 0xfacade;
static struct text t;

static const char *const originals[] = {
	/* parse: bounds, loads and stores of all sizes */
	"r6 = r1\nr2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr4 = r2\nr4 += 34\nif r4 > r3 goto out\n"
	"r5 = *(u16 *)(r2 +12)\nr0 = *(u8 *)(r2 +14)\nr0 &= 15\nr0 <<= 2\nr7 = *(u32 *)(r2 +20)\nr0 += r7\n*(u8 *)(r2 +22) = r0\n"
	"r0 ^= r5\nr1 = r0\nr1 s>>= 3\nr0 += r1\nexit\nout:\nr0 = 1\nexit\n",
	/* a variable offset into the packet */
	"r2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr4 = r2\nr4 += 20\nif r4 > r3 goto out\nr5 = *(u8 *)(r2 +14)\nr5 &= 15\n"
	"r5 <<= 2\nr2 += r5\nr4 = r2\nr4 += 8\nif r4 > r3 goto out\nr0 = *(u64 *)(r2 +0)\nexit\nout:\nr0 = 2\nexit\n",
	/* a counter in a hash */
	"r2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr4 = r2\nr4 += 16\nif r4 > r3 goto out\nr5 = *(u32 *)(r2 +4)\nr5 &= 3\n"
	"*(u32 *)(r10 -4) = r5\nr2 = r10\nr2 += -4\nr1 = map_fd(1)\ncall 1\nif r0 == 0 goto new\nr1 = *(u64 *)(r0 +0)\nr1 += 1\n"
	"*(u64 *)(r0 +0) = r1\nr0 = r1\nexit\nnew:\n*(u64 *)(r10 -24) = 1\n*(u64 *)(r10 -16) = 2\nr1 = map_fd(1)\nr2 = r10\nr2 += -4\n"
	"r3 = r10\nr3 += -24\nr4 = 0\ncall 2\nexit\nout:\nr0 = 3\nexit\n",
	/* an array value by index, and direct values */
	"r6 = map_value(0, 16)\nr7 = *(u32 *)(r1 +12)\nr7 &= 7\nr6 += r7\nr1 = *(u8 *)(r6 +0)\nr1 += 1\n*(u8 *)(r6 +1) = r1\n"
	"r0 = *(u16 *)(r6 +0)\nlock *(u64 *)(r6 +8) += r0\nexit\n",
	/* loops, stack, spills */
	"r6 = 0\nr7 = 10\n*(u64 *)(r10 -8) = r7\nagain:\nr6 += r7\nr7 += -1\nif r7 != 0 goto again\nr0 = *(u64 *)(r10 -8)\nr0 += r6\n"
	"*(u32 *)(r10 -16) = r0\nr1 = *(u16 *)(r10 -16)\nr0 = r1\nexit\n",
	/* subprograms */
	"r1 = 5\nr2 = r10\nr2 += -8\n*(u64 *)(r10 -8) = 3\ncall f\nr6 = r0\nr1 = r6\nr2 = r10\nr2 += -8\ncall f\nr0 += r6\nexit\n"
	"f:\nr3 = *(u64 *)(r2 +0)\nr3 += r1\n*(u64 *)(r2 +0) = r3\nr0 = r3\nif r1 > 4 goto pc+1\nr0 = 9\nexit\n",
	/* a ring buffer reservation */
	"r6 = r1\nr1 = map_fd(2)\nr2 = 16\nr3 = 0\ncall 131\nif r0 == 0 goto out\n*(u64 *)(r0 +0) = 7\n*(u64 *)(r0 +8) = 8\nr1 = r0\nr2 = 0\n"
	"call 132\nr1 = map_fd(2)\nr2 = 0\ncall 134\nexit\nout:\nr0 = 4\nexit\n",
	/* moving the packet's ends */
	"r6 = r1\nr2 = -8\ncall 44\nif r0 != 0 goto out\nr2 = *(u32 *)(r6 +0)\nr3 = *(u32 *)(r6 +4)\nr4 = r2\nr4 += 8\nif r4 > r3 goto out\n"
	"*(u64 *)(r2 +0) = 77\nr1 = r6\nr2 = -4\ncall 54\nr1 = r6\nr2 = *(u32 *)(r6 +8)\nr3 = *(u32 *)(r6 +0)\nr4 = r2\nr4 += 4\nif r4 > r3 goto out\n"
	"*(u32 *)(r2 +0) = 1\nr1 = r6\nr2 = -10\ncall 65\nout:\nr0 = 5\nexit\n",
	/* checksum and copies */
	"r6 = r1\nr2 = 3\nr3 = r10\nr3 += -16\nr4 = 16\ncall 189\nif r0 != 0 goto out\nr1 = r10\nr1 += -16\nr2 = 8\nr3 = r10\nr3 += -8\nr4 = 8\n"
	"r5 = 0\ncall 28\n*(u64 *)(r10 -8) = r0\nr1 = r6\nr2 = 40\nr3 = r10\nr3 += -8\nr4 = 4\ncall 190\nout:\nr0 = 6\nexit\n",
	/* arithmetic of both widths, signed and unsigned */
	"r2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr4 = r2\nr4 += 16\nif r4 > r3 goto out\nr6 = *(u64 *)(r2 +0)\nr7 = *(u32 *)(r2 +8)\n"
	"r0 = r6\nr0 *= r7\nr0 /= 7\nr0 s>>= 5\nw6 += w7\nw6 ^= 0x55\nr0 += r6\nr7 = -r7\nr0 |= r7\nr8 = r7\nr8 %= 9\nif w8 s< 3 goto pc+1\n"
	"r0 -= r8\nr0 = bswap32 r0\nexit\nout:\nr0 = 7\nexit\n",
	/* a tail call that falls through */
	"r6 = r1\nr2 = map_fd(3)\nr3 = 1\ncall 12\nr0 = *(u32 *)(r6 +12)\nexit\n",
	/* a callback */
	"*(u64 *)(r10 -8) = 0\nr1 = 10\nr2 = func(each)\nr3 = r10\nr3 += -8\nr4 = 0\ncall 181\nr1 = *(u64 *)(r10 -8)\nr0 += r1\nexit\n"
	"each:\nr3 = *(u64 *)(r2 +0)\nr3 += r1\n*(u64 *)(r2 +0) = r3\nr0 = 0\nif r1 != 6 goto pc+1\nr0 = 1\nexit\n",
	/* bounds found out by comparing */
	"r2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr4 = r2\nr4 += 8\nif r4 > r3 goto out\nr5 = *(u32 *)(r2 +0)\nif r5 > 48 goto out\n"
	"if r5 < 4 goto out\nr6 = map_value(0, 0)\nr6 += r5\nr0 = *(u64 *)(r6 +0)\nr0 += r5\nw1 = w5\nif w1 s> 20 goto out\nr6 += r1\nr0 = *(u8 *)(r6 -4)\n"
	"exit\nout:\nr0 = 8\nexit\n",
};

static const struct floor_map all_maps[N_MAPS] = {
	{ BPF_MAP_TYPE_ARRAY, 4, 64, 1 },
	{ BPF_MAP_TYPE_HASH, 4, 16, 8, BPF_F_NO_PREALLOC },
	{ BPF_MAP_TYPE_RINGBUF, 0, 0, 4096 },
	{ BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 2 },
};

static u8 some_code(void)
{
	const struct isa_op *op = isa_op_by_id(pick(&seed) % ISA_ID_MAX);

	return op->code;
}

static void mutate(struct bpf_insn *insns, u32 n)
{
	for (u32 times = 1 + (pick(&seed) % 4 == 0); times; times--) {
		struct bpf_insn *i = &insns[pick(&seed) % n];

		switch (pick(&seed) % 10) {
		case 0:
			i->code = some_code();
			break;
		case 1:
			i->dst_reg = pick(&seed) % 11;
			break;
		case 2:
			i->src_reg = pick(&seed) % 11;
			break;
		case 3:
			i->off += (s32)(pick(&seed) % 17) - 8;
			break;
		case 4:
			i->imm += (s32)(pick(&seed) % 17) - 8;
			break;
		case 5:
			i->imm ^= 1u << pick(&seed) % 32;
			break;
		case 6:
			i->off ^= 1u << pick(&seed) % 16;
			break;
		case 7:
			*i = insns[pick(&seed) % n];
			break;
		case 8:
			i->code ^= 1u << pick(&seed) % 8;
			break;
		default:
			*i = (struct bpf_insn){ .code = BPF_JMP | BPF_JA };
		}
	}
}

/* Clocks, random numbers, CPU and task differ by nature; and below what was cleared the stack holds zeros here, anything
 * there. */
static bool comparable(const struct bpf_insn *insns, u32 n)
{
	static const s32 differ[] = { 5, 7, 8, 14, 15, 16, 35, 42, 80, 118, 125, 158, 160, 208 };

	for (u32 i = 0; i < n; i++) {
		if (insns[i].off < -CLEARED || (insns[i].imm < -CLEARED && insns[i].imm >= -512))
			return false;
		for (u32 k = 0; k < ARRAY_SIZE(differ); k++)
			if (isa_is_helper_call(&insns[i]) && insns[i].imm == differ[k])
				return false;
	}
	return true;
}

/* What the maps hold: map 0's value and map 1's elements, each after a word that says whether it is there. */
struct contents { u64 word[6][9]; };

static void user_contents(const struct floor_map *maps, struct contents *c)
{
	memset(c, 0, sizeof(*c));
	for (u32 i = 0; i < 6; i++) {
		u32 key = i ? i - 1 : 0;

		c->word[i][0] = !map_copy_out(maps[i ? 1 : 0].user, &key, &c->word[i][1], 0);
	}
}

static void kernel_contents(const struct floor_map *maps, struct contents *c)
{
	memset(c, 0, sizeof(*c));
	for (u32 i = 0; i < 6; i++) {
		u32 key = i ? i - 1 : 0;
		union abi_attr attr = { .elem = { maps[i ? 1 : 0].kernel, addr_of(&key), addr_of(&c->word[i][1]) } };

		c->word[i][0] = !syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr));
	}
}

static bool maps_same(const struct floor_map *maps)
{
	struct contents user, kernel;

	user_contents(maps, &user);
	kernel_contents(maps, &kernel);
	for (u32 i = 0; i < 6; i++) {
		if (memcmp(user.word[i], kernel.word[i], sizeof(user.word[i]))) {
			printf("# map %d, element %d differs\n", i ? 1 : 0, i ? i - 1 : 0);
			return false;
		}
	}
	return true;
}

/* A program's text; with `clear` every function first writes the stack it may use. */
static void make_text(struct text *t, const char *original, bool clear)
{
	t->len = 0;
	for (const char *line = original; *line; line += strcspn(line, "\n") + 1) {
		bool function = !strncmp(line, "f:", 2) || !strncmp(line, "each:", 5);

		if (function)
			add(t, "%.*s\n", (int)strcspn(line, "\n"), line);
		if (clear && (function || line == original))
			for (u32 i = 8; i <= CLEARED; i += 8)
				add(t, "*(u64 *)(r10 -%u) = 0\n", i);
		if (!function)
			add(t, "%.*s\n", (int)strcspn(line, "\n"), line);
	}
}

struct counts { u32 mutants, accepted, refused, stricter, ran; };

static bool one(struct counts *c)
{
	struct floor_map maps[N_MAPS];
	struct bpf_insn *insns;
	struct floor_program p;
	struct floors f;
	struct log err;
	u32 n, which = pick(&seed) % ARRAY_SIZE(originals);
	bool clear = pick(&seed) % 2, ok = true;

	make_text(&t, originals[which], clear);
	log_init(&err, 200);
	if (isa_assemble(t.buf, &insns, &n, &err) || n > MAX) {
		printf("# program %u: %s\n", which, log_text(&err, NULL));
		abort();
	}
	log_done(&err);
	memcpy(maps, all_maps, sizeof(maps));
	floors_make_maps(maps, N_MAPS);
	if (c->mutants >= ARRAY_SIZE(originals)) /* the first ones as they are */
		mutate(insns + (clear ? CLEARED / 8 : 0), n - (clear ? CLEARED / 8 : 0));
	p = (struct floor_program){ insns, n, BPF_XDP, 0, maps, N_MAPS, .quiet = true };
	floors_load_program(&f, &p);
	c->mutants++;
	if (!f.user_err && f.kernel < 0) {
		printf("# ACCEPTED here, refused by the kernel\n");
		ok = false;
	} else if (f.user_err && f.kernel >= 0) {
		c->stricter++;
	} else if (f.user_err) {
		c->refused++;
	} else {
		struct floor_input in = { .packet = packet, .size = sizeof(packet), .room = 1024, .repeat = 1 };

		c->accepted++;
		if (clear && comparable(insns, n) && floors_address_free(&p, &in)) {
			c->ran++;
			ok = floors_agree(&f, &in) && maps_same(maps);
		}
	}
	if (!ok) {
		struct log text;

		floors_done(&f);
		p.quiet = false;
		floors_load_program(&f, &p);
		floors_say_logs(&f);
		log_init(&text, 100000);
		for (u32 i = 0; i < n; i++) {
			log_printf(&text, "#  %u: ", i);
			isa_print_insn(&text, &insns[i], i, NULL);
			log_printf(&text, "\n");
			i += isa_is_ld_imm64(&insns[i]);
		}
		printf("%s", log_text(&text, NULL));
	}
	floors_done(&f);
	floors_drop_maps(maps, N_MAPS);
	free(insns);
	return ok;
}

int main(int argc, char **argv)
{
	u32 n = argc > 1 ? strtoul(argv[1], NULL, 0) : 600, bad = 0;
	struct counts c = { 0 };

	if (argc > 2)
		seed ^= strtoul(argv[2], NULL, 0) * 0x9e3779b97f4a7c15ull;
	for (u32 i = 0; i < sizeof(packet); i++)
		packet[i] = i * 29 + 3;
	if (!floors_have_kernel()) {
		printf("ok %d - compared with the kernel # SKIP bpf(2) needs root\n", ++tap_n);
		return tap_done();
	}
	while (c.mutants < n && bad < 3)
		bad += !one(&c);
	printf("# %u mutants: %u accepted by both (%u compared by running), %u refused by both, %u refused only here\n", c.mutants,
	       c.accepted, c.ran, c.refused, c.stricter);
	EQ(bad, 0);
	OK(c.ran > n / 50);
	return tap_done();
}
