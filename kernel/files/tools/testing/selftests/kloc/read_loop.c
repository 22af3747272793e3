// SPDX-License-Identifier: GPL-2.0
/*
 * read_loop FILE: read the beginning of a file again and again, until killed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char buffer[4096];
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: read_loop FILE\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	while (pread(fd, buffer, sizeof(buffer), 0) >= 0)
		;
	perror("pread");
	return 1;
}
