/* btf: what is refused and in which words, look-ups, sizes, function and line records. The words are those of kernel 6.18;
 * btf-mutate compares them with a live one. */
#include "base/log.h"
#include "btf/btf.h"
#include "blob.h"
#include "tap.h"

static struct blob blob;

static char *log_of(const void *data, u32 size, int *err)
{
	struct btf_types *b = NULL;
	struct log log;
	char *text;

	log_init(&log, 1 << 16);
	*err = btf_parse(&b, data, size, NULL, &log);
	text = log_text(&log, NULL);
	log_done(&log);
	btf_put(b);
	return text;
}

/* The last line of the log: the reason. */
#define REFUSED(want_err, want) \
	do { \
		u32 size_; \
		const void *data_ = blob_end(&blob, &size_); \
		int err_; \
		char *text_ = log_of(data_, size_, &err_), *end_ = text_ + strlen(text_); \
		if (end_ > text_ && end_[-1] == '\n') \
			*--end_ = 0; \
		while (end_ > text_ && end_[-1] != '\n') \
			end_--; \
		EQ(err_, want_err); \
		STR(end_, want); \
		free(text_); \
	} while (0)

static void begin(void)
{
	blob_init(&blob);
	blob_int(&blob, "int", 4, BTF_INT_SIGNED);
}

static void whole_log(void)
{
	u32 size;
	int err;
	char *text;

	begin();
	blob_type(&blob, BTF_KIND_STRUCT, "s", 2, true, 8);
	blob_field(&blob, "a", 1, 0, 3);
	blob_field(&blob, NULL, 1, 32, 0);
	blob_type(&blob, BTF_KIND_FUNC_PROTO, NULL, 2, false, 0);
	blob_param(&blob, "p", 1);
	blob_param(&blob, NULL, 0);
	blob_end(&blob, &size);
	text = log_of(blob.out, size, &err);
	EQ(err, 0);
	STR(text, "magic: 0xeb9f\nversion: 1\nflags: 0x0\nhdr_len: 24\ntype_off: 0\ntype_len: 80\nstr_off: 80\nstr_len: 11\n"
		  "btf_total_size: 115\n"
		  "[1] INT int size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n"
		  "[2] STRUCT s size=8 vlen=2\n"
		  "\ta type_id=1 bitfield_size=3 bits_offset=0\n"
		  "\t(anon) type_id=1 bitfield_size=0 bits_offset=32\n"
		  "[3] FUNC_PROTO (anon) return=0 args=(1 p, vararg)\n");
	free(text);
}

static void header(void)
{
	u8 longer[200];
	u32 size, len = 28;
	int err;
	char *text;

	begin();
	blob_end(&blob, &size);
	text = log_of(blob.out, 7, &err);
	STR(text, "hdr_len not found");
	free(text);
	blob.out[0] = 0;
	text = log_of(blob.out, size, &err);
	OK(strstr(text, "\nInvalid magic"));
	EQ(err, -EINVAL);
	free(text);
	blob_end(&blob, &size);
	blob.out[2] = 2;
	free(log_of(blob.out, size, &err));
	EQ(err, -ENOTSUPP_);
	blob_end(&blob, &size);

	/* a longer header is fine as long as nothing is in what we don't know; this one also puts the types off 4 bytes' grid */
	for (len = 25; len < 29; len++) {
		memcpy(longer, blob.out, 24);
		memset(longer + 24, 0, 4);
		memcpy(longer + len, blob.out + 24, size - 24);
		memcpy(longer + 4, &len, 4);
		free(log_of(longer, size + len - 24, &err));
		EQ(err, 0);
		longer[24] = 1;
		free(log_of(longer, size + len - 24, &err));
		EQ(err, -E2BIG);
	}
	free(log_of(blob.out, 16 * 1024 * 1024 + 1, &err));
	EQ(err, -E2BIG);
}

static void shapes(void)
{
	begin();
	blob_bits(&blob, "odd", 4, 3, 0, 32);
	REFUSED(-ENOTSUPP_, "[2] INT odd size=4 bits_offset=0 nr_bits=32 encoding=UNKN Unsupported encoding");
	begin();
	blob_bits(&blob, "big", 4, 0, 8, 32);
	REFUSED(-EINVAL, "[2] INT big size=4 bits_offset=8 nr_bits=32 encoding=(none) nr_bits exceeds type_size");
	begin();
	blob_ref(&blob, BTF_KIND_PTR, "named", 1);
	REFUSED(-EINVAL, "[2] PTR named type_id=1 Invalid name");
	begin();
	blob_ref(&blob, BTF_KIND_TYPEDEF, "7up", 1);
	REFUSED(-EINVAL, "[2] TYPEDEF 7up type_id=1 Invalid name");
	begin();
	blob_type(&blob, BTF_KIND_ENUM, "e", 0, false, 3);
	REFUSED(-EINVAL, "[2] ENUM e size=3 vlen=0 Unexpected size");
	begin();
	blob_type(&blob, BTF_KIND_DATASEC, ".data", 0, false, 0);
	REFUSED(-EINVAL, "[2] DATASEC .data size=0 vlen=0 size == 0");
	begin();
	blob_type(&blob, BTF_KIND_STRUCT, "s", 5, false, 8);
	REFUSED(-EINVAL, "[2] STRUCT s meta_left:0 meta_needed:60");
	begin();
	blob_type(&blob, BTF_KIND_FLOAT, "half", 0, false, 3);
	REFUSED(-EINVAL, "[2] FLOAT half size=3 Invalid type_size");
	begin();
	blob_type(&blob, 27, NULL, 0, false, 0);
	REFUSED(-EINVAL, "[2] Invalid kind:27");
}

