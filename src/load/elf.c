/* What the object file itself holds: sections, and the relocations that libbpf will resolve. */
#include "load.h"
#include "base/cleanup.h"
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>

static const struct { u32 id; const char *name; } reloc_types[] = {
	{ 0, "R_BPF_NONE" }, { 1, "R_BPF_64_64" }, { 2, "R_BPF_64_ABS64" }, { 3, "R_BPF_64_ABS32" }, { 4, "R_BPF_64_NODYLD32" },
	{ 10, "R_BPF_64_32" },
};

static const char *reloc_name(u32 id)
{
	for (u32 i = 0; i < ARRAY_SIZE(reloc_types); i++)
		if (reloc_types[i].id == id)
			return reloc_types[i].name;
	return "unknown";
}

static const char *section_name(Elf *elf, size_t strings, Elf_Scn *s)
{
	GElf_Shdr h;
	const char *name = s && gelf_getshdr(s, &h) ? elf_strptr(elf, strings, h.sh_name) : NULL;

	return name ? name : "?";
}

/* A symbol's own name, or for a section's symbol the section's. */
static const char *symbol_name(Elf *elf, size_t strings, Elf_Data *symbols, size_t names, size_t index)
{
	GElf_Sym sym;
	const char *name;

	if (!symbols || !gelf_getsym(symbols, index, &sym))
		return "?";
	name = sym.st_name ? elf_strptr(elf, names, sym.st_name) : NULL;
	return name && *name ? name : section_name(elf, strings, elf_getscn(elf, sym.st_shndx));
}

static void describe_relocations(struct log *out, Elf *elf, size_t strings, Elf_Scn *s, const GElf_Shdr *h)
{
	Elf_Scn *symtab = elf_getscn(elf, h->sh_link);
	Elf_Data *data = elf_getdata(s, NULL), *symbols = symtab ? elf_getdata(symtab, NULL) : NULL;
	GElf_Shdr sh = { 0 };
	GElf_Rel rel;

	if (symtab)
		gelf_getshdr(symtab, &sh);
	for (int i = 0; data && gelf_getrel(data, i, &rel); i++)
		log_printf(out, "    +%-6llu insn %-5llu %-18s %s\n", (unsigned long long)rel.r_offset,
			   (unsigned long long)rel.r_offset / 8, reloc_name(GELF_R_TYPE(rel.r_info)),
			   symbol_name(elf, strings, symbols, sh.sh_link, GELF_R_SYM(rel.r_info)));
}

static int describe(Elf *elf, struct log *out)
{
	Elf_Scn *s = NULL;
	size_t strings;
	GElf_Shdr h;

	if (elf_getshdrstrndx(elf, &strings))
		return -ENOEXEC;
	log_printf(out, "sections:\n");
	while ((s = elf_nextscn(elf, s))) {
		if (!gelf_getshdr(s, &h))
			return -ENOEXEC;
		log_printf(out, "  %2zu %-24s %8llu bytes%s\n", elf_ndxscn(s), section_name(elf, strings, s),
			   (unsigned long long)h.sh_size, h.sh_flags & SHF_EXECINSTR ? ", code" : "");
	}
	while ((s = elf_nextscn(elf, s))) {
		if (!gelf_getshdr(s, &h) || h.sh_type != SHT_REL || !strncmp(section_name(elf, strings, s), ".rel.", 5))
			continue;	/* of debug information and BTF: libbpf's business alone */
		log_printf(out, "relocations of %s:\n", section_name(elf, strings, elf_getscn(elf, h.sh_info)));
		describe_relocations(out, elf, strings, s, &h);
	}
	return 0;
}

int load_describe(const char *path, struct log *out, struct log *err)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf;
	int rc;

	if (fd < 0) {
		rc = -errno;
		log_printf(err, "%s: %s", path, strerror(-rc));
		return rc;
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	rc = elf ? describe(elf, out) : -ENOEXEC;
	if (rc)
		log_printf(err, "%s: is not a whole ELF file", path);
	elf_end(elf);
	return rc;
}
