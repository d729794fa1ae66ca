/* The object file, before libbpf sees it. libbpf 1.1 and libelf were made for files that a compiler wrote: they follow type ids,
 * symbol values and entry sizes where those lead. What passes here stays inside the file wherever it is followed. The file is
 * read once: what is checked is what libbpf opens.
 *
 * Anything that is only odd, or not supported, is left for libbpf to say. */
#include "load.h"
#include "private.h"
#include "base/cleanup.h"
#include "btf/btf.h"
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#define MAX_OBJECT (64u << 20)
#define MAX_ZEROS (128u << 20) /* a few bytes of file that become this much memory, several times over */

/* ---- reading */

/* Whole files and pipes; stops at the first bytes of what is no ELF, however long it is. */
static int read_all(int fd, struct load_file *f, const char *path, struct log *err)
{
	size_t room = 0;
	ssize_t n;

	for (;;) {
		if (f->size == room) {
			size_t more = room ? room * 2 : 64 * 1024;
			u8 *v = realloc(f->data, more);

			if (!v)
				return -ENOMEM;
			f->data = v;
			room = more;
		}
		n = read(fd, f->data + f->size, room - f->size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int rc = -errno;

			log_printf(err, "%s: %s", path, strerror(-rc));
			return rc;
		}
		if (!n)
			break;
		f->size += n;
		if (f->size >= SELFMAG && memcmp(f->data, ELFMAG, SELFMAG))
			break;
		if (f->size > MAX_OBJECT) {
			log_printf(err, "%s: is larger than %u MB, which no BPF object is", path, MAX_OBJECT >> 20);
			return -ENOEXEC;
		}
	}
	if (f->size >= SELFMAG && !memcmp(f->data, ELFMAG, SELFMAG))
		return 0;
	log_printf(err, "%s: is not a BPF object (no ELF header)", path);
	return -ENOEXEC;
}

int load_read_file(struct load_file *f, const char *path, struct log *err)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int rc;

	if (fd < 0 || fstat(fd, &st)) {
		rc = -errno;
		log_printf(err, "%s: %s", path, strerror(-rc));
		return rc;
	}
	if (S_ISDIR(st.st_mode)) {
		log_printf(err, "%s: is a directory", path);
		return -EISDIR;
	}
	return read_all(fd, f, path, err);
}

/* ---- checking */

struct elf {
	const u8 *data;
	size_t size;
	u32 n, names;		/* sections; the one with their names */
	u64 shoff;
	struct log *err;
};

static int damaged(const struct elf *e, const char *what, u64 n)
{
	log_printf(e->err, "%s %llu", what, (unsigned long long)n);
	return -ENOEXEC;
}

static Elf64_Shdr section(const struct elf *e, u32 i)
{
	Elf64_Shdr s;

	memcpy(&s, e->data + e->shoff + i * sizeof(s), sizeof(s));
	return s;
}

static bool is_strings(const struct elf *e, u32 i)
{
	return i && i < e->n && section(e, i).sh_type == SHT_STRTAB;
}

static int check_header(struct elf *e)
{
	Elf64_Ehdr h;

	if (e->size < sizeof(h))
		return damaged(e, "the ELF header breaks off; bytes:", e->size);
	memcpy(&h, e->data, sizeof(h));
	if (h.e_ident[EI_CLASS] != ELFCLASS64)
		return damaged(e, "not a 64-bit ELF file; class", h.e_ident[EI_CLASS]);
	if (h.e_ident[EI_DATA] != ELFDATA2LSB)
		return damaged(e, "not little-endian, and programs of the other byte order are not run; encoding", h.e_ident[EI_DATA]);
	if (h.e_shentsize != sizeof(Elf64_Shdr) || h.e_shoff > e->size || (e->size - h.e_shoff) / sizeof(Elf64_Shdr) < h.e_shnum)
		return damaged(e, "the table of sections is beyond the end of the file; it begins at", h.e_shoff);
	e->shoff = h.e_shoff;
	e->n = h.e_shnum;
	e->names = h.e_shstrndx;
	if (e->n < 2 || e->n >= SHN_LORESERVE)
		return damaged(e, "sections:", e->n);
	return is_strings(e, e->names) ? 0 : damaged(e, "the section names are not in section", e->names);
}

static int check_bounds(const struct elf *e, u32 i)
{
	Elf64_Shdr s = section(e, i);

	if (s.sh_type == SHT_NULL)
		return 0;
	if (s.sh_type == SHT_NOBITS)
		return s.sh_size <= MAX_ZEROS ? 0 : damaged(e, "more than 128 MB of zeroes: section", i);
	if (s.sh_offset > e->size || s.sh_size > e->size - s.sh_offset)
		return damaged(e, "beyond the end of the file: section", i);
	if (s.sh_type == SHT_STRTAB && (!s.sh_size || e->data[s.sh_offset + s.sh_size - 1]))
		return damaged(e, "the last string has no end: section", i);
	return 0;
}

