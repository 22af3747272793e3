// SPDX-License-Identifier: GPL-2.0
/*
 * lookups DIRECTORY COUNT: look up COUNT names that do not exist.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct stat found;
	unsigned long i, count;
	char name[32];

	if (argc != 3 || chdir(argv[1])) {
		fprintf(stderr, "usage: lookups DIRECTORY COUNT\n");
		return 2;
	}
	count = strtoul(argv[2], NULL, 0);
	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "missing-%lu", i);
		if (!stat(name, &found)) {
			fprintf(stderr, "%s exists\n", name);
			return 1;
		}
	}
	return 0;
}
