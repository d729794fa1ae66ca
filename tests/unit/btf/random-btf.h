/* Random BTF that is mostly right: every kind, references mostly to types of a fitting kind, members mostly where they
 * fit. With `wild` percent some choice is arbitrary instead. */
#ifndef RANDOM_BTF_H
#define RANDOM_BTF_H
#include "blob.h"
#include "rnd.h"
#include <stdio.h>

#define MAX_IDS 256

struct gen {
	struct blob *b;
	u32 size[MAX_IDS];	/* 0: no value */
	u8 kind[MAX_IDS], vlen[MAX_IDS];
	u32 wild, n;
};

static inline bool wild(struct gen *g)
{
	return rnd_below(100) < g->wild;
}

static inline void gen_note(struct gen *g, u32 id, u32 kind, u32 size)
{
	assert(id < MAX_IDS);
	g->kind[id] = kind;
	g->vlen[id] = 0;
	g->size[id] = size;
	g->n = id + 1;
}

static const char *const gen_names[] = { "a", "b", "c", "len", "next", "flow", "state", "x.y", "_u", "T9", "node", "key" };
static inline const char *gen_name(void)
{
	return gen_names[rnd_below(ARRAY_SIZE(gen_names))];
}

static inline u32 gen_any(struct gen *g)
{
	return one_in(20) ? g->n + rnd_below(4) : rnd_below(g->n);
}

/* A type with bytes, or anything. */
static inline u32 gen_value(struct gen *g)
{
	if (!wild(g))
		for (u32 i = 0; i < 50; i++) {
			u32 id = 1 + rnd_below(g->n - 1);

			if (id < g->n && g->size[id])
				return id;
		}
	return gen_any(g);
}

static inline u32 gen_of_kind(struct gen *g, u32 kind)
{
	if (!wild(g))
		for (u32 i = 0; i < 50; i++) {
			u32 id = rnd_below(g->n);

			if (g->kind[id] == kind)
				return id;
		}
	return gen_any(g);
}

static inline bool gen_is_number(struct gen *g, u32 id)
{
	return g->kind[id] == BTF_KIND_INT || g->kind[id] == BTF_KIND_ENUM;
}

/* What a pointer or a modifier may refer to: bytes, void, a forward declaration, a prototype. */
static inline u32 gen_target(struct gen *g)
{
	u32 id = one_in(2) ? gen_value(g) : rnd_below(g->n);

	if (wild(g))
		return gen_any(g);
	switch (g->kind[id]) {
	case BTF_KIND_VAR:
	case BTF_KIND_DATASEC:
	case BTF_KIND_DECL_TAG:
	case BTF_KIND_FUNC:
		return one_in(2) ? 0 : 1;
	}
	return id;
}

static inline void gen_int(struct gen *g)
{
	static const char *const names[] = { "char", "int", "unsigned int", "_Bool", "long long", "u8" };
	static const u8 encodings[] = { 0, 1, 1, 0, 2, 4, 3, 8 };
	u32 size = 1u << rnd_below(5), encoding = encodings[rnd_below(wild(g) ? 8 : 6)], id;

	bool bits = one_in(8);

	if (bits)
		id = blob_bits(g->b, "bits", size, encoding, wild(g) ? rnd_below(140) : 0, rnd_below(size * 8 + (wild(g) ? 9 : 1)));
	else
		id = blob_int(g->b, names[rnd_below(6)], size, encoding);
	/* old bit-fields are no elements of arrays, so few things refer to them */
	gen_note(g, id, BTF_KIND_INT, bits && !one_in(4) ? 0 : size);
}

