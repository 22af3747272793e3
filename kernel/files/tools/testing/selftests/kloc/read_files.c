// SPDX-License-Identifier: GPL-2.0
/*
 * read_files FILE...: read a page of each file, close it, and stay.
 *
 * Pages that it has added to the page cache may not be on an LRU list yet. When it exits its CPU
 * puts them there.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char page[4096];
	int i, fd;

	for (i = 1; i < argc; i++) {
		fd = open(argv[i], O_RDONLY);
		if (fd < 0 || read(fd, page, sizeof(page)) < 0) {
			perror(argv[i]);
			return 1;
		}
		close(fd);
	}
	for (;;)
		pause();
}
