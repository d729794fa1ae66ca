/* What PROG_LOAD asks for, checked as far as no pointer is needed. The order decides the errno. */
#include "passes.h"

#define KNOWN_FLAGS                                                                                          \
	(ABI_F_STRICT_ALIGNMENT | ABI_F_ANY_ALIGNMENT | ABI_F_TEST_RND_HI32 | ABI_F_TEST_STATE_FREQ |        \
	 ABI_F_SLEEPABLE | ABI_F_XDP_HAS_FRAGS | ABI_F_XDP_DEV_BOUND_ONLY | ABI_F_TEST_REG_INVARIANTS)

enum { UNPRIVILEGED_INSNS = 4096, MAX_INSNS = 1000000 };

static_assert(VERIFY_CAP_BPF == KIND_CAP_BPF && VERIFY_CAP_PERFMON == KIND_CAP_PERFMON &&
		      VERIFY_CAP_NET_ADMIN == KIND_CAP_NET_ADMIN, "one set of capability bits");

int prog_check_attr(const struct prog_attr *attr)
{
	u32 caps = attr->caps;
	const struct kind *kind;

	if (caps & VERIFY_CAP_SYS_ADMIN) /* stands for the newer, finer ones */
		caps |= VERIFY_CAP_BPF | VERIFY_CAP_PERFMON | VERIFY_CAP_NET_ADMIN;
	if (attr->flags & ~KNOWN_FLAGS)
		return -EINVAL;
	if (!attr->n_insns || attr->n_insns > (caps & VERIFY_CAP_BPF ? MAX_INSNS : UNPRIVILEGED_INSNS))
		return -E2BIG;
	if (kind_caps(attr->type) & ~caps)
		return -EPERM;
	/* only tracing, lsm, struct_ops and ext have targets, and none of those is built */
	if (attr->attach_btf_id || attr->attach_to)
		return -EINVAL;
	kind = kind_get(attr->type);
	if (kind && kind->attach_ok && !kind->attach_ok(attr->attach_type))
		return -EINVAL;
	return 0;
}

/* As the kernel's bpf_obj_name_cpy: ended within its 16 bytes; letters, digits, '_' and '.'. */
static bool good_name(const char name[16])
{
	u32 i = 0;

	while (i < 16 && name[i] && abi_name_char(name[i]))
		i++;
	return i < 16 && !name[i];
}

int prog_check_names(struct load *l)
{
	const struct prog_attr *attr = l->attr;

	if (attr->ifindex)
		return prog_refuse(l, -EOPNOTSUPP, "programs bound to a device (prog_ifindex) are not built");
	l->p->kind = kind_get(attr->type);
	if (!l->p->kind)
		return prog_refuse(l, -EINVAL, "programs of type %s (%u) are not built", kind_name(attr->type), attr->type);
	if (!good_name(attr->name))
		return -EINVAL;
	if (attr->flags & ABI_F_SLEEPABLE) /* none of these kinds is built */
		return prog_refuse(l, -EINVAL,
				   "Only fentry/fexit/fmod_ret, lsm, iter, uprobe, and struct_ops programs can be sleepable");
	return 0;
}

bool prog_license_is_gpl(const char *license)
{
	static const char *const compatible[] = { "GPL", "GPL v2", "GPL and additional rights",
						  "Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL" };

	for (u32 i = 0; i < ARRAY_SIZE(compatible); i++)
		if (!strcmp(license, compatible[i]))
			return true;
	return false;
}
