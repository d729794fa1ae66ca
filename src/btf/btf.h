/* Type information (BTF): read and check a blob as BTF_LOAD hands it over, look types up, print values as C.
 *
 * A `struct btf_types` is immutable after btf_parse and counted (obj). Ids are 1-based, 0 is void; with a base (vmlinux)
 * they continue the base's. Verdict and errno of btf_parse are the kernel's. */
#ifndef BTF_BTF_H
#define BTF_BTF_H
#include "base/obj.h"
#include "base/abi.h"
#include "base/log.h"

struct btf_types;

/* Parse and check untrusted bytes (copied). base NULL: stand-alone. -EINVAL, -E2BIG, -ENOMEM, -ENOTSUPP_...
 * A log gets everything that BTF_LOAD says at any log level, also on success; NULL: nothing (log level 0). */
int btf_parse(struct btf_types **out, const void *data, u32 size, const struct btf_types *base, struct log *log);
/* The same, but only the shape of each type is checked, as the kernel does for its own BTF: for tools that show what they can
 * of BTF that BTF_LOAD refuses. Everything below bears it. */
int btf_parse_shapes(struct btf_types **out, const void *data, u32 size, const struct btf_types *base, struct log *log);
/* Are .BTF and .BTF.ext of an object file safe to be followed by a reader that trusts them (libbpf)? 0; -EINVAL with the reason
 * in err; -ENOMEM. Says nothing of what BTF_LOAD will think of it. */
int btf_check_object(const void *data, u32 size, struct log *err);
int btf_check_ext(const void *data, u32 size, struct log *err);
struct obj *btf_obj(struct btf_types *b);
void btf_put(struct btf_types *b);		/* NULL is fine */
const void *btf_raw(const struct btf_types *b, u32 *size);

u32 btf_n_types(const struct btf_types *b);	/* ids are 0 .. n-1 */
const struct btf_type *btf_type(const struct btf_types *b, u32 id);	/* NULL: out of range; void is id 0 */
const char *btf_str(const struct btf_types *b, u32 off);		/* "" for 0; NULL: out of range */
const char *btf_name(const struct btf_types *b, u32 id);
s32 btf_find(const struct btf_types *b, const char *name, u32 kind);	/* id or -ENOENT; kind 0: any */
const struct btf_type *btf_skip(const struct btf_types *b, u32 id, u32 *resolved);	/* through modifiers and typedefs */
s64 btf_size(const struct btf_types *b, u32 id);			/* bytes, or -errno */

static inline u32 btf_kind_of(const struct btf_type *t)
{
	return BTF_INFO_KIND(t->info);
}
static inline u32 btf_vlen_of(const struct btf_type *t)
{
	return BTF_INFO_VLEN(t->info);
}

/* Print the value at data (size bytes) as C: {.pid = 3, .name = "abc"}; names of enumerators, bit-fields, unions, arrays.
 * Bytes that the type needs but size lacks are printed as "?". */
struct btf_print_opts {
	bool hex;		/* integers in hexadecimal */
	bool json;		/* JSON instead of C */
	bool compact;		/* one line (default for C is one line too) */
	u32 max_array;		/* elements printed before "..."; 0: all */
};
void btf_print_value(struct log *out, const struct btf_types *b, u32 id, const void *data, u32 size, const struct btf_print_opts *opts);
/* Parse text into a value of the type: 5, 0x1f, -3, true, 'a', "str", ENUM_NAME, 10.0.0.1 (u32 / u8[4] in network order),
 * {1, 2, .field = 3}, mac aa:bb:...; fills exactly btf_size() bytes. -EINVAL with a sentence in err. */
int btf_parse_value(const struct btf_types *b, u32 id, const char *text, void *data, u32 size, struct log *err);
/* A type's declaration as C ("struct flow *p", "u32 a[4]"), and the definitions of all types in order of need. */
void btf_print_decl(struct log *out, const struct btf_types *b, u32 id, const char *name);
void btf_print_all(struct log *out, const struct btf_types *b);

/* BTF.ext-like records of a loaded program: function name and source line of an instruction. NULL: none. */
const char *btf_func_name(const struct btf_types *b, const struct bpf_func_info *info, u32 n, u32 insn);
const struct bpf_line_info *btf_line(const struct bpf_line_info *info, u32 n, u32 insn);

/* The running kernel's types from /sys/kernel/btf/vmlinux, parsed once; NULL when the machine has none. Borrowed. */
const struct btf_types *btf_kernel(void);

#endif
