/* The kinds "raw_tracepoint" and "tracepoint": programs run at a point in the kernel, with its arguments as the context.
 *
 * They can be verified and loaded; nothing here runs them yet (TEST_RUN answers ENOTSUPP). A raw tracepoint has up to twelve
 * arguments of 64 bits; a tracepoint's record begins behind 8 bytes that are the kernel's own and ends with the page that
 * perf keeps for it (PERF_MAX_TRACE_SIZE). Both are read in aligned pieces of any size and never written. */
#include "lists.h"

enum { RAW_ARGS_SIZE = 12 * 8, RECORD_START = 8, RECORD_END = 8192 };

static const struct kind_field raw_fields[] = {
	{ .name = "args", .off = 0, .size = RAW_ARGS_SIZE, .bytes = true, .gives = KIND_SCALAR },
};
static const struct kind_field record_fields[] = {
	{ .name = "record", .off = RECORD_START, .size = RECORD_END - RECORD_START, .bytes = true, .gives = KIND_SCALAR,
	  .frame_off = RECORD_START },
};

/* Asked of kernel 6.18, one load per id: the same for both. */
static const u16 helpers[] = {
	BPF_FUNC_probe_read,
	BPF_FUNC_perf_event_output,
	BPF_FUNC_get_stackid,
	BPF_FUNC_probe_read_str,
	BPF_FUNC_get_stack,
	BPF_FUNC_get_func_ip,
	BPF_FUNC_get_attach_cookie,
	0,
};

static struct kind_range returns(u32 attach_type)
{
	return (struct kind_range){ .checked = false };
}

const struct kind kind_raw_tracepoint = {
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.name = "raw_tracepoint",
	.ctx_size = RAW_ARGS_SIZE,
	.ctx_name = "bpf_raw_tracepoint_args",
	.fields = raw_fields,
	.n_fields = ARRAY_SIZE(raw_fields),
	.helpers = helpers,
	.returns = returns,
};

const struct kind kind_tracepoint = {
	.prog_type = BPF_PROG_TYPE_TRACEPOINT,
	.name = "tracepoint",
	.ctx_size = RECORD_END,
	.fields = record_fields,
	.n_fields = ARRAY_SIZE(record_fields),
	.helpers = helpers,
	.returns = returns,
};
