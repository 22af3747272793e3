// SPDX-License-Identifier: GPL-2.0
/*
 * hold_page FILE: lock the first page of a file in memory, say so, and sleep.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	4096

int main(int argc, char **argv)
{
	void *page;
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: hold_page FILE\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED || mlock(page, PAGE)) {
		perror("mlock");
		return 1;
	}
	/* Only the mapping keeps the file in use. */
	close(fd);
	puts("locked");
	fflush(stdout);
	pause();
	return 0;
}
