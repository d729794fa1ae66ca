/* Private to cli/: the table of subcommands, exit statuses, options, and what subcommands print with. */
#ifndef CLI_CLI_H
#define CLI_CLI_H
#include "base/types.h"
#include "base/log.h"
#include <stdio.h>

enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,		/* rejected, failed, differs */
	CLI_USAGE = 2,
	CLI_INPUT = 3,		/* an input can't be read */
	CLI_UNSUPPORTED = 4,	/* not supported here */
	CLI_LIMIT = 5,		/* a limit was reached */
};

/* One option: what getopt_long, the usage check and `skep help` are made of. */
struct cli_option {
	const char *name;	/* long name; NULL ends a table */
	char letter;		/* short form; 0: none */
	const char *arg;	/* name of the argument in the help; NULL: takes none */
	const char *help;
};

struct cli_command {
	const char *name, *args, *summary;
	const struct cli_option *options;
	int (*run)(int argc, char **argv);
	const char *notes;	/* further lines of `skep help NAME`; may be NULL */
};
extern const struct cli_command cli_commands[];	/* ended by a NULL name; commands.c */

/* Parse argv (argv[0] is the subcommand) by its table: calls set(ctx, option, value) for each option in order and leaves the
 * positional arguments in argv[*first ..argc-1]. CLI_OK or CLI_USAGE, said on stderr. */
typedef int (*cli_set_fn)(void *ctx, const struct cli_option *option, const char *value);
int cli_parse(const struct cli_command *cmd, int argc, char **argv, cli_set_fn set, void *ctx, int *first);
/* A whole number in [min, max]; false and a sentence on stderr otherwise. */
bool cli_number(const char *option, const char *text, u64 min, u64 max, u64 *out);

/* Write a log's text to stderr behind "skep: ", with a newline at its end, and empty it. */
void cli_say(struct log *err);
/* The exit status for an -errno of load or net. */
int cli_exit_of(int err);

/* ---- one JSON document on stdout, written as it comes */
struct json {
	FILE *out;
	u32 depth;
	bool comma;	/* something stands before on this level */
};
void json_open(struct json *j, const char *key, char bracket);	/* '{' or '['; key NULL inside arrays */
void json_close(struct json *j, char bracket);
void json_string(struct json *j, const char *key, const char *text, size_t len);
void json_number(struct json *j, const char *key, u64 n);
void json_raw(struct json *j, const char *key, const char *json_text);	/* text that is JSON already */

int cli_run(int argc, char **argv);
int cli_dump(int argc, char **argv);
int cli_help(int argc, char **argv);
int cli_version(int argc, char **argv);
extern const struct cli_option cli_run_options[], cli_dump_options[], cli_no_options[];

#endif
