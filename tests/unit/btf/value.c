/* btf: values printed as C and as JSON, and read back; what is said about text that isn't a value. */
#include "base/log.h"
#include "btf/btf.h"
#include "blob.h"
#include "tap.h"
#include <math.h>

static struct blob blob;
static struct btf_types *b;

enum {
	U32 = 1, CHAR, S64, BOOL, U8, S128, FLOAT, DOUBLE, STATE, WIDE, NAME, IP6, MAC, PTR, PAIR, FLAGS, OLD3, OLD, ALL, NAMES, TINY, UNI,
	U32_2, EMPTY, FLEX, VAR, SECTION, PROTO, S8
};

static void make_types(void)
{
	u32 size;

	blob_init(&blob);
	blob_int(&blob, "unsigned int", 4, 0);
	blob_int(&blob, "char", 1, BTF_INT_SIGNED);
	blob_int(&blob, "long long", 8, BTF_INT_SIGNED);
	blob_int(&blob, "_Bool", 1, BTF_INT_BOOL);
	blob_int(&blob, "unsigned char", 1, 0);
	blob_int(&blob, "__int128", 16, BTF_INT_SIGNED);
	blob_type(&blob, BTF_KIND_FLOAT, "float", 0, false, 4);
	blob_type(&blob, BTF_KIND_FLOAT, "double", 0, false, 8);
	blob_type(&blob, BTF_KIND_ENUM, "state", 2, true, 4);
	blob_enumerator(&blob, "IDLE", 0);
	blob_enumerator(&blob, "BROKEN", -1);
	blob_type(&blob, BTF_KIND_ENUM64, "wide", 1, false, 8);
	blob_enumerator64(&blob, "HUGE", 0x123456789aull);
	blob_array(&blob, CHAR, U32, 8);
	blob_array(&blob, U8, U32, 16);
	blob_array(&blob, U8, U32, 6);
	blob_ref(&blob, BTF_KIND_PTR, NULL, 0);
	blob_type(&blob, BTF_KIND_STRUCT, "pair", 2, false, 8);
	blob_member(&blob, "x", U32, 0);
	blob_member(&blob, "y", U32, 32);
	/* bit-fields in the members */
	blob_type(&blob, BTF_KIND_STRUCT, "flags", 3, true, 8);
	blob_field(&blob, "low", U32, 0, 3);
	blob_field(&blob, "state", STATE, 3, 2);
	blob_field(&blob, "high", S64, 5, 59);
	/* and in the ints */
	blob_bits(&blob, "unsigned int", 4, 0, 3, 5);
	blob_type(&blob, BTF_KIND_STRUCT, "old", 2, false, 4);
	blob_member(&blob, "a", OLD3, 0);
	blob_member(&blob, "b", U8, 24);
	blob_type(&blob, BTF_KIND_STRUCT, "all", 6, false, 48);
	blob_member(&blob, "n", U32, 0);
	blob_member(&blob, "name", NAME, 32);
	blob_member(&blob, NULL, PAIR, 96);
	blob_member(&blob, "pairs", UNI, 160);
	blob_member(&blob, "p", PTR, 256);
	blob_member(&blob, "ok", BOOL, 320);
	blob_array(&blob, NAME, U32, 2);
	blob_type(&blob, BTF_KIND_ENUM, "tiny", 1, false, 1);
	blob_enumerator(&blob, "T", 200);
	blob_type(&blob, BTF_KIND_UNION, "uni", 2, false, 8);
	blob_member(&blob, "both", U32_2, 0);
	blob_member(&blob, "one", S64, 0);
	blob_array(&blob, U32, U32, 2);
	blob_type(&blob, BTF_KIND_STRUCT, "empty", 0, false, 0);
	blob_array(&blob, U32, U32, 0);
	blob_var(&blob, "counter", U32, 1);
	blob_type(&blob, BTF_KIND_DATASEC, ".data", 1, false, 4);
	blob_in_section(&blob, VAR, 0, 4);
	blob_type(&blob, BTF_KIND_FUNC_PROTO, NULL, 0, false, 0);
	blob_int(&blob, "signed char", 1, BTF_INT_SIGNED);
	blob_end(&blob, &size);
	EQ(btf_parse(&b, blob.out, size, NULL, NULL), 0);
}

