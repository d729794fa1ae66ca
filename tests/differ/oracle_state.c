/* The state oracle: is there a state of the verifier's that the registers lie within? */
#include "oracle_private.h"
#include "map/map.h"
#include <stdio.h>

static bool number_in(const struct value *v, u64 x)
{
	return (x & ~v->bits.mask) == v->bits.value && (s64)x >= v->smin && (s64)x <= v->smax && x >= v->umin && x <= v->umax &&
	       (s32)x >= v->s32min && (s32)x <= v->s32max && (u32)x >= v->u32min && (u32)x <= v->u32max;
}

/* A pointer minus what it points to and its fixed offset: its variable part. */
static bool offset_in(const struct reg *r, u64 x, u64 base)
{
	return number_in(&r->v, x - base - (s64)r->off);
}

static bool packet_in(const struct oracle *o, const struct reg *r, u64 x)
{
	const struct env_frame *f = o->frame;

	if (!offset_in(r, x, addr_of(r->type == REG_PACKET ? f->data : f->data_meta)))
		return false;
	/* the range is counted from the pointer less its fixed offset; METAdata is compared with the packet's start */
	if ((s32)r->range > 0)
		return x - (s64)r->off + r->range <= addr_of(r->type == REG_PACKET ? f->data_end : f->data);
	return true;
}

static bool stack_in(const struct oracle *o, const struct seen *s, const struct reg *r, u64 x)
{
	u32 up = s->depth - r->frameno;

	if (r->frameno > s->depth || up > o->depth || o->depth >= ARRAY_SIZE(o->top))
		return true;
	return offset_in(r, x, o->top[o->depth - up]);
}

static bool value_in(const struct reg *r, u64 x)
{
	const struct map *m = r->map;

	if (r->flags & REGF_NULL && !x)
		return true;
	/* (the values of a map out of a map of maps are not those of the one it was made like: that has none) */
	if (!m || m->type != BPF_MAP_TYPE_ARRAY || !m->values)
		return x != 0;
	for (u32 i = 0; i < m->max_entries; i++)
		if (offset_in(r, x, addr_of(m->values) + (u64)i * m->stride))
			return true;
	return false;
}

static bool map_in(const struct oracle *o, const struct reg *r, u64 x)
{
	const struct map *m = ptr_of(x);

	if (r->flags & REGF_NULL && !x)
		return true;
	for (u32 i = 0; i < o->p->n_maps; i++)
		if (o->p->maps[i] == r->map)
			return x == addr_of(r->map);
	/* what a map of maps says its maps are like */
	return x && m->type == r->map->type && m->key_size == r->map->key_size && m->value_size == r->map->value_size;
}

/* Does what the state says of the register hold? *said: it says something. */
static bool holds(const struct oracle *o, const struct seen *s, const struct reg *r, u64 x, bool *said)
{
	*said = true;
	switch (r->type) {
	case REG_SCALAR:
		*said = o->watch.all_precise || (s->kept && r->precise);
		return !*said || number_in(&r->v, x);
	case REG_CTX:
		return offset_in(r, x, addr_of(o->frame));
	case REG_CONST_MAP:
		return map_in(o, r, x);
	case REG_MAP_VALUE:
		return value_in(r, x);
	case REG_STACK:
		return stack_in(o, s, r, x);
	case REG_PACKET:
	case REG_PACKET_META:
		return packet_in(o, r, x);
	case REG_PACKET_END:
		return x == addr_of(o->frame->data_end);
	case REG_MEM:
		return x || r->flags & REGF_NULL;
	default:
		*said = false;
		return true;
	}
}

/* The first register that is outside; -1: none. */
static int outside(struct oracle *o, const struct seen *s, const u64 *regs)
{
	for (u32 r = 0; r < BPF_REG_10; r++) {
		bool said;

		if (!(s->live >> r & 1))
			continue;
		if (!holds(o, s, &s->regs[r], regs[r], &said))
			return r;
		o->checks += said;
	}
	return -1;
}

static void describe(struct oracle *o, u32 insn, const u64 *regs)
{
	char *at = o->text, *end = o->text + sizeof(o->text);

	at += snprintf(at, end - at, "insn %u: registers", insn);
	for (u32 r = 0; r < 10; r++)
		at += snprintf(at, end - at, " r%u=%#llx", r, (unsigned long long)regs[r]);
	at += snprintf(at, end - at, " lie in no state:");
	for (u32 i = o->first[insn]; i && end - at > 300; i = o->seen[i - 1].next) {
		const struct seen *s = &o->seen[i - 1];
		int r = outside(o, s, regs);
		const struct reg *reg = &s->regs[r < 0 ? 0 : r];

		at += snprintf(at, end - at, "\n#   r%d type %u off %d range/raw %#x smin %lld smax %lld umin %#llx umax %#llx "
			       "bits %#llx/%#llx%s", r, reg->type, reg->off, reg->range, (long long)reg->v.smin,
			       (long long)reg->v.smax, (unsigned long long)reg->v.umin, (unsigned long long)reg->v.umax,
			       (unsigned long long)reg->v.bits.value, (unsigned long long)reg->v.bits.mask,
			       s->kept ? " kept" : "");
	}
	longjmp(o->out, ORACLE_STATE);
}

void oracle_check_state(struct oracle *o, u32 insn, const u64 *regs)
{
	u32 *link = &o->first[insn];

	for (u32 i = *link; i; link = &o->seen[i - 1].next, i = *link) {
		struct seen *s = &o->seen[i - 1];

		if (outside(o, s, regs) >= 0)
			continue;
		/* most likely the next time, too */
		*link = s->next;
		s->next = o->first[insn];
		o->first[insn] = i;
		return;
	}
	describe(o, insn, regs);
}
