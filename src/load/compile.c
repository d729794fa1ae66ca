/* A .c file where an object is wanted: clang compiles it into a temporary object. */
#include "private.h"
#include "base/cleanup.h"
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

extern char **environ;

/* The multiarch include directory, where asm/types.h lies on Debian; clang for BPF does not look there by itself. */
#if defined(__x86_64__)
#define ARCH_INCLUDE "/usr/include/x86_64-linux-gnu"
#define ARCH_DEFINE "-D__TARGET_ARCH_x86"
#elif defined(__aarch64__)
#define ARCH_INCLUDE "/usr/include/aarch64-linux-gnu"
#define ARCH_DEFINE "-D__TARGET_ARCH_arm64"
#else
#define ARCH_INCLUDE "/usr/include"
#define ARCH_DEFINE "-D__TARGET_ARCH_unknown"
#endif

static void take_output(int fd, struct log *err)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		log_write(err, buf, n);
}

/* 0; -ENOENT: no such compiler; -ENOEXEC: it refused. */
static int run_clang(const char *clang, const char *from, const char *to, struct log *err)
{
	char *const argv[] = { (char *)clang, "-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", ARCH_DEFINE, "-idirafter",
			       ARCH_INCLUDE, "-c", (char *)from, "-o", (char *)to, NULL };
	posix_spawn_file_actions_t fa;
	int fds[2], rc, status = 0;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, fds[1], 2);
	posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&pid, clang, &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	close(fds[1]);
	if (!rc) {
		take_output(fds[0], err);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	close(fds[0]);
	if (rc)
		return -rc;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -ENOENT;
	return status ? -ENOEXEC : 0;
}

static int try_compilers(const char *from, const char *to, struct log *err)
{
	static const char *const clangs[] = { "clang-19", "clang" };
	struct log said;
	int rc = -ENOENT;

	log_init(&said, 64 * 1024);
	said.keep_head = true;
	for (u32 i = 0; i < ARRAY_SIZE(clangs) && rc == -ENOENT; i++)
		rc = run_clang(clangs[i], from, to, &said);
	if (rc == -ENOENT) {
		log_printf(err, "%s: no clang-19 or clang in PATH to compile it with", from);
		rc = -ENOEXEC;
	} else if (rc) {
		autofree char *words = log_text(&said, NULL);

		log_printf(err, "%s: does not compile:\n%s", from, words ? words : "");
	}
	log_done(&said);
	return rc;
}

void load_remove_compiled(char *object)
{
	char *slash;

	if (!object)
		return;
	unlink(object);
	slash = strrchr(object, '/');
	*slash = 0;
	rmdir(object);
	free(object);
}

/* *object: malloc'ed name of the object, called as the source is (libbpf names global data after it), in a temporary folder of
 * its own; load_remove_compiled() ends both. -ENOEXEC: does not compile, with clang's words. */
int load_compile(char **object, const char *path, struct log *err)
{
	const char *tmp = getenv("TMPDIR"), *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	autofree char *dir = NULL;
	char *name;
	int rc;

	if (access(path, R_OK)) {
		rc = -errno;
		log_printf(err, "%s: %s", path, strerror(-rc));
		return rc;
	}
	if (asprintf(&dir, "%s/skep-XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0)
		return -ENOMEM;
	if (!mkdtemp(dir)) {
		rc = -errno;
		log_printf(err, "%s: %s", dir, strerror(-rc));
		return rc;
	}
	if (asprintf(&name, "%s/%.*s.o", dir, (int)strlen(base) - 2, base) < 0) {
		rmdir(dir);
		return -ENOMEM;
	}
	rc = try_compilers(path, name, err);
	if (rc)
		load_remove_compiled(name);
	else
		*object = name;
	return rc;
}
