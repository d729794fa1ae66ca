/* Values with special fields (record.c) on their way in and out: what is the kernel's stays where it is, and shows as zeros
 * outside. The lock of a value, as bpf_spin_lock() and BPF_F_LOCK take it. */
#include "private.h"
#include <sched.h>

enum { SPINS = 100 };

void map_value_lock(void *lock)
{
	_Atomic u32 *l = lock;

	for (u32 i = 0; atomic_exchange_explicit(l, 1, memory_order_acquire); i++)
		if (i >= SPINS)
			sched_yield(); /* the holder may be off its CPU, which a kernel's never is */
}

void map_value_unlock(void *lock)
{
	atomic_store_explicit((_Atomic u32 *)lock, 0, memory_order_release);
}

RACY void map_value_set_around(const struct map *m, void *to, const void *from)
{
	const struct map_record *r = m->record;
	u32 at = 0;

	for (u32 i = 0; i < r->n; i++) {
		memcpy((u8 *)to + at, (const u8 *)from + at, r->field[i].off - at);
		at = r->field[i].off + r->field[i].size;
	}
	memcpy((u8 *)to + at, (const u8 *)from + at, m->value_size - at);
}

void map_value_hide_fields(const struct map *m, void *value)
{
	for (u32 i = 0; m->record && i < m->record->n; i++)
		memset((u8 *)value + m->record->field[i].off, 0, m->record->field[i].size);
}

static void *lock_of(const struct map *m, const void *value)
{
	const struct map_field *f = map_field(m, MAP_FIELD_SPIN_LOCK);

	return f ? (u8 *)value + f->off : NULL;
}

/* The caller checked that the value has a lock. */
void map_value_set_locked(const struct map *m, void *to, const void *from)
{
	void *lock = lock_of(m, to);

	map_value_lock(lock);
	map_value_set(m, to, from);
	map_value_unlock(lock);
}

void map_value_get(const struct map *m, void *to, const void *from, u64 flags)
{
	void *lock = flags & BPF_F_LOCK ? lock_of(m, from) : NULL;

	if (lock)
		map_value_lock(lock);
	map_value_set(m, to, from);
	if (lock)
		map_value_unlock(lock);
	map_value_hide_fields(m, to);
}

/* What the kernel asks before it looks a lock up in a value. */
bool map_flags_lock_ok(const struct map *m, u64 flags)
{
	return !(flags & BPF_F_LOCK) || map_has_fields(m, 1u << MAP_FIELD_SPIN_LOCK);
}
