/* The element commands on hash-like maps, and what all kinds share: modes of the descriptor, NULL
 * pointers, flags. */
#include "abi.h"

static void hash(struct floor *f)
{
	int h = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 2, 0);
	u32 k = 1, n = 0;
	u64 v = 5, got = 0;

	SAME("look-up of a missing key", -ENOENT, lookup(f, h, &k, &v, 0));
	SAME("delete of a missing key", -ENOENT, delete (f, h, &k));
	SAME("first key of an empty map", -ENOENT, next_key(f, h, NULL, &n));
	SAME("EXIST on a missing key", -ENOENT, update(f, h, &k, &v, BPF_EXIST));
	SAME("flags 9", -EINVAL, update(f, h, &k, &v, 9));
	SAME("NOEXIST on a missing key", 0, update(f, h, &k, &v, BPF_NOEXIST));
	SAME("NOEXIST on a present key", -EEXIST, update(f, h, &k, &v, BPF_NOEXIST));
	v = 6;
	SAME("EXIST on a present key", 0, update(f, h, &k, &v, BPF_EXIST));
	SAME("look-up", 0, lookup(f, h, &k, &got, 0));
	SAME("what was found", 6, got);
	k = 2;
	update(f, h, &k, &v, 0);
	k = 3;
	SAME("full", -E2BIG, update(f, h, &k, &v, 0));
	k = 77;
	SAME("next of an unknown key is the first", 0, next_key(f, h, &k, &n));
	SAME("first key", 0, next_key(f, h, NULL, &n));
	SAME("second key", 0, next_key(f, h, &n, &k));
	SAME("behind the last key", -ENOENT, next_key(f, h, &k, &n));
	k = 1;
	SAME("look up and delete", 0, take(f, h, &k, &got, 0));
	SAME("look up and delete again", -ENOENT, take(f, h, &k, &got, 0));
	SAME("look up and delete, flags 2", -EINVAL, take(f, h, &k, &got, 2));
	SAME("look-up, flags 1", -EINVAL, lookup(f, h, &k, &v, 1));
	SAME("look-up, F_LOCK without a lock", -EINVAL, lookup(f, h, &k, &v, BPF_F_LOCK));
	SAME("update, F_LOCK without a lock", -EINVAL, update(f, h, &k, &v, BPF_F_LOCK));
	f->close(h);
}

static void pointers(struct floor *f)
{
	int h = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 2, 0);
	u32 k = 1, n;
	u64 v = 5;

	SAME("look-up: key NULL", -EFAULT, lookup(f, h, NULL, &v, 0));
	SAME("look-up: key NULL, bad flags", -EINVAL, lookup(f, h, NULL, &v, 1));
	SAME("look-up: value NULL, key missing", -ENOENT, lookup(f, h, &k, NULL, 0));
	SAME("update: key NULL", -EFAULT, update(f, h, NULL, &v, 0));
	SAME("update: value NULL", -EFAULT, update(f, h, &k, NULL, 0));
	SAME("update: value at 8", -EFAULT, update(f, h, &k, (void *)8, 0));
	SAME("delete: key NULL", -EFAULT, delete (f, h, NULL));
	update(f, h, &k, &v, 0);
	SAME("look-up: value NULL", -EFAULT, lookup(f, h, &k, NULL, 0));
	SAME("look-up: value at 8", -EFAULT, lookup(f, h, &k, (void *)8, 0));
	SAME("look-up: value at the end of all addresses", -EFAULT,
	     lookup(f, h, &k, (void *)~7ul, 0));
	SAME("next key: nowhere to put it", -EFAULT, next_key(f, h, NULL, NULL));
	SAME("next key: key at 8", -EFAULT, next_key(f, h, (void *)8, &n));
	f->close(h);
}

