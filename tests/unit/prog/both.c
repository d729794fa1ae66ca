/* Helpers one by one on both floors: the same programs, loaded by prog_load() here and by bpf(2) there, give the same return
 * values and leave the same bytes in the packet. */
#include "floors.h"
#include "text.h"
#include "env/env.h"
#include "helper/helper.h"
#include "tap.h"
#include <sys/syscall.h>
#include <time.h>

static u8 packet[2048];
static u64 seed = 0xb0b;
static struct text t;

/* Load t on both floors, run it on a packet of 1024 bytes and compare; *retval: what skep's run returned. */
static bool same(struct floor_map *maps, u32 n_maps, u32 *retval)
{
	struct floor_input in = { .packet = packet, .size = 1024, .room = 2048, .repeat = 1 };
	static struct floor_result out;
	struct floors f;
	bool ok;

	floors_load(&f, t.buf, BPF_XDP, 0, maps, n_maps);
	ok = !f.user_err && (!floors_have_kernel() || f.kernel >= 0);
	if (!ok)
		floors_say_logs(&f);
	if (ok && retval) {
		floors_run_user(&f, &in, &out);
		*retval = out.retval;
	} else if (ok) {
		ok = floors_agree(&f, &in);
	}
	if (!ok)
		printf("# program: %.9000s\n", t.buf);
	floors_done(&f);
	return ok;
}

static void begin(void)
{
	t.len = 0;
	add(&t, "r6 = r1\nr7 = 0\n");
}

static void gather(void)
{
	add(&t, "r7 *= 31\nr7 += r0\nr1 = r0\nr1 >>= 32\nr7 += r1\n");
}

static void end(void)
{
	add(&t, "r0 = r7\nexit\n");
}

static void fill_stack(u32 from, u32 bytes, u32 ones)
{
	for (u32 i = 0; i < bytes; i += 8)
		add(&t, "*(u64 *)(r10 -%u) = %d\n", from - i, ones ? -(s32)(pick(&seed) % 2) : (s32)pick(&seed));
}

/* ---- checksums */

static void csums(void)
{
	u32 bad = 0;

	for (u32 i = 0; i < 60 && !bad; i++) {
		begin();
		for (u32 k = 0; k < 4; k++) {
			u32 from = pick(&seed) % 5 ? pick(&seed) % 60 * 4 : pick(&seed) % 240;
			u32 to = pick(&seed) % 4 ? pick(&seed) % 60 * 4 : 0;

			if (!(k % 2)) {
				fill_stack(256, 256, i % 3 == 0);
				fill_stack(512, 256, i % 3 == 0);
			}
			add(&t, "r1 = r10\nr1 += -256\nr2 = %u\nr3 = r10\nr3 += -512\nr4 = %u\nr5 = %d\ncall 28\n", from, to,
			    i % 4 ? (s32)pick(&seed) : -(s32)(pick(&seed) % 2));
			gather();
		}
		end();
		bad += !same(NULL, 0, NULL);
	}
	EQ(bad, 0);

	begin();
	for (u32 seedval = 0; seedval < 3; seedval++) {
		add(&t, "r1 = 0\nr2 = 0\nr3 = 0\nr4 = 0\nr5 = %d\ncall 28\n", (s32[]){ 0, -1, 0x12345678 }[seedval]);
		gather();
	}
	/* a packet may be summed where it lies */
	add(&t, "r3 = *(u32 *)(r6 +0)\nr2 = *(u32 *)(r6 +4)\nr1 = r3\nr1 += 1000\nif r1 > r2 goto pc+5\n"
	       "r1 = 0\nr2 = 0\nr4 = 1000\nr5 = 7\ncall 28\n");
	gather();
	end();
	OK(same(NULL, 0, NULL));
}

/* ---- text */

/* The n-th conversion of a format, behind its flags and width: "d", "pI4"... */
static const char *conversion(const char *format, u32 n)
{
	for (;; format++) {
		format = strchr(format, '%');
		if (!format)
			return "x"; /* an argument too many */
		if (format[1] == '%')
			format++;
		else if (!n--)
			return format + 1 + strspn(format + 1, "0+- 123456789");
	}
}

