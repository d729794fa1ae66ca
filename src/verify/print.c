/* Registers, states and instructions in the syntax of the kernel's verifier log (6.18).
 *
 * A state line follows its instruction on the same line when nothing else was said in between:
 *	3: (bf) r1 = r2                       ; R1=scalar(id=1) R2=scalar(id=1)
 * so the newline after an instruction is taken back from the log when its state comes
 *(prev_log_total says where it was). */
#include "kfunc.h"
#include "btf/btf.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#define LOG_SHOWN                                                                                  \
	(ABI_LOG_LEVEL1 | ABI_LOG_LEVEL2) /* the levels at which instructions are printed */

static bool shown(const struct verifier *v, u32 level)
{
	return v->log && v->log->level & level;
}

void verify_say(struct verifier *v, u32 level, const char *fmt, ...)
{
	va_list ap;

	if (!shown(v, level))
		return;
	va_start(ap, fmt);
	log_vprintf(v->log, fmt, ap);
	va_end(ap);
}

static const char *const type_text[] = {
    [REG_NOT_INIT] = "?",
    [REG_SCALAR] = "scalar",
    [REG_CTX] = "ctx",
    [REG_CONST_MAP] = "map_ptr",
    [REG_MAP_VALUE] = "map_value",
    [REG_MAP_KEY] = "map_key",
    [REG_STACK] = "fp",
    [REG_PACKET_META] = "pkt_meta",
    [REG_PACKET] = "pkt",
    [REG_PACKET_END] = "pkt_end",
    [REG_FLOW_KEYS] = "flow_keys",
    [REG_SOCKET] = "sock",
    [REG_SOCK_COMMON] = "sock_common",
    [REG_TCP_SOCK] = "tcp_sock",
    [REG_XDP_SOCK] = "xdp_sock",
    [REG_TP_BUFFER] = "tp_buffer",
    [REG_BTF_ID] = "ptr_",
    [REG_MEM] = "mem",
    [REG_BUF] = "buf",
    [REG_FUNC] = "func",
    [REG_ARENA] = "arena",
    [REG_DYNPTR] = "dynptr_ptr",
};
static_assert(ARRAY_SIZE(type_text) == REG_TYPE_COUNT, "a word for every type");

static const struct {
	u16 flag;
	const char *text;
} prefix[] = {
    /* in the order in which they are printed */
    {REGF_RDONLY, "rdonly_"},	{REGF_RINGBUF, "ringbuf_"}, {REGF_USER, "user_"},
    {REGF_PERCPU, "percpu_"},	{REGF_RCU, "rcu_"},	    {REGF_UNTRUSTED, "untrusted_"},
    {REGF_TRUSTED, "trusted_"},
};

const char *print_reg_type(const struct reg *r, char buf[64])
{
	const char *suffix = r->type == REG_BTF_ID ? "or_null_" : "_or_null";
	size_t n = 0;

	for (u32 i = 0; i < ARRAY_SIZE(prefix); i++)
		if (r->flags & prefix[i].flag)
			n += snprintf(buf + n, 64 - n, "%s", prefix[i].text);
	snprintf(buf + n, 64 - n, "%s%s", type_text[r->type], r->flags & REGF_NULL ? suffix : "");
	return buf;
}

/* Small numbers in decimal, others in hexadecimal: addresses and masks are read more easily so. */
static bool is_small(s64 x)
{
	return x >= INT16_MIN && x <= INT16_MAX;
}

static void print_signed(struct log *log, s64 x)
{
	log_printf(log, is_small(x) ? "%lld" : "%#llx", (long long)x);
}

static void print_unsigned(struct log *log, u64 x)
{
	log_printf(log, x <= UINT16_MAX ? "%llu" : "%#llx", (unsigned long long)x);
}

/* A list in brackets: nothing before its first item, a comma before the others. */
struct list {
	struct log *log;
	bool begun;
};

static struct log *item(struct list *l)
{
	if (l->begun)
		log_write(l->log, ",", 1);
	l->begun = true;
	return l->log;
}