static inline void gen_ref(struct gen *g)
{
	static const u8 kinds[] = { BTF_KIND_PTR, BTF_KIND_PTR, BTF_KIND_TYPEDEF, BTF_KIND_CONST, BTF_KIND_VOLATILE,
				    BTF_KIND_RESTRICT, BTF_KIND_TYPE_TAG };
	u32 kind = kinds[rnd_below(7)], to = gen_target(g), id, size;
	static const char *const tags[] = { "kptr", "kptr_untrusted", "percpu_kptr", "uptr", "user", "rcu" };
	const char *name = kind == BTF_KIND_TYPEDEF ? gen_name() : kind == BTF_KIND_TYPE_TAG ? tags[rnd_below(6)] : NULL;

	if (kind == BTF_KIND_TYPE_TAG && one_in(2))
		to = gen_of_kind(g, BTF_KIND_STRUCT);
	if (kind == BTF_KIND_PTR && one_in(4))
		to = gen_of_kind(g, BTF_KIND_TYPE_TAG);
	size = kind == BTF_KIND_PTR ? 8 : to < g->n ? g->size[to] : 0;
	id = blob_type(g->b, kind, wild(g) ? gen_name() : name, wild(g), kind == BTF_KIND_TYPE_TAG && one_in(8), to);
	gen_note(g, id, kind, size);
}

static inline void gen_array(struct gen *g)
{
	u32 elem = gen_value(g), index = wild(g) ? gen_any(g) : 1, n = wild(g) ? rnd() : rnd_below(6);
	u32 size = elem < g->n ? g->size[elem] * n : 0;

	gen_note(g, blob_array(g->b, elem, index, n), BTF_KIND_ARRAY, size > 4096 ? 0 : size);
}

/* A struct's members one after the other, the struct just large enough unless wild. */
static inline void gen_struct(struct gen *g)
{
	u32 n = rnd_below(7), types[8], bits[8], widths[8], at = 0, size = 0, id;
	bool uni = one_in(4), kflag = one_in(3);

	for (u32 i = 0; i < n; i++) {
		u32 bytes;

		types[i] = gen_value(g);
		bytes = types[i] < g->n ? g->size[types[i]] : 4;
		widths[i] = 0;
		if (kflag && one_in(2) && (wild(g) || (types[i] < g->n && gen_is_number(g, types[i]))))
			widths[i] = rnd_below(wild(g) ? 256 : bytes * 8 < 32 ? bytes * 8 : 32);
		if (!widths[i]) {
			u32 align = one_in(9) ? 8 : bytes > 4 ? 64 : bytes * 8;

			at = ROUND_UP(at, align ? align : 8);
		}
		bits[i] = wild(g) ? rnd_below(300) : uni ? 0 : at;
		at = bits[i] + (widths[i] ? widths[i] : bytes * 8);
		size = MAX(size, (at + 7) / 8);
	}
	if (wild(g))
		size = rnd_below(64);
	size += one_in(8);
	id = blob_type(g->b, uni ? BTF_KIND_UNION : BTF_KIND_STRUCT, one_in(4) ? NULL : gen_name(), n, kflag, size);
	for (u32 i = 0; i < n; i++)
		blob_member(g->b, one_in(9) ? NULL : gen_name(), types[i], kflag ? widths[i] << 24 | bits[i] : bits[i]);
	gen_note(g, id, uni ? BTF_KIND_UNION : BTF_KIND_STRUCT, size > 4096 ? 0 : size);
	g->vlen[id] = n;
}

/* The structs that are special fields, with their right size or nearly. */
static inline void gen_special(struct gen *g)
{
	static const struct {
		const char *name;
		u32 size;
	} s[] = { { "bpf_spin_lock", 4 }, { "bpf_list_head", 16 }, { "bpf_list_node", 24 }, { "bpf_rb_root", 16 },
		  { "bpf_rb_node", 32 }, { "bpf_refcount", 4 }, { "bpf_res_spin_lock", 8 }, { "task_struct", 8 },
		  { "sk_buff", 8 }, { "cgroup", 4 } };
	u32 i = rnd_below(ARRAY_SIZE(s)), size = wild(g) ? rnd_below(40) : s[i].size;

	gen_note(g, blob_type(g->b, BTF_KIND_STRUCT, s[i].name, 0, false, size), BTF_KIND_STRUCT, size);
}

