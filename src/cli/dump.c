/* skep dump: what an object holds, at one of three stages:
 *   object   the file: sections, relocations, instructions as clang left them
 *   loaded   what bpf(2) was given: relocated, subprograms appended. A program that is refused is shown all the same
 *   lowered  what runs: dead code gone, context accesses rewritten to accesses of the frame, maps by id
 * For the last two the programs are loaded onto the user floor. */
#include "show.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include "btf/btf.h"
#include "helper/helper.h"
#include "isa/isa.h"
#include "map/map.h"
#include "prog/prog.h"
#include "sys/sys.h"
#include <bpf/libbpf.h>

const struct cli_option cli_dump_options[] = {
	{ "prog", 'p', "NAME", "only this program" },
	{ "stage", 0, "object|loaded|lowered", "the file itself, what bpf(2) was given (default), or what runs" },
	{ "only", 0, "programs|maps|types", "only this part" },
	{ "set", 's', "VAR=VALUE", "set a global variable before loading (repeatable)" },
	{ "verbose", 'v', NULL, "show what libbpf and the verifier say of programs that don't load" },
	{ 0 },
};

enum stage { STAGE_LOADED, STAGE_OBJECT, STAGE_LOWERED };

struct args {
	const char *prog, *only;
	enum stage stage;
	bool verbose;
	VEC(const char *) set;
};

static int set_option(void *ctx, const struct cli_option *o, const char *value)
{
	struct args *a = ctx;

	if (!strcmp(o->name, "prog")) {
		a->prog = value;
	} else if (!strcmp(o->name, "verbose")) {
		a->verbose = true;
	} else if (!strcmp(o->name, "set")) {
		return VEC_PUSH(&a->set, value) ? CLI_OK : CLI_LIMIT;
	} else if (!strcmp(o->name, "stage")) {
		if (strcmp(value, "object") && strcmp(value, "loaded") && strcmp(value, "lowered")) {
			fprintf(stderr, "skep dump: --stage %s: only %s\n", value, o->arg);
			return CLI_USAGE;
		}
		a->stage = *value == 'o' ? STAGE_OBJECT : !strcmp(value, "loaded") ? STAGE_LOADED : STAGE_LOWERED;
	} else if (!strcmp(value, "programs") || !strcmp(value, "maps") || !strcmp(value, "types")) {
		a->only = value;
	} else {
		fprintf(stderr, "skep dump: --only %s: only %s\n", value, o->arg);
		return CLI_USAGE;
	}
	return CLI_OK;
}

/* One program's instructions and what describes them. */
struct code {
	const struct bpf_insn *insns;
	u32 n;
	const struct prog *prog;	/* NULL: not loaded; no lines, no functions */
	bool lowered;			/* maps are named by id, and records are by xlated instruction */
};

static const char *helper_of(void *ctx, u32 id)
{
	return helper_name(id);
}

static const char *imm64_of(void *ctx, u32 idx, char *buf, size_t room)
{
	const struct code *c = ctx;
	const struct bpf_insn *i = &c->insns[idx];
	s32 fd = i->imm;
	struct map *m = c->prog && !c->lowered ? sys_map_of(fd) : NULL;

	if (!c->prog || (i->src_reg != BPF_PSEUDO_MAP_FD && i->src_reg != BPF_PSEUDO_MAP_VALUE))
		return NULL;
	if (c->lowered)
		snprintf(buf, room, "map[id:%d]%s", i->imm, i->src_reg == BPF_PSEUDO_MAP_VALUE ? "+value" : "");
	else if (!m)
		snprintf(buf, room, "map[fd:%d]", fd);
	else if (i->src_reg == BPF_PSEUDO_MAP_VALUE)
		snprintf(buf, room, "map[%s]+%d", m->name, idx + 1 < c->n ? i[1].imm : 0);
	else
		snprintf(buf, room, "map[%s]", m->name);
	return buf;
}

/* The function that begins here, and the source line where it changes. */
static void print_places(const struct code *c, u32 idx, const struct bpf_line_info **last)
{
	const struct prog *p = c->prog;
	const struct bpf_line_info *line;
	const char *text;

	if (!p || !p->btf)
		return;
	for (u32 f = 0; f < p->n_func_info; f++)
		if (p->func_info[f].insn_off == idx)
			printf("%s%s:\n", f ? "\n" : "", btf_name(p->btf, p->func_info[f].type_id));
	line = btf_line(p->line_info, p->n_line_info, idx);
	if (!line || line == *last)
		return;
	*last = line;
	text = btf_str(p->btf, line->line_off);
	while (text && (*text == ' ' || *text == '\t'))
		text++;
	if (text && *text)
		printf("; %s @ %s:%u\n", text, btf_str(p->btf, line->file_name_off) ?: "?", BPF_LINE_INFO_LINE_NUM(line->line_col));
}

static void print_code(const struct code *c)
{
	struct isa_print how = { .ctx = (void *)c, .helper = helper_of, .imm64 = imm64_of };
	const struct bpf_line_info *last = NULL;

	for (u32 i = 0; i < c->n; i++) {
		autofree char *text = NULL;
		struct log line;

		print_places(c, i, &last);
		log_init(&line, 4096);
		isa_print_insn(&line, &c->insns[i], i, &how);
		text = log_text(&line, NULL);
		printf("%5u: %s\n", i, text ? text : "?");
		log_done(&line);
		if (isa_is_ld_imm64(&c->insns[i]))
			i++;
	}
}