/* A 32-bit bound as it is printed: hexadecimal shows 32 bits, so it is not the same number as a
 * 64-bit bound then. */
static u64 shown32(s32 x)
{
	return is_small(x) ? (u64)(s64)x : (u32)x;
}

struct bound {
	const char *name;
	u64 x;
	bool is_signed, omit;
};

static bool is_negative(const struct bound *b)
{
	return b->is_signed && (s64)b->x < 0;
}

/* "smin=umin=0,smax=9": bounds that say nothing are left out, equal ones of the same direction
 * share a number. */
static void print_ranges(struct list *l, const struct value *v)
{
	struct bound b[] = {
	    {"smin", v->smin, true, v->smin == INT64_MIN},
	    {"smax", v->smax, true, v->smax == INT64_MAX},
	    {"umin", v->umin, false, v->umin == 0},
	    {"umax", v->umax, false, v->umax == UINT64_MAX},
	    {"smin32", shown32(v->s32min), true, v->s32min == INT32_MIN},
	    {"smax32", shown32(v->s32max), true, v->s32max == INT32_MAX},
	    {"umin32", v->u32min, false, v->u32min == 0},
	    {"umax32", v->u32max, false, v->u32max == UINT32_MAX},
	};

	for (u32 i = 0; i < ARRAY_SIZE(b); i++) {
		if (b[i].omit)
			continue;
		log_printf(item(l), "%s=", b[i].name);
		for (u32 k = i + 2; k < ARRAY_SIZE(b); k += 2) {
			if (b[k].omit || b[k].x != b[i].x ||
			    is_negative(&b[k]) != is_negative(&b[i]))
				continue;
			b[k].omit = true;
			log_printf(l->log, "%s=", b[k].name);
		}
		if (b[i].is_signed)
			print_signed(l->log, (s64)b[i].x);
		else
			print_unsigned(l->log, b[i].x);
	}
}

static void print_ids(struct list *l, const struct reg *r)
{
	if (r->id)
		log_printf(item(l), "id=%d", r->id & ~REG_LINK_ADD_CONST);
	if (r->id & REG_LINK_ADD_CONST)
		log_printf(l->log, "%+d", r->off);
	if (r->ref_id)
		log_printf(item(l), "ref_obj_id=%d", r->ref_id);
	if (r->flags & REGF_NON_OWN_REF)
		log_printf(item(l), "non_own_ref");
}

static void print_target(struct list *l, const struct reg *r)
{
	if (r->type == REG_CONST_MAP || r->type == REG_MAP_VALUE || r->type == REG_MAP_KEY) {
		if (r->map->name[0])
			log_printf(item(l), "map=%.16s", r->map->name);
		log_printf(item(l), "ks=%d,vs=%d", r->map->key_size, r->map->value_size);
	}
	if (r->type != REG_SCALAR && r->off)
		print_signed((log_printf(item(l), "off="), l->log), r->off);
	if (reg_is_packet(r))
		print_unsigned((log_printf(item(l), "r="), l->log), (u64)(s64)(s32)r->range);
	if (r->type == REG_MEM)
		print_unsigned((log_printf(item(l), "sz="), l->log), r->mem_size);
}

static void print_value(struct list *l, const struct value *v)
{
	if (value_is_const(v)) {
		if (v->bits.value)
			print_signed((log_printf(item(l), "imm="), l->log), v->bits.value);
		return;
	}
	print_ranges(l, v);
	if (v->bits.mask != ~0ull)
		log_printf(item(l), "var_off=(0x%llx; 0x%llx)", (unsigned long long)v->bits.value,
			   (unsigned long long)v->bits.mask);
}