static char *print(u32 id, const void *data, u32 size, struct btf_print_opts opts)
{
	struct log log;
	char *text;

	log_init(&log, 1 << 16);
	btf_print_value(&log, b, id, data, size, &opts);
	text = log_text(&log, NULL);
	log_done(&log);
	return text;
}

#define PRINTS(id, data, size, want, ...) \
	do { \
		char *text_ = print(id, data, size, (struct btf_print_opts){ __VA_ARGS__ }); \
		STR(text_, want); \
		free(text_); \
	} while (0)

static u8 got[64];

/* Text that is read, printed as C, and printed as JSON; both prints are read back to the same bytes. */
static void both_ways(u32 id, const char *text, const char *c, const char *json)
{
	u8 again[sizeof(got)];
	s64 size = btf_size(b, id);
	char *printed;
	struct log err;

	log_init(&err, 4096);
	EQ(btf_parse_value(b, id, text, got, size, &err), 0);
	printed = log_text(&err, NULL);
	STR(printed, "");
	free(printed);
	for (u32 way = 0; way < 2; way++) {
		printed = print(id, got, size, (struct btf_print_opts){ .json = way });
		STR(printed, way ? json : c);
		memset(again, 0xff, sizeof(again));
		EQ(btf_parse_value(b, id, printed, again, size, &err), 0);
		OK(!memcmp(got, again, size));
		free(printed);
	}
	log_done(&err);
}

static void refuses(u32 id, const char *text, const char *want)
{
	s64 size = btf_size(b, id);
	struct log err;
	char *said;

	log_init(&err, 4096);
	EQ(btf_parse_value(b, id, text, got, size < 0 ? 0 : size, &err), -EINVAL);
	said = log_text(&err, NULL);
	STR(said, want);
	free(said);
	log_done(&err);
}

static void numbers(void)
{
	both_ways(U32, "0x1f", "31", "31");
	both_ways(U32, " 4294967295 ", "4294967295", "4294967295");
	both_ways(U32, "0b101", "5", "5");
	both_ways(U32, "017", "15", "15");
	both_ways(U32, "5UL", "5", "5");
	both_ways(S64, "-9223372036854775808", "-9223372036854775808", "-9223372036854775808");
	both_ways(S64, "0xffffffffffffffff", "-1", "-1");
	both_ways(S128, "-170141183460469231731687303715884105728", "-170141183460469231731687303715884105728",
		  "-170141183460469231731687303715884105728");
	both_ways(S128, "0x123456789abcdef0123456789abcdef0", "24197857203266734864793317670504947440",
		  "24197857203266734864793317670504947440");
	both_ways(CHAR, "'a'", "'a'", "97");
	both_ways(CHAR, "'\\n'", "10", "10");
	both_ways(CHAR, "-1", "-1", "-1");
	both_ways(CHAR, "'\\''", "'\\''", "39");
	both_ways(U8, "'a'", "97", "97");
	both_ways(S8, "-128", "-128", "-128");
	both_ways(BOOL, "true", "true", "true");
	both_ways(BOOL, "0", "false", "false");
	both_ways(PTR, "0xffff888012345678", "0xffff888012345678", "\"0xffff888012345678\"");
	both_ways(PTR, "NULL", "0x0", "\"0x0\"");
	both_ways(DOUBLE, "0.1", "0.1", "0.1");
	both_ways(DOUBLE, "3", "3.0", "3.0");
	both_ways(FLOAT, "-1e-7", "-1e-07", "-1e-07");
	both_ways(FLOAT, "16777216", "16777216.0", "16777216.0");
	both_ways(DOUBLE, "inf", "inf", "\"inf\"");
	both_ways(STATE, "BROKEN", "BROKEN", "\"BROKEN\"");
	both_ways(STATE, "7", "7", "7");
	both_ways(STATE, "-2", "-2", "-2");
	both_ways(WIDE, "HUGE", "HUGE", "\"HUGE\"");
	both_ways(TINY, "T", "T", "\"T\"");
	both_ways(U32, "10.0.0.1", "16777226", "16777226");

	refuses(U32, "4294967296", "4294967296 doesn't fit into 32 bits: it may be 0 to 4294967295 (at character 1)");
	refuses(U32, "-1", "-1 doesn't fit into 32 bits: it may be 0 to 4294967295 (at character 1)");
	refuses(S8, "128", "128 doesn't fit into 8 bits: it may be -128 to 127 (at character 1)");
	refuses(S64, "9223372036854775808", "9223372036854775808 doesn't fit into 64 bits: it may be -9223372036854775808 to "
					    "9223372036854775807 (at character 1)");
	refuses(U32, "12x", "12x is not a number (at character 1)");
	refuses(U32, "", " is not a number (at character 1)");
	refuses(U32, "5 6", "nothing more should follow the value (at character 3)");
	refuses(BOOL, "maybe", "maybe is neither true nor false (at character 1)");
	refuses(STATE, "BUSY", "BUSY is no name of this enum: it has IDLE, BROKEN (at character 1)");
	refuses(PTR, "none", "a pointer is a number or NULL (at character 5)");
	refuses(FLOAT, "1e39", "1e39 is too large for a float (at character 1)");
	refuses(PROTO, "1", "there are 0 bytes for this value, which needs -22 (at character 1)");
}