/* r1 = something that conversion `spec` can print: strings and addresses lie in map 0. */
static void argument(const char *spec, u32 i)
{
	if (*spec == 's')
		add(&t, "r1 = map_value(0, %u)\n", spec[-1] == '-' ? 680 : 600);
	else if (!strncmp(spec, "pks", 3))
		add(&t, "r1 = map_value(0, 600)\n");
	else if (!strncmp(spec, "pi", 2) || !strncmp(spec, "pI", 2))
		add(&t, "r1 = map_value(0, 640)\n");
	else if (*spec == 'p' && spec[1] != 'x')
		add(&t, "r1 = %d\n", i % 2 ? 0 : -22); /* any other would be hashed, with a secret */
	else
		add(&t, "r1 = 0x%llx\n", (unsigned long long)(i % 2 ? pick(&seed) : -(u64)(pick(&seed) % 300)));
}

/* A format in map 0 (frozen, so that the verifier knows it) and eight values: snprintf into map 1 and from there into the
 * packet. %s reads the string in map 0 at 600, %pI the bytes at 640. */
static bool format_same(const char *format, u32 n_args, u32 room)
{
	u8 value[1024] = { 0 };
	struct floor_map maps[] = {
		{ BPF_MAP_TYPE_ARRAY, 4, sizeof(value), 1, BPF_F_RDONLY_PROG, value },
		{ BPF_MAP_TYPE_ARRAY, 4, 1024, 1 },
	};
	bool ok;

	strcpy((char *)value, format);
	strcpy((char *)value + 600, "a string, 21 letters.");
	for (u32 i = 0; i < 16; i++)
		value[640 + i] = "\x0a\x00\xff\x07\x12\x34\0\0\0\x01\xfe\x80\x99\xaa\xbb\xcc"[i];
	memset(value + 680, 'x', 320);

	begin();
	for (u32 i = 0; i < n_args; i++) {
		argument(conversion(format, i), i);
		add(&t, "*(u64 *)(r10 -%u) = r1\n", 96 - i * 8);
	}
	add(&t, "r1 = map_value(1, 0)\nr2 = %u\nr3 = map_value(0, 0)\nr4 = r10\nr4 += -96\nr5 = %u\ncall 165\n", room, n_args * 8);
	gather();
	add(&t, "r1 = r6\nr2 = 0\nr3 = map_value(1, 0)\nr4 = 1000\ncall 190\n");
	gather();
	end();
	floors_make_maps(maps, 2);
	ok = same(maps, 2, NULL);
	floors_drop_maps(maps, 2);
	if (!ok)
		printf("# format \"%s\" room %u\n", format, room);
	return ok;
}

static void formats(void)
{
	static const struct { const char *format; u32 n; } cases[] = {
		{ "plain", 0 }, { "100%%", 0 }, { "%d|%5d|%-5d|%05d|%+d", 5 }, { "%+05d|% d|%-05d|%0-5d|%5i", 5 },
		{ "%u %lu %llu %ld %lld", 5 }, { "%x %X %lx %llX %8x", 5 }, { "%-8x|%08x|%016llx", 3 },
		{ "%s", 1 }, { "[%30s] [%-30s]", 2 }, { "%5s|%s", 2 }, { "%c%c|%5c|%-5c|", 4 },
		{ "%pI4 %pi4", 2 }, { "%pI6 %pi6", 2 }, { "%20pI4|%-20pI4|", 2 }, { "%pks", 1 }, { "%pks|%20pks|%pks", 3 },
		{ "%p %pK", 2 }, { "%px|%20px|", 2 }, { "%-20p|", 1 }, { "%px", 1 }, { "%99d|", 1 },
		{ "%-s %-s", 2 }, { "%-s %d %-s", 3 }, { "%d %-s", 2 },
		{ "\303\251t\303\251 %d", 1 }, { "tab\t newline\n %d", 1 },
		{ "%d %d %d %d %d %d %d %d %d %d %d %d", 12 }, { "%x", 2 }, { "%li", 1 }, { "%lli", 1 }, { "%  d|%+ d|% +d", 3 },
	};
	u32 bad = 0;

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		bad += !format_same(cases[i].format, cases[i].n, 500);
		bad += !format_same(cases[i].format, cases[i].n, 10);
		bad += !format_same(cases[i].format, cases[i].n, 0);
	}
	EQ(bad, 0);
}