/* frameno: whose register it is; stack pointers into other frames say so. */
static void print_reg_of(struct log *log, const struct reg *r, u32 frameno)
{
	struct list l = {.log = log};
	char type[64];

	if (r->type == REG_SCALAR && r->precise)
		log_write(log, "P", 1);
	if (r->type == REG_SCALAR && value_is_const(&r->v)) {
		print_signed(log, r->v.bits.value);
		return;
	}
	log_printf(log, "%s", print_reg_type(r, type));
	if (r->type == REG_ARENA)
		return;
	if (r->type == REG_STACK) {
		if (r->frameno != frameno)
			log_printf(log, "[%u]", r->frameno);
		if (value_is_const(&r->v)) {
			print_signed(log, (s64)(r->v.bits.value + (u64)(s64)r->off));
			return;
		}
	}
	if (r->type == REG_BTF_ID && r->btf)
		log_printf(log, "%s", btf_name(r->btf, r->btf_id));
	log_write(log, "(", 1);
	print_ids(&l, r);
	print_target(&l, r);
	print_value(&l, &r->v);
	log_write(log, ")", 1);
}

void print_reg(struct log *log, const struct verifier *v, const struct reg *r)
{
	print_reg_of(log, r, v->cur ? v->cur->cur : 0);
}

static const char slot_char[] = {
    [SLOT_INVALID] = '?', [SLOT_SPILL] = 'r', [SLOT_MISC] = 'm',     [SLOT_ZERO] = '0',
    [SLOT_DYNPTR] = 'd',  [SLOT_ITER] = 'i',  [SLOT_IRQ_FLAG] = 'f',
};

static void print_dynptr(struct log *log, const struct reg *r, u32 index)
{
	struct list l = {.log = log};

	log_printf(log, " fp-%u=dynptr_%s(", (index + 1) * 8, dynptr_type_name(r->dynptr_type));
	if (r->id)
		log_printf(item(&l), "id=%d", r->id);
	if (r->ref_id)
		log_printf(item(&l), "ref_id=%d", r->ref_id);
	log_write(log, ")", 1);
}

static void print_iter(struct log *log, const struct reg *r, u32 index)
{
	if (r->ref_id)
		log_printf(log, " fp-%u=iter_%s(ref_id=%u,state=%s,depth=%u)", (index + 1) * 8, r->iter_kind, r->ref_id,
			   iter_state_name(r), r->iter_depth);
}

/* " fp-8=mmmm????", the byte at the highest address first; a spilled register instead of the bytes
 * it covers. */
static void print_slot(struct log *log, const struct slot *s, u32 index, u32 frameno)
{
	bool spill = s->type[7] == SLOT_SPILL, any = false;
	char text[9] = "";
	u32 n;

	for (n = 0; n < 8; n++) {
		any |= s->type[n] != SLOT_INVALID;
		text[n] = slot_char[s->type[n]];
	}
	if (!any)
		return;
	if (s->type[7] == SLOT_DYNPTR) {
		if (s->spilled.dynptr_first)
			print_dynptr(log, &s->spilled, index);
		return;
	}
	if (s->type[7] == SLOT_ITER) {
		print_iter(log, &s->spilled, index);
		return;
	}
	for (n = 0; spill && s->type[n] != SLOT_SPILL; n++)
		;
	text[spill ? n : 8] = '\0';
	log_printf(log, " fp-%u=%s", (index + 1) * 8, text);
	if (spill)
		print_reg_of(log, &s->spilled, frameno);
}

static void print_refs(struct log *log, const struct state *s)
{
	const char *before = " refs=";

	for (u32 i = 0; i < s->n_refs; i++) {
		if (!s->refs[i].id)
			continue;
		log_printf(log, "%s%u", before, s->refs[i].id);
		before = ",";
	}
}

