/* A capture through a program, batch by batch. */
#include "path.h"
#include "base/abi.h"
#include <time.h>

static u64 cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static int one(struct path_runner *r, const struct path_replay *how, struct path_counts *c, const struct net_packet *p)
{
	struct path_result res;
	struct net_packet after = *p;
	u32 verdict;

	if (how->filter && !net_filter_match(how->filter, p)) {
		c->filtered++;
		return 0;
	}
	if (!path_runner_takes(r, p->link_type)) {
		if (!c->foreign++)
			c->foreign_type = p->link_type;
		return 0;
	}
	path_run(r, p, how->repeat, how->reset, &res);
	if (res.status) {
		if (!c->refused++)
			c->refused_status = res.status;
		return 0;
	}
	c->packets++;
	c->bytes += p->size;
	verdict = c->kind->which(res.verdict);
	c->verdict[verdict]++;
	if (how->on_context && res.ctx)
		how->on_context(how->ctx, res.ctx, res.ctx_size);
	if (how->stats)
		path_stats_add(how->stats, res.insns / how->repeat);
	path_rings_drain(how->rings);
	if (!how->out || !(c->kind->pass & 1u << verdict))
		return 0;
	/* A snapped packet stays as much shorter than on the wire as it came, whatever the program did to its length. */
	after.wire_size = res.size + (p->wire_size > p->size ? p->wire_size - p->size : 0);
	after.data = res.data;
	after.size = res.size;
	c->written++;
	return net_write(how->out, &after);
}

int path_replay(struct path_runner *r, const struct path_replay *how, struct path_counts *c, struct log *err)
{
	struct net_packet batch[64];
	u64 start = cpu_ns(), shown = 0, left = how->count ? how->count : UINT64_MAX;
	int n = 0, rc = 0;

	c->kind = path_runner_verdicts(r);
	while (!rc && left && (n = net_read(how->in, batch, left < 64 ? left : 64, err)) > 0) {
		left -= n;
		for (int i = 0; !rc && i < n; i++)
			rc = one(r, how, c, &batch[i]);
		if (how->progress && cpu_ns() - shown > 200000000) {
			shown = cpu_ns();
			how->progress(how->ctx, c);
		}
		if (rc)
			log_printf(err, "writing the output: %s", strerror(-rc));
	}
	c->cpu_ns += cpu_ns() - start;
	return rc ? rc : n < 0 ? n : 0;
}
