/* Both floors, a child process each, over the same packets; the parent reads them in lockstep and compares.
 *
 * Three classes: equal, different, and not comparable, which is counted by reason: what the kernel's TEST_RUN does not take,
 * and differences that time, random numbers or an LRU's choice explain. */
#include "compare.h"
#include "base/abi.h"
#include "base/cleanup.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

const char *const path_reason_names[PATH_REASONS] = {
	"shorter than the 14 bytes that the kernel's TEST_RUN takes",
	"longer than the kernel's TEST_RUN takes",
	"time or random numbers",
	"choice of what an LRU map evicts",
	"too short for the IP header that they announce",
};

/* Bytes: ETH_HLEN, and what the kinds with the least room take. Between them only malformed packets are refused. */
enum { KERNEL_MIN = 14, KERNEL_SKB_MAX = 3712 };

static enum path_reason why_refused(u32 size)
{
	return size < KERNEL_MIN ? PATH_TOO_SHORT : size > KERNEL_SKB_MAX ? PATH_TOO_LONG : PATH_MALFORMED;
}

struct side {
	const char *name;
	pid_t pid;
	FILE *in;
	struct compare_record r;
	u8 *data;	/* owned; r.size bytes */
	size_t room;
};

static int next(struct side *s, struct log *err)
{
	if (fread(&s->r, sizeof(s->r), 1, s->in) != 1) {
		log_printf(err, "%s floor: its process ended without a word", s->name);
		return -ECHILD;
	}
	if (s->r.size > s->room) {
		u8 *data = realloc(s->data, s->r.size);

		if (!data)
			return -ENOMEM;
		s->data = data;
		s->room = s->r.size;
	}
	if (s->r.size && fread(s->data, s->r.size, 1, s->in) != 1) {
		log_printf(err, "%s floor: its process ended inside a record", s->name);
		return -ECHILD;
	}
	return 0;
}

static int start(struct side *s, enum load_floor floor, const struct path_compare *how)
{
	int fds[2];

	s->name = floor == LOAD_USER ? "user" : "kernel";
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	s->pid = fork();
	if (s->pid == 0) {
		FILE *out = fdopen(fds[1], "wb");

		close(fds[0]);
		if (out)
			compare_child(how, floor, out);
		_exit(!out);
	}
	close(fds[1]);
	if (s->pid < 0) {
		close(fds[0]);
		return -errno;
	}
	s->in = fdopen(fds[0], "rb");
	return s->in ? 0 : -errno;
}

static void finish(struct side *s)
{
	if (s->in)
		fclose(s->in); /* a child that still writes ends by SIGPIPE */
	if (s->pid > 0)
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
	free(s->data);
}

struct comparison {
	struct path_comparison *found;
	struct side user, kernel;
	bool excused;		/* time or random numbers */
	bool event_differs;	/* among the events since the last packet */
	u64 n;			/* packets so far */
	char map[64];
};

static bool same(const struct comparison *c)
{
	return c->user.r.size == c->kernel.r.size && (!c->user.r.size || !memcmp(c->user.data, c->kernel.data, c->user.r.size));
}

static void count_reason(struct comparison *c, enum path_reason why)
{
	c->found->not_comparable++;
	c->found->by_reason[why]++;
}

static void differ(struct comparison *c)
{
	const struct compare_record *u = &c->user.r, *k = &c->kernel.r;
	struct log *d = &c->found->differences;

	c->found->different++;
	if (c->found->different > 10)
		return;
	log_printf(d, "packet %llu: ", (unsigned long long)c->n);
	if (u->a)
		log_printf(d, "the user floor refused it (%s); the kernel ran it", strerror(-(int)u->a));
	else if (u->b != k->b)
		log_printf(d, "verdict: user %u, kernel %u", u->b, k->b);
	else if (u->size != k->size)
		log_printf(d, "size afterwards: user %u, kernel %u bytes", u->size, k->size);
	else if (!same(c)) {
		u32 i = 0;

		while (c->user.data[i] == c->kernel.data[i])
			i++;
		log_printf(d, "bytes afterwards: first at %u: user %02x, kernel %02x", i, c->user.data[i], c->kernel.data[i]);
	} else {
		log_printf(d, "ring-buffer events");
	}
	log_printf(d, "\n");
}

