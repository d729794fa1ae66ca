/* Fuzz target: type information.
 *
 * Input that begins with BTF's magic is parsed as such; what is accepted, be it for its shapes only, is looked up, written as C,
 * and has values printed and read back. Other input is text for a value of one of a few fixed types: what is accepted must survive printing
 * and reading again, byte for byte. */
#include "base/log.h"
#include "btf/btf.h"
#include "unit/btf/blob.h"
#include "fuzz.h"

#define MOST_IDS 48
#define VALUE_BYTES 512

static u8 bytes[VALUE_BYTES], again[VALUE_BYTES];

static void fill(u32 seed)
{
	for (u32 i = 0; i < sizeof(bytes); i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = seed >> 28 ? seed >> 24 : 0;
	}
}

static char *print(const struct btf_types *b, u32 id, const void *data, u32 size, const struct btf_print_opts *opts)
{
	struct log log;
	char *text;

	log_init(&log, 1 << 20);
	log.keep_head = true;
	btf_print_value(&log, b, id, data, size, opts);
	text = log_text(&log, NULL);
	log_done(&log);
	FUZZ_CHECK(text);
	return text;
}

static int read_value(const struct btf_types *b, u32 id, const char *text, void *data, u32 size)
{
	struct log log;
	int err;

	log_init(&log, 4096);
	err = btf_parse_value(b, id, text, data, size, &log);
	FUZZ_CHECK(err == 0 || (err == -EINVAL && log.total > 0));
	log_done(&log);
	return err;
}

/* Hostile types: nothing may break, whatever they say. */
static void try_type(const struct btf_types *b, u32 id)
{
	static const struct btf_print_opts ways[] = { { 0 }, { .json = true }, { .hex = true, .compact = true, .max_array = 3 } };
	s64 size = btf_size(b, id);
	u32 skipped = 0;

	btf_skip(b, id, &skipped);
	FUZZ_CHECK(skipped < btf_n_types(b));
	for (u32 i = 0; i < ARRAY_SIZE(ways); i++) {
		u32 given = size >= 0 && size <= VALUE_BYTES ? size : VALUE_BYTES;
		char *text = print(b, id, bytes, i == 2 ? given / 2 : given, &ways[i]);

		if (size >= 0 && size <= VALUE_BYTES)
			read_value(b, id, text, again, size);
		free(text);
	}
}

static void try_types(struct btf_types *b, const u8 *data, size_t size)
{
	u32 n = btf_n_types(b);
	struct log c;

	log_init(&c, 1 << 20);
	btf_print_all(&c, b);
	log_done(&c);
	fill(n);
	for (u32 id = 0; id <= n && id < MOST_IDS; id++) {
		const char *name = btf_name(b, id);

		try_type(b, id);
		if (name && *name)
			FUZZ_CHECK(btf_find(b, name, 0) > 0);
	}
	FUZZ_CHECK(!memcmp(btf_raw(b, &n), data, size) && n == size);
	btf_put(b);
}

/* What BTF_LOAD refuses may still be shown, if the shapes of its types are right. */
static void try_blob(const u8 *data, size_t size)
{
	struct btf_types *b;
	struct log log;

	log_init(&log, 1 << 16);
	if (!btf_parse(&b, data, size, NULL, &log) || !btf_parse_shapes(&b, data, size, NULL, NULL))
		try_types(b, data, size);
	log_done(&log);
}

/* Types for text: a struct of most kinds of members, and what stands in it alone. */
static const struct btf_types *fixed_types(void)
{
	static struct btf_types *types;
	static struct blob blob;
	struct blob *b = &blob;
	const void *data;
	u32 size;

	if (types)
		return types;
	blob_init(b);
	blob_int(b, "unsigned int", 4, 0);				/* 1 */
	blob_int(b, "char", 1, BTF_INT_SIGNED);				/* 2 */
	blob_int(b, "long long", 8, BTF_INT_SIGNED);			/* 3 */
	blob_int(b, "_Bool", 1, BTF_INT_BOOL);				/* 4 */
	blob_int(b, "unsigned char", 1, 0);				/* 5 */
	blob_int(b, "__int128", 16, BTF_INT_SIGNED);			/* 6 */
	blob_type(b, BTF_KIND_FLOAT, "double", 0, false, 8);		/* 7 */
	blob_type(b, BTF_KIND_ENUM, "state", 2, true, 4);		/* 8 */
	blob_enumerator(b, "IDLE", 0);
	blob_enumerator(b, "BROKEN", -1);
	blob_array(b, 2, 1, 7);						/* 9 */
	blob_array(b, 5, 1, 16);					/* 10 */
	blob_array(b, 5, 1, 6);						/* 11 */
	blob_ref(b, BTF_KIND_PTR, NULL, 0);				/* 12 */
	blob_type(b, BTF_KIND_STRUCT, NULL, 2, true, 4);		/* 13 */
	blob_field(b, "low", 1, 0, 5);
	blob_field(b, "high", 8, 5, 20);
	blob_type(b, BTF_KIND_STRUCT, "all", 10, false, 104);		/* 14 */
	blob_member(b, "n", 1, 0);
	blob_member(b, NULL, 13, 32);
	blob_member(b, "big", 3, 64);
	blob_member(b, "name", 9, 128);
	blob_member(b, "ok", 4, 184);
	blob_member(b, "ip6", 10, 192);
	blob_member(b, "mac", 11, 320);
	blob_member(b, "p", 12, 384);
	blob_member(b, "wide", 6, 512);
	blob_member(b, "d", 7, 640);
	blob_array(b, 14, 1, 3);					/* 15 */
	data = blob_end(b, &size);
	FUZZ_CHECK(!btf_parse(&types, data, size, NULL, NULL));
	return types;
}

static void try_text(const u8 *data, size_t size)
{
	const struct btf_types *b = fixed_types();
	u32 id = 1 + data[0] % 15, n = btf_size(b, id);
	char *text = strndup((const char *)data + 1, size - 1), *printed;

	FUZZ_CHECK(text && n <= VALUE_BYTES);
	if (!read_value(b, id, text, bytes, n)) {
		printed = print(b, id, bytes, n, NULL);
		FUZZ_CHECK(!read_value(b, id, printed, again, n));
		FUZZ_CHECK(!memcmp(bytes, again, n));
		free(printed);
		printed = print(b, id, bytes, n, &(struct btf_print_opts){ .json = true });
		FUZZ_CHECK(!read_value(b, id, printed, again, n));
		FUZZ_CHECK(!memcmp(bytes, again, n));
		free(printed);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] == (BTF_MAGIC & 0xff))
		try_blob(data, size);
	else
		try_text(data, size);
	return 0;
}
