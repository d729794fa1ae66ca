/* btf_parse against the kernel's BTF_LOAD: thousands of random and damaged blobs, the same verdict, errno and log for each.
 *
 * usage: test-btf-mutate [COUNT [SEED [FILE...]]]   files (or folders of them): ELF objects or raw BTF to damage, too
 * Needs bpf(2): skips without. A blob that differs is written to btf-differs.N in the working directory. */
#include "random-btf.h"
#include "base/log.h"
#include "btf/btf.h"
#include "tap.h"
#include <dirent.h>
#include <fcntl.h>
#include <libelf.h>
#include <gelf.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_BLOB (1 << 20)
#define LOG_BYTES (4 << 20)
#define SHOWN 10

static u8 work[MAX_BLOB];
static u32 work_size;
static char kernel_log[LOG_BYTES];

/* Real BTF, read from objects. */
static struct {
	u8 *data;
	u32 size;
} corpus[64];
static u32 n_corpus;

static int load_in_kernel(const void *data, u32 size)
{
	union abi_attr attr = { .btf_load = { .btf = addr_of(data),
					      .btf_size = size,
					      .log_buf = addr_of(kernel_log),
					      .log_size = LOG_BYTES,
					      .log_level = 1 } };
	long fd;

	kernel_log[0] = 0;
	fd = syscall(SYS_bpf, BPF_BTF_LOAD, &attr, sizeof(attr.btf_load));
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Damage. Type words are found by walking the types; everything stays inside work_size. */

static u32 type_at[8192], n_types;

static u32 word_at(u32 off)
{
	u32 w = 0;

	if ((u64)off + 4 <= work_size)
		memcpy(&w, work + off, 4);
	return w;
}
static void set_word(u32 off, u32 w)
{
	if ((u64)off + 4 <= work_size)
		memcpy(work + off, &w, 4);
}

static u32 parts_of(u32 info)
{
	static const u8 fixed[32] = { [1] = 4, [3] = 12, [14] = 4, [17] = 4 };
	static const u8 each[32] = { [4] = 12, [5] = 12, [6] = 8, [13] = 8, [15] = 12, [19] = 12 };

	return fixed[info >> 24 & 31] + (info & 0xffff) * each[info >> 24 & 31];
}

static void find_types(void)
{
	struct btf_header h;
	u32 at, end;

	memcpy(&h, work, sizeof(h));
	n_types = 0;
	at = h.hdr_len + h.type_off;
	end = at + h.type_len;
	while (at + 12 <= end && end <= work_size && n_types < ARRAY_SIZE(type_at)) {
		type_at[n_types++] = at;
		at += 12 + parts_of(word_at(at + 4));
	}
}

static u32 odd_number(void)
{
	static const u32 odd[] = { 0, 1, 2, 3, 4, 7, 8, 12, 16, 31, 32, 64, 127, 128, 255, 256, 0xffff, 0xfffff, 0x100000,
				   0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff };

	return one_in(4) ? (u32)rnd() : odd[rnd_below(ARRAY_SIZE(odd))];
}

static void damage_header(void)
{
	static const u8 offs[] = { 0, 2, 3, 4, 8, 12, 16, 20 };
	u32 off = offs[rnd_below(8)];

	if (off < 4)
		work[off + rnd_below(off ? 1 : 2)] = one_in(2) ? rnd() : 2;
	else if (one_in(2))
		set_word(off, word_at(off) + rnd_below(9) - 4);
	else
		set_word(off, odd_number());
}

static void damage_info(u32 at)
{
	u32 info = word_at(at + 4);

	switch (rnd_below(6)) {
	case 0:
		info ^= 1u << rnd_below(32);
		break;
	case 1:
		info ^= 1u << 31;
		break;
	case 2:
		info = (info & 0xe0ffffff) | rnd_below(22) << 24;
		break;
	case 3:
		info = (info & 0xffff0000) | ((info + 1) & 0xffff);
		break;
	case 4:
		info = (info & 0xffff0000) | ((info - 1) & 0xffff);
		break;
	case 5:
		info = one_in(2) ? (info & 0xffff0000) | rnd_below(5) : odd_number();
		break;
	}
	set_word(at + 4, info);
}

static void damage_words(u32 at)
{
	u32 words = 1 + parts_of(word_at(at + 4)) / 4, off = at + 8 + 4 * rnd_below(words);

	if (off + 4 > work_size)
		return;
	switch (rnd_below(5)) {
	case 0:
		set_word(off, word_at(off) ^ 1u << rnd_below(32));
		break;
	case 1:
		set_word(off, word_at(off) + rnd_below(9) - 4);
		break;
	case 2:
	case 3:
		set_word(off, rnd_below(n_types + 2));
		break;
	case 4:
		set_word(off, odd_number());
		break;
	}
}

static void damage_name(u32 at)
{
	struct btf_header h;

	memcpy(&h, work, sizeof(h));
	set_word(at, one_in(3) ? 0 : one_in(8) ? h.str_len + rnd_below(2) : rnd_below(h.str_len));
}

static void damage_string(void)
{
	static const char odd[] = { 0, 0, '.', '_', '7', ' ', '-', '*', 0x7f, (char)0x80, (char)0xa0, (char)0xc0, (char)0xd7,
				    (char)0xff, '\n', ':' };
	struct btf_header h;
	u32 off;

	memcpy(&h, work, sizeof(h));
	off = h.hdr_len + h.str_off + rnd_below(h.str_len);
	if (off < work_size)
		work[off] = odd[rnd_below(ARRAY_SIZE(odd))];
}

/* Change the bytes in the type section and keep the header true. */
static void resize_types(u32 at, u32 cut, const void *add, u32 n)
{
	u8 copy[4096];

	if (n > sizeof(copy) || at + cut > work_size || work_size + n > MAX_BLOB)
		return;
	if (n)
		memcpy(copy, add, n);
	memmove(work + at + n, work + at + cut, work_size - at - cut);
	memcpy(work + at, copy, n);
	work_size = work_size - cut + n;
	set_word(12, word_at(12) + n - cut);
	set_word(16, word_at(16) + n - cut);
}

static void move_types(void)
{
	u32 i = rnd_below(n_types), j = rnd_below(n_types), len_i = 12 + parts_of(word_at(type_at[i] + 4));
	u8 copy[4096];

	switch (rnd_below(4)) {
	case 0: /* lose one */
		resize_types(type_at[i], len_i, NULL, 0);
		break;
	case 1: /* have one twice */
		resize_types(type_at[j], 0, work + type_at[i], len_i);
		break;
	case 2: /* move one */
		if (len_i > sizeof(copy) || i >= j)
			break;
		memcpy(copy, work + type_at[i], len_i);
		resize_types(type_at[j], 0, copy, len_i);
		resize_types(type_at[i], len_i, NULL, 0);
		break;
	case 3: /* a few bytes more or less */
		resize_types(type_at[i] + 4 * rnd_below(4), one_in(2) ? rnd_below(9) : 0, "\1\0\0\0\0\0\0\4", rnd_below(9));
		break;
	}
}

static void cut_or_extend(void)
{
	u32 n = rnd_below(one_in(2) ? 8 : 64);

	if (one_in(2)) {
		work_size -= MIN(n, work_size);
	} else if (work_size + n <= MAX_BLOB) {
		memset(work + work_size, one_in(2) ? 0 : 'x', n);
		work_size += n;
	}
	if (one_in(2))
		set_word(20, word_at(20) + n);
}

/* A longer header, its tail zero or not. */
static void lengthen_header(void)
{
	u32 n = 1 + rnd_below(12);

	memmove(work + 24 + n, work + 24, work_size - 24);
	memset(work + 24, 0, n);
	if (one_in(3))
		work[24 + rnd_below(n)] = 1;
	work_size += n;
	set_word(4, 24 + n);
}

static void damage(void)
{
	u32 at;

	find_types();
	if (work_size < 32 || !n_types)
		return;
	at = type_at[rnd_below(n_types)];
	switch (rnd_below(20)) {
	case 0:
		damage_header();
		break;
	case 1 ... 4:
		damage_info(at);
		break;
	case 5 ... 11:
		damage_words(at);
		break;
	case 12 ... 13:
		damage_name(at);
		break;
	case 14:
		damage_string();
		break;
	case 15 ... 16:
		move_types();
		break;
	case 17:
		cut_or_extend();
		break;
	case 18:
		if (one_in(4))
			lengthen_header();
		break;
	case 19:
		work[rnd_below(work_size)] = rnd();
		break;
	}
}

static void make_blob(void)
{
	static struct blob b;
	const void *data;
	u32 n, i;

	if (n_corpus && one_in(3)) {
		i = rnd_below(n_corpus);
		data = corpus[i].data;
		work_size = corpus[i].size;
		n = 1 + rnd_below(2);
	} else {
		static const u8 wildness[] = { 0, 0, 0, 1, 20 };

		data = random_btf(&b, wildness[rnd_below(5)], &work_size);
		n = rnd_below(3);
	}
	memcpy(work, data, work_size);
	while (n-- && work_size)
		damage();
}

/* Comparing */

static u32 accepted, refused, differ, log_differ;

static void keep(u32 i)
{
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "btf-differs.%u", i);
	f = fopen(name, "w");
	if (!f)
		return;
	fwrite(work, 1, work_size, f);
	fclose(f);
}