/* Formats that trace_printk refuses or takes, by what it returns; the format lies on the stack. */
static void printks(void)
{
	static const char *const formats[] = {
		"", "x", "%", "%%", "%d", "%d %d %d", "%d %d %d %d", "%y", "%l", "%ld", "%lld", "%llld", "%hd", "%s", "%sx", "%s.",
		"%p", "%pZ", "%px", "%pI", "%pI5", "%pI4", "%pks", "%pksx", "%puss", "%ps", "%*d", "%.3d", "%#x", "%5", "%-", "%0",
		"a\001", "a\033[0m", "a\177", "\303\251", "%\303", "%c", "%cx", "%i", "%o", "%f", "%n", "%e", "%llx", "%123456789d",
		"%9999999d", "%u%", "%B", "%pB", "%pBx", "%pS", "%pK", "%pKx", "%p x", "%px x", "%p,", "%pa",
	};
	u32 bad = 0;

	for (u32 i = 0; i < ARRAY_SIZE(formats); i++) {
		u32 len = strlen(formats[i]);

		for (u32 nul = 0; nul < 2; nul++) {
			if (!(len + nul))
				continue;
			begin();
			for (u32 k = 0; k < 24; k++)
				add(&t, "*(u8 *)(r10 -%u) = %d\n", 24 - k, k < len ? (s8)formats[i][k] : k == len ? 0 : 'z');
			/* arguments 0: what is read through them can't be, on either floor */
			add(&t, "r1 = r10\nr1 += -24\nr2 = %u\nr3 = 0\nr4 = 0\nr5 = 0\ncall 6\n", len + nul);
			gather();
			end();
			if (!same(NULL, 0, NULL)) {
				printf("# format \"%s\"%s\n", formats[i], nul ? "" : " without its NUL");
				bad++;
			}
		}
	}
	EQ(bad, 0);
}

struct sink {
	struct env_trace trace;
	char text[1024];
	u32 lines;
};

static void catch_line(struct env_trace *trace, const char *text, size_t len)
{
	struct sink *s = container_of(trace, struct sink, trace);

	snprintf(s->text, sizeof(s->text), "%.*s", (int)len, text);
	s->lines++;
}

static void printk_text(void)
{
	struct sink sink = { .trace.line = catch_line };
	struct run_test run = { .data_in = packet, .data_size_in = 64, .repeat = 1, .trace = &sink.trace };
	struct floors f;

	floors_load(&f, "*(u64 *)(r10 -8) = 0\n*(u32 *)(r10 -8) = 0x6425203d\nr1 = r10\nr1 += -8\nr2 = 8\nr3 = 42\ncall 6\nexit\n",
		    BPF_XDP, 0, NULL, 0);
	EQ(f.user_err, 0);
	EQ(run_test(f.user, &run), 0);
	STR(sink.text, "= 42");
	EQ(sink.lines, 1);
	EQ(run.retval, 4);
	floors_done(&f);
}

static void vprintks(void)
{
	static const u32 sizes[] = { 0, 8, 16, 24, 7, 12, 96, 104 };
	u32 bad = 0;

	for (u32 i = 0; i < ARRAY_SIZE(sizes); i++) {
		begin();
		fill_stack(128, 128, 0);
		add(&t, "r1 = 0x0078257825782578\n*(u64 *)(r10 -8) = r1\nr1 = r10\nr1 += -8\nr2 = 8\nr3 = r10\nr3 += -128\n"
		       "r4 = %u\ncall 177\n", sizes[i]);
		gather();
		end();
		bad += !same(NULL, 0, NULL);
	}
	EQ(bad, 0);
}

static void strncmps(void)
{
	static const char *const strings[] = { "abc", "abd", "ab", "abcd", "", "\377b", "abc\0x" };
	u8 value[64];
	u32 bad = 0;

	for (u32 i = 0; i < ARRAY_SIZE(strings); i++) {
		struct floor_map maps[] = { { BPF_MAP_TYPE_ARRAY, 4, sizeof(value), 1, BPF_F_RDONLY_PROG, value } };

		memset(value, 0, sizeof(value));
		strcpy((char *)value, strings[i]);
		floors_make_maps(maps, 1);
		begin();
		for (u32 size = 1; size <= 8; size++) {
			add(&t, "r1 = 0x64636261\n*(u64 *)(r10 -8) = r1\nr1 = r10\nr1 += -8\nr2 = %u\nr3 = map_value(0, 0)\ncall 182\n", size);
			gather();
		}
		end();
		bad += !same(maps, 1, NULL);
		floors_drop_maps(maps, 1);
	}
	EQ(bad, 0);
}

/* ---- loops */