static int check_symbols(const struct elf *e, u32 i)
{
	Elf64_Shdr s = section(e, i);
	u64 room;

	if (s.sh_entsize != sizeof(Elf64_Sym) || s.sh_size % sizeof(Elf64_Sym))
		return damaged(e, "symbols of another size than ELF's: section", i);
	if (!is_strings(e, s.sh_link))
		return damaged(e, "symbols whose names are not in section", s.sh_link);
	room = section(e, s.sh_link).sh_size;
	for (u64 k = 0; k < s.sh_size / sizeof(Elf64_Sym); k++) {
		Elf64_Sym sym;
		u64 end;

		memcpy(&sym, e->data + s.sh_offset + k * sizeof(sym), sizeof(sym));
		if (sym.st_name >= room)
			return damaged(e, "a name beyond the strings: symbol", k);
		if (sym.st_shndx == SHN_UNDEF || sym.st_shndx == SHN_ABS || sym.st_shndx == SHN_COMMON)
			continue;
		if (sym.st_shndx >= e->n)
			return damaged(e, "in no section: symbol", k);
		end = section(e, sym.st_shndx).sh_size;
		if (sym.st_value > end || sym.st_size > end - sym.st_value)
			return damaged(e, "beyond the end of its section: symbol", k);
	}
	return 0;
}

static int check_relocations(const struct elf *e, u32 i)
{
	Elf64_Shdr s = section(e, i), symbols, target;

	if (s.sh_entsize != sizeof(Elf64_Rel) || s.sh_size % sizeof(Elf64_Rel))
		return damaged(e, "relocations of another size than ELF's: section", i);
	if (s.sh_link >= e->n || section(e, s.sh_link).sh_type != SHT_SYMTAB || s.sh_info >= e->n)
		return damaged(e, "relocations without symbols, or of no section: section", i);
	symbols = section(e, s.sh_link);
	target = section(e, s.sh_info);
	for (u64 k = 0; k < s.sh_size / sizeof(Elf64_Rel); k++) {
		Elf64_Rel r;

		memcpy(&r, e->data + s.sh_offset + k * sizeof(r), sizeof(r));
		if (target.sh_size < 4 || r.r_offset > target.sh_size - 4 || ELF64_R_SYM(r.r_info) >= symbols.sh_size / sizeof(Elf64_Sym))
			return damaged(e, "beyond the end of its section or of the symbols: relocation", k);
	}
	return 0;
}

static int check_types(const struct elf *e, u32 i)
{
	Elf64_Shdr s = section(e, i), names = section(e, e->names);
	const char *name = (const char *)e->data + names.sh_offset + s.sh_name;
	bool types = !strcmp(name, ".BTF"), more = !strcmp(name, ".BTF.ext");
	u64 mark = e->err ? e->err->total : 0;
	int rc;

	if (!types && !more)
		return 0;
	if (s.sh_type == SHT_NOBITS || s.sh_type == SHT_NULL)
		return damaged(e, "type information that is not in the file: section", i);
	log_printf(e->err, "%s: ", name);
	rc = types ? btf_check_object(e->data + s.sh_offset, s.sh_size, e->err) : btf_check_ext(e->data + s.sh_offset, s.sh_size, e->err);
	if (!rc)
		log_reset(e->err, mark);
	return rc == -EINVAL ? -ENOEXEC : rc;
}

/* All bounds first: the checks of tables follow links from one section to another. */
static int check_sections(const struct elf *e)
{
	int rc = 0;

	for (u32 i = 0; !rc && i < e->n; i++)
		rc = check_bounds(e, i);
	for (u32 i = 1; !rc && i < e->n; i++)
		if (section(e, i).sh_name >= section(e, e->names).sh_size)
			rc = damaged(e, "a name beyond the strings: section", i);
	for (u32 i = 1; !rc && i < e->n; i++) {
		Elf64_Shdr s = section(e, i);

		if (s.sh_type == SHT_SYMTAB)
			rc = check_symbols(e, i);
		else if (s.sh_type == SHT_REL)
			rc = check_relocations(e, i);
		if (!rc)
			rc = check_types(e, i);
	}
	return rc;
}

int load_check(const struct load_file *f, const char *path, struct log *err)
{
	struct elf e = { .data = f->data, .size = f->size, .err = err };
	u64 mark = err ? err->total : 0;
	int rc;

	log_printf(err, "%s: is damaged: ", path);
	rc = check_header(&e);
	if (!rc)
		rc = check_sections(&e);
	if (!rc)
		log_reset(err, mark);
	return rc;
}
