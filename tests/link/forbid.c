/* forbid kill|enosys PROGRAM ARGS...: start a program that can't reach the kernel's bpf(2): the
 * call kills it, or answers ENOSYS. What runs under this and works does not owe it to the kernel.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned kill = argc > 2 && !strcmp(argv[1], "kill");
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, kill ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | ENOSYS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {sizeof(code) / sizeof(*code), code};

	if (argc < 3 || (!kill && strcmp(argv[1], "enosys"))) {
		fprintf(stderr, "usage: forbid kill|enosys PROGRAM ARGS...\n");
		return 99;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)) {
		perror("forbid: seccomp");
		return 99;
	}
	execvp(argv[2], argv + 2);
	perror("forbid: exec");
	return 99;
}