static inline void gen_enum(struct gen *g)
{
	bool wide = one_in(3);
	u32 n = rnd_below(5), size = wild(g) ? rnd_below(12) : 1u << rnd_below(4), kind = wide ? BTF_KIND_ENUM64 : BTF_KIND_ENUM;
	u32 id = blob_type(g->b, kind, one_in(3) ? NULL : gen_name(), n, one_in(2), size);

	for (u32 i = 0; i < n; i++)
		if (wide)
			blob_enumerator64(g->b, wild(g) ? NULL : gen_name(), rnd());
		else
			blob_enumerator(g->b, wild(g) ? NULL : gen_name(), rnd());
	gen_note(g, id, kind, size);
}

static inline u32 gen_proto(struct gen *g, bool named)
{
	u32 n = rnd_below(5), result = one_in(3) ? 0 : gen_value(g);
	u32 id = blob_type(g->b, BTF_KIND_FUNC_PROTO, wild(g) ? "p" : NULL, n, wild(g), result);

	for (u32 i = 0; i < n; i++) {
		if (i == n - 1 && one_in(4))
			blob_param(g->b, wild(g) ? "dots" : NULL, 0);
		else
			blob_param(g->b, !named && one_in(6) ? NULL : gen_name(), wild(g) ? gen_any(g) : gen_value(g));
	}
	gen_note(g, id, BTF_KIND_FUNC_PROTO, 0);
	return id;
}

static inline void gen_func(struct gen *g)
{
	u32 to = wild(g) ? gen_any(g) : gen_proto(g, true);
	u32 id = blob_type(g->b, BTF_KIND_FUNC, gen_name(), rnd_below(wild(g) ? 4 : 2), false, to);

	gen_note(g, id, BTF_KIND_FUNC, 0);
}

static inline void gen_section(struct gen *g)
{
	u32 vars[6], sizes[6], n = rnd_below(5), id, at = 0, total = 0;

	for (u32 i = 0; i < n; i++) {
		u32 type = gen_value(g);

		sizes[i] = wild(g) ? rnd_below(64) : type < g->n ? g->size[type] : 4;
		total += sizes[i];
		vars[i] = wild(g) ? gen_any(g) : blob_var(g->b, gen_name(), type, one_in(2) ? 0 : wild(g) ? rnd_below(4) : 1);
		if (vars[i] >= g->n)
			gen_note(g, g->b->n_types, BTF_KIND_VAR, 0);
	}
	id = blob_type(g->b, BTF_KIND_DATASEC, wild(g) ? gen_name() : ".data", n, wild(g), wild(g) ? rnd_below(99) : total + 1);
	for (u32 i = 0; i < n; i++) {
		blob_in_section(g->b, vars[i], wild(g) ? rnd_below(99) : at, sizes[i]);
		at += sizes[i];
	}
	gen_note(g, id, BTF_KIND_DATASEC, 0);
}

static inline bool gen_is_tagged(struct gen *g, u32 id)
{
	u32 k = g->kind[id];

	return k == BTF_KIND_STRUCT || k == BTF_KIND_UNION || k == BTF_KIND_FUNC || k == BTF_KIND_VAR || k == BTF_KIND_TYPEDEF;
}

static inline void gen_tag(struct gen *g)
{
	static const u8 kinds[] = { BTF_KIND_STRUCT, BTF_KIND_FUNC, BTF_KIND_VAR, BTF_KIND_TYPEDEF, BTF_KIND_UNION };
	static const char *const values[] = { "contains:flow:node", "contains:state:next", "contains:node:a", "contains:x", "tag" };
	u32 to = gen_of_kind(g, one_in(2) ? BTF_KIND_STRUCT : kinds[rnd_below(5)]);

	if (to >= g->n || (!wild(g) && !gen_is_tagged(g, to)))
		return;
	gen_note(g, blob_tag(g->b, wild(g) ? NULL : values[rnd_below(5)], to, one_in(2) && g->vlen[to] ? (s32)rnd_below(g->vlen[to]) : -1),
		 BTF_KIND_DECL_TAG, 0);
}

