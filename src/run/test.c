/* Steps of PROG_TEST_RUN that all packet kinds share: the caller's context and packet in and out, the repeats, the buffer. */
#include "frame.h"
#include <time.h>

/* linear room with the most metadata, and the frags */
enum { MAX_PACKET = RUN_PAGE - RUN_TAILROOM - RUN_HEAD_RESERVE + RUN_MAX_FRAGS * RUN_PAGE };

int run_read_ctx(const struct run_test *t, void *ctx, u32 size)
{
	const u8 *bytes = t->ctx_in;

	if (!bytes)
		return 0;
	if (t->ctx_size_in > RUN_PAGE)
		return -E2BIG;
	for (u32 i = size; i < t->ctx_size_in; i++)
		if (bytes[i])
			return -E2BIG;
	memcpy(ctx, bytes, MIN(t->ctx_size_in, size));
	return 0;
}

static u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* The packet is not put back between repeats: what a run changed, the next one sees. */
void run_repeat(struct prog *p, struct run_test *t, struct run_buffer *b)
{
	u32 repeat = MAX(t->repeat, 1u);
	struct env env;
	u64 start, ns;

	env_init(&env, &env_host_world);
	env.trace = t->trace;
	env_enter(&env);
	start = now();
	for (u32 i = 0; i < repeat; i++)
		t->retval = run_packet(p, &env, b);
	ns = (now() - start) / repeat;
	env_leave(&env);
	t->duration = MIN(ns, (u64)UINT32_MAX);
	t->redirect = env.redirect;
}

/* Copy the packet out. When the room is short the kernel cuts the linear part, not the end: the frags always follow whole
 * as far as there is room; and when there is not even room for the frags nothing is written, not even the size. */
int run_give_data(struct run_test *t, const struct env_frame *f)
{
	u32 size = f->packet_end - f->data_meta, frags = f->packet_end - f->data_end;
	u32 copy = t->data_out_room ? MIN(size, t->data_out_room) : size;
	u8 *out = t->data_out;

	if (out) {
		if (copy < frags)
			return -ENOSPC;
		memcpy(out, f->data_meta, copy - frags);
		memcpy(out + copy - frags, f->data_end, frags);
	}
	t->data_size_out = size;
	t->ran = true;
	return copy < size ? -ENOSPC : 0;
}

int run_give_ctx(struct run_test *t, const void *ctx, u32 size)
{
	u32 copy = MIN(t->ctx_out_room, size);

	if (!t->ctx_out)
		return 0;
	memcpy(t->ctx_out, ctx, copy);
	t->ctx_size_out = size;
	t->ctx_written = true;
	return copy < size ? -ENOSPC : 0;
}

/* One buffer waits for the next test run, whoever makes it: getting 80 KiB of cleared memory costs more than most runs. */
static struct run_buffer *_Atomic spare;

struct run_buffer *run_borrow_buffer(void)
{
	struct run_buffer *b = atomic_exchange(&spare, NULL);

	if (b)
		return b;
	b = malloc(sizeof(*b));
	if (b && run_buffer_init(b, MAX_PACKET)) {
		free(b);
		return NULL;
	}
	return b;
}

void run_return_buffer(struct run_buffer **bp)
{
	struct run_buffer *b = *bp, *none = NULL;

	if (!b || atomic_compare_exchange_strong(&spare, &none, b))
		return;
	run_buffer_done(b);
	free(b);
}
