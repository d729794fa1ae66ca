/* Pinned objects: OBJ_PIN, OBJ_GET and the calls on paths around them, on a bpffs of its own on the
 * kernel's floor. */
#include "abi.h"
#include "base/types.h"
#include "sys/sys.h"
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#define AT	  "/sys/fs/bpf"
#define F_PATH_FD (1u << 14)

static long pin(struct floor *f, int fd, const char *path)
{
	union abi_attr a = {.obj = {.pathname = addr_of(path), .bpf_fd = fd}};

	return call(f, BPF_OBJ_PIN, &a);
}

static long get_fd(struct floor *f, const char *path, u32 flags)
{
	union abi_attr a = {.obj = {.pathname = addr_of(path), .file_flags = flags}};

	return call(f, BPF_OBJ_GET, &a);
}
#define GET(path, flags) fd_or_error(f, get_fd(f, path, flags))

static long make_dir(struct floor *f, const char *path)
{
	return f->kernel ? raw(SYS_mkdirat, AT_FDCWD, raw_arg(path), 0700)
			 : sys_mkdirat(AT_FDCWD, path, 0700);
}

static long unlink_at(struct floor *f, const char *path, int flags)
{
	return f->kernel ? raw(SYS_unlinkat, AT_FDCWD, raw_arg(path), flags)
			 : sys_unlinkat(AT_FDCWD, path, flags);
}
#define UNLINK(path) unlink_at(f, path, 0)
#define RMDIR(path)  unlink_at(f, path, AT_REMOVEDIR)

static long access_(struct floor *f, const char *path, int mode)
{
	return f->kernel ? raw(SYS_faccessat, AT_FDCWD, raw_arg(path), mode)
			 : sys_faccessat(AT_FDCWD, path, mode, 0);
}

static long fs_of(struct floor *f, const char *path)
{
	struct statfs st;
	long r = f->kernel ? raw(SYS_statfs, raw_arg(path), raw_arg(&st)) : sys_statfs(path, &st);

	return r ? r : (u32)st.f_type;
}

static void paths(struct floor *f, int m, int p)
{
	char name[512] = AT "/";

	SAME("pin a map", 0, pin(f, m, AT "/a"));
	SAME("pin over it", -EEXIST, pin(f, m, AT "/a"));
	SAME("pin a program", 0, pin(f, p, AT "/p"));
	SAME("pin under a name with a dot", -EPERM, pin(f, m, AT "/a.b"));
	SAME("pin in a folder that is not there", -ENOENT, pin(f, m, AT "/d/a"));
	SAME("make it", 0, make_dir(f, AT "/d"));
	SAME("make it again", -EEXIST, make_dir(f, AT "/d"));
	SAME("make one with a dot", -EPERM, make_dir(f, AT "/d.x"));
	SAME("make the root", -EEXIST, make_dir(f, AT));
	SAME("make one in none", -ENOENT, make_dir(f, AT "/q/w"));
	SAME("make one in a file", -ENOTDIR, make_dir(f, AT "/a/w"));
	SAME("make one, slash", 0, make_dir(f, AT "/t/"));
	SAME("pin in a folder", 0, pin(f, m, AT "/d/a"));
	SAME("pin in a file", -ENOTDIR, pin(f, m, AT "/a/b"));
	SAME("pin over a folder", -EEXIST, pin(f, m, AT "/d"));
	SAME("pin, slash", -ENOENT, pin(f, m, AT "/e/"));
	SAME("pin at the root", -EEXIST, pin(f, m, AT));
	SAME("pin up and down", 0, pin(f, m, AT "/d/../x"));
	SAME("pin with slashes and dots", 0, pin(f, m, AT "//d/./y"));
	SAME("pin beside the root", -EPERM, pin(f, m, AT "/../z"));
	SAME("pin at no path", -ENOENT, pin(f, m, ""));
	memset(name + 12, 'n', 300);
	SAME("pin: a name too long", -ENAMETOOLONG, pin(f, m, name));
	name[12 + 255] = 0;
	SAME("pin: the longest name", 0, pin(f, m, name));
	SAME("pin: closed", -EINVAL, pin(f, 900, AT "/u"));
	SAME("pin: no object", -EINVAL, pin(f, 0, AT "/u"));
}