/* A list head that says what it contains, a lock beside it: the shape that programs use. */
static inline void gen_list(struct gen *g)
{
	u32 lock, head, node, elem, owner, extra = one_in(3);
	bool tree = one_in(2);
	char contains[64];

	lock = blob_type(g->b, BTF_KIND_STRUCT, one_in(5) ? "bpf_res_spin_lock" : "bpf_spin_lock", 0, false, 4);
	gen_note(g, lock, BTF_KIND_STRUCT, 4);
	head = blob_type(g->b, BTF_KIND_STRUCT, tree ? "bpf_rb_root" : "bpf_list_head", 0, false, 16);
	gen_note(g, head, BTF_KIND_STRUCT, 16);
	node = blob_type(g->b, BTF_KIND_STRUCT, tree ? "bpf_rb_node" : "bpf_list_node", 0, false, tree ? 32 : 24);
	gen_note(g, node, BTF_KIND_STRUCT, tree ? 32 : 24);
	elem = blob_type(g->b, BTF_KIND_STRUCT, "elem", 1 + extra, false, 72 + (tree ? 32 : 24));
	blob_member(g->b, "n", wild(g) ? gen_any(g) : node, one_in(3) ? 64 : 0);
	if (extra)
		blob_member(g->b, one_in(2) ? "n" : "h", one_in(2) ? head : gen_value(g), 320);
	gen_note(g, elem, BTF_KIND_STRUCT, 72 + (tree ? 32 : 24));
	owner = blob_type(g->b, BTF_KIND_STRUCT, "owner", 2, false, 32);
	blob_member(g->b, "lock", one_in(6) ? gen_value(g) : lock, 0);
	blob_member(g->b, "head", head, one_in(8) ? 32 : 64);
	gen_note(g, owner, BTF_KIND_STRUCT, 32);
	snprintf(contains, sizeof(contains), "contains:%s:n", one_in(6) ? gen_name() : one_in(6) ? "owner" : "elem");
	if (!one_in(8))
		gen_note(g, blob_tag(g->b, contains, owner, one_in(9) ? 0 : 1), BTF_KIND_DECL_TAG, 0);
}

static inline void gen_one(struct gen *g)
{
	u32 id;

	switch (rnd_below(15)) {
	case 0:
		gen_int(g);
		break;
	case 1 ... 3:
		gen_ref(g);
		break;
	case 4:
		gen_array(g);
		break;
	case 5 ... 6:
		gen_struct(g);
		break;
	case 7:
		gen_enum(g);
		break;
	case 8:
		gen_note(g, blob_type(g->b, BTF_KIND_FWD, gen_name(), 0, one_in(2), wild(g)), BTF_KIND_FWD, 0);
		break;
	case 9:
		gen_proto(g, false);
		break;
	case 10:
		gen_func(g);
		break;
	case 11:
		gen_section(g);
		break;
	case 12:
		id = blob_type(g->b, BTF_KIND_FLOAT, one_in(2) ? "float" : NULL, 0, false, wild(g) ? rnd_below(20) : 8);
		gen_note(g, id, BTF_KIND_FLOAT, one_in(4) ? 0 : 8);
		break;
	case 13:
		gen_tag(g);
		break;
	case 14:
		if (one_in(3))
			gen_list(g);
		else
			gen_special(g);
		break;
	}
}

static inline const void *random_btf(struct blob *b, u32 wild_percent, u32 *size)
{
	struct gen g = { .b = b, .wild = wild_percent, .n = 1 };
	u32 types = 3 + rnd_below(60);

	blob_init(b);
	gen_note(&g, blob_int(b, "int", 4, BTF_INT_SIGNED), BTF_KIND_INT, 4);
	while (g.n < types)
		gen_one(&g);
	return blob_end(b, size);
}

#endif
