/* Private to cli/: showing what a program did, as text or JSON. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H
#include "cli.h"
#include "path/path.h"

struct show {
	struct load_object *o;
	struct json *json;		/* NULL: text on stdout */
	const char *const *event_types;	/* "MAP=TYPE" texts of --event, n_event_types of them */
	u32 n_event_types;
};

void show_event(struct show *s, struct bpf_map *ring, const void *data, u32 size);
void show_context(struct show *s, struct path_runner *r, const void *context, u32 size);
void show_trace_line(struct show *s, const char *text, size_t len);
void show_maps(struct show *s);
void show_counts(struct show *s, const struct path_counts *c, u32 repeat);
void show_stats(struct show *s, const struct path_stats *stats, const struct path_counts *c);
void show_comparison(struct show *s, const struct path_comparison *c);
/* Why the object did not load: the refusal first, then (verbose) all that the verifier said. */
void show_load_failure(struct load_object *o, struct log *err, bool verbose);
/* --event texts name existing ring buffers and types; -EINVAL and a sentence. */
int show_check_event_types(struct show *s, struct log *err);

#endif
