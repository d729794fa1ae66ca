/* Program kinds: context layout, allowed helpers, return range, attach types. kind.def lists them; one file a kind.
 *
 * A context field is said once, as a row: what the program sees (offset and size in the uapi context), how it may be
 * touched, what a load gives, and where the value lies in our own frame, which prog/lower.c needs. */
#ifndef KIND_KIND_H
#define KIND_KIND_H
#include "base/abi.h"

enum kind_gives {	/* what a load from a context field yields to the verifier */
	KIND_SCALAR,
	KIND_PACKET,	/* start of the packet */
	KIND_PACKET_META,
	KIND_PACKET_END,
	KIND_SOCK_COMMON,	/* struct bpf_sock or NULL */
};

struct kind_field {
	const char *name;
	u16 off, size;		/* in the uapi context */
	bool narrow_read;	/* may be read in parts, as the kernel's bpf_ctx_narrow_access_ok says */
	bool write;
	bool bytes;		/* every aligned piece may be read (and written, with write) as it is */
	u32 write_below;	/* stores of this or a larger value change nothing; 0: all values are stored */
	u8 gives;		/* enum kind_gives; what gives a pointer must not be loaded sign-extended (verify refuses) */
	u16 frame_off;		/* in the frame the ctx register really points at (struct env_frame) */
	u8 frame_size;		/* bytes there: 8 for pointers */
	u32 attach_only;	/* expected_attach_type this field needs + 1; 0: always there */
};

struct kind_range { s64 min, max; bool checked; };	/* of r0 at exit, as 32-bit values sign-extended */

struct kind {
	u32 prog_type;
	const char *name;		/* as bpftool prints it: "xdp" */
	u16 ctx_size;			/* bytes of the uapi context */
	const char *ctx_name;		/* its struct in BTF, for arguments of global functions: "xdp_md"; NULL: none */
	const struct kind_field *fields;
	u32 n_fields;
	const u16 *helpers;		/* ids, ended by 0, beside the ones every kind may call (kind_base_helpers) */
	bool direct_packet_write;
	/* attach types allowed at load; NULL fn: any value is accepted as the kernel does for the kind */
	bool (*attach_ok)(u32 attach_type);
	struct kind_range (*returns)(u32 attach_type);
};
#define KIND_CAP_BPF 1u
#define KIND_CAP_PERFMON 2u
#define KIND_CAP_NET_ADMIN 4u

extern const u16 kind_base_helpers[];			/* ids, ended by 0 */
const struct kind *kind_get(u32 prog_type);		/* NULL: unknown or not built */
u32 kind_caps(u32 prog_type);				/* KIND_CAP_* that loading one needs */
const char *kind_name(u32 prog_type);			/* any type the kernel knows; else "unknown" */
bool kind_allows(const struct kind *k, u32 helper_id, u32 attach_type);
/* The field that an access of `size` bytes at `off` falls in, or NULL where the kernel refuses it. */
const struct kind_field *kind_access(const struct kind *k, u32 attach_type, u32 off, u32 size, bool write);

#endif
