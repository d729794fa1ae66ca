/* Names of numbers: "unsigned int" is C's, "u32" (as Rust's compiler says) is not and needs a
 * typedef. */
#include "decl.h"

static const char *const words[] = {"char",  "signed", "unsigned", "short",
				    "int",   "long",   "_Bool",	   "__int128",
				    "float", "double", "_Float16", "_Complex"};

static bool is_word(const char *s, size_t n)
{
	for (u32 i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == n && !memcmp(words[i], s, n))
			return true;
	return false;
}

bool btf_is_c_number(const struct btf_types *b, const struct btf_type *t)
{
	const char *s = btf_str(b, t->name_off);

	if (!s || !*s)
		return false;
	while (*s) {
		size_t n = strcspn(s, " ");

		if (!is_word(s, n))
			return false;
		s += n;
		if (*s == ' ')
			s++;
	}
	return true;
}

const char *btf_plain_number(const struct btf_type *t)
{
	bool is_float = btf_is(t, BTF_KIND_FLOAT), sign = false;

	if (btf_is(t, BTF_KIND_INT)) {
		sign = BTF_INT_ENCODING(btf_int_word(t)) & BTF_INT_SIGNED;
		if (BTF_INT_ENCODING(btf_int_word(t)) & BTF_INT_BOOL && t->size == 1)
			return "_Bool";
	} else {
		sign = btf_kflag(t);
	}
	switch (t->size) {
	case 1:
		return sign ? "signed char" : "unsigned char";
	case 2:
		return is_float ? "_Float16" : sign ? "short" : "unsigned short";
	case 8:
		return is_float ? "double" : sign ? "long long" : "unsigned long long";
	case 16:
		return is_float ? "long double" : sign ? "__int128" : "unsigned __int128";
	}
	return is_float ? "float" : sign ? "int" : "unsigned int";
}
