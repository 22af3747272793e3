// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

static bool write_to(const char *path, void (*write)(FILE *file, const void *data),
		     const void *data)
{
	FILE *file = fopen(path, "w");
	bool good;

	if (!file)
		return false;
	write(file, data);
	good = !ferror(file);
	return !fclose(file) && good;
}

bool file_replace(const char *path, void (*write)(FILE *file, const void *data),
		  const void *data)
{
	char *fresh = malloc(strlen(path) + sizeof(".new"));
	bool good;

	if (!fresh)
		return false;
	strcpy(fresh, path);
	strcat(fresh, ".new");
	good = write_to(fresh, write, data) && !rename(fresh, path);
	if (!good)
		fprintf(stderr, "kloc model: cannot write %s: %s\n", path, strerror(errno));
	free(fresh);
	return good;
}
