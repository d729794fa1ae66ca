/* Options of a subcommand from its table; errors and exit statuses that subcommands share. */
#include "cli.h"
#include <getopt.h>

enum { MAX_OPTIONS = 40 };

int cli_parse(const struct cli_command *cmd, int argc, char **argv, cli_set_fn set, void *ctx, int *first)
{
	struct option longs[MAX_OPTIONS + 1] = { 0 };
	char shorts[2 * MAX_OPTIONS + 2] = ":", *s = shorts + 1;
	u32 n = 0;
	int c, rc;

	for (const struct cli_option *o = cmd->options; o->name; o++, n++) {
		assert(n < MAX_OPTIONS);
		longs[n] = (struct option){ o->name, o->arg ? required_argument : no_argument, NULL, 256 + n };
		if (o->letter) {
			*s++ = o->letter;
			if (o->arg)
				*s++ = ':';
		}
	}
	*s = 0;
	optind = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct cli_option *o = cmd->options;

		if (c == '?' || c == ':') {
			fprintf(stderr, "skep %s: %s %s; `skep help %s` lists the options\n", cmd->name,
				c == ':' ? "an argument is missing after" : "unknown option", argv[optind - 1], cmd->name);
			return CLI_USAGE;
		}
		if (c >= 256)
			o += c - 256;
		else
			while (o->letter != c)
				o++;
		rc = set(ctx, o, optarg);
		if (rc)
			return rc;
	}
	*first = optind;
	return CLI_OK;
}

bool cli_number(const char *option, const char *text, u64 min, u64 max, u64 *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *out >= min && *out <= max)
		return true;
	fprintf(stderr, "skep: --%s %s: needs a whole number from %llu to %llu\n", option, text, (unsigned long long)min,
		(unsigned long long)max);
	return false;
}

void cli_say(struct log *err)
{
	size_t len;
	char *text = log_text(err, &len);

	if (text && len)
		fprintf(stderr, "skep: %s%s", text, text[len - 1] == '\n' ? "" : "\n");
	free(text);
	log_reset(err, 0);
}

int cli_exit_of(int err)
{
	switch (-err) {
	case 0:
		return CLI_OK;
	case ENOENT:
	case EACCES:
	case EISDIR:
	case ENOTDIR:
	case ELOOP:
	case ENAMETOOLONG:
	case ENOEXEC:
	case EIO:
		return CLI_INPUT;
	case ENOTSUP:
	case ENODEV:
		return CLI_UNSUPPORTED;
	case ENOMEM:
	case EMFILE:
	case ENFILE:
		return CLI_LIMIT;
	default:
		return CLI_FAILED;
	}
}
