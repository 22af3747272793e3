// SPDX-License-Identifier: GPL-2.0
/*
 * Files that the model maps or writes. Every failure is reported here, with the path.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

/* Map a part of an open file. On failure return MAP_FAILED; errno EFBIG: too short. */
static void *map_open_file(int fd, uint64_t offset, uint64_t bytes, bool writable)
{
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		return MAP_FAILED;
	if ((uint64_t)status.st_size < offset + bytes) {
		errno = EFBIG;
		return MAP_FAILED;
	}
	return mmap(NULL, bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd,
		    (off_t)offset);
}

void *file_map(const char *key, const char *path, uint64_t offset, uint64_t bytes,
	       bool writable)
{
	int fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	void *map = map_open_file(fd, offset, bytes, writable);

	if (map == MAP_FAILED)
		fprintf(stderr, "kloc model: %s: cannot map %s: %s\n", key, path,
			errno == EFBIG ? "the file is too short" : strerror(errno));
	if (fd >= 0)
		close(fd);
	return map == MAP_FAILED ? NULL : map;
}

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
		fprintf(stderr, "kloc model: cannot write %s: %s; check its directory\n", path,
			strerror(errno));
	free(fresh);
	return good;
}
