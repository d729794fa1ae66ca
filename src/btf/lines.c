/* Which function and which source line an instruction belongs to. Records are sorted by
 * instruction; the last one at or before it counts. */
#include "types.h"

/* Records of either kind begin with the instruction's index. Returns the record's index + 1, 0:
 * none. */
static u32 last_before(const void *records, u32 n, size_t size, u32 insn)
{
	u32 low = 0;

	while (low < n) {
		u32 mid = low + (n - low) / 2;

		if (*(const u32 *)((const char *)records + mid * size) <= insn)
			low = mid + 1;
		else
			n = mid;
	}
	return low;
}

const char *btf_func_name(const struct btf_types *b, const struct bpf_func_info *info, u32 n,
			  u32 insn)
{
	u32 i = last_before(info, n, sizeof(*info), insn);

	return i && b ? btf_name(b, info[i - 1].type_id) : NULL;
}

const struct bpf_line_info *btf_line(const struct bpf_line_info *info, u32 n, u32 insn)
{
	u32 i = last_before(info, n, sizeof(*info), insn);

	return i ? &info[i - 1] : NULL;
}
