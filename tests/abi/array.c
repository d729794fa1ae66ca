/* Element commands on arrays; programs in a prog array. */
#include "abi.h"

static void array(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 4, 0);
	u32 k = 1, big = 99, n = 0;
	u64 v = 5;

	SAME("look-up beyond the end", -ENOENT, lookup(f, m, &big, &v, 0));
	SAME("update beyond the end", -E2BIG, update(f, m, &big, &v, 0));
	SAME("NOEXIST", -EEXIST, update(f, m, &k, &v, BPF_NOEXIST));
	SAME("EXIST", 0, update(f, m, &k, &v, BPF_EXIST));
	SAME("flags 9", -EINVAL, update(f, m, &k, &v, 9));
	SAME("delete", -EINVAL, delete (f, m, &k));
	SAME("look up and delete", -ENOTSUPP_, take(f, m, &k, &v, 0));
	k = 3;
	SAME("next of the last", -ENOENT, next_key(f, m, &k, &n));
	SAME("next of one beyond", 0, next_key(f, m, &big, &n));
	SAME("which is the first", 0, n);
	f->close(m);
}

static void percpu(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 4, 2, 0),
	    h = new_map(f, BPF_MAP_TYPE_PERCPU_HASH, 4, 4, 2, 0);
	static u64 v[4096], got[4096];
	u32 k = 1;

	v[0] = 11;
	v[1] = 12;
	SAME("percpu array: update", 0, update(f, m, &k, v, 0));
	SAME("percpu array: look-up", 0, lookup(f, m, &k, got, 0));
	SAME("percpu array: CPU 0", 11, got[0]);
	SAME("percpu array: CPU 1", 12, got[1]);
	SAME("percpu array: flags 9", -EINVAL, update(f, m, &k, v, 9));
	SAME("percpu array: delete", -EINVAL, delete (f, m, &k));
	SAME("percpu hash: update", 0, update(f, h, &k, v, 0));
	SAME("percpu hash: NOEXIST", -EEXIST, update(f, h, &k, v, BPF_NOEXIST));
	SAME("percpu hash: look up and delete", 0, take(f, h, &k, got, 0));
	SAME("percpu hash: CPU 1", 12, got[1]);
	f->close(m);
	f->close(h);
}

static void programs(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 2, 0), p = new_prog(f), other;
	u32 k = 1, big = 9, v = 900, map = m, prog = p, got;
	union abi_attr a = pass_attr();

	SAME("prog array: empty slot", -ENOENT, lookup(f, m, &k, &got, 0));
	SAME("prog array: slot beyond the end", -ENOENT, lookup(f, m, &big, &got, 0));
	SAME("prog array: closed descriptor", -EBADF, update(f, m, &k, &v, 0));
	SAME("prog array: a map", -EINVAL, update(f, m, &k, &map, 0));
	SAME("prog array: flags 1, closed descriptor", -EINVAL, update(f, m, &k, &v, BPF_NOEXIST));
	SAME("prog array: beyond the end, closed descriptor", -E2BIG, update(f, m, &big, &v, 0));
	SAME("prog array: delete of an empty slot", -ENOENT, delete (f, m, &k));
	SAME("prog array: delete beyond the end", -E2BIG, delete (f, m, &big));
	SAME("prog array: put", 0, update(f, m, &k, &prog, 0));
	SAME("prog array: look-up", 0, lookup(f, m, &k, &got, 0));
	SAME("prog array: put over", 0, update(f, m, &k, &prog, 0));
	SAME("prog array: next key", 0, next_key(f, m, NULL, &got));
	a.prog_load.prog_flags = ABI_F_XDP_HAS_FRAGS;
	other = call(f, BPF_PROG_LOAD, &a);
	prog = other;
	SAME("prog array: a program with frags beside one without", -EINVAL,
	     update(f, m, &k, &prog, 0));
	f->close(other);
	a.prog_load.prog_flags = 0;
	a.prog_load.expected_attach_type = BPF_XDP_DEVMAP;
	other = call(f, BPF_PROG_LOAD, &a);
	prog = other;
	SAME("prog array: a program for another attach type", -EINVAL, update(f, m, &k, &prog, 0));
	f->close(other);
	SAME("prog array: delete", 0, delete (f, m, &k));
	SAME("prog array: gone", -ENOENT, lookup(f, m, &k, &got, 0));
	f->close(p);
	f->close(m);
}

void area_array(struct floor *f)
{
	array(f);
	percpu(f);
	programs(f);
}