static void compare_packet(struct comparison *c)
{
	const struct compare_record *u = &c->user.r, *k = &c->kernel.r;
	bool equal = !u->a && u->b == k->b && same(c) && !c->event_differs;

	c->n++;
	if (k->a)
		count_reason(c, why_refused(k->b));
	else if (equal)
		c->found->equal++;
	else if (c->excused && !u->a)
		count_reason(c, PATH_TIME_OR_RANDOM);
	else
		differ(c);
	c->event_differs = false;
}

static void compare_map(struct comparison *c)
{
	struct path_comparison *f = c->found;

	if (same(c)) {
		f->maps_equal++;
	} else if (c->user.r.b) {
		f->maps_not_comparable++;
		f->by_reason[PATH_LRU_CHOICE]++;
	} else if (c->excused) {
		f->maps_not_comparable++;
		f->by_reason[PATH_TIME_OR_RANDOM]++;
	} else {
		f->maps_different++;
		log_printf(&f->differences, "map %s: contents differ (%u bytes on the user floor, %u on the kernel's)\n", c->map,
			   c->user.r.size, c->kernel.r.size);
	}
}

/* An event on one floor only, or two that are not the same. Leaves both sides at a record that is no event. */
static int compare_events(struct comparison *c, struct log *err)
{
	int rc = 0;

	while (!rc && (c->user.r.kind == COMPARE_EVENT || c->kernel.r.kind == COMPARE_EVENT)) {
		bool both = c->user.r.kind == c->kernel.r.kind;

		if (!both || c->user.r.a != c->kernel.r.a || !same(c))
			c->event_differs = true;
		if (c->user.r.kind == COMPARE_EVENT)
			rc = next(&c->user, err);
		if (!rc && (both || c->kernel.r.kind == COMPARE_EVENT))
			rc = next(&c->kernel, err);
	}
	return rc;
}

/* 1: go on; 0: both have ended; -errno: one could not do its part. */
static int compare_step(struct comparison *c, struct log *err)
{
	int rc = next(&c->user, err);

	if (!rc)
		rc = next(&c->kernel, err);
	if (!rc)
		rc = compare_events(c, err);
	if (rc)
		return rc;
	for (struct side *s = &c->user; s; s = s == &c->user ? &c->kernel : NULL)
		if (s->r.kind == COMPARE_END && s->r.a) {
			log_printf(err, "%s floor: %.*s", s->name, (int)s->r.size, (const char *)s->data);
			return (s32)s->r.a;
		}
	if (c->user.r.kind != c->kernel.r.kind) {
		log_printf(err, "the floors lost step after %llu packets", (unsigned long long)c->n);
		return -EPROTO;
	}
	switch (c->user.r.kind) {
	case COMPARE_BEGIN:
		c->excused = c->user.r.a;
		return 1;
	case COMPARE_PACKET:
		compare_packet(c);
		return 1;
	case COMPARE_FOREIGN:
		c->found->foreign++;
		return 1;
	case COMPARE_MAP_NAME:
		snprintf(c->map, sizeof(c->map), "%.*s", (int)c->user.r.size, (const char *)c->user.data);
		return 1;
	case COMPARE_MAP:
		compare_map(c);
		return 1;
	default:
		return 0;
	}
}

int path_compare(const struct path_compare *how, struct path_comparison *found, struct log *err)
{
	struct comparison c = { .found = found };
	int rc;

	*found = (struct path_comparison){ 0 };
	log_init(&found->differences, 64 * 1024);
	found->differences.keep_head = true;
	rc = start(&c.user, LOAD_USER, how);
	if (!rc)
		rc = start(&c.kernel, LOAD_KERNEL, how);
	if (rc)
		log_printf(err, "starting a process for each floor: %s", strerror(-rc));
	else
		while ((rc = compare_step(&c, err)) > 0)
			;
	finish(&c.user);
	finish(&c.kernel);
	return rc;
}

void path_comparison_done(struct path_comparison *found)
{
	log_done(&found->differences);
}
