/* Runs a fuzz target over files without libFuzzer: its corpus, and whatever it once found, in every plain test run.
 *
 * usage: replay-TARGET FILE-OR-FOLDER... */
#include "fuzz.h"
#include "tap.h"
#include <dirent.h>
#include <sys/stat.h>

static void replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	uint8_t *data;
	size_t n;

	if (!f || fstat(fileno(f), &st) || !(data = malloc(st.st_size + 1))) {
		tap_ok(0, __FILE__, __LINE__, path);
		return;
	}
	n = fread(data, 1, st.st_size, f);
	fclose(f);
	/* a copy of its exact size, so that a sanitizer sees one byte too many */
	uint8_t *exact = malloc(n ? n : 1);

	memcpy(exact, data, n);
	free(data);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	tap_ok(1, __FILE__, __LINE__, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
}

static void replay_folder(const char *path)
{
	struct dirent **names;
	int n = scandir(path, &names, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char file[4096];

		snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			replay_file(file);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct stat st;

		if (!stat(argv[i], &st) && S_ISDIR(st.st_mode))
			replay_folder(argv[i]);
		else
			replay_file(argv[i]);
	}
	OK(tap_n > 0);
	return tap_done();
}
