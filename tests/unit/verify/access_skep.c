/* skep's answers: verify_program() on the same instructions. */
#include "access.h"
#include "btf/btf.h"
#include "kind/kind.h"
#include "map/map.h"
#include "verify/verify.h"
#include <stdio.h>

static struct map *maps[ACCESS_MAPS];

struct used {
	u32 n, fd[64];
};

static int use_map(void *ctx, s32 fd, bool fd_is_index, struct map **map)
{
	struct used *u = ctx;
	u32 i;

	if (fd < 0 || fd >= ACCESS_MAPS || !maps[fd])
		return -EBADF;
	*map = maps[fd];
	for (i = 0; i < u->n; i++)
		if (u->fd[i] == (u32)fd)
			return (int)i;
	u->fd[u->n++] = (u32)fd;
	return (int)i;
}

/* Parsed once; it lives as long as the test. */
static struct btf_types *prog_btf(void)
{
	static struct btf_types *btf;
	const void *data;
	u32 size;
	int err;

	if (btf)
		return btf;
	data = access_btf(&size);
	err = btf_parse(&btf, data, size, NULL, NULL);
	if (err)
		printf("# btf: %s\n", strerror(-err));
	return btf;
}

static struct map *new_map(const struct access_map *m)
{
	struct map_attr attr = { .type = m->type, .key_size = m->key, .value_size = m->value,
				 .max_entries = m->entries, .flags = m->flags,
				 .inner = m->inner ? maps[m->inner - 1] : NULL };
	struct map *map = NULL;
	u32 key = 0;
	int err;

	if (m->lock) {
		attr.btf = prog_btf();
		attr.btf_key_id = 1;
		attr.btf_value_id = 4;
	}
	err = map_new(&map, &attr);
	if (err) {
		printf("# map of type %u: %s\n", m->type, strerror(-err));
		return NULL;
	}
	if (m->frozen) {
		map_copy_in(map, &key, access_contents, 0);
		map_freeze(map);
	}
	return map;
}

void access_skep(const struct access_case *c, struct access_answer *a, bool show)
{
	struct bpf_func_info funcs[2] = { { 0, 6 }, { c->func, 7 } };
	struct used used = { 0 };
	struct refusal why = { 0 };
	struct proof proof = { 0 };
	struct log log;
	struct verify_input in = {
		.insns = c->insns, .n_insns = c->n, .kind = kind_get(c->socket ? BPF_PROG_TYPE_SOCKET_FILTER : BPF_PROG_TYPE_XDP),
		.prog_flags = c->strict ? ABI_F_STRICT_ALIGNMENT : 0,
		.caps = c->unpriv ? 0 :
			VERIFY_CAP_BPF | VERIFY_CAP_PERFMON | VERIFY_CAP_NET_ADMIN | VERIFY_CAP_SYS_ADMIN,
		.gpl = !c->nogpl, .use_map = use_map, .ctx = &used, .log = &log,
	};

	for (u32 i = 0; i < ACCESS_MAPS; i++)
		if (!maps[i])
			maps[i] = new_map(&access_maps[i]);
	if (c->func) {
		in.btf = prog_btf();
		in.func_info = funcs;
		in.n_func_info = 2;
	}
	log_init(&log, 1 << 20);
	log.level = show ? 2 : 1;
	a->err = verify_program(&in, &proof, &why);
	snprintf(a->text, sizeof(a->text), "%s", a->err ? why.text : "");
	if (show) {
		char *text = log_text(&log, NULL);

		printf("%s", text);
		free(text);
	}
	if (!a->err)
		verify_proof_done(&proof);
	log_done(&log);
}
