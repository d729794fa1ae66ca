/* Private to load/. */
#ifndef LOAD_PRIVATE_H
#define LOAD_PRIVATE_H
#include "load.h"

int load_compile(char **object, const char *path, struct log *err);
int load_set_global(struct load_object *o, const char *text, struct log *err);

#endif
