// SPDX-License-Identifier: GPL-2.0
/*
 * hold_refs FILE OFFSET PAGES: hold references to pages of a file, say so, and sleep.
 *
 * They are in a pipe, and cannot be migrated.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGE	4096

int main(int argc, char **argv)
{
	long size, moved;
	loff_t offset;
	int fd, ends[2];

	if (argc != 4) {
		fprintf(stderr, "usage: hold_refs FILE OFFSET PAGES\n");
		return 2;
	}
	offset = atoll(argv[2]);
	size = atol(argv[3]) * PAGE;
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, size) < 0) {
		perror(argv[1]);
		return 1;
	}
	while (size > 0) {
		moved = splice(fd, &offset, ends[1], NULL, size, SPLICE_F_NONBLOCK);
		if (moved <= 0) {
			perror("splice");
			return 1;
		}
		size -= moved;
	}
	/* Only the references keep the pages. */
	close(fd);
	puts("held");
	fflush(stdout);
	pause();
	return 0;
}
