/* The memory oracle: does each access lie within something that the program has? */
#include "oracle_private.h"
#include "isa/isa.h"
#include "map/map.h"

static bool within(u64 addr, u32 size, u64 start, u64 len)
{
	return addr >= start && addr - start <= len && size <= len - (addr - start);
}

static void add_region(struct oracle *o, u64 start, u64 size)
{
	for (u32 i = 0; i < o->n_regions; i++)
		if (o->region[i].start == start && o->region[i].size == size)
			return;
	if (o->n_regions == REGIONS)
		o->many_regions = true;
	else
		o->region[o->n_regions++] = (struct region){ start, size };
}

void oracle_memory_start(struct oracle *o)
{
	o->n_regions = 0;
	o->many_regions = o->result.set = false;
	o->each.map = NULL;
	for (u32 i = 0; i < o->p->n_maps; i++) {
		const struct map *m = o->p->maps[i];

		if (m->type != BPF_MAP_TYPE_ARRAY || !m->values)
			continue;
		for (u32 k = 0; k < m->max_entries; k++)
			add_region(o, addr_of(m->values) + (u64)k * m->stride, m->value_size);
	}
}

static bool in_packet(const struct oracle *o, u64 addr, u32 size)
{
	return within(addr, size, addr_of(o->frame->data_meta), o->frame->data_end - o->frame->data_meta);
}

static bool in_stack(const struct oracle *o, u64 addr, u32 size)
{
	if (o->depth >= ARRAY_SIZE(o->top))
		return true;
	for (u32 i = 0; i <= o->depth; i++)
		if (within(addr, size, o->top[i] - 512, 512))
			return true;
	return false;
}

static bool in_region(const struct oracle *o, u64 addr, u32 size)
{
	for (u32 i = 0; i < o->n_regions; i++)
		if (within(addr, size, o->region[i].start, o->region[i].size))
			return true;
	return o->many_regions;
}

static bool in_ctx(const struct oracle *o, u64 addr, u32 size)
{
	return within(addr, size, addr_of(o->frame), o->frame->flags & ENV_FRAME_SKB ? sizeof(struct env_skb) : sizeof(*o->frame));
}

static bool allowed(const struct oracle *o, u8 through, u64 addr, u32 size)
{
	switch (through) {
	case PROOF_CTX:
		return in_ctx(o, addr, size);
	case PROOF_STACK:
		return in_stack(o, addr, size);
	case PROOF_MAP_VALUE:
	case PROOF_MEM:
		return in_region(o, addr, size);
	case PROOF_PACKET:
		return in_packet(o, addr, size);
	case PROOF_MIXED:
		return in_ctx(o, addr, size) || in_stack(o, addr, size) || in_region(o, addr, size) || in_packet(o, addr, size);
	}
	return false;
}

/* What a call will give back, from its arguments. */
static void before_call(struct oracle *o, u32 helper, const u64 *regs)
{
	const struct map *m = ptr_of(regs[1]);

	o->result.set = true;
	o->result.depth = o->depth;
	switch (helper) {
	case BPF_FUNC_map_lookup_elem:
	case BPF_FUNC_map_lookup_percpu_elem:
		o->result.size = m->value_size;
		break;
	case BPF_FUNC_ringbuf_reserve:
		o->result.size = regs[2];
		break;
	case BPF_FUNC_dynptr_data:
		o->result.size = regs[3];
		break;
	case BPF_FUNC_for_each_map_elem:
		o->each.map = m;
		o->each.depth = o->depth;
		/* fall through */
	default:
		o->result.set = false;
	}
}

/* A callback of bpf_for_each_map_elem begins: r2 is the key, r3 the value. */
static void note_element(struct oracle *o, u32 insn, const u64 *regs)
{
	const struct map *m = o->each.map;

	if (!m || o->depth != o->each.depth + 1)
		return;
	for (u32 i = 0; i < o->p->proof.n_funcs; i++)
		if (o->p->proof.func[i].start == insn) {
			add_region(o, regs[2], m->key_size);
			add_region(o, regs[3], m->value_size);
		}
}

void oracle_check_memory(struct oracle *o, u32 at, const u64 *regs)
{
	const struct bpf_insn *i = &o->p->xlated[at];
	bool store = BPF_CLASS(i->code) == BPF_ST || BPF_CLASS(i->code) == BPF_STX;
	u8 through = o->p->proof.insn[o->p->origin[at]].ptr;
	u64 addr;

	if (o->result.set && o->depth == o->result.depth) {
		o->result.set = false;
		if (regs[0])
			add_region(o, regs[0], o->result.size);
	}
	note_element(o, o->p->origin[at], regs);
	if (isa_is_helper_call(i))
		before_call(o, i->imm, regs);
	if (i->code == (BPF_JMP | BPF_CALL) && i->src_reg == BPF_PSEUDO_KFUNC_CALL)
		o->many_regions = true;	/* what kernel functions give back is not known here */
	if (!store && BPF_CLASS(i->code) != BPF_LDX)
		return;
	if (BPF_CLASS(i->code) == BPF_STX && BPF_MODE(i->code) == BPF_ATOMIC && i->imm == ABI_LOAD_ACQ)
		store = false;
	addr = regs[store ? i->dst_reg : i->src_reg] + (s64)i->off;
	if (!allowed(o, through, addr, isa_size(i->code)))
		oracle_broken(o, ORACLE_MEMORY, "insn %u (lowered %u): %s %u bytes at r%u%+d = %#llx, which the program does not have "
			      "(proof: %u)", o->p->origin[at], at, store ? "writes" : "reads", isa_size(i->code),
			      store ? i->dst_reg : i->src_reg, i->off, (unsigned long long)addr, through);
}
