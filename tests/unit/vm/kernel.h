/* The running kernel as one more engine: bare programs through bpf(2). */
#ifndef KERNEL_H
#define KERNEL_H
#include "base/types.h"
struct bpf_insn;

bool kernel_allows(void);	  /* loading programs works here */
const char *kernel_why_not(void); /* the reason in words */

/* Load assembler text as an XDP program, behind a prologue that makes r1 the packet's address and
 * r2 its length (len bytes are proved to be there), or as a socket filter as it is. Why not: the
 * end of the verifier's log. */
int kernel_load(int *fd, bool socket, const char *code, u32 len, char *why, size_t room);
int kernel_load_xdp(int *fd, const struct bpf_insn *insns, u32 n, u32 len, char *why, size_t room);
int kernel_load_insns(int *fd, bool socket, const struct bpf_insn *insns, u32 n, char *why,
		      size_t room);

/* PROG_TEST_RUN once; out gets len bytes of the packet after the run. */
int kernel_run(int fd, const u8 *in, u8 *out, u32 len, u32 *r0);

#endif
