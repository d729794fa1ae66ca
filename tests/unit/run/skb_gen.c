/* See skb_gen.h. Registers: r6 context, r7 what was seen so far, r8 a number. */
#include "skb_gen.h"
#include "helper/helper.h"
#include "kind/kind.h"
#include <stdio.h>
#include <string.h>

u32 skb_gen_random(struct skb_gen *g, u32 below)
{
	g->seed = g->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)((g->seed >> 32) * (u64)below >> 32);
}

static void put(struct skb_gen *g, u8 code, u8 dst, u8 src, s16 off, s32 imm)
{
	g->insns[g->n++] = (struct bpf_insn){ .code = code, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm };
}

static void put64(struct skb_gen *g, u8 dst, u64 x)
{
	put(g, BPF_LD | BPF_DW | BPF_IMM, dst, 0, 0, (s32)(u32)x);
	put(g, 0, 0, 0, 0, (s32)(x >> 32));
}

static void see(struct skb_gen *g, u8 reg)
{
	put(g, BPF_ALU64 | BPF_MUL | BPF_K, 7, 0, 0, 31);
	put(g, BPF_ALU64 | BPF_XOR | BPF_X, 7, reg, 0, 0);
}

static const u8 sizes[] = { BPF_B, BPF_H, BPF_W, BPF_DW };

/* ---- arguments */

static u64 number(struct skb_gen *g)
{
	static const u64 odd[] = { 0, 1, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, ~0ull, 0xfffe };

	return skb_gen_random(g, 4) ? skb_gen_random(g, 256) : odd[skb_gen_random(g, ARRAY_SIZE(odd))];
}

static u64 pick(struct skb_gen *g, const u64 *from, u32 n)
{
	return skb_gen_random(g, 16) ? from[skb_gen_random(g, n)] : number(g);
}
#define PICK(g, ...) pick(g, (const u64[]){ __VA_ARGS__ }, ARRAY_SIZE(((const u64[]){ __VA_ARGS__ })))

static u64 bits(struct skb_gen *g, u64 of)
{
	return of & ((u64)skb_gen_random(g, ~0u) << 32 | skb_gen_random(g, ~0u));
}

enum { BUFFER = -64 };	/* stack: 48 bytes that helpers read or fill */

static void fill_buffer(struct skb_gen *g)
{
	put64(g, 2, (u64)skb_gen_random(g, ~0u) << 32 | skb_gen_random(g, ~0u));
	for (s16 at = BUFFER; at < BUFFER + 48; at += 8)
		put(g, BPF_STX | BPF_MEM | BPF_DW, 10, 2, at, 0);
}

static void buffer_arg(struct skb_gen *g, u8 reg, u32 size)
{
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, reg, 10, 0, 0);
	put(g, BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, BUFFER);
	put(g, BPF_ALU64 | BPF_MOV | BPF_K, reg + 1, 0, 0, size);
}

static void see_buffer(struct skb_gen *g)
{
	for (s16 at = BUFFER; at < BUFFER + 48; at += 8) {
		put(g, BPF_LDX | BPF_MEM | BPF_DW, 1, 10, at, 0);
		see(g, 1);
	}
}

static void call(struct skb_gen *g, u32 id)
{
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, 1, 6, 0, 0);
	put(g, BPF_JMP | BPF_CALL, 0, 0, 0, id);
	see(g, 0);
}

/* ---- steps */

static void bytes_step(struct skb_gen *g, u32 id)
{
	fill_buffer(g);
	put64(g, 2, PICK(g, 0, 0, 6, 12, 14, 16, 23, 24, 26, 30, 34, 40));
	buffer_arg(g, 3, 1 + skb_gen_random(g, 40));
	if (id == BPF_FUNC_skb_load_bytes_relative)
		put64(g, 5, PICK(g, 0, 1));
	else if (id == BPF_FUNC_skb_store_bytes)
		put64(g, 5, PICK(g, 0, 1, 2, 3));
	call(g, id);
	see_buffer(g);
}