static void gets(struct floor *f)
{
	SAME("get", FD, GET(AT "/a", 0));
	SAME("get a folder", -EACCES, GET(AT "/d", 0));
	SAME("get the root", -EACCES, GET(AT, 0));
	SAME("get nothing", -ENOENT, GET(AT "/zz", 0));
	SAME("get with a dot", -EPERM, GET(AT "/a.b", 0));
	SAME("get in a folder with a dot", -EPERM, GET(AT "/d.x/b", 0));
	SAME("get in a file", -ENOTDIR, GET(AT "/a/b", 0));
	SAME("get, slash", -ENOTDIR, GET(AT "/a/", 0));
	SAME("get up from a file", -ENOTDIR, GET(AT "/a/../a", 0));
	SAME("get up from nothing", -ENOENT, GET(AT "/nn/../a", 0));
	SAME("get down and up", FD, GET(AT "/d/../a", 0));
	SAME("get up and down", FD, GET("/sys/fs/../fs/bpf/a", 0));
	SAME("get for reading", FD, GET(AT "/a", BPF_F_RDONLY));
	SAME("get for writing", FD, GET(AT "/a", BPF_F_WRONLY));
	SAME("get for reading and writing", -EINVAL, GET(AT "/a", BPF_F_RDONLY | BPF_F_WRONLY));
	SAME("get for both, path NULL", -EINVAL, GET(NULL, BPF_F_RDONLY | BPF_F_WRONLY));
	SAME("get a program for reading", FD, GET(AT "/p", BPF_F_RDONLY));
}

static void modes(struct floor *f)
{
	int ro = get_fd(f, AT "/a", BPF_F_RDONLY), wo = get_fd(f, AT "/a", BPF_F_WRONLY);
	u32 k = 0;
	u64 v = 3;

	SAME("got for reading: update", -EPERM, update(f, ro, &k, &v, 0));
	SAME("got for writing: update", 0, update(f, wo, &k, &v, 0));
	SAME("got for writing: look up", -EPERM, lookup(f, wo, &k, &v, 0));
	v = 0;
	SAME("got for reading: look up", 0, lookup(f, ro, &k, &v, 0));
	SAME("one map", 3, v);
	f->close(ro);
	f->close(wo);
}

static void calls(struct floor *f)
{
	SAME("access", 0, access_(f, AT "/a", R_OK | W_OK));
	SAME("access: execute", -EACCES, access_(f, AT "/a", X_OK));
	SAME("access: a folder", 0, access_(f, AT "/d", X_OK));
	SAME("access: nothing", -ENOENT, access_(f, AT "/zz", F_OK));
	SAME("access: a dot", -EPERM, access_(f, AT "/a.b", F_OK));
	SAME("access: mode 8", -EINVAL, access_(f, AT "/a", 8));
	SAME("access: elsewhere", 0, access_(f, "/etc/passwd", F_OK));
	SAME("file system of the root", 0xcafe4a11, fs_of(f, AT));
	SAME("file system of a file", 0xcafe4a11, fs_of(f, AT "/a"));
	SAME("file system of nothing", -ENOENT, fs_of(f, AT "/zz"));
	SAME("file system of what is in a file", -ENOTDIR, fs_of(f, AT "/a/b"));
	SAME("file system of /sys/fs", 0x62656572, fs_of(f, AT "/.."));
	SAME("remove a folder that is not empty", -ENOTEMPTY, RMDIR(AT "/d"));
	SAME("unlink a folder", -EISDIR, UNLINK(AT "/d"));
	SAME("remove a file", -ENOTDIR, RMDIR(AT "/a"));
	SAME("remove the root", -EBUSY, RMDIR(AT));
	SAME("unlink the root", -EISDIR, UNLINK(AT));
	SAME("unlink nothing", -ENOENT, UNLINK(AT "/zz"));
	SAME("unlink a dot", -EPERM, UNLINK(AT "/a.b"));
	SAME("unlink, slash", -ENOTDIR, UNLINK(AT "/a/"));
	SAME("unlink, flags 5", -EINVAL, unlink_at(f, AT "/a", 5));
	SAME("remove, slash", 0, RMDIR(AT "/t/"));
	SAME("unlink in a folder", 0, UNLINK(AT "/d/a"));
	SAME("unlink again", -ENOENT, UNLINK(AT "/d/a"));
	SAME("unlink the other", 0, UNLINK(AT "/d/y"));
	SAME("remove an empty folder", 0, RMDIR(AT "/d"));
}

