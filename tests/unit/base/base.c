/* base: log bounds, arena, vectors, counts. */
#include "base/arena.h"
#include "base/bits.h"
#include "base/log.h"
#include "base/obj.h"
#include "base/vec.h"
#include "tap.h"

static void log_keeps_the_end(void)
{
	struct log log;
	char *text;
	size_t len;

	log_init(&log, 8);
	log_printf(&log, "hello %d", 12345);
	text = log_text(&log, &len);
	STR(text, "lo 12345");
	EQ(log.total, 11);
	free(text);
	log_done(&log);

	log_init(&log, 8);
	log.keep_head = true;
	log_printf(&log, "hello %d", 12345);
	text = log_text(&log, NULL);
	STR(text, "hello 12");
	free(text);
	log_done(&log);
}

static int freed, unused;
static void on_unused(struct obj *o)
{
	unused++;
}
static void on_free(struct obj *o)
{
	freed++;
}

static void two_counts(void)
{
	static const struct obj_ops ops = { on_unused, on_free };
	struct obj o;

	obj_init(&o, OBJ_MAP, &ops);
	obj_get_user(&o);
	obj_get_user(&o);
	obj_put_user(&o);
	EQ(unused, 0);
	obj_put_user(&o);
	EQ(unused, 1);
	EQ(freed, 0);
	obj_put(&o);
	EQ(freed, 1);
}

int main(void)
{
	struct arena a = { 0 };
	VEC(int) v = { 0 };
	char *p;

	log_keeps_the_end();
	two_counts();
	for (int i = 0; i < 100; i++)
		if (!VEC_PUSH(&v, i))
			break;
	EQ(v.n, 100);
	EQ(v.v[99], 99);
	VEC_DONE(&v);
	p = arena_alloc(&a, 3);
	OK(p && !((uintptr_t)p & 15));
	OK(arena_alloc(&a, 1 << 20) != NULL);
	STR(arena_strdup(&a, "abc"), "abc");
	arena_done(&a);
	EQ(round_up_pow2(5), 8);
	return tap_done();
}
