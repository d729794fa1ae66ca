/* Pinned objects by path. Private to sys: pinfs.c keeps the files, pin.c has bpf(2)'s commands. */
#ifndef SYS_PIN_H
#define SYS_PIN_H
#include "base/obj.h"

#define SYS_PINS_NOT_HERE (-4096) /* the path leads to no place of ours; not an errno */

/* dir: AT_FDCWD or a folder that a relative path starts at. 0, -errno, SYS_PINS_NOT_HERE. */
int sys_pins_add(int dir, const char *path, struct obj *obj);
int sys_pins_open(int dir, const char *path, int open_flags); /* a descriptor */
void sys_pins_lock(void);
void sys_pins_unlock(void);

#endif