static void csum_step(struct skb_gen *g, u32 id)
{
	u64 size = PICK(g, 0, 2, 4);

	put64(g, 2, PICK(g, 24, 36, 40, 50, 16));
	put64(g, 3, size ? bits(g, ~0ull) : 0);
	put64(g, 4, bits(g, ~0ull));
	put64(g, 5, size | (id == BPF_FUNC_l4_csum_replace ? bits(g, 0x70) : 0));
	call(g, id);
}

/* What the kernel does to headers that are not all there reads behind the packet: nothing to compare. Jump over what follows. */
static u32 begin_if_long(struct skb_gen *g)
{
	put(g, BPF_LDX | BPF_MEM | BPF_W, 1, 6, offsetof(struct __sk_buff, len), 0);
	put(g, BPF_JMP | BPF_JLT | BPF_K, 1, 0, 0, 100);
	return g->n - 1;
}

static void end_if_long(struct skb_gen *g, u32 at)
{
	g->insns[at].off = g->n - at - 1;
}

static void room_step(struct skb_gen *g)
{
	u32 at = begin_if_long(g);
	static const s32 by[] = { 0, 4, 8, 14, 20, 28, 40, 50, -4, -8, -14, -20, -28, -40, 0xfff, -0xfff, 0x1000 };
	u64 flags = 0;

	if (skb_gen_random(g, 2))
		flags = bits(g, skb_gen_random(g, 2) ? 0x1ff : 0x63) |
			(skb_gen_random(g, 3) ? 0 : (u64)skb_gen_random(g, 40) << 56);
	put64(g, 2, (u64)(s64)by[skb_gen_random(g, ARRAY_SIZE(by))]);
	put64(g, 3, PICK(g, 0, 1));
	put64(g, 4, flags);
	call(g, BPF_FUNC_skb_adjust_room);
	end_if_long(g, at);
}

static void number_step(struct skb_gen *g, u32 id)
{
	u32 at = id == BPF_FUNC_skb_change_proto ? begin_if_long(g) : 0;

	switch (id) {
	case BPF_FUNC_skb_change_tail:
		put64(g, 2, PICK(g, 0, 14, 20, 34, 60, 64, 100, 1500, 16064, 16065));
		put64(g, 3, PICK(g, 0, 0, 0, 0, 1));
		break;
	case BPF_FUNC_skb_change_head:
		put64(g, 2, PICK(g, 0, 4, 14, 20, 40, 300, 16000));
		put64(g, 3, PICK(g, 0, 0, 0, 0, 1));
		break;
	case BPF_FUNC_skb_change_proto:
		put64(g, 2, PICK(g, 0xdd86, 0x0008));
		put64(g, 3, PICK(g, 0, 0, 0, 0, 1));
		break;
	case BPF_FUNC_skb_vlan_push:
		put64(g, 2, PICK(g, 0x0081, 0xa888));
		put64(g, 3, bits(g, 0xffff));
		break;
	case BPF_FUNC_skb_ancestor_cgroup_id:
		put64(g, 2, PICK(g, 0, 1, 2, ~0ull));
		break;
	case BPF_FUNC_csum_level:
		put64(g, 2, PICK(g, 0, 1, 2, 3));
		break;
	case BPF_FUNC_skb_change_type:
		put64(g, 2, PICK(g, 0, 1, 2, 3, 4));
		break;
	case BPF_FUNC_skb_set_tstamp:
		put64(g, 2, PICK(g, 0, 12345));
		put64(g, 3, PICK(g, 0, 1, 2));
		break;
	case BPF_FUNC_clone_redirect:
		put64(g, 2, PICK(g, 1, 1, 1000));
		put64(g, 3, PICK(g, 0, 2));
		break;
	default:
		put64(g, 2, number(g));
	}
	call(g, id);
	if (at)
		end_if_long(g, at);
}

/* Helpers without the packet. */
static void plain_step(struct skb_gen *g, u32 id)
{
	put64(g, 1, PICK(g, 1, 2));
	put64(g, 2, PICK(g, 0, 0, 1));
	put64(g, 3, 0);
	put64(g, 4, PICK(g, 0, 0, 1));
	if (id == BPF_FUNC_redirect_neigh) {
		fill_buffer(g);
		buffer_arg(g, 2, 1 + skb_gen_random(g, 30));
	}
	put(g, BPF_JMP | BPF_CALL, 0, 0, 0, id);
	see(g, 0);
}

