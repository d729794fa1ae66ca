/* One program on one floor: on the user floor the packet goes straight into a frame and the program runs on it; on the
 * kernel floor each packet is a PROG_TEST_RUN. */
#include "path.h"
#include "base/abi.h"
#include "base/cleanup.h"
#include "btf/btf.h"
#include "kind/kind.h"
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
	u8 *out;			/* what TEST_RUN gives back; owned. NULL: runs are no TEST_RUNs */
	u8 *ctx_in, *ctx_out;		/* context of each TEST_RUN, ctx_size bytes; owned. NULL: none was set */
	u32 ctx_size, ctx_type;
	const struct btf_types *ctx_btf;	/* of ctx_type; the object's or the kernel's */
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
	free(r->ctx_in);
	free(r->ctx_out);
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

static void run_as_test(struct path_runner *r, const struct net_packet *p, u32 repeat, bool reset, struct path_result *result)
{
	/* of XDP's context: in, that all is linear as far as there is room; out, how much metadata the program left before the
	 * packet, which TEST_RUN gives back with it */
	struct xdp_md in = { 0 }, out = { 0 };
	struct load_test t = {
		.data_in = p->data, .size_in = p->size, .data_out = r->out, .size_out = OUT_ROOM,
		.repeat = reset ? 1 : repeat,
	};

	if (r->ctx_in)
		memcpy(&in, r->ctx_in, MIN((size_t)r->ctx_size, sizeof(in)));
	if (r->type == BPF_PROG_TYPE_XDP) {
		if (!in.data_end)
			in.data_end = p->size;
		t.ctx_in = &in;
		t.ctx_out = &out;
		t.ctx_size_in = t.ctx_size_out = sizeof(in);
	} else if (r->ctx_in) {
		t.ctx_in = r->ctx_in;
		t.ctx_out = r->ctx_out;
		t.ctx_size_in = r->ctx_size;
	}
	do {
		t.size_out = OUT_ROOM;
		t.ctx_size_out = r->type == BPF_PROG_TYPE_XDP ? sizeof(out) : r->ctx_in ? r->ctx_size : 0;
		result->status = load_test_run(r->fd, &t);
	} while (reset && --repeat && !result->status);
	if (r->ctx_in && !result->status) {
		if (r->type == BPF_PROG_TYPE_XDP)
			memcpy(r->ctx_out, &out, MIN((size_t)r->ctx_size, sizeof(out)));
		result->ctx = r->ctx_out;
		result->ctx_size = r->ctx_size;
	}
	result->verdict = t.retval;
	result->data = r->out + out.data;
	result->size = t.size_out - out.data;
}

void path_runner_as_test(struct path_runner *r)
{
	r->as_test = true;
}

/* "a=1,b=2" as "{.a=1,.b=2}"; what begins with a brace stays. malloc'ed. */
static char *as_braces(const char *text)
{
	struct log out;
	char *braces;

	log_init(&out, 64 * 1024);
	if (*text != '{')
		log_printf(&out, "{.");
	for (const char *p = text; *p; p++)
		log_printf(&out, *p == ',' && *text != '{' ? ",." : "%c", *p);
	if (*text != '{')
		log_printf(&out, "}");
	braces = log_text(&out, NULL);
	log_done(&out);
	return braces;
}

int path_runner_set_context(struct path_runner *r, struct load_object *o, const char *text, struct log *err)
{
	const struct kind *k = kind_get(r->type);
	autofree char *braces = as_braces(text);
	s32 id = o->btf ? btf_find(o->btf, k->ctx_name, BTF_KIND_STRUCT) : -ENOENT;
	s64 size;

	r->ctx_btf = o->btf;
	if (id <= 0 && btf_kernel()) {
		r->ctx_btf = btf_kernel();
		id = btf_find(r->ctx_btf, k->ctx_name, BTF_KIND_STRUCT);
	}
	size = id > 0 ? btf_size(r->ctx_btf, id) : -ENOENT;
	if (size <= 0 || size > 4096) {
		log_printf(err, "--ctx: neither the object nor the kernel has the type struct %s in its BTF", k->ctx_name);
		return -EINVAL;
	}
	r->ctx_type = id;
	r->ctx_size = size;
	r->ctx_in = calloc(1, size);
	r->ctx_out = calloc(1, size);
	if (!r->out)
		r->out = malloc(OUT_ROOM);
	if (!braces || !r->ctx_in || !r->ctx_out || !r->out)
		return -ENOMEM;
	log_printf(err, "--ctx: ");
	if (btf_parse_value(r->ctx_btf, id, braces, r->ctx_in, size, err))
		return -EINVAL;
	log_reset(err, 0);
	return 0;
}

const struct btf_types *path_runner_context_type(const struct path_runner *r, u32 *id)
{
	*id = r->ctx_type;
	return r->ctx_in ? r->ctx_btf : NULL;
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
	if (r->out)
		run_as_test(r, p, repeat, reset, result);
	else
		run_user(r, p, repeat, reset, result);
	if (r->type == BPF_PROG_TYPE_SOCKET_FILTER) { /* it can't change the packet, of which TEST_RUN gives no L2 header back */
		result->data = p->data;
		result->size = p->size;
	}
}
