/* Calls on paths: what libbpf, and who uses it, do with the files of pinned objects; see shim.h and
 * sys/pinfs.c. */
#include "shim.h"
#include "sys/sys.h"
#include <fcntl.h>

int SHIM(mkdir)(const char *path, unsigned mode)
{
	return shim_result(sys_mkdirat(AT_FDCWD, path, mode));
}

int SHIM(mkdirat)(int dir, const char *path, unsigned mode)
{
	return shim_result(sys_mkdirat(dir, path, mode));
}

int SHIM(unlink)(const char *path)
{
	return shim_result(sys_unlinkat(AT_FDCWD, path, 0));
}

int SHIM(unlinkat)(int dir, const char *path, int flags)
{
	return shim_result(sys_unlinkat(dir, path, flags));
}

int SHIM(rmdir)(const char *path)
{
	return shim_result(sys_unlinkat(AT_FDCWD, path, AT_REMOVEDIR));
}

int SHIM(access)(const char *path, int mode)
{
	return shim_result(sys_faccessat(AT_FDCWD, path, mode, 0));
}

int SHIM(faccessat)(int dir, const char *path, int mode, int flags)
{
	return shim_result(sys_faccessat(dir, path, mode, flags));
}

/* On 64-bit machines the two structures are one. */
int SHIM(statfs)(const char *path, struct statfs *out)
{
	return shim_result(sys_statfs(path, out));
}

int SHIM(statfs64)(const char *path, struct statfs *out)
{
	return shim_result(sys_statfs(path, out));
}