static void mtu_step(struct skb_gen *g)
{
	put64(g, 2, PICK(g, 0, 0, 1, 1, 1000));
	put(g, BPF_ST | BPF_MEM | BPF_DW, 10, 0, BUFFER, PICK(g, 0, 0, 1500, 65535, 65536, 65537, 100));
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, 3, 10, 0, 0);
	put(g, BPF_ALU64 | BPF_ADD | BPF_K, 3, 0, 0, BUFFER);
	put64(g, 4, PICK(g, 0, 0, 20, 65000, 66000, (u64)-20, (u64)-2000));
	put64(g, 5, PICK(g, 0, 0, 0, 1, 2));
	call(g, BPF_FUNC_check_mtu);
	put(g, BPF_LDX | BPF_MEM | BPF_W, 1, 10, BUFFER, 0);
	see(g, 1);
}

static void helper_step(struct skb_gen *g)
{
	static const u32 tc[] = {
		BPF_FUNC_skb_load_bytes, BPF_FUNC_skb_load_bytes_relative, BPF_FUNC_skb_store_bytes, BPF_FUNC_l3_csum_replace,
		BPF_FUNC_l4_csum_replace, BPF_FUNC_skb_adjust_room, BPF_FUNC_skb_adjust_room, BPF_FUNC_skb_change_tail,
		BPF_FUNC_skb_change_head, BPF_FUNC_skb_change_proto, BPF_FUNC_skb_vlan_push, BPF_FUNC_skb_vlan_pop,
		BPF_FUNC_skb_vlan_push, BPF_FUNC_skb_vlan_pop, BPF_FUNC_csum_level, BPF_FUNC_skb_change_type,
		BPF_FUNC_skb_set_tstamp, BPF_FUNC_set_hash, BPF_FUNC_set_hash_invalid, BPF_FUNC_skb_ecn_set_ce,
		BPF_FUNC_get_socket_uid, BPF_FUNC_get_cgroup_classid, BPF_FUNC_skb_cgroup_classid, BPF_FUNC_get_route_realm,
		BPF_FUNC_redirect, BPF_FUNC_redirect_peer, BPF_FUNC_redirect_neigh, BPF_FUNC_skb_pull_data,
		BPF_FUNC_clone_redirect, BPF_FUNC_check_mtu, BPF_FUNC_get_netns_cookie,
		BPF_FUNC_skb_cgroup_id, BPF_FUNC_skb_ancestor_cgroup_id, BPF_FUNC_skb_set_tunnel_key,
		BPF_FUNC_skb_set_tunnel_key, BPF_FUNC_skb_get_tunnel_key,
	};
	static const u32 filter[] = { BPF_FUNC_skb_load_bytes, BPF_FUNC_skb_load_bytes_relative, BPF_FUNC_get_socket_uid,
				      BPF_FUNC_get_netns_cookie };
	bool is_tc = g->type != BPF_PROG_TYPE_SOCKET_FILTER;
	u32 id = is_tc ? tc[skb_gen_random(g, ARRAY_SIZE(tc))] : filter[skb_gen_random(g, ARRAY_SIZE(filter))];

	if (!helper_get(id))
		return;
	switch (id) {
	case BPF_FUNC_skb_load_bytes:
	case BPF_FUNC_skb_load_bytes_relative:
	case BPF_FUNC_skb_store_bytes:
		bytes_step(g, id);
		break;
	case BPF_FUNC_l3_csum_replace:
	case BPF_FUNC_l4_csum_replace:
		csum_step(g, id);
		break;
	case BPF_FUNC_skb_adjust_room:
		room_step(g);
		break;
	case BPF_FUNC_check_mtu:
		mtu_step(g);
		break;
	case BPF_FUNC_redirect:
	case BPF_FUNC_redirect_peer:
	case BPF_FUNC_redirect_neigh:
		plain_step(g, id);
		break;
	case BPF_FUNC_skb_set_tunnel_key:
	case BPF_FUNC_skb_get_tunnel_key:
		fill_buffer(g);
		if (skb_gen_random(g, 8)) /* tunnel_ext must be 0, and without IPv6 the label too */
			put(g, BPF_ST | BPF_MEM | BPF_DW, 10, 0, BUFFER + 24, 0), put(g, BPF_ST | BPF_MEM | BPF_H, 10, 0, BUFFER + 22, 0);
		buffer_arg(g, 2, (u32 const[]){ 44, 44, 28, 26, 40, 10 }[skb_gen_random(g, 6)]);
		put64(g, 4, PICK(g, 0, 0, 1, 16, 17, bits(g, 0x1f)));
		call(g, id);
		see_buffer(g);
		break;
	default:
		number_step(g, id);
	}
}

