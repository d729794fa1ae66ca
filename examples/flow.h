/* What flow.bpf.c shares with whoever reads its maps and events. */
#ifndef FLOW_H
#define FLOW_H
#include <linux/types.h>

struct flow_addr {
	__u32 word[4];		/* network byte order */
};

struct flow_key {
	struct flow_addr src, dst;
	__u16 sport, dport;	/* host byte order; ICMP: type and code */
	__u8 proto;		/* IP protocol number */
	__u8 pad[3];
};

struct flow_count {
	__u64 packets, bytes;	/* bytes on the wire from the Ethernet header on */
};

struct flow_event {
	__u32 number;
	__u32 first_size;	/* bytes of the flow's first packet */
	struct flow_key key;
};

enum flow_result {
	COUNT,
	SKIP_SHORT,		/* the packet ends inside a header */
	SKIP_NOT_IP,
	SKIP_BAD_IP,
	SKIP_FRAGMENT,		/* a later fragment: it has no ports */
	SKIP_OTHER_PROTO,	/* only_proto says so */
	SKIP_REASONS,
};

#endif
