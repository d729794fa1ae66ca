/* LPM_TRIE: longest prefix match in a binary trie with skipped levels. Key: u32 prefixlen, then the
 * bits, first byte first.
 *
 * A node stands for a prefix; an inner node (no value) exists only where two branches part. So the
 * way to any key has at most one node per bit, and with n keys spread out about log2(n). Look-ups
 * take no lock: a node never changes its prefix, its value is replaced with the node, and nodes
 * wait for the epoch before they are freed. */
#include "private.h"

#define LPM_FLAGS (BPF_F_NO_PREALLOC | BPF_F_NUMA_NODE | ACCESS_FLAGS)
#define DATA_MAX  256
#define HEAD	  4 /* sizeof(prefixlen) */
#define VALUE_MAX                                                                                  \
	(KMALLOC_MAX - DATA_MAX - 24) /* LPM_VAL_SIZE_MAX, with the 24 bytes of the kernel's node  \
				       */

struct node {
	struct env_deferred gone;
	struct node *_Atomic child[2]; /* by the first bit after the prefix */
	u16 prefixlen;
	bool inner; /* no value of its own */
	u8 data[]
	    __attribute__((aligned(4))); /* the bits; then, 8-aligned in the node, the value */
};
static_assert(DATA_MAX * 8 <= UINT16_MAX, "prefixlen holds every length");

struct lpm {
	struct map m;
	pthread_mutex_t lock; /* writers */
	struct node *_Atomic root;
	_Atomic u32 n_entries;
	u32 data_size, max_prefixlen, value_off, node_size;
};

static struct lpm *of(const struct map *m)
{
	return container_of(m, struct lpm, m);
}

/* trie_alloc() of kernel/bpf/lpm_trie.c */
static int lpm_check(const struct map_attr *attr)
{
	if (!attr->max_entries || !(attr->flags & BPF_F_NO_PREALLOC) || attr->flags & ~LPM_FLAGS ||
	    !access_ok(attr->flags) || attr->key_size < HEAD + 1 ||
	    attr->key_size > HEAD + DATA_MAX || !attr->value_size || attr->value_size > VALUE_MAX)
		return -EINVAL;
	return 0;
}

static int lpm_new(struct map **out, const struct map_attr *attr)
{
	struct lpm *t = map_alloc(sizeof(*t), attr, &map_lpm_trie_ops);

	if (!t)
		return -ENOMEM;
	pthread_mutex_init(&t->lock, NULL);
	t->data_size = attr->key_size - HEAD;
	t->max_prefixlen = t->data_size * 8;
	t->value_off = ROUND_UP(sizeof(struct node) + t->data_size, 8);
	t->node_size = t->value_off + ROUND_UP(attr->value_size, 8u);
	*out = &t->m;
	return 0;
}

static struct node *get(struct node *_Atomic *slot)
{
	return atomic_load_explicit(slot, memory_order_acquire);
}

static void set(struct node *_Atomic *slot, struct node *n)
{
	atomic_store_explicit(slot, n, memory_order_release);
}