/* Any access that the kind's table allows, pointers aside. */
static void field_step(struct skb_gen *g)
{
	bool write = skb_gen_random(g, 3) == 0, imm = skb_gen_random(g, 2);
	u32 s = skb_gen_random(g, 4), off = skb_gen_random(g, 192) & ~((1u << s) - 1);
	const struct kind_field *f = kind_access(kind_get(g->type), 0, off, 1u << s, write);

	if (!f || f->gives != KIND_SCALAR)
		return;
	if (!write) {
		bool sign = s < 3 && skb_gen_random(g, 4) == 0;

		put(g, BPF_LDX | (sign ? BPF_MEMSX : BPF_MEM) | sizes[s], 1, 6, off, 0);
		see(g, 1);
		return;
	}
	put64(g, 8, skb_gen_random(g, 2) ? number(g) : skb_gen_random(g, ~0u));
	put(g, (imm ? BPF_ST : BPF_STX) | BPF_MEM | sizes[s], 6, imm ? 0 : 8, off, imm ? (s32)number(g) : 0);
}

static void load_abs_step(struct skb_gen *g)
{
	static const s32 base[] = { 0, 0, 0, -0x100000, -0x200000, -0x100000 - 20, -0x200000 - 1, -1, 0x7fffffff };
	s32 off = (s32)((u32)base[skb_gen_random(g, ARRAY_SIZE(base))] + skb_gen_random(g, 64)); /* wraps at times */
	u32 s = skb_gen_random(g, 3);

	if (skb_gen_random(g, 2)) {
		put(g, BPF_LD | BPF_ABS | sizes[s], 0, 0, 0, off);
	} else {
		put64(g, 8, skb_gen_random(g, 70));
		put(g, BPF_LD | BPF_IND | sizes[s], 0, 8, 0, off);
	}
	see(g, 0);
}

static void direct_step(struct skb_gen *g)
{
	u32 s = skb_gen_random(g, 4), off = skb_gen_random(g, 70);
	bool write = skb_gen_random(g, 3) == 0;

	if (g->type == BPF_PROG_TYPE_SOCKET_FILTER)
		return;
	put(g, BPF_LDX | BPF_MEM | BPF_W, 2, 6, offsetof(struct __sk_buff, data), 0);
	put(g, BPF_LDX | BPF_MEM | BPF_W, 3, 6, offsetof(struct __sk_buff, data_end), 0);
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, 4, 2, 0, 0);
	put(g, BPF_ALU64 | BPF_ADD | BPF_K, 4, 0, 0, off + (1 << s));
	put(g, BPF_JMP | BPF_JGT | BPF_X, 4, 3, write ? 1 : 3, 0);
	put(g, (write ? BPF_STX : BPF_LDX) | BPF_MEM | sizes[s], write ? 2 : 1, write ? 7 : 2, off, 0);
	if (!write)
		see(g, 1);
}

