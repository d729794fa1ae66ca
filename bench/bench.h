/* make bench: figures of skep beside the kernel's, taken in turns in one run.
 *
 * A floor is a process of its own (libbpf serves one floor a process, and a crash is then a missing
 * figure). It holds one loaded object and does the jobs that it is asked for, one at a time, so
 * that two floors never disturb each other. Time is the CPU time of the thread that works; the
 * machine may be busy with other things. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H
#include "base/log.h"
#include "env/env.h"
#include "load/load.h"
#include "run/run.h"
#include <stdio.h>
#include <sys/types.h>

/* ---- measuring (measure.c) */
double bench_cpu_ns(void);
double bench_median(double *v, u32 n); /* sorts v */
enum { BENCH_PACKET = 1280 };
/* A TCP segment over IPv4 and Ethernet, of which a program is given the first `size` bytes; its
 * payload looks random. */
const u8 *bench_packet(void);

/* ---- a floor (floor.c) */
enum { BENCH_PROGS = 64, BENCH_ROUNDS = 51 };
struct bench_prog {
	char name[40], kind[20];
	u32 prog_type;
	int fd;
};
struct bench_served { /* in the floor's process: what jobs work on */
	enum load_floor floor;
	struct load_object *o; /* NULL: none was asked for */
	struct bench_prog prog[BENCH_PROGS];
	u32 n;
	struct run_buffer buffer; /* user floor */
	struct env env;
};
struct bench_answer {
	int error; /* -errno of the job; -EPIPE: the process is gone */
	u32 retval;
	double ns, cpu_ns; /* by its own clock, by the thread's */
	u64 n[6];	   /* what the job counts */
	char text[200];
};
/* A job runs in the floor's process, a fork of this one: pointers into what was there before the
 * fork are good. */
typedef void (*bench_job)(struct bench_served *s, const u64 arg[3], struct bench_answer *a);

struct bench_floor {
	pid_t pid;
	int ask, answer;
	u32 n; /* programs */
	struct bench_prog prog[BENCH_PROGS];
};
/* Start the process and load the object (NULL: none; only: that program alone, or NULL). */
int bench_floor_start(struct bench_floor *f, enum load_floor floor, const char *object,
		      const char *only, struct log *err);
void bench_floor_stop(struct bench_floor *f);
int bench_ask(struct bench_floor *f, bench_job job, u64 a0, u64 a1, u64 a2,
	      struct bench_answer *a); /* a->error */

/* ---- both floors */
struct bench;
struct bench_pair {
	struct bench_floor user, kernel;
	bool with_kernel;
};
int bench_pair_start(struct bench_pair *p, const struct bench *b, const char *object);
void bench_pair_stop(struct bench_pair *p);

/* ns of something on both floors, round by round */
struct bench_figure {
	double user[BENCH_ROUNDS], kernel[BENCH_ROUNDS], kernel_cpu[BENCH_ROUNDS];
	u32 rounds;
	u32 repeat, kernel_repeat; /* of a slice */
	u32 retval;
	bool unsteady; /* a later run returned something else */
	double ns,
	    kernel_ns; /* medians; kernel_ns is the smaller of its two clocks', 0 without kernel */
};
/* Runs of program i of the pair on a packet of `size` bytes: first the result is compared
 * (-EBADMSG: they differ). */
int bench_run_first(struct bench_pair *p, u32 i, u32 size, struct bench_figure *f, u32 repeat_max);
void bench_run_round(struct bench_pair *p, u32 i, u32 size, struct bench_figure *f);
void bench_figure_done(struct bench_figure *f);
void bench_prepare_packet(struct bench_served *s, u32 size);
/* A job for the user floor. arg: program, size of the packet. n[0]: instructions of one run */
void bench_count_insns(struct bench_served *s, const u64 arg[3], struct bench_answer *a);

/* ---- what came out (report.c): shown at once, and kept for docs/performance.md */
struct bench_report {
	FILE *page;
	char *page_text;
	size_t page_size;
	char *cells; /* of the table being made; rows end in a newline, cells in a tab */
	size_t cells_size;
	FILE *table;
	u32 failed;
	FILE *targets;
	char *targets_text;
	size_t targets_size;
};
void bench_report_init(struct bench_report *r);
void bench_section(struct bench_report *r, const char *title, const char *text);
void bench_table(struct bench_report *r, const char *columns); /* cells are separated by '|' */
void bench_row(struct bench_report *r, const char *fmt, ...) PRINTF(2, 3);
void bench_table_end(struct bench_report *r);
void bench_note(struct bench_report *r, const char *fmt, ...) PRINTF(2, 3);
/* A limit to keep. Counts are the same in every run: above a hard limit the run fails. Times depend
 * on the day: said, no more. */
void bench_target(struct bench_report *r, const char *what, double value, double limit, bool hard);
void bench_failure(struct bench_report *r, const char *fmt, ...) PRINTF(2, 3);
/* A ratio as a cell: "0.87", or "-" without the other figure. */
const char *bench_ratio(double a, double b);
const char *bench_ns(double ns); /* "-" for 0 */
const char *bench_ms(double ns);
const char *bench_count(u64 n);

/* ---- the whole */
struct bench {
	const char *objects, *examples, *selftests, *capture; /* folders and a file */
	u32 rounds;
	bool alone, kernel; /* the kernel is not to be asked; may be asked */
	struct bench_report report;
};
const char *bench_object(const struct bench *b,
			 const char *name); /* path of NAME.bpf.o; valid until the next call */

void bench_interp(struct bench *b);
void bench_packets(struct bench *b);
void bench_replay(struct bench *b);
void bench_maps(struct bench *b);
void bench_calls(struct bench *b);
void bench_verify(struct bench *b);

#endif