static void loops(void)
{
	static const struct { const char *n; u32 flags, stop; } cases[] = {
		{ "0", 0, 99 }, { "1", 0, 99 }, { "10", 0, 99 }, { "10", 0, 3 }, { "10", 1, 99 }, { "8388608", 0, 7 },
		{ "8388609", 0, 7 }, { "-1", 0, 7 }, { "1000", 0, 0 },
	};
	u32 bad = 0;

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		t.len = 0;
		add(&t, "*(u64 *)(r10 -8) = 0\nr1 = %s\nr2 = func(each)\nr3 = r10\nr3 += -8\nr4 = %u\ncall 181\n"
		       "r1 = *(u64 *)(r10 -8)\nr1 *= 1000\nr0 += r1\nexit\n"
		       "each:\nr3 = *(u64 *)(r2 +0)\nr3 += r1\nr3 += 1\n*(u64 *)(r2 +0) = r3\nr0 = 0\n"
		       "if r1 != %u goto pc+1\nr0 = 1\nexit\n",
		    cases[i].n, cases[i].flags, cases[i].stop);
		bad += !same(NULL, 0, NULL);
	}
	EQ(bad, 0);
}

/* ---- maps */

static void map_sequence(u32 type, u32 flags, u32 entries)
{
	struct floor_map maps[] = { { type, 4, 16, entries, flags } };
	u32 bad = 0;

	for (u32 round = 0; round < 25 && !bad; round++) {
		floors_make_maps(maps, 1);
		begin();
		for (u32 op = 0; op < 40; op++) {
			u32 key = pick(&seed) % 6;

			add(&t, "*(u32 *)(r10 -4) = %u\nr2 = r10\nr2 += -4\nr1 = map_fd(0)\n", key);
			switch (pick(&seed) % 4) {
			case 0:
				add(&t, "call 1\nif r0 == 0 goto pc+4\nr1 = *(u64 *)(r0 +8)\nr7 += r1\nr1 += 5\n*(u64 *)(r0 +8) = r1\n"
				       "r7 *= 31\n");
				break;
			case 1:
				add(&t, "call 3\n");
				gather();
				break;
			default:
				add(&t, "*(u64 *)(r10 -24) = %d\n*(u64 *)(r10 -16) = %d\nr3 = r10\nr3 += -24\nr4 = %u\ncall 2\n",
				    (s32)pick(&seed), (s32)pick(&seed), (u32)(pick(&seed) % 5));
				gather();
			}
		}
		end();
		bad += !same(maps, 1, NULL);
		floors_drop_maps(maps, 1);
	}
	printf("# map type %u\n", type);
	EQ(bad, 0);
}

static void percpu_lookups(void)
{
	struct floor_map maps[] = { { BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 2 } };

	floors_make_maps(maps, 1);
	begin();
	for (u32 i = 0; i < 4; i++) { /* this run's CPU differs, its own part does not */
		add(&t, "*(u32 *)(r10 -4) = 1\nr2 = r10\nr2 += -4\nr1 = map_fd(0)\ncall 1\nif r0 == 0 goto pc+3\n"
		       "r1 = *(u64 *)(r0 +0)\nr1 += 3\n*(u64 *)(r0 +0) = r1\n"
		       "call 8\nr3 = r0\nr3 += %d\nr2 = r10\nr2 += -4\nr1 = map_fd(0)\ncall 195\nif r0 == 0 goto pc+3\n"
		       "r7 *= 31\nr1 = *(u64 *)(r0 +0)\nr7 += r1\n", i < 2 ? 0 : 100000);
	}
	end();
	OK(same(maps, 1, NULL));
	floors_drop_maps(maps, 1);
}

static void rings(void)
{
	struct floor_map maps[] = { { BPF_MAP_TYPE_RINGBUF, 0, 0, 4096 } };
	u32 bad = 0;

	for (u32 round = 0; round < 20 && !bad; round++) {
		floors_make_maps(maps, 1);
		begin();
		fill_stack(256, 256, 0);
		for (u32 op = 0; op < 40; op++) {
			switch (pick(&seed) % 3) {
			case 0:
				add(&t, "r1 = map_fd(0)\nr2 = r10\nr2 += -256\nr3 = %u\nr4 = %u\ncall 130\n", (u32)(pick(&seed) % 257),
				    (u32)(pick(&seed) % 5));
				gather();
				break;
			case 1:
				add(&t, "r1 = map_fd(0)\nr2 = %u\nr3 = %u\ncall 131\nif r0 == 0 goto pc+5\n*(u64 *)(r0 +0) = 1\n"
				       "r1 = r0\nr2 = %u\ncall %u\nr7 += 1\nr7 *= 31\n",
				    (u32)(8 + pick(&seed) % (pick(&seed) % 4 ? 300 : 5000)), pick(&seed) % 8 == 0,
				    (u32)(pick(&seed) % 4), (u32)(132 + pick(&seed) % 2));
				break;
			default:
				add(&t, "r1 = map_fd(0)\nr2 = %u\ncall 134\n", (u32)(pick(&seed) % 6));
				gather();
			}
		}
		end();
		bad += !same(maps, 1, NULL);
		floors_drop_maps(maps, 1);
	}
	EQ(bad, 0);
}

