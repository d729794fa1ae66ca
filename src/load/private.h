/* Private to load/. */
#ifndef LOAD_PRIVATE_H
#define LOAD_PRIVATE_H
#include "load.h"

/* check.c. Read path (err gets a sentence); then: is it an object that libbpf may be handed? -ENOEXEC with a sentence. */
int load_read_file(struct load_file *f, const char *path, struct log *err);
int load_check(const struct load_file *f, const char *path, struct log *err);

int load_compile(char **object, const char *path, struct log *err);
void load_remove_compiled(char *object);	/* file, folder and name; NULL is fine */
int load_set_global(struct load_object *o, const char *text, struct log *err);

#endif
