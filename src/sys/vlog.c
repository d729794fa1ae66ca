/* The caller's log buffer, by the rules that PROG_LOAD and BTF_LOAD share: which combinations of
 * level, size and buffer are allowed, what is kept when the text is longer (its end, or with
 * BPF_LOG_FIXED its beginning), how the caller learns how much room all of it needs (log_true_size,
 * -ENOSPC). The text never changes the verdict except by that -ENOSPC. */
#include "door.h"
#include "base/cleanup.h"

int sys_vlog_start(struct sys_vlog *v, u32 level, u32 size, u64 ubuf)
{
	if (!ubuf != !size || (ubuf && !level) || level & ~ABI_LOG_MASK || size > UINT32_MAX >> 2)
		return -EINVAL;
	log_init(&v->log, size ? size - 1 : 0);
	v->log.level = level;
	v->log.keep_head = level & ABI_LOG_FIXED;
	v->ubuf = ubuf;
	v->size = size;
	return 0;
}

int sys_vlog_finish(struct sys_call *c, struct sys_vlog *v, u32 *true_size)
{
	autofree char *text = NULL;
	size_t len;

	*true_size = 0;
	if (!v->log.level)
		return 0;
	*true_size = v->log.peak ? MIN(v->log.peak + 1, (u64)UINT32_MAX) : 0;
	if (!v->ubuf)
		return 0;
	text = log_text(&v->log, &len);
	if (!text)
		return -ENOMEM;
	if (v->log.peak && sys_write_mem(c, v->ubuf, text, len + 1))
		return -EFAULT;
	return *true_size > v->size ? -ENOSPC : 0;
}
