/* XDP programs: run on a buffer that was filled, and PROG_TEST_RUN.
 *
 * The order of the checks and the arithmetic of sizes are those of the kernel's bpf_prog_test_run_xdp(), seen from outside:
 * data_in begins with the metadata, whose length is ctx_in->data; ctx_in->data_end says how much of data_in is linear. */
#include "frame.h"
#include "base/cleanup.h"
#include <dirent.h>
#include <net/if.h>
#include <stdio.h>

enum {
	ETH_HEADER = 14,
	META_MAX = 255,
	BATCH_MAX = 256,
};
#define LIVE_FRAMES (1u << 1) /* BPF_F_TEST_XDP_LIVE_FRAMES */

u32 run_xdp(struct prog *p, struct env *env, struct run_buffer *b)
{
	env->frame = &b->frame;
	b->frame.env = env;
	env->tail_calls = 0;
	env->redirect.set = false;
	return prog_run(p, env, &b->frame);
}

/* What a test run was asked for, after the checks. */
struct plan {
	struct xdp_md ctx;
	bool has_ctx;
	u32 meta, linear;	/* bytes of data_in */
};

static int check_flags(const struct prog *p, const struct run_test *t)
{
	if (p->attach_type == BPF_XDP_DEVMAP || p->attach_type == BPF_XDP_CPUMAP)
		return -EINVAL;
	if (t->flags & ~LIVE_FRAMES)
		return -EINVAL;
	if (t->flags & LIVE_FRAMES)
		return t->batch_size > BATCH_MAX ? -E2BIG : -EOPNOTSUPP; /* no live interfaces here */
	return t->batch_size ? -EINVAL : 0;
}

static int check_ctx(const struct run_test *t, struct plan *plan)
{
	const struct xdp_md *ctx = &plan->ctx;

	plan->linear = t->data_size_in;
	if (plan->has_ctx) {
		if (ctx->data_meta || ctx->data_end > t->data_size_in || ctx->data > ctx->data_end)
			return -EINVAL;
		plan->meta = ctx->data;
		if (plan->meta % 4 || plan->meta > MIN(META_MAX, RUN_HEADROOM - RUN_HEAD_RESERVE))
			return -EINVAL;
		plan->linear = ctx->data_end;
	}
	plan->linear = MIN(plan->linear, RUN_PAGE - RUN_TAILROOM - (RUN_HEADROOM - plan->meta));
	if (t->data_size_in - plan->meta < ETH_HEADER)
		return -EINVAL;
	return t->data_in ? 0 : -EFAULT;
}

static u32 rx_queues(const char *name)
{
	char path[sizeof("/sys/class/net//queues") + IF_NAMESIZE];
	struct dirent *e;
	u32 n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/class/net/%s/queues", name);
	dir = opendir(path);
	if (!dir)
		return 1; /* no sysfs: every interface has one */
	while ((e = readdir(dir)))
		n += !strncmp(e->d_name, "rx-", 3);
	closedir(dir);
	return n;
}

/* The interface and queue that the packet is said to have come from. */
static int check_origin(const struct xdp_md *ctx)
{
	char name[IF_NAMESIZE];

	if (ctx->egress_ifindex || (!ctx->ingress_ifindex && ctx->rx_queue_index))
		return -EINVAL;
	if (!ctx->ingress_ifindex)
		return 0;
	if (!if_indextoname(ctx->ingress_ifindex, name))
		return -ENODEV;
	return ctx->rx_queue_index < rx_queues(name) ? 0 : -EINVAL;
}

static u32 n_frags(const struct run_test *t, const struct plan *plan)
{
	return ROUND_UP(t->data_size_in - plan->linear, RUN_PAGE) / RUN_PAGE;
}

static int give_ctx(struct run_test *t, struct plan *plan, const struct env_frame *f)
{
	plan->ctx.data = f->data - f->data_meta;
	plan->ctx.data_end = f->data_end - f->data_meta;
	return run_give_ctx(t, &plan->ctx, sizeof(plan->ctx));
}

int run_test_xdp(struct prog *p, struct run_test *t)
{
	struct run_buffer *b CLEANUP(run_return_buffer) = NULL;
	struct plan plan = { 0 };
	int err;

	err = check_flags(p, t);
	plan.has_ctx = t->ctx_in || t->ctx_out;
	err = err ?: run_read_ctx(t, &plan.ctx, sizeof(plan.ctx));
	err = err ?: check_ctx(t, &plan);
	err = err ?: check_origin(&plan.ctx);
	if (!err && n_frags(t, &plan) > RUN_MAX_FRAGS)
		err = -ENOMEM;
	if (err)
		return err;
	b = run_borrow_buffer();
	if (!b)
		return -ENOMEM;
	memcpy(run_buffer_place(b, plan.meta, plan.linear, t->data_size_in), t->data_in, t->data_size_in);
	if (plan.ctx.ingress_ifindex) {
		b->frame.ingress_ifindex = plan.ctx.ingress_ifindex;
		b->frame.rx_queue_index = plan.ctx.rx_queue_index;
	}
	run_repeat(p, t, b);
	err = run_give_data(t, &b->frame);
	return err ?: give_ctx(t, &plan, &b->frame);
}