static void references(void)
{
	begin();
	blob_ref(&blob, BTF_KIND_PTR, NULL, 9);
	REFUSED(-EINVAL, "[2] PTR (anon) type_id=9 Invalid type_id");
	begin();
	blob_ref(&blob, BTF_KIND_CONST, NULL, 3);
	blob_ref(&blob, BTF_KIND_VOLATILE, NULL, 2);
	REFUSED(-EEXIST, "[2] CONST (anon) type_id=3 Loop detected");
	begin();
	blob_type(&blob, BTF_KIND_STRUCT, "s", 1, false, 8);
	blob_member(&blob, "m", 2, 0);
	REFUSED(-EEXIST, "[2] STRUCT s size=8 vlen=1 Loop detected");
	begin();
	blob_type(&blob, BTF_KIND_STRUCT, "s", 1, false, 2);
	blob_member(&blob, "m", 1, 0);
	REFUSED(-EINVAL, "\tm type_id=1 bits_offset=0 Member exceeds struct_size");
	begin();
	for (u32 i = 0; i < 40; i++)
		blob_ref(&blob, BTF_KIND_PTR, NULL, 3 + i);
	blob_int(&blob, "end", 4, 0);
	REFUSED(-E2BIG, "[2] PTR (anon) type_id=3 Exceeded max resolving depth:32");
	begin();
	blob_array(&blob, 1, 1, 0x40000001);
	REFUSED(-EINVAL, "[2] ARRAY (anon) type_id=1 index_type_id=1 nr_elems=1073741825 Array size overflows U32_MAX");
	begin();
	blob_type(&blob, BTF_KIND_FUNC_PROTO, NULL, 1, false, 0);
	blob_param(&blob, NULL, 1);
	blob_ref(&blob, BTF_KIND_FUNC, "f", 2);
	REFUSED(-EINVAL, "[3] FUNC f type_id=2 Invalid arg#1");
	begin();
	blob_tag(&blob, "t", 1, -1);
	REFUSED(-EINVAL, "[2] DECL_TAG t type=1 component_idx=-1 Invalid type_id");
	begin();
	blob_ref(&blob, BTF_KIND_TYPE_TAG, "user", 1);
	blob_ref(&blob, BTF_KIND_CONST, NULL, 2);
	REFUSED(-EINVAL, "Type tags don't precede modifiers");
}

/* A list whose head says what it contains, with and without a lock beside it. */
static void special_fields(void)
{
	for (u32 with_lock = 0; with_lock < 2; with_lock++) {
		begin();
		blob_type(&blob, BTF_KIND_STRUCT, with_lock ? "bpf_spin_lock" : "no_lock", 0, false, 4);	/* 2 */
		blob_type(&blob, BTF_KIND_STRUCT, "bpf_list_head", 0, false, 16);				/* 3 */
		blob_type(&blob, BTF_KIND_STRUCT, "bpf_list_node", 0, false, 24);				/* 4 */
		blob_type(&blob, BTF_KIND_STRUCT, "elem", 1, false, 24);
		blob_member(&blob, "node", 4, 0);
		blob_type(&blob, BTF_KIND_STRUCT, "owner", 2, false, 24);
		blob_member(&blob, "lock", 2, 0);
		blob_member(&blob, "head", 3, 64);
		blob_tag(&blob, "contains:elem:node", 6, 1);
		REFUSED(with_lock ? 0 : -EINVAL, "[7] DECL_TAG contains:elem:node type=6 component_idx=1");
	}
}

static struct btf_types *parsed(void)
{
	struct btf_types *b = NULL;
	u32 size;

	blob_end(&blob, &size);
	EQ(btf_parse(&b, blob.out, size, NULL, NULL), 0);
	return b;
}