static void texts(void)
{
	both_ways(NAME, "\"eth0\"", "\"eth0\"", "\"eth0\"");
	both_ways(NAME, "\"12345678\"", "\"12345678\"", "\"12345678\"");
	both_ways(NAME, "\"a\\0b\\x7f\\\"\"", "\"a\\000b\\177\\\"\"", "\"a\\u0000b\\u007f\\\"\"");
	both_ways(NAME, "\"gr\xc3\xbc\xc3\x9f\xff\"", "\"gr\xc3\xbc\xc3\x9f\\377\"", "\"gr\xc3\xbc\xc3\x9f\\u00ff\"");
	both_ways(NAME, "{'h', 'i'}", "\"hi\"", "\"hi\"");
	both_ways(NAMES, "{\"a\", \"b\"}", "{\"a\", \"b\"}", "[\"a\", \"b\"]");
	refuses(NAME, "\"123456789\"", "the string is too long for 8 bytes (at character 11)");
	refuses(NAME, "\"12", "the string has no end (at character 4)");
	refuses(NAME, "\"\\q\"", "this escape isn't known in a string (at character 2)");
}

static void composites(void)
{
	both_ways(MAC, "aa:bb:cc:dd:ee:ff", "{170, 187, 204, 221, 238, 255}", "[170, 187, 204, 221, 238, 255]");
	both_ways(MAC, "mac 00:00:00:00:00:01", "{0, 0, 0, 0, 0, 1}", "[0, 0, 0, 0, 0, 1]");
	both_ways(IP6, "2001:db8::1", "{32, 1, 13, 184, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}",
		  "[32, 1, 13, 184, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]");
	both_ways(IP6, "{1, [14] = 2, 3}", "{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3}",
		  "[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3]");
	both_ways(PAIR, "{1, 2}", "{.x = 1, .y = 2}", "{\"x\": 1, \"y\": 2}");
	both_ways(PAIR, "{.y = 2,}", "{.x = 0, .y = 2}", "{\"x\": 0, \"y\": 2}");
	both_ways(PAIR, "{y: 3}", "{.x = 0, .y = 3}", "{\"x\": 0, \"y\": 3}");
	both_ways(FLAGS, "{7, BROKEN, -1}", "{.low = 7, .state = BROKEN, .high = -1}",
		  "{\"low\": 7, \"state\": \"BROKEN\", \"high\": -1}");
	both_ways(OLD, "{31, 255}", "{.a = 31, .b = 255}", "{\"a\": 31, \"b\": 255}");
	EQ(got[0], 31 << 3);
	both_ways(ALL, "{.n = 1, .name = \"n\", .y = 3, .pairs.both[1] = 1, .p = 0x10, .ok = true}",
		  "{.n = 1, .name = \"n\", .x = 0, .y = 3, .pairs = {.both = {0, 1}, .one = 4294967296}, .p = 0x10, .ok = true}",
		  "{\"n\": 1, \"name\": \"n\", \"x\": 0, \"y\": 3, \"pairs\": {\"both\": [0, 1], \"one\": 4294967296}, \"p\": \"0x10\", "
		  "\"ok\": true}");
	both_ways(UNI, "{{1}}", "{.both = {1, 0}, .one = 1}", "{\"both\": [1, 0], \"one\": 1}");
	both_ways(EMPTY, "{}", "{}", "{}");
	both_ways(FLEX, "{}", "{}", "[]");
	both_ways(VAR, "5", "5", "5");
	both_ways(SECTION, "{.counter = 5}", "{.counter = 5}", "{\"counter\": 5}");

	refuses(PAIR, "{1, 2, 3}", "there are more values than members (at character 8)");
	refuses(PAIR, "{.z = 1}", "struct pair has no member z (at character 4)");
	refuses(PAIR, "{.x.y = 1}", "unsigned int has no member y, it has no members at all (at character 6)");
	refuses(PAIR, "1", "{ should be here, where the struct begins (at character 1)");
	refuses(PAIR, "{1 2}", "a comma or } should be here (at character 4)");
	refuses(PAIR, "{1", "a comma or } should be here (at character 3)");
	refuses(U32_2, "{1, 2, 3}", "the array has only 2 elements (at character 8)");
	refuses(U32_2, "{[2] = 1}", "the array has 2 elements, counted from 0 (at character 3)");
	refuses(FLAGS, "{8}", "8 doesn't fit into 3 bits: it may be 0 to 7 (at character 2)");
	refuses(UNI, "{{1}, 2}", "there are more values than members (at character 7)");
}