static void relative(struct floor *f, int m)
{
	union abi_attr a = {
	    .obj = {.pathname = addr_of("rel"), .bpf_fd = m, .file_flags = F_PATH_FD}};
	int dir = open(AT, O_PATH), cwd = open(".", O_PATH);

	/* the real folder is there, and may be entered: by another user than root not everywhere */
	if (!f->kernel && (dir < 0 || fchdir(dir) || fchdir(cwd)))
		return;
	a.obj.path_fd = dir;
	SAME("pin below a descriptor", 0, call(f, BPF_OBJ_PIN, &a));
	SAME("get it", FD, GET(AT "/rel", 0));
	a.obj.pathname = addr_of("rel2");
	a.obj.path_fd = 900;
	SAME("pin below a closed descriptor", -EBADF, call(f, BPF_OBJ_PIN, &a));
	a.obj.path_fd = m;
	SAME("pin below a map", -ENOTDIR, call(f, BPF_OBJ_PIN, &a));
	a.obj.file_flags = 0;
	SAME("path_fd without the flag", -EINVAL, call(f, BPF_OBJ_PIN, &a));
	a.obj.file_flags = 8;
	a.obj.path_fd = 0;
	SAME("pin: flags 8", -EINVAL, call(f, BPF_OBJ_PIN, &a));
	SAME("go there", 0, chdir(AT));
	SAME("pin at a relative path", 0, pin(f, m, "here"));
	SAME("get it", FD, GET(AT "/here", 0));
	SAME("get at a relative path", FD, GET("./rel", 0));
	SAME("up and down", FD, GET("../bpf/here", 0));
	SAME("unlink at a relative path", 0, UNLINK("here"));
	SAME("unlink the other", 0, UNLINK("rel"));
	SAME("back", 0, fchdir(cwd));
	close(dir);
	close(cwd);
}

/* A pin holds its object as a descriptor does. */
static void holding(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 2, 0), p = new_prog(f), again;
	struct abi_map_info info = {0};
	union abi_attr id = {0},
		       a = {
			   .info = {.bpf_fd = m, .info_len = sizeof(info), .info = addr_of(&info)}};
	u32 k = 1, got = 0;

	call(f, BPF_OBJ_GET_INFO_BY_FD, &a);
	id.id.start_id = info.id;
	update(f, m, &k, &p, 0);
	SAME("pin two names", 0, pin(f, m, AT "/h1") + pin(f, m, AT "/h2"));
	f->close(p);
	f->close(m);
	SAME("held", FD, fd_or_error(f, call(f, BPF_MAP_GET_FD_BY_ID, &id)));
	SAME("unlink one", 0, UNLINK(AT "/h1"));
	again = get_fd(f, AT "/h2", 0);
	SAME("a prog array keeps its programs", 0, lookup(f, again, &k, &got, 0));
	SAME("unlink the other", 0, UNLINK(AT "/h2"));
	SAME("held by its descriptor", 0, lookup(f, again, &k, &got, 0));
	f->close(again);
	SAME("gone", 0, map_goes(f, info.id));
}

void area_pins(struct floor *f)
{
	int m = new_map(f, BPF_MAP_TYPE_ARRAY, 4, 8, 4, 0), p = new_prog(f);

	unsetenv("SKEP_BPFFS");
	if (f->kernel &&
	    (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	     mount("none", AT, "bpf", 0, NULL))) {
		SAME("a bpffs can be mounted", 0, -errno);
		return;
	}
	paths(f, m, p);
	gets(f);
	modes(f);
	calls(f);
	relative(f, m);
	holding(f);
	f->close(m);
	f->close(p);
}
