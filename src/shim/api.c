/* The public functions of include/skep/skep.h. */
#include "base/types.h"
#include "sys/sys.h"
#include <skep/skep.h>

const char *skep_version(void)
{
	return SKEP_VERSION;
}

enum skep_floor skep_floor(void)
{
	return sys_floor() == SYS_FLOOR_KERNEL ? SKEP_FLOOR_KERNEL : SKEP_FLOOR_USER;
}

void skep_set_floor(enum skep_floor floor)
{
	sys_set_floor(floor == SKEP_FLOOR_KERNEL ? SYS_FLOOR_KERNEL : SYS_FLOOR_USER);
}

int skep_bpf(int cmd, void *attr, unsigned int size)
{
	return sys_bpf(sys_self(), cmd, addr_of(attr), size);
}
