/* Ports: where frames come from and go to. Here: captures (pcap both endians, us and ns; pcapng; either gzip-compressed), hex text, stdin.
 *
 * A source lends packets in batches: they belong to it and stay valid until the next call. */
#ifndef NET_NET_H
#define NET_NET_H
#include "base/types.h"
#include "base/log.h"

struct net_packet {
	const u8 *data;
	u32 size;		/* bytes captured */
	u32 wire_size;		/* bytes on the wire */
	u64 time_ns;		/* since the epoch */
	u32 link_type;		/* LINKTYPE_*: 1 Ethernet */
	u32 interface;		/* pcapng interface number, else 0 */
};

struct net_source;
/* path "-": stdin. -errno with the sentence in err; a file that is no capture is -EINVAL. */
int net_open_capture(struct net_source **out, const char *path, struct log *err);
int net_open_hex(struct net_source **out, const char *hex, struct log *err);	/* one packet */
void net_close(struct net_source *s);
/* Up to max packets: number, 0 at the end, -EINVAL when the file breaks off or is damaged (packets before it were lent;
 * the sentence says the file offset). */
int net_read(struct net_source *s, struct net_packet *packets, u32 max, struct log *err);
const char *net_link_type_name(u32 link_type);

/* A tcpdump expression. -EINVAL with libpcap's sentence. A packet of a link type for which it can't be compiled does not match. */
struct net_filter;
int net_filter_new(struct net_filter **out, const char *expr, struct log *err);
void net_filter_free(struct net_filter *f);
bool net_filter_match(struct net_filter *f, const struct net_packet *p);

struct net_sink;
/* Writes pcap (ns) or pcapng by the name's ending (.pcapng). */
int net_create_capture(struct net_sink **out, const char *path, u32 link_type, struct log *err);
int net_write(struct net_sink *s, const struct net_packet *p);
int net_finish(struct net_sink *s);	/* flush and close; -errno if anything was not written */

#endif
