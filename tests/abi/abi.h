/* The same bpf(2) calls on two floors: every answer is the kernel's, or has a row in docs/abi.md.
 *
 * An area is a function that makes calls and says what each must answer:
 *	SAME("what", answer, expression)		on both floors
 *	DIFFERS("what", kernel, skep, row, expression)	row: the id of the row in docs/abi.md that says why
 * It runs once a floor, in a child of its own; on skep's floor bpf(2) is forbidden by a filter that kills. */
#ifndef ABI_TEST_H
#define ABI_TEST_H
#include "base/abi.h"
#include "base/raw.h"
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>

struct answer {
	char what[80];
	char row[40];		/* "": both floors answer alike */
	long want, got;
};

struct floor {
	const char *name;
	bool kernel;
	long (*bpf)(int cmd, void *attr, unsigned size);
	int (*close)(int fd);
	struct answer *answers;
	unsigned n, max;
};

typedef void (*area_fn)(struct floor *f);
void area_attr(struct floor *f);
void area_map(struct floor *f);
void area_elem(struct floor *f);
void area_array(struct floor *f);
void area_memory(struct floor *f);
void area_prog(struct floor *f);
void area_log(struct floor *f);
void area_btf(struct floor *f);
void area_info(struct floor *f);
void area_id(struct floor *f);
void area_other(struct floor *f);
void area_run(struct floor *f);
void area_batch(struct floor *f);
void area_kinds(struct floor *f);
void area_redirect(struct floor *f);
void area_pins(struct floor *f);

void say(struct floor *f, const char *what, long kernel, long skep, const char *row, long got);
#define SAME(what, answer, expr) say(f, what, answer, answer, "", expr)
#define DIFFERS(what, kernel, skep, row, expr) say(f, what, kernel, skep, row, expr)

/* ---- calls; a descriptor as an answer becomes FD */
#define FD 1000000L
long fd_or_error(struct floor *f, long r);	/* closes it */

static inline long call(struct floor *f, int cmd, const union abi_attr *a)
{
	return f->bpf(cmd, (void *)a, sizeof(*a));
}

static inline int new_map(struct floor *f, u32 type, u32 key, u32 value, u32 max, u32 flags)
{
	union abi_attr a = { .map_create = { .map_type = type, .key_size = key, .value_size = value, .max_entries = max,
					     .map_flags = flags } };

	return call(f, BPF_MAP_CREATE, &a);
}

static inline long elem(struct floor *f, int cmd, int fd, const void *key, const void *value, u64 flags)
{
	union abi_attr a = { .elem = { .map_fd = fd, .key = (u64)(unsigned long)key, .value = (u64)(unsigned long)value,
				       .flags = flags } };

	return call(f, cmd, &a);
}
#define lookup(f, fd, k, v, fl) elem(f, BPF_MAP_LOOKUP_ELEM, fd, k, v, fl)
#define update(f, fd, k, v, fl) elem(f, BPF_MAP_UPDATE_ELEM, fd, k, v, fl)
#define delete(f, fd, k) elem(f, BPF_MAP_DELETE_ELEM, fd, k, NULL, 0)
#define next_key(f, fd, k, n) elem(f, BPF_MAP_GET_NEXT_KEY, fd, k, n, 0)
#define take(f, fd, k, v, fl) elem(f, BPF_MAP_LOOKUP_AND_DELETE_ELEM, fd, k, v, fl)

/* Is there a map of this id? Without taking it: the kernel leaks a prog array whose last descriptor is
 * closed twice before it was emptied. */
static inline bool map_exists(struct floor *f, u32 id)
{
	union abi_attr a = {.id = {.start_id = id - 1}};

	return !call(f, BPF_MAP_GET_NEXT_ID, &a) && a.id.next_id == id;
}
/* The kernel waits for its readers before a map goes. */
static inline long map_goes(struct floor *f, u32 id)
{
	for (int i = 0; i < 200 && map_exists(f, id); i++)
		usleep(i * 100);
	return map_exists(f, id);
}

/* r0 = 2; exit */
extern const struct bpf_insn pass_insns[2];
union abi_attr pass_attr(void);		/* PROG_LOAD of an XDP program with these */
int new_prog(struct floor *f);

#endif