static void say_difference(u32 i, int ours, int theirs, const char *log)
{
	const char *a = log, *b = kernel_log, *line = b;

	while (*a && *a == *b) {
		if (*b == '\n')
			line = b + 1;
		a++, b++;
	}
	printf("# blob %u: skep %d, kernel %d; logs part at: ours \"%.60s\", kernel's \"%.*s\" then \"%.60s\"\n", i, ours, theirs, a,
	       (int)(b - line), line, b);
	keep(i);
}

static void compare(u32 i)
{
	int theirs = load_in_kernel(work, work_size), ours;
	struct btf_types *b = NULL;
	struct log log;
	char *text;

	log_init(&log, LOG_BYTES - 1);
	ours = btf_parse(&b, work, work_size, NULL, &log);
	text = log_text(&log, NULL);
	if (theirs)
		refused++;
	else
		accepted++;
	if (ours != theirs) {
		if (differ++ < SHOWN)
			say_difference(i, ours, theirs, text);
	} else if (strcmp(text, kernel_log)) {
		if (log_differ++ < SHOWN)
			say_difference(i, ours, theirs, text);
	}
	if (!ours)
		btf_put(b);
	free(text);
	log_done(&log);
}

static void add_corpus(const void *data, size_t size)
{
	if (size < sizeof(struct btf_header) || size > MAX_BLOB / 2 || n_corpus == ARRAY_SIZE(corpus))
		return;
	corpus[n_corpus].data = malloc(size);
	memcpy(corpus[n_corpus].data, data, size);
	corpus[n_corpus++].size = size;
}

