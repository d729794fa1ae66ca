/* What all maps have in common: creation with the checks that no kind decides, the end, and the
 * user side's checks. */
#include "htab.h"
#include "btf/btf.h"
#include <ctype.h>
#include <fcntl.h>
#include <sys/mman.h>

#define BATCH_NONE 0
#define BATCH_RW   (MAP_BATCH_LOOKUP | MAP_BATCH_UPDATE)
#define BATCH_RWD  (BATCH_RW | MAP_BATCH_DELETE)
#define BATCH_ALL  (BATCH_RWD | MAP_BATCH_TAKE)

static const struct map_kind kinds[] = {
#define KIND(type_, name_, ops_, fds, percpu, mappable_, batch_)                                   \
	[type_] = {.type = type_,                                                                  \
		   .name = name_,                                                                  \
		   .ops = ops_,                                                                    \
		   .values_are_fds = fds,                                                          \
		   .per_cpu = percpu,                                                              \
		   .mappable = mappable_,                                                          \
		   .batch = batch_},
#include "map.def"
#undef KIND
};
static_assert(ARRAY_SIZE(kinds) == ABI_MAP_MAX, "map.def names every kind");

const struct map_kind *map_kind(u32 type)
{
	return type < ARRAY_SIZE(kinds) && kinds[type].ops ? &kinds[type] : NULL;
}

bool map_is_per_cpu(u32 type)
{
	return type < ARRAY_SIZE(kinds) && kinds[type].per_cpu;
}

const char *map_kind_name(u32 type)
{
	return type < ARRAY_SIZE(kinds) && kinds[type].name ? kinds[type].name : "unknown";
}

/* ---- creation */