/* Without recursion: descend, and go on with the sibling that hangs on the freed node's place. */
static void lpm_free(struct map *m)
{
	struct lpm *t = of(m);
	struct node *n = get(&t->root), *todo = NULL;

	while (n || todo) {
		struct node *l, *r;

		if (!n) {
			n = todo;
			todo = (struct node *)n->gone.next;
		}
		l = get(&n->child[0]);
		r = get(&n->child[1]);
		free(n);
		if (r) {
			r->gone.next = (struct env_deferred *)todo;
			todo = r;
		}
		n = l;
	}
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static inline u32 bit_at(const u8 *data, u32 i)
{
	return data[i / 8] >> (7 - i % 8) & 1;
}

/* How many of the first `max` bits are equal. */
static inline u32 common_bits(const u8 *a, const u8 *b, u32 max, u32 data_size)
{
	u32 bits = 0;
	u64 x;

	for (; data_size - bits / 8 >= 8 && bits < max; bits += 64) {
		x = LOAD(u64, a + bits / 8) ^ LOAD(u64, b + bits / 8);
		if (x)
			return MIN(bits + (u32)__builtin_clzll(__builtin_bswap64(x)), max);
	}
	if (data_size - bits / 8 >= 4 && bits < max) {
		x = LOAD(u32, a + bits / 8) ^ LOAD(u32, b + bits / 8);
		if (x)
			return MIN(bits + (u32)__builtin_clz(__builtin_bswap32(x)), max);
		bits += 32;
	}
	for (; bits < max; bits += 8) {
		x = a[bits / 8] ^ b[bits / 8];
		if (x)
			return MIN(bits + (u32)__builtin_clz(x) - 24, max);
	}
	return max;
}

static inline u32 match(const struct lpm *t, const struct node *n, const u8 *data, u32 prefixlen)
{
	return common_bits(n->data, data, MIN(n->prefixlen, prefixlen), t->data_size);
}

static inline void *value_of(const struct lpm *t, struct node *n)
{
	return (u8 *)n + t->value_off;
}

static inline struct node *find(struct lpm *t, const void *key, u64 *steps)
{
	const u8 *data = (const u8 *)key + HEAD;
	u32 prefixlen = LOAD(u32, key);
	struct node *found = NULL, *n;

	if (unlikely(prefixlen > t->max_prefixlen))
		return NULL;
	for (n = get(&t->root); n; n = get(&n->child[bit_at(data, n->prefixlen)])) {
		u32 same = match(t, n, data, prefixlen);

		if (steps)
			++*steps;
		if (same < n->prefixlen)
			break;
		if (!n->inner)
			found = n;
		/* nothing hangs below a full-length prefix, and data[] ends here */
		if (n->prefixlen == t->max_prefixlen)
			break;
	}
	return found;
}

/* find() for IPv4 addresses, which is most of what these maps are used for. */
static inline struct node *find4(struct lpm *t, const void *key)
{
	u32 prefixlen = LOAD(u32, key), bits = __builtin_bswap32(LOAD(u32, (const u8 *)key + HEAD));
	struct node *found = NULL, *n;
	u32 len;

	if (unlikely(prefixlen > 32))
		return NULL;
	for (n = get(&t->root); n; n = get(&n->child[bits >> (31 - len) & 1])) {
		u64 differ = bits ^ __builtin_bswap32(LOAD(u32, n->data));

		len = n->prefixlen;
		if (len > prefixlen || differ >> (32 - len))
			break;
		if (!n->inner)
			found = n;
		if (len == 32)
			break;
	}
	return found;
}

static void *lpm_lookup(struct map *m, const void *key, u32 cpu)
{
	struct lpm *t = of(m);
	struct node *n = t->data_size == 4 ? find4(t, key) : find(t, key, NULL);

	return n ? value_of(t, n) : NULL;
}

static void node_gone(struct env_deferred *d)
{
	free(container_of(d, struct node, gone));
}

static struct node *node_new(const struct lpm *t, u32 prefixlen, const u8 *data, const void *value)
{
	struct node *n = malloc(t->node_size);

	if (!n)
		return NULL;
	atomic_init(&n->child[0], NULL);
	atomic_init(&n->child[1], NULL);
	n->prefixlen = prefixlen;
	n->inner = !value;
	memcpy(n->data, data, t->data_size);
	if (value)
		memcpy(value_of(t, n), value, t->m.value_size);
	return n;
}

/* The place where the prefix belongs: *slot is its node, the first node that parts from it, one
 * below it, or empty. */
static struct node *_Atomic *place(struct lpm *t, u32 prefixlen, const u8 *data, u32 *same)
{
	struct node *_Atomic *slot = &t->root;
	struct node *n;

	*same = 0;
	while ((n = get(slot))) {
		*same = match(t, n, data, prefixlen);
		if (n->prefixlen != *same || n->prefixlen == prefixlen)
			break;
		slot = &n->child[bit_at(data, n->prefixlen)];
	}
	return slot;
}

static int count_entry(struct lpm *t, u64 flags)
{
	if (flags == BPF_EXIST)
		return -ENOENT;
	if (t->n_entries == t->m.max_entries)
		return -ENOSPC;
	t->n_entries++;
	return 0;
}

static void take_children(struct node *to, struct node *from)
{
	set(&to->child[0], get(&from->child[0]));
	set(&to->child[1], get(&from->child[1]));
}

/* Under the lock; *old is a node to free afterwards. */
static int insert(struct lpm *t, struct node *n, u64 flags, struct node **old)
{
	u32 same;
	struct node *_Atomic *slot = place(t, n->prefixlen, n->data, &same);
	struct node *at = get(slot), *fork;
	int err;

	if (at && at->prefixlen == same && at->prefixlen == n->prefixlen && !at->inner) {
		if (flags == BPF_NOEXIST)
			return -EEXIST;
		take_children(n, at);
		set(slot, n);
		*old = at;
		return 0;
	}
	err = count_entry(t, flags);
	if (err)
		return err;
	if (!at) {
		set(slot, n);
	} else if (at->prefixlen == same && at->prefixlen == n->prefixlen) {
		take_children(n, at);
		set(slot, n);
		*old = at;
	} else if (same == n->prefixlen) {
		set(&n->child[bit_at(at->data, same)], at);
		set(slot, n);
	} else {
		fork = node_new(t, same, n->data, NULL);
		if (!fork) {
			t->n_entries--;
			return -ENOMEM;
		}
		set(&fork->child[bit_at(n->data, same)], n);
		set(&fork->child[!bit_at(n->data, same)], at);
		set(slot, fork);
	}
	return 0;
}

static int lpm_update(struct map *m, const void *key, const void *value, u64 flags, u32 cpu)
{
	struct lpm *t = of(m);
	struct node *n, *old = NULL;
	int err;

	if (flags > BPF_EXIST || LOAD(u32, key) > t->max_prefixlen)
		return -EINVAL;
	n = node_new(t, LOAD(u32, key), (const u8 *)key + HEAD, value);
	if (!n)
		return -ENOMEM;
	pthread_mutex_lock(&t->lock);
	err = insert(t, n, flags, &old);
	pthread_mutex_unlock(&t->lock);
	if (err)
		free(n);
	if (old)
		env_defer_node(&old->gone, node_gone);
	return err;
}

/* Under the lock: take the node at *slot out; `up` is the slot of its parent (NULL: it is the
 * root). A node with two children stays as an inner node, which is a new node: readers may stand on
 * the old one's value. */
static int take_out(struct lpm *t, struct node *_Atomic *up, struct node *_Atomic *slot,
		    struct node *dead[2])
{
	struct node *n = get(slot), *l = get(&n->child[0]), *r = get(&n->child[1]);
	struct node *parent = up ? get(up) : NULL, *inner;

	dead[0] = n;
	if (l && r) {
		inner = node_new(t, n->prefixlen, n->data, NULL);
		if (!inner)
			return -ENOMEM;
		take_children(inner, n);
		set(slot, inner);
	} else if (!l && !r && parent && parent->inner) {
		set(up, get(&parent->child[slot == &parent->child[0]]));
		dead[1] = parent;
	} else {
		set(slot, l ? l : r);
	}
	t->n_entries--;
	return 0;
}

static int lpm_delete(struct map *m, const void *key)
{
	struct lpm *t = of(m);
	const u8 *data = (const u8 *)key + HEAD;
	u32 prefixlen = LOAD(u32, key), same = 0;
	struct node *_Atomic *slot = &t->root, *_Atomic *up = NULL;
	struct node *n, *dead[2] = {NULL, NULL};
	int err = -ENOENT;

	if (prefixlen > t->max_prefixlen)
		return -EINVAL;
	pthread_mutex_lock(&t->lock);
	while ((n = get(slot))) {
		same = match(t, n, data, prefixlen);
		if (n->prefixlen != same || n->prefixlen == prefixlen)
			break;
		up = slot;
		slot = &n->child[bit_at(data, n->prefixlen)];
	}
	if (n && n->prefixlen == prefixlen && same == prefixlen && !n->inner)
		err = take_out(t, up, slot, dead);
	pthread_mutex_unlock(&t->lock);
	for (int i = 0; !err && i < 2 && dead[i]; i++)
		env_defer_node(&dead[i]->gone, node_gone);
	return err;
}

static int lpm_copy_out(struct map *m, const void *key, void *value, u64 flags)
{
	void *from = lpm_lookup(m, key, 0);

	if (!from)
		return -ENOENT;
	copy_value(value, from, m->value_size);
	return 0;
}

static int lpm_copy_in(struct map *m, const void *key, const void *value, u64 flags)
{
	return lpm_update(m, key, value, flags, 0);
}

static int key_out(const struct lpm *t, const struct node *n, void *next)
{
	STORE(u32, next, n->prefixlen);
	memcpy((u8 *)next + HEAD, n->data, t->data_size);
	return 0;
}

/* Where a walk in postorder begins below n: go down, left first; the last node with a value on that
 * way. */
static int first_below(const struct lpm *t, struct node *n, void *next)
{
	struct node *last = NULL;

	while (n) {
		struct node *l = get(&n->child[0]);

		if (n->inner) {
			n = l;
			continue;
		}
		last = n;
		n = l ? l : get(&n->child[1]);
	}
	return last ? key_out(t, last, next) : -ENOENT;
}

/* Postorder, so that longer prefixes come before those they lie in. Under the lock: the order is
 * one tree's. */
static int next_after(struct lpm *t, const void *key, void *next)
{
	struct node *path[DATA_MAX * 8 + 1], *n = get(&t->root);
	u32 prefixlen, same = 0, depth = 0;
	const u8 *data;

	if (!key || LOAD(u32, key) > t->max_prefixlen)
		return first_below(t, n, next);
	prefixlen = LOAD(u32, key);
	data = (const u8 *)key + HEAD;
	while (n) {
		path[depth++] = n;
		same = match(t, n, data, prefixlen);
		if (n->prefixlen != same || n->prefixlen == prefixlen)
			break;
		n = get(&n->child[bit_at(data, n->prefixlen)]);
	}
	if (!n || n->prefixlen != same || n->prefixlen != prefixlen || n->inner)
		return first_below(t, get(&t->root), next);
	for (; depth > 1; depth--) {
		struct node *parent = path[depth - 2], *right = get(&parent->child[1]);

		if (path[depth - 1] != right && right)
			return first_below(t, right, next);
		if (!parent->inner)
			return key_out(t, parent, next);
	}
	return -ENOENT;
}

static int lpm_next_key(struct map *m, const void *key, void *next)
{
	struct lpm *t = of(m);
	int err;

	pthread_mutex_lock(&t->lock);
	err = next_after(t, key, next);
	pthread_mutex_unlock(&t->lock);
	return err;
}

static u64 lpm_memory(const struct map *m)
{
	return sizeof(struct lpm) + (u64)of(m)->n_entries * of(m)->node_size;
}

static u64 lpm_steps(struct map *m, const void *key)
{
	u64 steps = 0;

	env_read_lock();
	find(of(m), key, &steps);
	env_read_unlock();
	return steps;
}

const struct map_ops map_lpm_trie_ops = {
    .check = lpm_check,
    .new = lpm_new,
    .free = lpm_free,
    .lookup = lpm_lookup,
    .update = lpm_update,
    .delete = lpm_delete,
    .copy_out = lpm_copy_out,
    .copy_in = lpm_copy_in,
    .next_key = lpm_next_key,
    .meta_equal = map_meta_equal,
    .memory = lpm_memory,
    .steps = lpm_steps,
};
