/* The context: its fields are rows of the program kind, which says where they lie, how they may be touched and what a load
 * of them yields. prog/lower.c later rewrites these very instructions, so an instruction must do the same on all paths. */
#include "access.h"

static const enum reg_type gives[] = {
	[KIND_SCALAR] = REG_SCALAR,
	[KIND_PACKET] = REG_PACKET,
	[KIND_PACKET_META] = REG_PACKET_META,
	[KIND_PACKET_END] = REG_PACKET_END,
};

static void load_field(struct verifier *v, const struct kind_field *f, u32 dst)
{
	struct reg *d = &state_regs(v->cur)[dst];

	if (f->gives == KIND_SCALAR) {
		access_unknown(v, d);
		return;
	}
	reg_mark_pointer(d, gives[f->gives]);
	d->subreg_def = 0; /* the real load is of a whole pointer */
}

int ctx_access(struct verifier *v, u32 insn, s32 off, u32 size, bool write, int value_regno, bool sign_extend)
{
	const struct kind_field *f = off < 0 ? NULL :
		kind_access(v->in->kind, v->in->attach_type, (u32)off, size, write);

	if (f && f->gives >= ARRAY_SIZE(gives))
		return verify_refuse(v, -EACCES, "not-built", -1, "context field %s is not built yet", f->name);
	if (!f || (f->gives != KIND_SCALAR && sign_extend))
		return verify_refuse(v, -EACCES, "ctx-access", -1, "invalid bpf_context access off=%d size=%u", off,
				     size);
	v->info[insn].ctx_off = (u32)off;
	v->info[insn].ctx_seen = true;
	if (!write && value_regno >= 0)
		load_field(v, f, (u32)value_regno);
	return 0;
}
