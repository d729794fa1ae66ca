/* The ways to spoil a file: cut it, turn bits over, put absurd values where sizes and offsets are. */
#include "mutate.h"
#include <elf.h>
#include <string.h>

/* What a careless reader adds to, multiplies or takes for small. */
static const uint64_t absurd[] = {
	0, 1, 2, 3, 7, 8, 0x7f, 0xff, 0x7fff, 0xffff, 0x10000, 0xfffff, 0x1000000, 0x7ffffff8, 0x7fffffff, 0x80000000,
	0xfffffff0, 0xfffffff8, 0xffffffff, 0x100000000, 0x7ffffffffffffff8, 0x7fffffffffffffff, 0x8000000000000000,
	0xfffffffffffffff0, 0xfffffffffffffff8, 0xffffffffffffffff,
};
enum { N_ABSURD = sizeof(absurd) / sizeof(*absurd) };

static void put(struct bytes *b, size_t at, uint64_t value, unsigned size)
{
	if (at <= b->n && size <= b->n - at)
		memcpy(b->v + at, &value, size); /* little-endian, as BPF objects and we are */
}

static uint64_t pick(struct bytes *b, uint64_t *rnd)
{
	uint64_t n = rnd_below(rnd, N_ABSURD + 4);

	if (n < N_ABSURD)
		return absurd[n];
	return b->n + n - N_ABSURD - 2; /* about the file's size */
}

/* ---- any file */

static void cut(struct bytes *b, uint32_t nr, uint64_t *rnd)
{
	b->n = rnd_below(rnd, b->n);
}

static void flip(struct bytes *b, uint32_t nr, uint64_t *rnd)
{
	for (uint32_t bits = 1u << rnd_below(rnd, 6); bits; bits--)
		b->v[rnd_below(rnd, b->n)] ^= 1u << rnd_below(rnd, 8);
}

/* A few of the first bytes too: there the decisions lie. */
static void flip_head(struct bytes *b, uint32_t nr, uint64_t *rnd)
{
	b->v[rnd_below(rnd, b->n < 256 ? b->n : 256)] = rnd_next(rnd);
	b->v[rnd_below(rnd, b->n < 64 ? b->n : 64)] ^= 1u << rnd_below(rnd, 8);
}

static void word(struct bytes *b, uint32_t nr, uint64_t *rnd)
{
	put(b, rnd_below(rnd, b->n / 4) * 4, pick(b, rnd), 4);
}

/* A piece of the file over another piece of it. */
static void copy_over(struct bytes *b, uint32_t nr, uint64_t *rnd)
{
	size_t len = 1 + rnd_below(rnd, b->n < 512 ? b->n : 512), from = rnd_below(rnd, b->n - len + 1);

	memmove(b->v + rnd_below(rnd, b->n - len + 1), b->v + from, len);
}

/* ---- objects: good ones, so their headers can be followed */

static Elf64_Ehdr *header(const struct bytes *b)
{
	return (void *)b->v;
}

static Elf64_Shdr *sections(const struct bytes *b)
{
	return (void *)(b->v + header(b)->e_shoff);
}

static uint32_t count_boundaries(const struct bytes *b)
{
	return (header(b)->e_shnum * 2 + 2) * 3;
}

/* Before, at and after where a section begins or ends, and the section table. */
static void cut_at_boundary(struct bytes *b, uint32_t nr, uint64_t *rnd)
{
	const Elf64_Ehdr *h = header(b);
	const Elf64_Shdr *s = sections(b);
	uint32_t which = nr / 3;
	size_t at;

	if (which < h->e_shnum * 2u)
		at = s[which / 2].sh_offset + (which & 1 && s[which / 2].sh_type != SHT_NOBITS ? s[which / 2].sh_size : 0);
	else
		at = which & 1 ? h->e_shoff : sizeof(*h);
	at += nr % 3;
	at -= at > 0;
	if (at < b->n)
		b->n = at;
}

static void header_field(struct bytes *b, uint32_t nr, uint64_t *rnd)
{
	static const struct { uint8_t at, size; } fields[] = {
		{ 4, 1 }, { 5, 1 }, { 6, 1 }, { 16, 2 }, { 18, 2 }, { 20, 4 }, { 24, 8 }, { 32, 8 }, { 40, 8 }, { 48, 4 },
		{ 52, 2 }, { 54, 2 }, { 56, 2 }, { 58, 2 }, { 60, 2 }, { 62, 2 },
	};
	uint32_t f = rnd_below(rnd, sizeof(fields) / sizeof(*fields));

	put(b, fields[f].at, pick(b, rnd), fields[f].size);
}

