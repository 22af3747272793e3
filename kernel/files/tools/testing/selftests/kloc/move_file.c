// SPDX-License-Identifier: GPL-2.0
/*
 * move_file FILE NODE...: move the page cache of a file to each of the nodes in turn.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE		4096
#define ALIGN		(2UL << 20)
#define MPOL_MF_MOVE	2

/* Not static, so that the compiler keeps the reads. */
char touched;

/* Move all pages of a file to a node. Return: the number of pages that did not move. */
static unsigned long move_all(char *start, unsigned long count, int node)
{
	void **pages = calloc(count, sizeof(*pages));
	int *nodes = calloc(count, sizeof(*nodes));
	int *status = calloc(count, sizeof(*status));
	unsigned long i, left = count;
	int tries;

	if (!pages || !nodes || !status) {
		perror("calloc");
		exit(1);
	}
	for (i = 0; i < count; i++) {
		pages[i] = start + i * PAGE;
		nodes[i] = node;
	}
	/* A page in use may fail to move. */
	for (tries = 0; tries < 10 && left; tries++) {
		if (tries)
			usleep(10000);
		for (i = 0; i < count; i++)
			touched ^= *(char *)pages[i];
		if (syscall(SYS_move_pages, 0, count, pages, nodes, status,
			    MPOL_MF_MOVE) < 0)
			perror("move_pages");
		for (left = i = 0; i < count; i++)
			left += status[i] != node;
	}
	free(pages);
	free(nodes);
	free(status);
	return left;
}

int main(int argc, char **argv)
{
	unsigned long size, left;
	char *area, *start;
	struct stat found;
	int fd, i, node;

	if (argc < 3) {
		fprintf(stderr, "usage: move_file FILE NODE...\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &found)) {
		perror(argv[1]);
		return 1;
	}
	size = found.st_size;
	/* A huge page is mapped as one, and moves as one. */
	area = mmap(NULL, size + ALIGN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	start = (char *)(((uintptr_t)area + ALIGN - 1) & ~(ALIGN - 1));
	if (area == MAP_FAILED ||
	    mmap(start, size, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) ==
	    MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	for (i = 2; i < argc; i++) {
		node = atoi(argv[i]);
		left = move_all(start, size / PAGE, node);
		if (left) {
			fprintf(stderr, "%lu pages did not move to node %d\n",
				left, node);
			return 1;
		}
	}
	return 0;
}
