/* prog_load(): a program's way in, as a list of passes; and a program's way out. */
#include "passes.h"
#include "base/cleanup.h"
#include "btf/btf.h"
#include "env/env.h"
#include "map/map.h"
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

int prog_refuse(struct load *l, int err, const char *fmt, ...)
{
	struct refusal *why = l->why;
	va_list ap;

	*why = (struct refusal){ .err = err, .rule = "load", .reg = -1 };
	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	if (l->attr->log && l->attr->log->level)
		log_printf(l->attr->log, "%s\n", why->text);
	return err;
}

static void prog_free(void *arg)
{
	struct prog *p = arg;

	vm_image_free(p->image);
	verify_proof_done(&p->proof);
	for (u32 i = 0; i < p->n_maps; i++)
		map_put(p->maps[i]);
	free(p->maps);
	btf_put(p->btf);
	free(p->func_info);
	free(p->line_info);
	free(p->loaded);
	free(p->xlated);
	free(p->origin);
	free(p);
}

/* The last reference is gone, but a run may still be inside. */
static void last_put(struct obj *obj)
{
	env_defer(prog_free, container_of(obj, struct prog, obj));
}

static const struct obj_ops prog_obj_ops = { .free = last_put };

static u64 ns_since_boot(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static struct prog *prog_new(const struct prog_attr *attr)
{
	struct prog *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	obj_init(&p->obj, OBJ_PROG, &prog_obj_ops);
	p->attach_type = attr->attach_type;
	p->flags = attr->flags;
	p->uid = attr->uid;
	p->gpl = prog_license_is_gpl(attr->license);
	p->load_time = ns_since_boot();
	memcpy(p->name, attr->name, sizeof(p->name));
	if (attr->btf) {
		obj_get(btf_obj(attr->btf));
		p->btf = attr->btf;
	}
	return p;
}

static int read_insns(struct load *l)
{
	u32 n = l->attr->n_insns;
	struct prog *p = l->p;

	p->loaded = malloc(n * sizeof(*p->loaded));
	if (!p->loaded)
		return -ENOMEM;
	memcpy(p->loaded, l->attr->insns, n * sizeof(*p->loaded));
	p->n_loaded = n;
	prog_make_tag(p->tag, p->loaded, n);
	return 0;
}

static int verify(struct load *l)
{
	const struct prog_attr *attr = l->attr;
	struct prog *p = l->p;
	struct verify_input in = {
		.insns = p->loaded,
		.n_insns = p->n_loaded,
		.kind = p->kind,
		.attach_type = p->attach_type,
		.prog_flags = p->flags,
		.caps = attr->caps,
		.gpl = p->gpl,
		.btf = p->btf,
		.func_info = p->func_info,
		.n_func_info = p->n_func_info,
		.line_info = p->line_info,
		.n_line_info = p->n_line_info,
		.use_map = prog_use_map,
		.ctx = l,
		.log = attr->log,
		.max_insns = attr->max_insns,
	};
	int err = verify_program(&in, &p->proof, l->why);

	if (!err)
		p->verified_insns = p->proof.verified_insns;
	return err;
}

/* The verified program as something that the next passes may change. */
static int start_code(struct load *l)
{
	struct prog *p = l->p;
	struct code *c = &l->code;

	c->insns = malloc(p->n_loaded * sizeof(*c->insns));
	c->origin = malloc(p->n_loaded * sizeof(*c->origin));
	if (!c->insns || !c->origin)
		return -ENOMEM;
	memcpy(c->insns, p->loaded, p->n_loaded * sizeof(*c->insns));
	c->n = p->n_loaded;
	for (u32 i = 0; i < c->n; i++)
		c->origin[i] = i;
	for (u32 i = 0; i < p->proof.n_funcs; i++) {
		const struct proof_func *f = &p->proof.func[i];

		if (!VEC_PUSH(&c->funcs, (struct vm_func){ f->start, f->end, f->stack }))
			return -ENOMEM;
	}
	return 0;
}

static int make_image(struct load *l)
{
	struct vm_code code = {
		.insns = l->code.insns,
		.aux = l->aux,
		.n_insns = l->code.n,
		.funcs = l->code.funcs.v,
		.n_funcs = l->code.funcs.n,
	};
	int err = vm_image_new(&l->p->image, &code);

	if (err == -EINVAL)
		return prog_refuse(l, err, "the program has an instruction that the engine can't run");
	return err;
}

static int (*const passes[])(struct load *l) = {
	prog_check_names,
	read_insns,
	prog_read_records,
	verify,
	prog_check_maps,
	start_code,
	prog_trim,
	prog_lower,
	make_image,
};

static void load_done(struct load *l)
{
	free(l->code.insns);
	free(l->code.origin);
	VEC_DONE(&l->code.funcs);
	free(l->aux);
	prog_put(l->p);
}

int prog_load(struct prog **out, const struct prog_attr *attr, struct refusal *why)
{
	struct load l CLEANUP(load_done) = { .attr = attr, .why = why };
	int err = prog_check_attr(attr);

	*why = (struct refusal){ .err = err, .reg = -1 };
	if (err)
		return err;
	l.p = prog_new(attr);
	if (!l.p)
		return -ENOMEM;
	for (u32 i = 0; i < ARRAY_SIZE(passes); i++) {
		err = passes[i](&l);
		if (err) {
			why->err = err;
			return err;
		}
	}
	*out = TAKE(l.p);
	return 0;
}
