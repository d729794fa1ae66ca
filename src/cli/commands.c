/* The table of subcommands, and main: dispatch, help and version are expanded from it. */
#include "cli.h"
#include <fcntl.h>

const struct cli_option cli_no_options[] = { { 0 } };

const struct cli_command cli_commands[] = {
	{ "run", "OBJ (--in CAPTURE|- | --data HEX)", "run an XDP program on real packets and show what it did", cli_run_options,
	  cli_run,
	  "OBJ is a BPF object, or a .c file that clang compiles first. The program is loaded through libbpf onto skep's own\n"
	  "bpf(2): it is verified as the kernel would, and needs no privilege. CAPTURE is pcap or pcapng; - is standard input.\n"
	  "FILE for --map holds lines KEY VALUE typed by the map's BTF, e.g.  {.bits = 24, .addr = 192.0.2.0}  1\n"
	  "Exit status: 0 fine, 1 rejected or different, 2 usage, 3 input can't be read, 4 not supported here, 5 limit.\n" },
	{ "dump", "OBJ", "show an object's programs, maps, types as C, and instructions with source lines", cli_dump_options,
	  cli_dump, NULL },
	{ "help", "[COMMAND]", "describe the commands, or one of them", cli_no_options, cli_help, NULL },
	{ "version", "", "print the version", cli_no_options, cli_version, NULL },
	{ 0 },
};

static const struct cli_command *find(const char *name)
{
	for (const struct cli_command *c = cli_commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static void help_all(FILE *out)
{
	fprintf(out, "skep: BPF outside the kernel\n\nusage: skep COMMAND ...\n\n");
	for (const struct cli_command *c = cli_commands; c->name; c++)
		fprintf(out, "  %-8s %s\n", c->name, c->summary);
	fprintf(out, "\n`skep help COMMAND` tells the options of a command; --version and --help do what they say.\n");
}

static void help_one(const struct cli_command *c)
{
	printf("usage: skep %s %s%s\n\n%s\n", c->name, c->args, c->options->name ? " [options]" : "", c->summary);
	if (c->options->name)
		printf("\n");
	for (const struct cli_option *o = c->options; o->name; o++) {
		char left[64];

		snprintf(left, sizeof(left), "%c%c%s--%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
			 o->letter ? ", " : "  ", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
		printf("  %-28s %s\n", left, o->help);
	}
	if (c->notes)
		printf("\n%s", c->notes);
}

int cli_help(int argc, char **argv)
{
	const struct cli_command *c = NULL;

	if (argc > 2) {
		fprintf(stderr, "skep: help takes one command\n");
		return CLI_USAGE;
	}
	if (argc == 2) {
		c = find(argv[1]);
		if (!c) {
			fprintf(stderr, "skep: there is no command %s; `skep help` lists them\n", argv[1]);
			return CLI_USAGE;
		}
		help_one(c);
	} else {
		help_all(stdout);
	}
	return CLI_OK;
}

int cli_version(int argc, char **argv)
{
	if (argc > 1) {
		fprintf(stderr, "skep: version takes no argument\n");
		return CLI_USAGE;
	}
	printf("skep %s\n", SKEP_VERSION);
	return CLI_OK;
}

/* A closed standard descriptor would be the next file opened: a capture that gets error messages. It is held by one that can
 * neither be read nor written, as one that is closed. */
static void hold_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_PATH | O_CLOEXEC);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

int main(int argc, char **argv)
{
	const struct cli_command *c;
	int status;

	hold_standard_descriptors();
	if (argc < 2) {
		help_all(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		argv[1] = "version";
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		argv[1] = "help";
	c = find(argv[1]);
	if (!c) {
		fprintf(stderr, "skep: there is no command %s; `skep help` lists them\n", argv[1]);
		return CLI_USAGE;
	}
	status = c->run(argc - 1, argv + 1);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "skep: writing to standard output: %s\n", strerror(errno));
		return status ? status : CLI_FAILED;
	}
	return status;
}
