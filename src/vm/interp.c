/* The interpreter: its stack frames, and interp.inc three times over. */
#include "image.h"
#include "base/bits.h"

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif

#ifdef ASAN
#include <sanitizer/asan_interface.h>
#define STACK_GUARD 64 /* bytes between stacks, never accessible */
#else
#define STACK_GUARD			      0
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TO_LE(bits, x) ((u##bits)(x))
#define TO_BE(bits, x) __builtin_bswap##bits(x)
#else
#define TO_LE(bits, x) __builtin_bswap##bits(x)
#define TO_BE(bits, x) ((u##bits)(x))
#endif

/* The stacks of all frames, the deepest highest. Under ASan only the bytes that the running
 * functions use are accessible. */
#define STACK_STRIDE (VM_STACK + STACK_GUARD)
struct stacks {
	u8 bytes[VM_FRAMES * STACK_STRIDE + STACK_GUARD] __attribute__((aligned(16)));
};

struct frame {
	const struct vm_insn *back;   /* where to go on after the call this frame made */
	u64 saved[5];		      /* r6-r10 during that call */
	u32 loops;		      /* may_gotos left in this frame's function */
	const struct vm_image *image; /* of the code behind back; observed instance only */
};

static inline void stacks_begin(struct stacks *s)
{
	ASAN_POISON_MEMORY_REGION(s, sizeof(*s));
}

static inline void stacks_end(struct stacks *s)
{
	ASAN_UNPOISON_MEMORY_REGION(s, sizeof(*s));
}

/* A function begins, its stack below top. */
static inline void frame_enter(struct frame *f, u64 top, u32 stack)
{
	u8 *low = ptr_of(top - stack);

	f->loops = VM_LOOPS;
	if (!stack)
		return;
	ASAN_UNPOISON_MEMORY_REGION(low, stack);
	memset(low, 0, stack);
}

static inline void frame_leave(u64 top)
{
	ASAN_POISON_MEMORY_REGION(ptr_of(top - VM_STACK), VM_STACK);
}

#define EXECUTE	 vm_execute_fast
#define COUNTS	 0
#define OBSERVES 0
#include "interp.inc"

#define EXECUTE	 vm_execute_counted
#define COUNTS	 1
#define OBSERVES 0
#include "interp.inc"

#define EXECUTE	 vm_execute_observed
#define COUNTS	 1
#define OBSERVES 1
#include "interp.inc"