void print_state(struct verifier *v, struct state *s, u32 frameno, bool all)
{
	const struct frame *f = s->frame[frameno];
	struct log *log = v->log;

	if (!log || !log->level)
		return;
	if (f->frameno)
		log_printf(log, " frame%u:", f->frameno);
	for (u32 i = 0; i < ARRAY_SIZE(f->regs); i++) {
		if (f->regs[i].type == REG_NOT_INIT || !(all || v->scratched_regs >> i & 1))
			continue;
		log_printf(log, " R%u=", i);
		print_reg_of(log, &f->regs[i], f->frameno);
	}
	for (u32 i = 0; i < f->n_slots; i++)
		if (all || (i < 64 && v->scratched_slots >> i & 1))
			print_slot(log, &f->slots[i], i, f->frameno);
	print_refs(log, s);
	if (f->in_callback)
		log_printf(log, " cb");
	if (f->in_async_callback)
		log_printf(log, " async_cb");
	log_write(log, "\n", 1);
	if (!all) {
		v->scratched_regs = 0;
		v->scratched_slots = 0;
	}
}

/* Blanks before the ';' of a state, so that states stand below each other. pos: the instruction
 * line with its newline. */
static int padding(u32 pos)
{
	u32 column = ROUND_UP(MAX(pos + 4, 40u), 8);

	return (int)(column - pos - 1);
}

void print_insn_state(struct verifier *v, struct state *s, u32 frameno)
{
	if (!shown(v, LOG_SHOWN))
		return;
	if (v->prev_log_total && v->prev_log_total == v->log->total) {
		log_reset(v->log, v->prev_log_total - 1);
		log_printf(v->log, "%*c;", padding(v->prev_insn_printed), ' ');
	} else {
		log_printf(v->log, "%u:", v->insn_idx);
	}
	print_state(v, s, frameno, false);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void print_source_line(struct verifier *v, u32 idx)
{
	const struct verify_input *in = v->in;
	const struct bpf_line_info *l, *was = v->prev_line;
	const char *text, *file;

	if (!shown(v, ~0u) || !in->btf || !in->n_line_info)
		return;
	l = btf_line(in->line_info, in->n_line_info, idx);
	if (!l || l == was)
		return;
	/* several records of one line differ only in the column, which is not printed */
	if (was && l->file_name_off == was->file_name_off &&
	    BPF_LINE_INFO_LINE_NUM(l->line_col) == BPF_LINE_INFO_LINE_NUM(was->line_col))
		return;
	text = btf_str(in->btf, l->line_off);
	file = btf_str(in->btf, l->file_name_off);
	if (!text || !file)
		return;
	while (isspace((unsigned char)*text))
		text++;
	log_printf(v->log, "; %s @ %s:%u\n", text, base_name(file),
		   BPF_LINE_INFO_LINE_NUM(l->line_col));
	v->prev_line = l;
}

static const char *name_helper(void *ctx, u32 id)
{
	return helper_name(id);
}

void print_insn_text(struct verifier *v, u32 idx)
{
	const struct isa_print how = {.helper = name_helper, .hide_pointers = !v->allow_ptr_leaks};

	isa_print_insn(v->log, &v->insns[idx], idx, &how);
	log_write(v->log, "\n", 1);
}

void print_insn_line(struct verifier *v, u32 idx)
{
	u64 start;

	if (!shown(v, LOG_SHOWN))
		return;
	print_source_line(v, idx);
	start = v->log->total;
	log_printf(v->log, "%u: ", idx);
	print_insn_text(v, idx);
	v->prev_log_total = v->log->total;
	v->prev_insn_printed = v->prev_log_total - start;
}

/* What live_regs.c found: the registers read before they are written again, and the loop an instruction lies in. */
void print_live_regs(struct verifier *v)
{
	if (!shown(v, ABI_LOG_LEVEL2))
		return;
	log_printf(v->log, "Live regs before insn:\n");
	for (u32 i = 0; i < v->n_insns; i++) {
		const struct insn_info *info = &v->info[i];

		if (info->scc)
			log_printf(v->log, "%3u ", info->scc);
		else
			log_printf(v->log, "    ");
		log_printf(v->log, "%3u: ", i);
		for (u32 r = 0; r < BPF_REG_10; r++)
			log_printf(v->log, "%c", info->live_regs >> r & 1 ? '0' + (int)r : '.');
		log_printf(v->log, " ");
		print_insn_text(v, i);
		i += isa_is_ld_imm64(&v->insns[i]);
	}
}
