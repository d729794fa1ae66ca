/* libskep: bpf(2) answered in this process, by skep and not by the kernel.
 *
 * Nothing need be called: linked before libc (`pkg-config --libs skep`) or preloaded, the library stands in for syscall(2)
 * and the few calls beside it that libbpf and its users make (close, dup2, dup3, close_range, munmap, epoll_ctl,
 * epoll_wait), and libbpf works on it unmodified. Each process has an instance of its own.
 *
 * SKEP_FLOOR=kernel in the environment lets everything through to the kernel; SKEP_FLOOR=user, and nothing, does not. */
#ifndef SKEP_H
#define SKEP_H

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" */
const char *skep_version(void);

/* Who answers bpf(2) in this process. */
enum skep_floor {
	SKEP_FLOOR_USER = 0,	/* skep */
	SKEP_FLOOR_KERNEL = 1,
};
enum skep_floor skep_floor(void);
/* Choose before the first bpf(2) call: objects don't move between floors, and libbpf remembers what it found out about one. */
void skep_set_floor(enum skep_floor floor);

/* bpf(2) on skep's floor, whatever the floor of the process is: 0, a descriptor, or -errno. attr is a union bpf_attr of
 * size bytes. */
int skep_bpf(int cmd, void *attr, unsigned int size);

#ifdef __cplusplus
}
#endif
#endif
