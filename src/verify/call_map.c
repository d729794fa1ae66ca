/* Which helpers work on which kinds of maps, in both directions: some kinds of map are for certain helpers only, and some
 * helpers for certain kinds only. Two tables; a kind or helper without a row takes anything. */
#include "call.h"

enum { MAX_ROW = 8, CGRP_STORAGE_GET = 210, CGRP_STORAGE_DELETE = 211 };

static const struct {
	u16 type, funcs[MAX_ROW];
} kinds[] = {
	{ BPF_MAP_TYPE_PROG_ARRAY, { BPF_FUNC_tail_call } },
	{ BPF_MAP_TYPE_PERF_EVENT_ARRAY,
	  { BPF_FUNC_perf_event_read, BPF_FUNC_perf_event_output, BPF_FUNC_skb_output,
	    BPF_FUNC_perf_event_read_value, BPF_FUNC_xdp_output } },
	{ BPF_MAP_TYPE_RINGBUF,
	  { BPF_FUNC_ringbuf_output, BPF_FUNC_ringbuf_reserve, BPF_FUNC_ringbuf_query,
	    BPF_FUNC_ringbuf_reserve_dynptr, BPF_FUNC_ringbuf_submit_dynptr, BPF_FUNC_ringbuf_discard_dynptr } },
	{ BPF_MAP_TYPE_USER_RINGBUF, { BPF_FUNC_user_ringbuf_drain } },
	{ BPF_MAP_TYPE_STACK_TRACE, { BPF_FUNC_get_stackid } },
	{ BPF_MAP_TYPE_CGROUP_ARRAY, { BPF_FUNC_skb_under_cgroup, BPF_FUNC_current_task_under_cgroup } },
	{ BPF_MAP_TYPE_CGROUP_STORAGE, { BPF_FUNC_get_local_storage } },
	{ BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE, { BPF_FUNC_get_local_storage } },
	{ BPF_MAP_TYPE_DEVMAP, { BPF_FUNC_redirect_map, BPF_FUNC_map_lookup_elem } },
	{ BPF_MAP_TYPE_DEVMAP_HASH, { BPF_FUNC_redirect_map, BPF_FUNC_map_lookup_elem } },
	{ BPF_MAP_TYPE_CPUMAP, { BPF_FUNC_redirect_map } },
	{ BPF_MAP_TYPE_XSKMAP, { BPF_FUNC_redirect_map, BPF_FUNC_map_lookup_elem } },
	{ BPF_MAP_TYPE_ARRAY_OF_MAPS, { BPF_FUNC_map_lookup_elem } },
	{ BPF_MAP_TYPE_HASH_OF_MAPS, { BPF_FUNC_map_lookup_elem } },
	{ BPF_MAP_TYPE_SOCKMAP,
	  { BPF_FUNC_sk_redirect_map, BPF_FUNC_sock_map_update, BPF_FUNC_msg_redirect_map,
	    BPF_FUNC_sk_select_reuseport, BPF_FUNC_map_lookup_elem } },
	{ BPF_MAP_TYPE_SOCKHASH,
	  { BPF_FUNC_sk_redirect_hash, BPF_FUNC_sock_hash_update, BPF_FUNC_msg_redirect_hash,
	    BPF_FUNC_sk_select_reuseport, BPF_FUNC_map_lookup_elem } },
	{ BPF_MAP_TYPE_REUSEPORT_SOCKARRAY, { BPF_FUNC_sk_select_reuseport } },
	{ BPF_MAP_TYPE_QUEUE, { BPF_FUNC_map_peek_elem, BPF_FUNC_map_pop_elem, BPF_FUNC_map_push_elem } },
	{ BPF_MAP_TYPE_STACK, { BPF_FUNC_map_peek_elem, BPF_FUNC_map_pop_elem, BPF_FUNC_map_push_elem } },
	{ BPF_MAP_TYPE_SK_STORAGE,
	  { BPF_FUNC_sk_storage_get, BPF_FUNC_sk_storage_delete, BPF_FUNC_kptr_xchg } },
	{ BPF_MAP_TYPE_INODE_STORAGE,
	  { BPF_FUNC_inode_storage_get, BPF_FUNC_inode_storage_delete, BPF_FUNC_kptr_xchg } },
	{ BPF_MAP_TYPE_TASK_STORAGE,
	  { BPF_FUNC_task_storage_get, BPF_FUNC_task_storage_delete, BPF_FUNC_kptr_xchg } },
	{ ABI_MAP_CGRP_STORAGE, { CGRP_STORAGE_GET, CGRP_STORAGE_DELETE, BPF_FUNC_kptr_xchg } },
	{ BPF_MAP_TYPE_BLOOM_FILTER, { BPF_FUNC_map_peek_elem, BPF_FUNC_map_push_elem } },
};

