// SPDX-License-Identifier: GPL-2.0
/*
 * read_loop BYTES FILE...: read the first bytes of each file, again and again, until killed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Read until the file ends. Return: 0, or -1 for an error. */
static int read_first(int fd, off_t bytes)
{
	static char buffer[4096];
	off_t at = 0;
	ssize_t got;

	while (at < bytes) {
		got = pread(fd, buffer, sizeof(buffer), at);
		if (got <= 0)
			return got;
		at += got;
	}
	return 0;
}

int main(int argc, char **argv)
{
	off_t bytes = argc > 2 ? atoll(argv[1]) : 0;
	int *fds, i;

	if (bytes <= 0) {
		fprintf(stderr, "usage: read_loop BYTES FILE...\n");
		return 2;
	}
	fds = calloc(argc, sizeof(*fds));
	if (!fds)
		return 1;
	for (i = 2; i < argc; i++) {
		fds[i] = open(argv[i], O_RDONLY);
		if (fds[i] < 0) {
			perror(argv[i]);
			return 1;
		}
	}
	for (i = 2; !read_first(fds[i], bytes); i = i + 1 < argc ? i + 1 : 2)
		;
	perror(argv[i]);
	return 1;
}
