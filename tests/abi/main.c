/* See abi.h. As another user than root only skep's answers are checked, against what kernel 6.18
 * was measured to say. */
#include "abi.h"
#include "sys/sys.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include "tap.h"

enum { MAX_ANSWERS = 512 };

static const struct {
	const char *name;
	area_fn run;
} areas[] = {
    {"attr", area_attr},     {"map", area_map},	  {"elem", area_elem},	 {"array", area_array},
    {"memory", area_memory}, {"prog", area_prog}, {"log", area_log},	 {"btf", area_btf},
    {"info", area_info},     {"id", area_id},	  {"other", area_other}, {"run", area_run},
    {"batch", area_batch},   {"kinds", area_kinds},   {"redirect", area_redirect},
    {"pins", area_pins},
};

/* ---- floors */

static long skep_call(int cmd, void *attr, unsigned size)
{
	return sys_bpf(sys_self(), cmd, addr_of(attr), size);
}

static long kernel_call(int cmd, void *attr, unsigned size)
{
	return raw(SYS_bpf, cmd, raw_arg(attr), size);
}

static int kernel_close(int fd)
{
	return raw(SYS_close, fd);
}

static void forbid_bpf(void)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {ARRAY_SIZE(code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(99);
}

/* ---- what an area uses */

const struct bpf_insn pass_insns[2] = {{.code = 0xb7, .imm = 2}, {.code = 0x95}};

union abi_attr pass_attr(void)
{
	return (union abi_attr){.prog_load = {
				    .prog_type = BPF_PROG_TYPE_XDP,
				    .insn_cnt = 2,
				    .insns = addr_of(pass_insns),
				    .license = addr_of("GPL"),
				}};
}

int new_prog(struct floor *f)
{
	union abi_attr a = pass_attr();

	return call(f, BPF_PROG_LOAD, &a);
}

long fd_or_error(struct floor *f, long r)
{
	if (r < 0)
		return r;
	f->close(r);
	return FD;
}

void say(struct floor *f, const char *what, long kernel, long skep, const char *row, long got)
{
	struct answer *a = &f->answers[f->n];

	assert(f->n < MAX_ANSWERS && strlen(what) < sizeof(a->what) &&
	       strlen(row) < sizeof(a->row));
	strcpy(a->what, what);
	strcpy(a->row, row);
	a->want = f->kernel ? kernel : skep;
	a->got = got;
	__atomic_store_n(&f->n, f->n + 1,
			 __ATOMIC_RELEASE); /* seen by the parent even if the next call crashes */
}

/* ---- running and judging */

static char *read_table(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = calloc(1, 1 << 20);

	if (!file || !text || !fread(text, 1, (1 << 20) - 1, file)) {
		printf("Bail out! can't read %s\n", path);
		exit(1);
	}
	fclose(file);
	return text;
}

static void judge(struct floor *f, const char *area, int status, const char *table)
{
	char text[200], id[64];

	for (unsigned i = 0; i < f->n; i++) {
		const struct answer *a = &f->answers[i];

		snprintf(text, sizeof(text), "%s: %s: %s", f->name, area, a->what);
		if (!tap_ok(a->got == a->want, __FILE__, __LINE__, text))
			printf("# got %ld, want %ld\n", a->got, a->want);
		if (!*a->row)
			continue;
		snprintf(id, sizeof(id), "| %s |", a->row);
		snprintf(text, sizeof(text), "docs/abi.md has row %s", a->row);
		tap_ok(strstr(table, id) != NULL, __FILE__, __LINE__, text);
	}
	snprintf(text, sizeof(text), "%s: %s ran to its end", f->name, area);
	if (!tap_ok(status == 0 && f->n > 0, __FILE__, __LINE__, text))
		printf("# wait status %#x after %u answers\n", status, f->n);
}

static void run_area(struct floor *f, unsigned i, const char *table)
{
	int status = -1;
	pid_t pid;

	f->n = 0;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (!f->kernel)
			forbid_bpf();
		areas[i].run(f);
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	judge(f, areas[i].name, status, table);
}

static struct floor *new_floor(struct floor from)
{
	struct floor *f =
	    mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*f = from;
	f->answers = mmap(NULL, MAX_ANSWERS * sizeof(*f->answers), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return f;
}

static const char *why_not_kernel(void)
{
	struct utsname u;

	uname(&u);
	if (strncmp(u.release, "6.18.", 5))
		return "the answers are kernel 6.18's, this is another";
	if (geteuid())
		return "not root";
	return fd_or_error(&(struct floor){.close = kernel_close},
			   kernel_call(BPF_PROG_LOAD, (union abi_attr[]){pass_attr()},
				       sizeof(union abi_attr))) == FD
		   ? NULL
		   : "the kernel takes no programs";
}

int main(int argc, char **argv)
{
	char *table = read_table(argv[1]);
	const char *why_not = why_not_kernel();
	struct floor *skep =
	    new_floor((struct floor){.name = "skep", .bpf = skep_call, .close = sys_close});
	struct floor *kernel = new_floor((struct floor){
	    .name = "kernel", .kernel = true, .bpf = kernel_call, .close = kernel_close});

	for (unsigned i = 0; i < ARRAY_SIZE(areas); i++) {
		if (argc > 2 && strcmp(argv[2], areas[i].name))
			continue;
		run_area(skep, i, table);
		if (!why_not)
			run_area(kernel, i, table);
	}
	if (why_not)
		printf("ok %d - kernel floor # SKIP %s\n", ++tap_n, why_not);
	free(table);
	return tap_done();
}
