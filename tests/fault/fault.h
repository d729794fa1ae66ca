/* Calls that fail when told to: every allocation and every system call of base, btf, env, map, helper, verify, vm, prog, run and
 * sys passes faults.c (-Wl,--wrap and RAW_HOOK). Armed, it counts them and lets one, or all from one on, fail. */
#ifndef FAULT_H
#define FAULT_H
#include "base/abi.h"
#include "base/raw.h"
#include "sys/sys.h"

struct faults {
	bool armed;
	bool rest;		/* all from the chosen one on, not only that one */
	long n, chosen;		/* calls since reset; the one that fails, from 1 */
	long fired;		/* how many were made to fail */
	bool copied;		/* one of them copied the caller's memory: EFAULT is a fitting answer */
	const char *what;	/* the first to fail, and who called it */
	void *caller;
	long allocated, mapped;	/* pieces that are out; always counted */
};
extern struct faults faults;

/* scenes.c: calls whose answers are checked. A scene ends at the first that fails. */
struct scene {
	const char *name;
	void (*run)(void);
	void (*after)(void);	/* with nothing failing any more, before the descriptors are closed; may be NULL */
};
extern const struct scene scenes[];

/* main.c, for scenes. step: the answer r of a call before which `fired` calls had failed; wanted is what it is on a good day,
 * 0 standing for all that are no error. True: go on. */
bool step(const char *what, int line, long r, long wanted, long fired);
#define TRY_FOR(wanted, expr) ({ \
	long fired_ = faults.fired, r_ = (expr); \
	if (!step(#expr, __LINE__, r_, wanted, fired_)) \
		return; \
	r_; })
#define TRY(expr) TRY_FOR(0, expr)
void must(bool ok, const char *what, int line);
#define MUST(cond) must(cond, #cond, __LINE__)
int own(int fd);		/* to be closed at the scene's end; what it is given */

/* program.c: a program that clang made, as libbpf hands it over; its maps and BTF stay open. */
bool program_record(const char *object);
extern union abi_attr program_attr, program_bad_attr, program_btf_attr;
void program_done(void);

long bpf(int cmd, union abi_attr *a);

#endif