static void options(void)
{
	static const u32 v[4] = { 1, 2, 255, 0 };

	PRINTS(U32_2, v + 1, 8, "{0x2, 0xff}", .hex = true);
	PRINTS(U32_2, v + 1, 8, "[2,255]", .json = true, .compact = true);
	PRINTS(IP6, v, 16, "{1, 0, 0, ...}", .max_array = 3);
	PRINTS(IP6, v, 16, "[1, \"...\"]", .max_array = 1, .json = true);
	PRINTS(PAIR, v, 4, "{.x = 1, .y = ?}");
	PRINTS(PAIR, v, 6, "{\"x\": 1, \"y\": null}", .json = true);
	PRINTS(U32_2, v, 0, "{?}");
	PRINTS(NAME, "ab", 2, "{'a', 'b', ?}");
	PRINTS(PROTO, v, 4, "?");
	PRINTS(1000, v, 4, "?");
	PRINTS(BOOL, v + 1, 1, "2");
}

/* A struct that holds itself, as the kernel lets it through: nesting ends somewhere. */
static void endless(void)
{
	struct btf_types *loop = NULL;
	struct log log;
	u8 zero[8] = { 0 };
	u32 size;

	blob_init(&blob);
	blob_ref(&blob, BTF_KIND_PTR, NULL, 2);
	blob_ref(&blob, BTF_KIND_CONST, NULL, 3);
	blob_type(&blob, BTF_KIND_STRUCT, "s", 2, false, 8);
	blob_member(&blob, "a", 2, 0);
	blob_member(&blob, "b", 2, 0);
	blob_end(&blob, &size);
	EQ(btf_parse(&loop, blob.out, size, NULL, NULL), 0);
	log_init(&log, 64);
	btf_print_value(&log, loop, 3, zero, 8, NULL);
	OK(log.total > 1000 && log.total < 100000000);
	btf_print_all(&log, loop);
	EQ(btf_parse_value(loop, 3, "{.a = {.b = {.a = {}}}}", zero, 8, &log), 0);
	log_done(&log);
	btf_put(loop);
}

static void declarations(void)
{
	static const struct {
		u32 id;
		const char *name, *want;
	} d[] = { { U32, "n", "unsigned int n" },
		  { NAMES, "names", "char names[2][8]" },
		  { PTR, "p", "void *p" },
		  { PAIR, "", "struct pair" },
		  { STATE, NULL, "enum state" },
		  { VAR, NULL, "unsigned int counter" },
		  { 0, "x", "void x" },
		  { 1000, "x", "void x" } };

	for (u32 i = 0; i < ARRAY_SIZE(d); i++) {
		struct log log;
		char *text;

		log_init(&log, 1024);
		btf_print_decl(&log, b, d[i].id, d[i].name);
		text = log_text(&log, NULL);
		STR(text, d[i].want);
		free(text);
		log_done(&log);
	}
}

int main(void)
{
	make_types();
	numbers();
	texts();
	composites();
	options();
	declarations();
	endless();
	btf_put(b);
	return tap_done();
}