static void modes(struct floor *f)
{
	int ro = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 2, BPF_F_RDONLY),
	    wo = new_map(f, BPF_MAP_TYPE_HASH, 4, 8, 2, BPF_F_WRONLY);
	u32 k = 1;
	u64 v = 5;

	SAME("RDONLY: look-up", -ENOENT, lookup(f, ro, &k, &v, 0));
	SAME("RDONLY: update", -EPERM, update(f, ro, &k, &v, 0));
	SAME("RDONLY: delete", -EPERM, delete (f, ro, &k));
	SAME("RDONLY: next key", -ENOENT, next_key(f, ro, NULL, &k));
	SAME("RDONLY: look up and delete", -EPERM, take(f, ro, &k, &v, 0));
	SAME("RDONLY: freeze", -EPERM, elem(f, BPF_MAP_FREEZE, ro, NULL, NULL, 0));
	SAME("WRONLY: update", 0, update(f, wo, &k, &v, 0));
	SAME("WRONLY: look-up", -EPERM, lookup(f, wo, &k, &v, 0));
	SAME("WRONLY: next key", -EPERM, next_key(f, wo, NULL, &k));
	SAME("WRONLY: look up and delete", -EPERM, take(f, wo, &k, &v, 0));
	SAME("WRONLY: delete", 0, delete (f, wo, &k));
	f->close(ro);
	f->close(wo);
}

static void ring_buffer(struct floor *f)
{
	int r = new_map(f, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0);
	u32 k = 0;
	u64 v = 0;

	SAME("ring buffer: look-up with a key", -EINVAL, lookup(f, r, &k, &v, 0));
	SAME("ring buffer: look-up without", -ENOTSUPP_, lookup(f, r, NULL, &v, 0));
	SAME("ring buffer: update with a key", -EINVAL, update(f, r, &k, &v, 0));
	SAME("ring buffer: update without", -ENOTSUPP_, update(f, r, NULL, &v, 0));
	SAME("ring buffer: delete with a key", -EINVAL, delete (f, r, &k));
	SAME("ring buffer: delete without", -ENOTSUPP_, delete (f, r, NULL));
	SAME("ring buffer: next key", -ENOTSUPP_, next_key(f, r, NULL, &v));
	SAME("ring buffer: look up and delete", -ENOTSUPP_, take(f, r, NULL, &v, 0));
	f->close(r);
}

static void lpm(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_LPM_TRIE, 8, 8, 4, BPF_F_NO_PREALLOC);
	struct {
		u32 bits;
		u8 addr[4];
	} k = {24, {10, 1, 2, 0}}, host = {32, {10, 1, 2, 3}}, other = {32, {10, 9, 2, 3}};
	u64 v = 7, got = 0;

	SAME("LPM: prefix longer than the key", -EINVAL, (k.bits = 33, update(f, m, &k, &v, 0)));
	SAME("LPM: look-up with such a prefix", -ENOENT, lookup(f, m, &k, &got, 0));
	k.bits = 24;
	SAME("LPM: insert", 0, update(f, m, &k, &v, 0));
	SAME("LPM: address inside", 0, lookup(f, m, &host, &got, 0));
	SAME("LPM: its value", 7, got);
	SAME("LPM: address outside", -ENOENT, lookup(f, m, &other, &got, 0));
	SAME("LPM: delete wants the prefix", -ENOENT, delete (f, m, &host));
	SAME("LPM: NOEXIST", -EEXIST, update(f, m, &k, &v, BPF_NOEXIST));
	SAME("LPM: EXIST of another prefix", -ENOENT, update(f, m, &other, &v, BPF_EXIST));
	SAME("LPM: flags 9", -EINVAL, update(f, m, &k, &v, 9));
	SAME("LPM: delete", 0, delete (f, m, &k));
	SAME("LPM: look up and delete", -ENOTSUPP_, take(f, m, &k, &got, 0));
	f->close(m);
}

void area_elem(struct floor *f)
{
	hash(f);
	pointers(f);
	modes(f);
	ring_buffer(f);
	lpm(f);
}
