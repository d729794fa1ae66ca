/* What the number that a program returns means to its kind. */
#include "path.h"
#include "base/abi.h"
#include <linux/pkt_cls.h>

static u32 xdp_which(u32 r0)
{
	return r0 <= XDP_REDIRECT ? r0 : XDP_REDIRECT + 1;
}

static const struct path_verdicts xdp = {
	.name = { "XDP_ABORTED", "XDP_DROP", "XDP_PASS", "XDP_TX", "XDP_REDIRECT", "other" },
	.which = xdp_which,
	.pass = 1u << XDP_PASS,
};

/* Direct action: -1 is TC_ACT_UNSPEC. */
static u32 tc_which(u32 r0)
{
	return r0 + 1 <= TC_ACT_TRAP + 1 ? r0 + 1 : TC_ACT_TRAP + 2;
}

static const struct path_verdicts tc = {
	.name = { "TC_ACT_UNSPEC", "TC_ACT_OK", "TC_ACT_RECLASSIFY", "TC_ACT_SHOT", "TC_ACT_PIPE", "TC_ACT_STOLEN",
		  "TC_ACT_QUEUED", "TC_ACT_REPEAT", "TC_ACT_REDIRECT", "TC_ACT_TRAP", "other" },
	.which = tc_which,
	.pass = 1u << (TC_ACT_UNSPEC + 1) | 1u << (TC_ACT_OK + 1) | 1u << (TC_ACT_RECLASSIFY + 1) | 1u << (TC_ACT_PIPE + 1),
};

/* r0 is how many bytes the socket gets. */
static u32 filter_which(u32 r0)
{
	return r0 ? 0 : 1;
}

static const struct path_verdicts filter = {
	.name = { "accepted", "dropped" },
	.which = filter_which,
	.pass = 1u << 0,
};

const struct path_verdicts *path_verdicts(u32 prog_type)
{
	switch (prog_type) {
	case BPF_PROG_TYPE_SOCKET_FILTER:
		return &filter;
	case BPF_PROG_TYPE_SCHED_CLS:
	case BPF_PROG_TYPE_SCHED_ACT:
		return &tc;
	default:
		return &xdp;
	}
}