static void section_field(struct bytes *b, uint32_t nr, uint64_t *rnd)
{
	static const struct { uint8_t at, size; } fields[] = {
		{ 0, 4 }, { 4, 4 }, { 8, 8 }, { 24, 8 }, { 32, 8 }, { 40, 4 }, { 44, 4 }, { 48, 8 }, { 56, 8 },
	};

	for (uint32_t times = 1 + rnd_below(rnd, 3); times; times--) {
		uint32_t f = rnd_below(rnd, sizeof(fields) / sizeof(*fields)), s = rnd_below(rnd, header(b)->e_shnum);
		size_t at = header(b)->e_shoff + s * sizeof(Elf64_Shdr) + fields[f].at;
		uint64_t to = rnd_below(rnd, 4) ? pick(b, rnd) : rnd_below(rnd, 40);

		put(b, at, to, fields[f].size);
	}
}

static const char *name_of(const struct bytes *b, const Elf64_Shdr *s)
{
	return (char *)b->v + sections(b)[header(b)->e_shstrndx].sh_offset + s->sh_name;
}

/* Something within a section of this kind: a word of a symbol, a relocation, a type... */
static void within(struct bytes *b, uint64_t *rnd, int (*wanted)(const struct bytes *b, const Elf64_Shdr *s))
{
	uint32_t n = header(b)->e_shnum, first = rnd_below(rnd, n);

	for (uint32_t i = 0; i < n; i++) {
		const Elf64_Shdr s = sections(b)[(first + i) % n];

		if (s.sh_type == SHT_NOBITS || s.sh_size < 8 || !wanted(b, &s))
			continue;
		for (uint32_t times = 1 + rnd_below(rnd, 3); times; times--) {
			uint64_t room = rnd_below(rnd, 2) ? s.sh_size : s.sh_size < 64 ? s.sh_size : 64;
			unsigned size = 1u << rnd_below(rnd, 4);
			uint64_t to = rnd_below(rnd, 3) ? pick(b, rnd) : rnd_below(rnd, 64);

			put(b, s.sh_offset + rnd_below(rnd, room / size) * size, to, size);
		}
		return;
	}
}

static int is_table(const struct bytes *b, const Elf64_Shdr *s)
{
	return s->sh_type == SHT_SYMTAB || s->sh_type == SHT_REL;
}
static int is_btf(const struct bytes *b, const Elf64_Shdr *s)
{
	return !strcmp(name_of(b, s), ".BTF");
}
static int is_btf_ext(const struct bytes *b, const Elf64_Shdr *s)
{
	return !strcmp(name_of(b, s), ".BTF.ext");
}
static int is_code(const struct bytes *b, const Elf64_Shdr *s)
{
	return s->sh_flags & SHF_EXECINSTR;
}
static int is_data(const struct bytes *b, const Elf64_Shdr *s)
{
	return s->sh_flags & SHF_ALLOC && !(s->sh_flags & SHF_EXECINSTR);
}

static void tables(struct bytes *b, uint32_t nr, uint64_t *rnd)
{
	within(b, rnd, is_table);
}
static void btf(struct bytes *b, uint32_t nr, uint64_t *rnd)
{
	within(b, rnd, is_btf);
}
static void btf_ext(struct bytes *b, uint32_t nr, uint64_t *rnd)
{
	within(b, rnd, is_btf_ext);
}
static void code(struct bytes *b, uint32_t nr, uint64_t *rnd)
{
	within(b, rnd, is_code);
}
static void data(struct bytes *b, uint32_t nr, uint64_t *rnd)
{
	within(b, rnd, is_data);
}

const struct mutator object_mutators[] = {
	{ "cut at each section boundary", count_boundaries, cut_at_boundary },
	{ "cut anywhere", NULL, cut },
	{ "bits turned over", NULL, flip },
	{ "absurd ELF header", NULL, header_field },
	{ "absurd section headers", NULL, section_field },
	{ "absurd symbols and relocations", NULL, tables },
	{ "absurd BTF", NULL, btf },
	{ "absurd BTF.ext", NULL, btf_ext },
	{ "absurd instructions", NULL, code },
	{ "absurd data and map definitions", NULL, data },
	{ "a piece over another", NULL, copy_over },
	{ 0 },
};

const struct mutator capture_mutators[] = {
	{ "cut anywhere", NULL, cut },
	{ "bits turned over", NULL, flip },
	{ "spoiled at the head", NULL, flip_head },
	{ "absurd words", NULL, word },
	{ "a piece over another", NULL, copy_over },
	{ 0 },
};