/* Nodes that are online, from "0-1,4"; a machine that does not say has node 0. */
static bool node_online(u32 node)
{
	char text[256], *at = text, *end;
	int fd = open("/sys/devices/system/node/online", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return node == 0;
	text[n] = 0;
	for (; *at >= '0' && *at <= '9'; at = end + (*end == ',')) {
		unsigned long from = strtoul(at, &end, 10), to = from;

		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		if (node >= from && node <= to)
			return true;
	}
	return false;
}

/* bpf_obj_name_cpy() */
static bool name_ok(const char name[16])
{
	u32 i;

	for (i = 0; i < 16 && name[i]; i++)
		if (!abi_name_char(name[i]))
			return false;
	return i < 16;
}

/* map_create() of kernel/bpf/syscall.c up to the kind's own check, in its order */
static int check_common(const struct map_attr *attr)
{
	if (attr->btf_key_id && !attr->btf_value_id)
		return -EINVAL;
	if (attr->type != BPF_MAP_TYPE_BLOOM_FILTER && attr->type != ABI_MAP_ARENA && attr->extra)
		return -EINVAL;
	if ((attr->flags & BPF_F_RDONLY) && (attr->flags & BPF_F_WRONLY))
		return -EINVAL;
	if (wants_node(attr) && !node_online(attr->numa_node))
		return -EINVAL;
	return map_kind(attr->type) ? 0 : -EINVAL;
}

static void map_unused(struct obj *o)
{
	struct map *m = container_of(o, struct map, obj);

	if (m->ops->unused)
		m->ops->unused(m);
}

static void map_gone(struct env_deferred *d)
{
	struct map *m = container_of(d, struct map, gone);

	if (m->memfd >= 0)
		close(m->memfd);
	if (m->btf)
		btf_put(m->btf);
	free(m->record);
	pthread_mutex_destroy(&m->owner.lock);
	m->ops->free(m);
}

static void map_free(struct obj *o)
{
	env_defer_node(&container_of(o, struct map, obj)->gone, map_gone);
}

static const struct obj_ops obj_ops = {.unused = map_unused, .free = map_free};

void *map_alloc(size_t size, const struct map_attr *attr, const struct map_ops *ops)
{
	struct map *m = aligned_alloc(CACHE_LINE, ROUND_UP(size, CACHE_LINE));

	if (!m)
		return NULL;
	memset(m, 0, size);
	obj_init(&m->obj, OBJ_MAP, &obj_ops);
	m->ops = ops;
	m->type = attr->type;
	m->key_size = attr->key_size;
	m->value_size = attr->value_size;
	m->max_entries = attr->max_entries;
	m->flags = attr->flags;
	m->extra = attr->extra;
	m->memfd = -1;
	pthread_mutex_init(&m->owner.lock, NULL);
	return m;
}

int map_new(struct map **out, const struct map_attr *attr)
{
	const struct map_kind *kind;
	struct map *m;
	int err = check_common(attr);

	if (err)
		return err;
	kind = map_kind(attr->type);
	err = kind->ops->check(attr);
	if (err)
		return err;
	err = kind->ops->new (&m, attr);
	if (err)
		return err;
	err = name_ok(attr->name) ? map_check_btf(attr) : -EINVAL;
	if (!err && attr->btf && attr->btf_value_id)
		err = map_record_new(&m->record, attr);
	if (err) {
		map_put(m);
		return err;
	}
	memcpy(m->name, attr->name, sizeof(m->name));
	m->btf_key_id = attr->btf_key_id;
	m->btf_value_id = attr->btf_value_id;
	m->btf = attr->btf;
	if (m->btf)
		obj_get(btf_obj(m->btf));
	*out = m;
	return 0;
}

/* ---- the user side */

u32 map_user_value_size(const struct map *m)
{
	const struct map_kind *kind = map_kind(m->type);

	if (kind->per_cpu)
		return ROUND_UP(m->value_size, 8u) * env_possible_cpus();
	return kind->values_are_fds ? sizeof(u32) : m->value_size;
}

int map_check_read(const struct map *m, u64 flags)
{
	return flags & ~(u64)BPF_F_LOCK || !map_flags_lock_ok(m, flags) ? -EINVAL : 0;
}

int map_check_write(const struct map *m, u64 flags)
{
	if (atomic_load(&m->frozen))
		return -EPERM;
	return map_flags_lock_ok(m, flags) ? 0 : -EINVAL;
}

/* A map without keys takes no key (___bpf_copy_key). */
static bool key_ok(const struct map *m, const void *key)
{
	return m->key_size || !key;
}

int map_copy_out(struct map *m, const void *key, void *value, u64 flags)
{
	int err = map_check_read(m, flags);

	if (err)
		return err;
	if (!key_ok(m, key))
		return -EINVAL;
	if (!m->ops->copy_out)
		return -ENOTSUPP_;
	env_read_lock();
	err = m->ops->copy_out(m, key, value, flags);
	env_read_unlock();
	return err;
}

/* A writer is counted before it looks whether the map is frozen, so that map_freeze sees it or it
 * sees the freeze. */
int map_copy_in(struct map *m, const void *key, const void *value, u64 flags)
{
	int err;

	atomic_fetch_add(&m->write_users, 1);
	err = map_check_write(m, flags);
	if (!err && !key_ok(m, key))
		err = -EINVAL;
	if (!err && !m->ops->copy_in)
		err = -ENOTSUPP_;
	if (!err) {
		env_read_lock();
		err = m->ops->copy_in(m, key, value, flags);
		env_read_unlock();
	}
	atomic_fetch_sub(&m->write_users, 1);
	return err;
}

int map_delete(struct map *m, const void *key)
{
	int err;

	atomic_fetch_add(&m->write_users, 1);
	err = map_check_write(m, 0);
	if (!err && !key_ok(m, key))
		err = -EINVAL;
	if (!err && !m->ops->delete)
		err = -ENOTSUPP_;
	if (!err) {
		env_read_lock();
		err = m->ops->delete (m, key);
		env_read_unlock();
	}
	atomic_fetch_sub(&m->write_users, 1);
	return err;
}

int map_next_key(struct map *m, const void *key, void *next)
{
	int err;

	if (!key_ok(m, key))
		return -EINVAL;
	if (!m->ops->next_key)
		return -ENOTSUPP_;
	env_read_lock();
	err = m->ops->next_key(m, key, next);
	env_read_unlock();
	return err;
}

u32 map_buckets(const struct map *m)
{
	return m->ops->batch ? container_of(m, struct htab, m)->mask + 1 : 0;
}

int map_batch_bucket(struct map *m, u32 bucket, struct map_batch *b)
{
	int err;

	env_read_lock();
	err = m->ops->batch(m, bucket, b);
	env_read_unlock();
	return err;
}

int map_lookup_delete(struct map *m, void *key, void *value, u64 flags)
{
	int err;

	if (flags & ~(u64)BPF_F_LOCK)
		return -EINVAL;
	atomic_fetch_add(&m->write_users, 1);
	err = map_check_write(m, flags);
	if (!err && !key_ok(m, key))
		err = -EINVAL;
	if (!err && !m->ops->lookup_delete)
		err = -ENOTSUPP_;
	if (!err) {
		env_read_lock();
		err = m->ops->lookup_delete(m, key, value, flags);
		env_read_unlock();
	}
	atomic_fetch_sub(&m->write_users, 1);
	return err;
}

/* A frozen map no longer gives write access, so that freezing it again is EPERM and not EBUSY, as
 * in the kernel. A mapping that user space makes later is refused PROT_WRITE by the seal. */
int map_freeze(struct map *m)
{
	if (m->record)
		return -ENOTSUPP_;
	if (atomic_load(&m->frozen))
		return -EPERM;
	if (atomic_load(&m->write_users))
		return -EBUSY;
	if (atomic_exchange(&m->frozen, true))
		return -EPERM;
	if (atomic_load(&m->write_users)) {
		atomic_store(&m->frozen, false);
		return -EBUSY;
	}
	if (m->memfd >= 0 && m->flags & BPF_F_MMAPABLE &&
	    fcntl(m->memfd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE)) {
		atomic_store(&m->frozen, false);
		return -EBUSY;
	}
	return 0;
}

u64 map_memory(const struct map *m)
{
	return m->ops->memory(m);
}

u64 map_lookup_steps(struct map *m, const void *key)
{
	return m->ops->steps ? m->ops->steps(m, key) : 0;
}
