/* Ring buffers of an object, read through libbpf on either floor. */
#include "path.h"
#include "base/abi.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include <bpf/libbpf.h>

struct ring {
	struct path_rings *all;
	struct bpf_map *map;
};

struct path_rings {
	struct ring_buffer *rb;
	struct ring *ring;	/* owned; libbpf keeps pointers into it */
	u32 n;
	path_event_fn fn;
	void *ctx;
};

static int on_event(void *ctx, void *data, size_t size)
{
	struct ring *r = ctx;

	r->all->fn(r->all->ctx, r->map, data, size);
	return 0;
}

static int add_ring(struct path_rings *r, struct bpf_map *m)
{
	struct ring *ring = &r->ring[r->n++];
	int rc;

	*ring = (struct ring){ r, m };
	if (r->rb)
		return ring_buffer__add(r->rb, bpf_map__fd(m), on_event, ring);
	r->rb = ring_buffer__new(bpf_map__fd(m), on_event, ring, NULL);
	rc = libbpf_get_error(r->rb);
	if (rc)
		r->rb = NULL;
	return rc;
}

static void free_rings(struct path_rings **r)
{
	path_rings_free(*r);
}

int path_rings_new(struct path_rings **out, struct load_object *o, path_event_fn fn, void *ctx)
{
	CLEANUP(free_rings) struct path_rings *r = NULL;
	struct bpf_map *m;
	u32 n = 0;
	int rc = 0;

	*out = NULL;
	bpf_object__for_each_map(m, o->obj)
		n += bpf_map__type(m) == BPF_MAP_TYPE_RINGBUF && bpf_map__fd(m) >= 0;
	if (!n)
		return 0;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->fn = fn;
	r->ctx = ctx;
	r->ring = calloc(n, sizeof(*r->ring));
	if (!r->ring)
		return -ENOMEM;
	bpf_object__for_each_map(m, o->obj)
		if (!rc && bpf_map__type(m) == BPF_MAP_TYPE_RINGBUF && bpf_map__fd(m) >= 0)
			rc = add_ring(r, m);
	if (!rc)
		*out = TAKE(r);
	return rc;
}

void path_rings_drain(struct path_rings *r)
{
	if (r)
		ring_buffer__consume(r->rb);
}

void path_rings_free(struct path_rings *r)
{
	if (!r)
		return;
	ring_buffer__free(r->rb);
	free(r->ring);
	free(r);
}
