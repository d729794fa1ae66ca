/* Capture filters: tcpdump's expressions, compiled by libpcap, one program a link type. */
#include "net.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include <pcap.h>

struct compiled {
	u32 link_type;
	struct bpf_program code;	/* libpcap's: classic BPF */
};

struct net_filter {
	char *expr;	/* owned */
	VEC(struct compiled) for_link;
};

/* LINKTYPE_ values of files and DLT_ values of libpcap are the same but for these. */
static int dlt_of(u32 link_type)
{
	return link_type == 101 ? DLT_RAW : link_type == 50 ? DLT_PPP_SERIAL : (int)link_type;
}

static int compile(struct net_filter *f, u32 link_type, struct log *err)
{
	struct compiled c = { .link_type = link_type };
	pcap_t *dead = pcap_open_dead(dlt_of(link_type), 262144);
	int rc = -ENOMEM;

	if (!dead)
		return -ENOMEM;
	if (pcap_compile(dead, &c.code, f->expr, 1, PCAP_NETMASK_UNKNOWN)) {
		log_printf(err, "filter \"%s\": %s", f->expr, pcap_geterr(dead));
		rc = -EINVAL;
	} else if (VEC_PUSH(&f->for_link, c)) {
		rc = 0;
	} else {
		pcap_freecode(&c.code);
	}
	pcap_close(dead);
	return rc;
}

int net_filter_new(struct net_filter **out, const char *expr, struct log *err)
{
	struct net_filter *f = calloc(1, sizeof(*f));
	int rc = -ENOMEM;

	if (f && (f->expr = strdup(expr)))
		rc = compile(f, DLT_EN10MB, err);	/* an expression that is wrong is so before the first packet */
	if (rc)
		net_filter_free(f);
	else
		*out = f;
	return rc;
}

void net_filter_free(struct net_filter *f)
{
	if (!f)
		return;
	for (u32 i = 0; i < f->for_link.n; i++)
		pcap_freecode(&f->for_link.v[i].code);
	VEC_DONE(&f->for_link);
	free(f->expr);
	free(f);
}

bool net_filter_match(struct net_filter *f, const struct net_packet *p)
{
	struct pcap_pkthdr h = { .caplen = p->size, .len = p->wire_size };
	u32 i = 0;

	while (i < f->for_link.n && f->for_link.v[i].link_type != p->link_type)
		i++;
	if (i == f->for_link.n && compile(f, p->link_type, NULL))
		return false;	/* the expression says something that this link type has not */
	return pcap_offline_filter(&f->for_link.v[i].code, &h, p->data);
}