static const struct {
	u16 func, types[MAX_ROW];
} funcs[] = {
	{ BPF_FUNC_tail_call, { BPF_MAP_TYPE_PROG_ARRAY } },
	{ BPF_FUNC_perf_event_read, { BPF_MAP_TYPE_PERF_EVENT_ARRAY } },
	{ BPF_FUNC_perf_event_output, { BPF_MAP_TYPE_PERF_EVENT_ARRAY } },
	{ BPF_FUNC_perf_event_read_value, { BPF_MAP_TYPE_PERF_EVENT_ARRAY } },
	{ BPF_FUNC_skb_output, { BPF_MAP_TYPE_PERF_EVENT_ARRAY } },
	{ BPF_FUNC_xdp_output, { BPF_MAP_TYPE_PERF_EVENT_ARRAY } },
	{ BPF_FUNC_ringbuf_output, { BPF_MAP_TYPE_RINGBUF } },
	{ BPF_FUNC_ringbuf_reserve, { BPF_MAP_TYPE_RINGBUF } },
	{ BPF_FUNC_ringbuf_query, { BPF_MAP_TYPE_RINGBUF } },
	{ BPF_FUNC_ringbuf_reserve_dynptr, { BPF_MAP_TYPE_RINGBUF } },
	{ BPF_FUNC_ringbuf_submit_dynptr, { BPF_MAP_TYPE_RINGBUF } },
	{ BPF_FUNC_ringbuf_discard_dynptr, { BPF_MAP_TYPE_RINGBUF } },
	{ BPF_FUNC_user_ringbuf_drain, { BPF_MAP_TYPE_USER_RINGBUF } },
	{ BPF_FUNC_get_stackid, { BPF_MAP_TYPE_STACK_TRACE } },
	{ BPF_FUNC_current_task_under_cgroup, { BPF_MAP_TYPE_CGROUP_ARRAY } },
	{ BPF_FUNC_skb_under_cgroup, { BPF_MAP_TYPE_CGROUP_ARRAY } },
	{ BPF_FUNC_redirect_map,
	  { BPF_MAP_TYPE_DEVMAP, BPF_MAP_TYPE_DEVMAP_HASH, BPF_MAP_TYPE_CPUMAP, BPF_MAP_TYPE_XSKMAP } },
	{ BPF_FUNC_sk_redirect_map, { BPF_MAP_TYPE_SOCKMAP } },
	{ BPF_FUNC_msg_redirect_map, { BPF_MAP_TYPE_SOCKMAP } },
	{ BPF_FUNC_sock_map_update, { BPF_MAP_TYPE_SOCKMAP } },
	{ BPF_FUNC_sk_redirect_hash, { BPF_MAP_TYPE_SOCKHASH } },
	{ BPF_FUNC_msg_redirect_hash, { BPF_MAP_TYPE_SOCKHASH } },
	{ BPF_FUNC_sock_hash_update, { BPF_MAP_TYPE_SOCKHASH } },
	{ BPF_FUNC_get_local_storage, { BPF_MAP_TYPE_CGROUP_STORAGE, BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE } },
	{ BPF_FUNC_sk_select_reuseport,
	  { BPF_MAP_TYPE_REUSEPORT_SOCKARRAY, BPF_MAP_TYPE_SOCKMAP, BPF_MAP_TYPE_SOCKHASH } },
	{ BPF_FUNC_map_pop_elem, { BPF_MAP_TYPE_QUEUE, BPF_MAP_TYPE_STACK } },
	{ BPF_FUNC_map_peek_elem, { BPF_MAP_TYPE_QUEUE, BPF_MAP_TYPE_STACK, BPF_MAP_TYPE_BLOOM_FILTER } },
	{ BPF_FUNC_map_push_elem, { BPF_MAP_TYPE_QUEUE, BPF_MAP_TYPE_STACK, BPF_MAP_TYPE_BLOOM_FILTER } },
	{ BPF_FUNC_map_lookup_percpu_elem,
	  { BPF_MAP_TYPE_PERCPU_ARRAY, BPF_MAP_TYPE_PERCPU_HASH, BPF_MAP_TYPE_LRU_PERCPU_HASH } },
	{ BPF_FUNC_sk_storage_get, { BPF_MAP_TYPE_SK_STORAGE } },
	{ BPF_FUNC_sk_storage_delete, { BPF_MAP_TYPE_SK_STORAGE } },
	{ BPF_FUNC_inode_storage_get, { BPF_MAP_TYPE_INODE_STORAGE } },
	{ BPF_FUNC_inode_storage_delete, { BPF_MAP_TYPE_INODE_STORAGE } },
	{ BPF_FUNC_task_storage_get, { BPF_MAP_TYPE_TASK_STORAGE } },
	{ BPF_FUNC_task_storage_delete, { BPF_MAP_TYPE_TASK_STORAGE } },
	{ CGRP_STORAGE_GET, { ABI_MAP_CGRP_STORAGE } },
	{ CGRP_STORAGE_DELETE, { ABI_MAP_CGRP_STORAGE } },
};

static bool in_row(const u16 *row, u32 x)
{
	for (u32 i = 0; i < MAX_ROW && row[i]; i++)
		if (row[i] == x)
			return true;
	return false;
}

static bool kind_takes(u32 type, u32 func)
{
	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].type == type)
			return in_row(kinds[i].funcs, func);
	return true;
}

static bool func_takes(u32 func, u32 type)
{
	for (u32 i = 0; i < ARRAY_SIZE(funcs); i++)
		if (funcs[i].func == func)
			return in_row(funcs[i].types, type);
	return true;
}

int call_check_map(struct verifier *v, const struct call *c)
{
	if (c->map && c->map->type == BPF_MAP_TYPE_XSKMAP && c->id == BPF_FUNC_map_lookup_elem)
		return verify_refuse(v, -EOPNOTSUPP, "not-built", BPF_REG_1,
				     "look-ups of xskmap give an xdp_sock, which is not supported");
	if (!c->map || (kind_takes(c->map->type, c->id) && func_takes(c->id, c->map->type)))
		return 0;
	return verify_refuse(v, -EINVAL, "map-func", BPF_REG_1, "cannot pass map_type %u into func bpf_%s#%u",
			     c->map->type, helper_name(c->id), c->id);
}

bool call_map_null_elidable(const struct map *m)
{
	bool array = m->type == BPF_MAP_TYPE_ARRAY || m->type == BPF_MAP_TYPE_PERCPU_ARRAY;

	/* inner maps of this sort need not have as many entries as their template */
	return array && !(m->flags & BPF_F_INNER_MAP);
}
