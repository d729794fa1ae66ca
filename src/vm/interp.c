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
#define STACK_GUARD 64	/* bytes between stacks, never accessible */
#else
#define STACK_GUARD 0
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TO_LE(bits, x) ((u##bits)(x))
#define TO_BE(bits, x) __builtin_bswap##bits(x)
#else
#define TO_LE(bits, x) __builtin_bswap##bits(x)
#define TO_BE(bits, x) ((u##bits)(x))
#endif

/* The stacks of all frames. Under ASan only the bytes that the running functions use are accessible. */
struct stacks {
	u8 bytes[VM_FRAMES][VM_STACK + STACK_GUARD] __attribute__((aligned(64)));
};

struct frame {
	const struct vm_insn *back;	/* where to go on after the call this frame made */
	const struct vm_image *image;	/* of the code behind back; observed instance only */
	u64 saved[4];			/* r6-r9 during that call */
	u32 loops;			/* may_gotos left in this frame's function */
};

static inline void stacks_begin(struct stacks *s)
{
	ASAN_POISON_MEMORY_REGION(s, sizeof(*s));
}

static inline void stacks_end(struct stacks *s)
{
	ASAN_UNPOISON_MEMORY_REGION(s, sizeof(*s));
}

static inline u64 stack_top(struct stacks *s, u32 depth)
{
	return addr_of(s->bytes[depth] + VM_STACK);
}

static inline void frame_enter(struct frame *f, struct stacks *s, u32 depth, u32 stack)
{
	u8 *low = s->bytes[depth] + VM_STACK - stack;

	f->loops = VM_LOOPS;
	if (!stack)
		return;
	ASAN_UNPOISON_MEMORY_REGION(low, stack);
	memset(low, 0, stack);
}

static inline void frame_leave(struct stacks *s, u32 depth)
{
	ASAN_POISON_MEMORY_REGION(s->bytes[depth], sizeof(s->bytes[depth]));
}

#define EXECUTE vm_execute_fast
#define COUNTS 0
#define OBSERVES 0
#include "interp.inc"

#define EXECUTE vm_execute_counted
#define COUNTS 1
#define OBSERVES 0
#include "interp.inc"

#define EXECUTE vm_execute_observed
#define COUNTS 1
#define OBSERVES 1
#include "interp.inc"