/* ---- others */

static void redirects(void)
{
	struct run_test run = { .data_in = packet, .data_size_in = 64, .repeat = 1 };
	struct floors f;

	for (u32 flags = 0; flags < 2; flags++) {
		begin();
		add(&t, "r1 = 7\nr2 = %u\ncall 23\n", flags);
		gather();
		end();
		OK(same(NULL, 0, NULL));
	}
	floors_load(&f, "r1 = 7\nr2 = 0\ncall 23\nexit\n", BPF_XDP, 0, NULL, 0);
	EQ(run_test(f.user, &run), 0);
	EQ(run.retval, XDP_REDIRECT);
	EQ(run.redirect.ifindex, 7);
	OK(run.redirect.set);
	floors_done(&f);
}

static u64 host_clock(int clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Clocks can't be compared between floors, but each lies between two readings of the same clock. */
static void clocks(void)
{
	static const struct { u32 id; int clock; } cases[] = {
		{ 5, CLOCK_MONOTONIC }, { 125, CLOCK_BOOTTIME }, { 160, CLOCK_MONOTONIC_COARSE }, { 208, CLOCK_TAI },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 before = host_clock(cases[i].clock) >> 16, after;
		u32 got;

		t.len = 0;
		add(&t, "call %u\nr0 >>= 16\nexit\n", cases[i].id);
		OK(same(NULL, 0, &got));
		after = host_clock(cases[i].clock) >> 16;
		OK(got - (u32)before <= (u32)(after - before));
	}
}

static void tasks(void)
{
	u32 got, again = 0;

	t.len = 0;
	add(&t, "call 14\nexit\n");
	OK(same(NULL, 0, &got));
	EQ(got, syscall(SYS_gettid));
	OK(same(NULL, 0, NULL));
	t.len = 0;
	add(&t, "call 8\nexit\n");
	OK(same(NULL, 0, &got));
	OK(got < env_possible_cpus());
	t.len = 0;
	add(&t, "call 7\nexit\n");
	OK(same(NULL, 0, &got) && same(NULL, 0, &again));
	OK(got != again); /* equal once in 4 billion runs */
	t.len = 0;
	add(&t, "call 118\nr6 = r0\ncall 118\nr0 -= r6\nexit\n");
	OK(same(NULL, 0, &got));
	OK(got < 1000);
	t.len = 0;
	add(&t, "call 42\nexit\n");
	OK(same(NULL, 0, NULL));
}

static void broken_build(void)
{
	if (helper_broken())
		printf("# this build breaks bpf_%s on purpose\n", helper_broken());
	OK(!helper_broken());
}

int main(void)
{
	for (u32 i = 0; i < sizeof(packet); i++)
		packet[i] = i * 13 + i / 256;
	if (!floors_have_kernel())
		printf("ok %d - compared with the kernel # SKIP bpf(2) needs root\n", ++tap_n);
	broken_build();
	csums();
	formats();
	printks();
	printk_text();
	vprintks();
	strncmps();
	loops();
	map_sequence(BPF_MAP_TYPE_ARRAY, 0, 5);
	map_sequence(BPF_MAP_TYPE_HASH, 0, 4);
	map_sequence(BPF_MAP_TYPE_HASH, BPF_F_NO_PREALLOC, 4);
	map_sequence(BPF_MAP_TYPE_PERCPU_ARRAY, 0, 5);
	map_sequence(BPF_MAP_TYPE_PERCPU_HASH, 0, 4);
	map_sequence(BPF_MAP_TYPE_LRU_HASH, 0, 1000);
	percpu_lookups();
	rings();
	redirects();
	clocks();
	tasks();
	return tap_done();
}
