/* Memory for maps: large areas that appear when touched, memfds that user space can map, and the
 * wait of a spin lock. */
#include "private.h"
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <time.h>

/* vmalloc refuses what is larger than all of the machine's memory (mm/vmalloc.c), before it tries.
 */
bool map_area_fits(u64 size)
{
	struct sysinfo si;

	return sysinfo(&si) == 0 && size / si.mem_unit <= si.totalram;
}

void *map_area_new(u64 size)
{
	void *p;

	if (!map_area_fits(size))
		return NULL;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

void map_area_free(void *area, u64 size)
{
	if (area)
		munmap(area, size);
}

int map_memfd_new(const char *name, u64 size)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -ENOMEM;
	/* whoever maps it can't make our accesses fault by truncating it */
	if (ftruncate(fd, size) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) ||
	    fchmod(fd, 0600)) {
		close(fd);
		return -ENOMEM;
	}
	return fd;
}

/* ---- held objects */

struct held *map_held_new(struct obj *o)
{
	struct held *h = malloc(sizeof(*h));

	if (!h)
		return NULL;
	obj_get(o);
	h->obj = o;
	return h;
}

void map_held_free(struct held *h)
{
	obj_put(h->obj);
	free(h);
}

static void held_gone(struct env_deferred *d)
{
	map_held_free(container_of(d, struct held, gone));
}

void map_held_drop(struct held *h)
{
	if (h)
		env_defer_node(&h->gone, held_gone);
}

/* The holder runs for a few dozen instructions, unless it lost its CPU: then give it ours. */
void map_spin_wait(struct spinlock *l)
{
	for (u32 i = 1;; i++) {
		if (!atomic_load_explicit(&l->taken, memory_order_relaxed) &&
		    !atomic_exchange_explicit(&l->taken, 1, memory_order_acquire))
			return;
		if (i % 4096 == 0)
			nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
		else if (i % 64 == 0)
			sched_yield();
		else
			__builtin_ia32_pause();
	}
}
