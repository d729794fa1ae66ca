/* One program on one floor: on the user floor the packet goes straight into a frame and the program runs on it; on the
 * kernel floor each packet is a PROG_TEST_RUN. */
#include "path.h"
#include "base/abi.h"
#include "base/cleanup.h"
#include "run/run.h"
#include "sys/sys.h"
#include <bpf/libbpf.h>
#include <linux/pkt_cls.h>

struct path_runner {
	enum load_floor floor;
	int fd;
	u32 type;			/* of the program */
	bool as_test;			/* take only what TEST_RUN takes */
	struct prog *prog;		/* user floor; held by fd */
	struct env env;			/* user floor */
	struct run_buffer buffer;	/* user floor */
	u8 *out;			/* kernel floor: what TEST_RUN gives back; owned */
};

enum { OUT_ROOM = RUN_MAX_FRAME + 4096 };

static void free_runner(struct path_runner **r)
{
	path_runner_free(*r);
}

int path_runner_new(struct path_runner **out, struct load_object *o, struct bpf_program *p, struct env_trace *trace, struct log *err)
{
	CLEANUP(free_runner) struct path_runner *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return -ENOMEM;
	r->type = bpf_program__type(p);
	if (!kind_get(r->type) || !run_takes_packets(kind_get(r->type))) {
		const char *kind = libbpf_bpf_prog_type_str(r->type);

		log_printf(err, "program %s is of type %s; packets can be run through xdp, sched_cls, sched_act and "
				"socket_filter programs only so far", bpf_program__name(p),
			   kind ? kind : "unknown");
		return -ENOTSUP;
	}
	r->floor = o->floor;
	r->fd = bpf_program__fd(p);
	if (r->floor == LOAD_KERNEL) {
		r->out = malloc(OUT_ROOM);
		if (!r->out)
			return -ENOMEM;
		*out = TAKE(r);
		return 0;
	}
	r->prog = sys_prog_of(r->fd);
	if (!r->prog) {
		log_printf(err, "program %s is not loaded on the user floor", bpf_program__name(p));
		return -EBADF;
	}
	rc = run_buffer_init(&r->buffer, RUN_MAX_FRAME);
	if (rc)
		return rc;
	env_init(&r->env, &env_host_world);
	r->env.trace = trace;
	*out = TAKE(r);
	return 0;
}

void path_runner_free(struct path_runner *r)
{
	if (!r)
		return;
	if (r->floor == LOAD_USER && r->prog)
		run_buffer_done(&r->buffer);
	free(r->out);
	free(r);
}

bool path_runner_takes(const struct path_runner *r, u32 link_type)
{
	return link_type == 1; /* all kinds that take packets begin with Ethernet frames */
}

const struct path_verdicts *path_runner_verdicts(const struct path_runner *r)
{
	return path_verdicts(r->type);
}

static bool redirects(const struct path_runner *r, u32 verdict)
{
	return verdict == (r->type == BPF_PROG_TYPE_XDP ? XDP_REDIRECT : TC_ACT_REDIRECT) && r->type != BPF_PROG_TYPE_SOCKET_FILTER;
}

static void run_user(struct path_runner *r, const struct net_packet *p, u32 repeat, bool reset, struct path_result *result)
{
	if (r->as_test && !run_test_takes(r->prog->kind, p->data, p->size))
		result->status = -EINVAL;
	else
		result->status = run_buffer_fill(&r->buffer, p->data, p->size);
	if (result->status)
		return;
	r->env.insn_count = 0;
	env_enter(&r->env);
	for (u32 i = 0; i < repeat; i++) {
		if (i && reset)
			run_buffer_fill(&r->buffer, p->data, p->size);
		result->verdict = run_packet(r->prog, &r->env, &r->buffer);
	}
	env_leave(&r->env);
	result->insns = r->env.insn_count;
	result->data = r->buffer.frame.data;
	result->size = r->buffer.frame.packet_end - r->buffer.frame.data;
	result->redirect_ifindex = redirects(r, result->verdict) && r->env.redirect.set ? r->env.redirect.ifindex : 0;
}

static void run_kernel(struct path_runner *r, const struct net_packet *p, u32 repeat, bool reset, struct path_result *result)
{
	/* of XDP's context: in, that all is linear as far as there is room; out, how much metadata the program left before the
	 * packet, which TEST_RUN gives back with it */
	struct xdp_md in = { .data_end = p->size }, out = { 0 };
	struct load_test t = {
		.data_in = p->data, .size_in = p->size, .data_out = r->out, .size_out = OUT_ROOM,
		.repeat = reset ? 1 : repeat,
	};

	if (r->type == BPF_PROG_TYPE_XDP) {
		t.ctx_in = &in;
		t.ctx_out = &out;
		t.ctx_size_in = t.ctx_size_out = sizeof(in);
	}

	do {
		t.size_out = OUT_ROOM;
		result->status = load_test_run(r->fd, &t);
	} while (reset && --repeat && !result->status);
	result->verdict = t.retval;
	result->data = r->out + out.data;
	result->size = t.size_out - out.data;
}

void path_runner_as_test(struct path_runner *r)
{
	r->as_test = true;
}

int path_runner_count(struct path_runner *r)
{
	if (r->floor != LOAD_USER)
		return -ENOTSUP;
	r->env.counting = true;
	return 0;
}

void path_run(struct path_runner *r, const struct net_packet *p, u32 repeat, bool reset, struct path_result *result)
{
	*result = (struct path_result){ 0 };
	if (r->floor == LOAD_USER)
		run_user(r, p, repeat, reset, result);
	else
		run_kernel(r, p, repeat, reset, result);
	if (r->type == BPF_PROG_TYPE_SOCKET_FILTER) { /* it can't change the packet, of which TEST_RUN gives no L2 header back */
		result->data = p->data;
		result->size = p->size;
	}
}