static void add_object(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
		Elf_Data *d;

		if (!name || strcmp(name, ".BTF"))
			continue;
		d = elf_getdata(scn, NULL);
		if (d)
			add_corpus(d->d_buf, d->d_size);
	}
}

static void add_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	if (elf && elf_kind(elf) == ELF_K_ELF) {
		add_object(elf);
	} else {
		ssize_t n = pread(fd, work, MAX_BLOB, 0);

		add_corpus(work, n > 0 ? n : 0);
	}
	elf_end(elf);
	close(fd);
}

/* A file, or a folder of them. */
static void add_path(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	char name[512];

	if (!dir) {
		add_file(path);
		return;
	}
	while ((e = readdir(dir))) {
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		if (e->d_name[0] != '.')
			add_file(name);
	}
	closedir(dir);
}

int main(int argc, char **argv)
{
	u32 count = argc > 1 ? atoi(argv[1]) : 10000, size;
	u64 seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	static struct blob b;
	const void *data;

	blob_init(&b);
	blob_int(&b, "int", 4, BTF_INT_SIGNED);
	data = blob_end(&b, &size);
	if (load_in_kernel(data, size)) {
		printf("1..0 # SKIP this user may not load BTF into the kernel\n");
		tap_finished = 1;
		return 0;
	}
	elf_version(EV_CURRENT);
	for (int i = 3; i < argc; i++)
		add_path(argv[i]);
	rnd_state = seed;
	for (u32 i = 0; i < count; i++) {
		make_blob();
		compare(i);
	}
	printf("# seed %llu, %u files: %u blobs compared, kernel accepted %u and refused %u\n", (unsigned long long)seed, n_corpus,
	       count, accepted, refused);
	printf("# different verdict or errno: %u, different log: %u\n", differ, log_differ);
	OK(accepted > count / 10);
	OK(refused > count / 20);
	EQ(differ, 0);
	EQ(log_differ, 0);
	for (u32 i = 0; i < n_corpus; i++)
		free(corpus[i].data);
	return tap_done();
}