static void lookups(void)
{
	struct btf_types *b;
	const void *raw;
	u32 id = 99, size;

	begin();
	blob_ref(&blob, BTF_KIND_TYPEDEF, "s32", 1);			/* 2 */
	blob_ref(&blob, BTF_KIND_CONST, NULL, 2);			/* 3 */
	blob_array(&blob, 3, 1, 5);					/* 4 */
	blob_ref(&blob, BTF_KIND_TYPEDEF, "five", 4);			/* 5 */
	blob_type(&blob, BTF_KIND_STRUCT, "s32", 0, false, 12);		/* 6 */
	blob_ref(&blob, BTF_KIND_PTR, NULL, 6);				/* 7 */
	blob_ref(&blob, BTF_KIND_TYPEDEF, "nothing", 0);		/* 8 */
	b = parsed();
	EQ(btf_n_types(b), 9);
	EQ(btf_find(b, "s32", 0), 2);
	EQ(btf_find(b, "s32", BTF_KIND_STRUCT), 6);
	EQ(btf_find(b, "s32", BTF_KIND_UNION), -ENOENT);
	EQ(btf_find(b, "", 0), -ENOENT);
	OK(btf_skip(b, 3, &id) == btf_type(b, 1) && id == 1);
	OK(btf_skip(b, 8, &id) == btf_type(b, 0) && id == 0);
	OK(!btf_type(b, 9) && !btf_skip(b, 9, &id) && !btf_name(b, 9));
	STR(btf_name(b, 5), "five");
	STR(btf_name(b, 7), "");
	OK(!btf_str(b, 1000));
	EQ(btf_size(b, 5), 20);
	EQ(btf_size(b, 7), 8);
	EQ(btf_size(b, 8), -EINVAL);
	EQ(btf_size(b, 9), -EINVAL);
	raw = btf_raw(b, &size);
	EQ(size, sizeof(struct btf_header) + blob.n_words * 4 + blob.n_strs);
	OK(!memcmp(raw, blob.out, size));
	btf_put(b);
}

/* A thousand typedefs of each other: one step for whoever asks. */
static void long_chain(void)
{
	struct btf_types *b;
	char name[16];
	u32 id = 0;

	begin();
	for (u32 i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "t%u", i);
		blob_ref(&blob, BTF_KIND_TYPEDEF, name, i + 1);
	}
	b = parsed();
	btf_skip(b, 1001, &id);
	EQ(id, 1);
	EQ(btf_size(b, 1001), 4);
	btf_put(b);
}

static void split(void)
{
	struct btf_types *base, *b = NULL;
	u32 size, id, first, more;

	begin();
	base = parsed();
	first = btf_n_types(base);
	EQ(first, 2);
	/* strings of the second go on where the first's end: "int" is at 1 of the base's 5 bytes */
	blob_init(&blob);
	more = 5;
	blob_word(&blob, more + blob_str(&blob, "number"));
	blob_word(&blob, BTF_KIND_TYPEDEF << 24);
	blob_word(&blob, 1);
	blob_end(&blob, &size);
	EQ(btf_parse(&b, blob.out, size, base, NULL), 0);
	btf_put(base); /* the second holds it */
	EQ(btf_n_types(b), 3);
	EQ(btf_find(b, "int", 0), 1);
	EQ(btf_find(b, "number", BTF_KIND_TYPEDEF), 2);
	OK(btf_skip(b, 2, &id) && id == 1);
	EQ(btf_size(b, 2), 4);
	btf_put(b);
}

static void records(void)
{
	static const struct bpf_func_info funcs[] = { { 0, 3 }, { 10, 4 } };
	static const struct bpf_line_info lines[] = { { .insn_off = 2, .line_off = 7 }, { .insn_off = 5, .line_off = 8 },
						      { .insn_off = 5, .line_off = 9 } };
	struct btf_types *b;

	begin();
	blob_type(&blob, BTF_KIND_FUNC_PROTO, NULL, 0, false, 1);
	blob_ref(&blob, BTF_KIND_FUNC, "main_prog", 2);
	blob_ref(&blob, BTF_KIND_FUNC, "helper", 2);
	b = parsed();
	STR(btf_func_name(b, funcs, 2, 0), "main_prog");
	STR(btf_func_name(b, funcs, 2, 9), "main_prog");
	STR(btf_func_name(b, funcs, 2, 10), "helper");
	STR(btf_func_name(b, funcs, 2, 4000), "helper");
	OK(!btf_func_name(b, funcs, 0, 0));
	OK(!btf_line(lines, 3, 1));
	OK(btf_line(lines, 3, 2) == &lines[0]);
	OK(btf_line(lines, 3, 4) == &lines[0]);
	OK(btf_line(lines, 3, 100) == &lines[2]);
	btf_put(b);
}

static void kernel(void)
{
	const struct btf_types *k = btf_kernel();
	s32 task;

	if (!k) {
		printf("ok %d - # SKIP no /sys/kernel/btf/vmlinux to read\n", ++tap_n);
		return;
	}
	task = btf_find(k, "task_struct", BTF_KIND_STRUCT);
	OK(task > 0 && btf_size(k, task) > 1000);
	OK(btf_kernel() == k);
}

int main(void)
{
	whole_log();
	header();
	shapes();
	references();
	special_fields();
	lookups();
	long_chain();
	split();
	records();
	kernel();
	return tap_done();
}
