/* PROG_TEST_RUN: the caller's sizes and buffers around run_test(). */
#include "sys.h"
#include "door.h"
#include "base/cleanup.h"
#include "run/run.h"

static struct env_trace *trace_sink;

void sys_set_trace(struct env_trace *trace)
{
	trace_sink = trace;
}

struct buffers { /* copies for a caller whose memory is elsewhere; owned */
	void *data_in, *data_out, *ctx_in, *ctx_out;
};

static void buffers_done(struct buffers *b)
{
	free(b->data_in);
	free(b->data_out);
	free(b->ctx_in);
	free(b->ctx_out);
}

static int input(struct sys_call *c, const void **p, void **copy, u64 user, u32 size)
{
	int err = 0;

	if (!size)
		return 0;
	if (c->by->in_process) {
		*p = ptr_of(user);
		return sys_plausible(user, size) ? 0 : -EFAULT;
	}
	if (size > RUN_MAX_FRAME)
		return -EINVAL;
	err = sys_read_all(c, copy, user, size);
	*p = *copy;
	return err;
}

static int output(struct sys_call *c, void **p, void **copy, u64 user, u32 room)
{
	if (!user)
		return 0;
	if (c->by->in_process) {
		*p = ptr_of(user);
		return sys_plausible(user, 1) ? 0 : -EFAULT;
	}
	*p = *copy = calloc(1, room);
	return *p ? 0 : -ENOMEM;
}

/* What run_test put into copies goes back. */
static int give_back(struct sys_call *c, const struct run_test *t, const struct buffers *b)
{
	int err = 0;

	if (b->data_out)
		err = sys_write_mem(c, c->attr.test.data_out, b->data_out,
				    MIN(t->data_size_out, t->data_out_room));
	if (!err && b->ctx_out)
		err = sys_write_mem(c, c->attr.test.ctx_out, b->ctx_out,
				    MIN(t->ctx_size_out, t->ctx_out_room));
	return err;
}

static int results(struct sys_call *c, const struct run_test *t)
{
	const __auto_type a = &c->attr.test;

	a->retval = t->retval;
	a->data_size_out = t->data_size_out;
	a->duration = t->duration;
	if (t->ctx_out)
		a->ctx_size_out = t->ctx_size_out;
	if (c->by->in_process) {
		__auto_type out = &((union abi_attr *)ptr_of(c->uattr))->test;

		out->retval = a->retval;
		out->data_size_out = a->data_size_out;
		out->duration = a->duration;
		if (t->ctx_out)
			out->ctx_size_out = a->ctx_size_out;
		return 0;
	}
	if (SYS_PUT(c, test.retval) || SYS_PUT(c, test.data_size_out) ||
	    SYS_PUT(c, test.duration) || (t->ctx_out && SYS_PUT(c, test.ctx_size_out)))
		return -EFAULT;
	return 0;
}

long sys_test_run(struct sys_call *c)
{
	CLEANUP(buffers_done) struct buffers b = {0};
	autounpin struct sys_handle *h = NULL;
	const __auto_type a = &c->attr.test;
	struct run_test t = {
	    .data_size_in = a->data_size_in,
	    .data_out_room =
		a->data_size_out ? a->data_size_out : RUN_MAX_FRAME, /* 0: as much as there is */
	    .ctx_size_in = a->ctx_size_in,
	    .ctx_out_room = a->ctx_size_out,
	    .repeat = a->repeat,
	    .flags = a->flags,
	    .cpu = a->cpu,
	    .batch_size = a->batch_size,
	    .trace = trace_sink,
	};
	struct prog *p;
	int err, put_err;

	if (!a->ctx_size_in != !a->ctx_in || !a->ctx_size_out != !a->ctx_out)
		return -EINVAL;
	p = sys_get_prog(a->prog_fd, &h, &err);
	if (!p)
		return err;
	err = input(c, &t.data_in, &b.data_in, a->data_in, a->data_size_in);
	if (!err)
		err = input(c, &t.ctx_in, &b.ctx_in, a->ctx_in, a->ctx_size_in);
	if (!err)
		err = output(c, &t.data_out, &b.data_out, a->data_out,
			     MIN(t.data_out_room, RUN_MAX_FRAME));
	if (!err)
		err = output(c, &t.ctx_out, &b.ctx_out, a->ctx_out, MIN(t.ctx_out_room, SYS_PAGE));
	if (err)
		return err;
	err = run_test(p, &t);
	if (err && err != -ENOSPC)
		return err;
	put_err = give_back(c, &t, &b);
	if (!put_err)
		put_err = results(c, &t);
	return put_err ? put_err : err;
}
