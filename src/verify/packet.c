/* Packet pointers: how far they may reach, what a comparison with the packet's end proves, and when it stops being true.
 *
 * A proof is about a base: all pointers with the same id share the variable part, so "data' + off <= data_end" proves the
 * `off` bytes after that base for every one of them. `range` counts from the base, not from the pointer. */
#include "access.h"

enum { MAX_PACKET_OFF = 0xffff };	/* packets are shorter; beyond it sums might wrap */

/* The bytes [off, off + size) from the base. */
static bool in_range(const struct reg *r, s32 off, s32 size, bool zero_ok)
{
	return off >= 0 && (size > 0 || (size == 0 && zero_ok)) && (u64)off + size <= r->range;
}

int packet_access(struct verifier *v, u32 regno, s32 off, s32 size, bool zero_ok)
{
	const struct reg *r = &state_regs(v->cur)[regno];

	/* The variable part needs no upper bound: the range was proven with it added. */
	if (r->v.smin < 0)
		return verify_refuse(v, -EACCES, "access-negative", regno,
				     "R%u min value is negative, either use unsigned index or do a "
				     "if (index >=0) check.",
				     regno);
	if ((s32)r->range < 0)
		return verify_refuse(v, -EINVAL, "packet-bounds", regno,
				     "R%u offset is outside of the packet", regno);
	if (!in_range(r, off, size, zero_ok)) {
		verify_line(v, "invalid access to packet, off=%d size=%d, R%u(id=%u,off=%d,r=%u)",
			    off, size, regno, r->id, off, r->range);
		return verify_refuse(v, -EACCES, "packet-bounds", regno,
				     "R%u offset is outside of the packet", regno);
	}
	return 0;
}

/* May helpers be given packet memory? Kinds whose context shows no packet never have such pointers. */
bool packet_helper_ok(const struct verifier *v, bool pkt_access)
{
	return pkt_access;
}

static void invalidate_packet(struct reg *r, void *arg)
{
	if (reg_is_packet(r) || r->type == REG_PACKET_END)
		ptr_invalidate(arg, r);
}

void ptr_kill_packets(struct verifier *v)
{
	state_each_reg(v->cur, invalidate_packet, v);
}

struct proven {
	enum reg_type type;
	u32 id;
	s32 range;
};

static void extend(struct reg *r, void *arg)
{
	const struct proven *p = arg;

	if (r->type == p->type && r->id == p->id && (s32)r->range < p->range)
		r->range = p->range;
}

/* "dst <= end" (range_open: "dst < end") holds in s: the bytes from dst's base up to dst exist. */
void ptr_refine_packet(struct state *s, struct reg *dst, enum reg_type type, bool range_open)
{
	struct proven p = { .type = type, .id = dst->id };

	if (dst->off < 0 || (dst->off == 0 && range_open))
		return;
	if (dst->v.umax > MAX_PACKET_OFF || dst->v.umax + dst->off > MAX_PACKET_OFF)
		return;
	p.range = dst->off + range_open;
	state_each_reg(s, extend, &p);
}

/* "reg >= end" (beyond: "reg > end") holds in s, so later comparisons of the same kind are decided. */
static void mark_end(struct state *s, u32 regno, bool beyond)
{
	struct reg *r = &state_regs(s)[regno];

	if (r->type == REG_PACKET)
		r->range = (u32)(beyond ? REG_BEYOND_PKT_END : REG_AT_PKT_END);
}

static bool is_packet_start(const struct reg *r)
{
	return r->type == REG_PACKET && !r->id && !r->off && !r->v.bits.mask && !r->v.bits.value;
}

/* Does `end` bound pointers like `p`: data_end the packet, data the metadata before it? */
static bool is_bound(const struct reg *p, const struct reg *end)
{
	return (p->type == REG_PACKET && end->type == REG_PACKET_END) ||
	       (p->type == REG_PACKET_META && is_packet_start(end));
}

int ptr_try_packet_compare(const struct bpf_insn *i, struct reg *dst, struct reg *src,
			   struct state *taken, struct state *fall)
{
	u8 op = BPF_OP(i->code);
	u32 regno = i->dst_reg;
	struct reg *p = dst;

	if (BPF_SRC(i->code) != BPF_X || BPF_CLASS(i->code) != BPF_JMP)
		return 0;
	if (op != BPF_JGT && op != BPF_JLT && op != BPF_JGE && op != BPF_JLE)
		return 0;
	if (!is_bound(dst, src)) {
		if (!is_bound(src, dst))
			return 0;
		p = src;
		regno = i->src_reg;
		op = value_swap_op(op);
	}
	/* now: if (p op end) */
	switch (op) {
	case BPF_JGT:
		ptr_refine_packet(fall, p, p->type, false);
		mark_end(taken, regno, true);
		break;
	case BPF_JLT:
		ptr_refine_packet(taken, p, p->type, true);
		mark_end(fall, regno, false);
		break;
	case BPF_JGE:
		ptr_refine_packet(fall, p, p->type, true);
		mark_end(taken, regno, false);
		break;
	default:
		ptr_refine_packet(taken, p, p->type, false);
		mark_end(fall, regno, true);
	}
	return 1;
}