void skb_gen_program(struct skb_gen *g, u32 steps)
{
	g->n = 0;
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0);
	put(g, BPF_ALU64 | BPF_MOV | BPF_K, 7, 0, 0, 1);
	fill_buffer(g);
	while (steps-- && g->n < SKB_GEN_INSNS - 60) {
		switch (skb_gen_random(g, 8)) {
		case 0: case 1: case 2:
			helper_step(g);
			break;
		case 3: case 4: case 5:
			field_step(g);
			break;
		case 6:
			direct_step(g);
			break;
		default:
			if (skb_gen_random(g, 3) == 0)
				load_abs_step(g);
		}
	}
	/* where the headers are now */
	for (u32 start = 0; start < 2; start++) {
		put64(g, 2, 0);
		buffer_arg(g, 3, 16);
		put64(g, 5, start);
		call(g, BPF_FUNC_skb_load_bytes_relative);
		see_buffer(g);
	}
	put(g, BPF_STX | BPF_MEM | BPF_DW, 6, 7, offsetof(struct __sk_buff, cb), 0);
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, 0, 7, 0, 0);
	put(g, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

u32 skb_gen_packet(struct skb_gen *g, u8 *packet, u32 room)
{
	static const u8 types[][2] = { { 8, 0 }, { 8, 0 }, { 0x86, 0xdd }, { 0x86, 0xdd }, { 0x81, 0 }, { 0x88, 0xa8 },
				       { 8, 6 }, { 0, 40 }, { 0, 0 } };
	static const u32 lens[] = { 14, 15, 16, 18, 22, 34, 42, 54, 60, 74, 74, 100, 100, 200, 200, 400, 1500, 3700 };
	u32 size = lens[skb_gen_random(g, ARRAY_SIZE(lens))], at = 12;
	const u8 *type = types[skb_gen_random(g, ARRAY_SIZE(types))];

	for (u32 i = 0; i < size && i < room; i++)
		packet[i] = skb_gen_random(g, 256);
	switch (skb_gen_random(g, 4)) {
	case 0:
		memset(packet, 0, 6);
		break;
	case 1:
		memset(packet, 0xff, 6);
	}
	for (;;) {
		memcpy(packet + at, type, 2);
		at += 4;
		if (type[0] != 0x81 && type[0] != 0x88)
			break;
		if (at + 2 > size)
			return size;
		type = types[skb_gen_random(g, ARRAY_SIZE(types))];
	}
	if (at - 2 < size && type[0] == 8 && !type[1])
		packet[at - 2] = 0x45;
	if (skb_gen_random(g, 2) && at < size)
		memset(packet + at - 2, skb_gen_random(g, 2) ? 0xff : 0, MIN(2u, size - at + 2));
	return size;
}

void skb_gen_ctx(struct skb_gen *g, struct __sk_buff *ctx, u32 size)
{
	memset(ctx, 0, sizeof(*ctx));
	ctx->mark = number(g);
	ctx->priority = number(g);
	ctx->ingress_ifindex = number(g);
	for (u32 i = 0; i < 5; i++)
		ctx->cb[i] = number(g);
	ctx->tstamp = number(g);
	if (skb_gen_random(g, 3) == 0)
		ctx->wire_len = skb_gen_random(g, 8) ? size + skb_gen_random(g, 40) : number(g);
	if (skb_gen_random(g, 3) == 0) {
		ctx->gso_segs = number(g);
		ctx->gso_size = number(g);
	}
	ctx->hwtstamp = number(g);
}

void skb_gen_print(const struct skb_gen *g)
{
	u64 r[6] = { 0 };

	for (u32 i = 0; i < g->n; i++) {
		const struct bpf_insn *x = &g->insns[i];

		if (x->code == (BPF_LD | BPF_DW | BPF_IMM)) {
			if (x->dst_reg < 6)
				r[x->dst_reg] = (u32)x->imm | (u64)(u32)x[1].imm << 32;
			i++;
		} else if (x->code == (BPF_ALU64 | BPF_MOV | BPF_K) && x->dst_reg < 6) {
			r[x->dst_reg] = x->imm;
		} else if (x->code == (BPF_JMP | BPF_CALL)) {
			printf("# %u: %s(%llx, %llx, %llx, %llx)\n", i, helper_name(x->imm), (unsigned long long)r[2],
			       (unsigned long long)r[3], (unsigned long long)r[4], (unsigned long long)r[5]);
		} else if (x->dst_reg == 6 || x->src_reg == 6 || BPF_CLASS(x->code) == BPF_LD) {
			printf("# %u: code %02x r%u r%u off %d imm %d\n", i, x->code, x->dst_reg, x->src_reg, x->off, x->imm);
		}
	}
}