static void print_program(struct bpf_program *p, enum stage stage)
{
	const struct prog *loaded = bpf_program__fd(p) >= 0 ? sys_prog_of(bpf_program__fd(p)) : NULL;
	struct code c = { bpf_program__insns(p), bpf_program__insn_cnt(p), loaded };

	if (loaded && stage == STAGE_LOWERED)
		c = (struct code){ loaded->xlated, loaded->n_xlated, loaded, true };
	else if (loaded)
		c = (struct code){ loaded->loaded, loaded->n_loaded, loaded };
	printf("program %s (section %s, type %s): %u instructions", bpf_program__name(p), bpf_program__section_name(p),
	       libbpf_bpf_prog_type_str(bpf_program__type(p)) ?: "unknown", c.n);
	if (loaded)
		printf(", %u processed by the verifier, tag %02x%02x%02x%02x%02x%02x%02x%02x\n", loaded->verified_insns, loaded->tag[0],
		       loaded->tag[1], loaded->tag[2], loaded->tag[3], loaded->tag[4], loaded->tag[5], loaded->tag[6],
		       loaded->tag[7]);
	else
		printf(", not loaded\n");
	print_code(&c);
	printf("\n");
}

static void print_type_of(struct load_object *o, const char *what, u32 id)
{
	autofree char *text = NULL;
	struct log line;

	if (!o->btf || !id || btf_kind_of(btf_type(o->btf, id)) == BTF_KIND_DATASEC)
		return;
	log_init(&line, 4096);
	btf_print_decl(&line, o->btf, id, what);
	text = log_text(&line, NULL);
	printf("    %s\n", text ? text : "?");
	log_done(&line);
}

static void print_maps(struct load_object *o)
{
	struct bpf_map *m;

	bpf_object__for_each_map(m, o->obj) {
		printf("map %s (%s): key %u bytes, value %u bytes, max %u entries, flags 0x%x\n", bpf_map__name(m),
		       libbpf_bpf_map_type_str(bpf_map__type(m)) ?: "unknown", bpf_map__key_size(m), bpf_map__value_size(m),
		       bpf_map__max_entries(m), bpf_map__map_flags(m));
		print_type_of(o, "key", bpf_map__btf_key_type_id(m));
		print_type_of(o, "value", bpf_map__btf_value_type_id(m));
	}
	printf("\n");
}

static void print_types(struct load_object *o)
{
	autofree char *text = NULL;
	struct log types;

	if (!o->btf) {
		printf("no BTF\n");
		return;
	}
	log_init(&types, 64 << 20);
	btf_print_all(&types, o->btf);
	text = log_text(&types, NULL);
	printf("%s", text ? text : "");
	log_done(&types);
}

static int print_file(const char *path, struct log *err)
{
	autofree char *text = NULL;
	struct log file;
	int rc;

	log_init(&file, 16 << 20);
	rc = load_describe(path, &file, err);
	text = log_text(&file, NULL);
	printf("%s\n", text ? text : "");
	log_done(&file);
	return rc;
}

static bool wants(const struct args *a, const char *part)
{
	return !a->only || !strcmp(a->only, part);
}

static int dump(const char *path, struct args *a, struct log *err)
{
	struct load_opts opts = { .floor = LOAD_USER, .prog = a->prog, .set = a->set.v, .n_set = a->set.n };
	struct load_object *o = NULL;
	struct bpf_program *p;
	int rc = load_open(&o, path, &opts, err), status;

	status = cli_exit_of(rc);
	if (!rc && a->prog && !load_program(o, a->prog, err)) {
		rc = -EINVAL;
		status = CLI_USAGE;
	}
	if (rc) {
		cli_say(err);
		load_close(o);
		return status;
	}
	if (a->stage != STAGE_OBJECT)
		rc = load_load(o, &opts, err);
	else
		rc = print_file(o->made_from ? o->made_from : path, err);
	if (rc)
		show_load_failure(o, err, a->verbose);
	if (wants(a, "maps"))
		print_maps(o);
	if (wants(a, "programs"))
		bpf_object__for_each_program(p, o->obj)
			if (!a->prog || !strcmp(a->prog, bpf_program__name(p)))
				print_program(p, a->stage);
	if (wants(a, "types"))
		print_types(o);
	load_close(o);
	return rc ? CLI_FAILED : CLI_OK;
}

int cli_dump(int argc, char **argv)
{
	struct args a = { 0 };
	struct log err;
	int first, status;

	log_init(&err, 256 * 1024);
	status = cli_parse(&cli_commands[1], argc, argv, set_option, &a, &first);
	if (!status && argc - first != 1) {
		fprintf(stderr, "skep dump: needs one object; `skep help dump` tells how\n");
		status = CLI_USAGE;
	}
	if (!status)
		status = dump(argv[first], &a, &err);
	log_done(&err);
	VEC_DONE(&a.set);
	return status;
}
