// SPDX-License-Identifier: GPL-2.0
/*
 * collapse FILE: collapse the first 2 MiB of a file's page cache to a huge page.
 *
 * Exits with 4 if the kernel cannot.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

#define SIZE		(2UL << 20)
#define KSFT_SKIP	4

int main(int argc, char **argv)
{
	char *area, *start;
	int fd, tries;

	if (argc != 2) {
		fprintf(stderr, "usage: collapse FILE\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	/* A huge page needs an address that is a multiple of its size. */
	area = mmap(NULL, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	start = (char *)(((uintptr_t)area + SIZE - 1) & ~(SIZE - 1));
	if (area == MAP_FAILED ||
	    mmap(start, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		 0) == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	if (madvise(start, SIZE, MADV_HUGEPAGE)) {
		perror("MADV_HUGEPAGE");
		return KSFT_SKIP;
	}
	/* A page in use causes either error. */
	for (tries = 0; tries < 10; tries++) {
		if (!madvise(start, SIZE, MADV_COLLAPSE))
			return 0;
		if (errno != EAGAIN && errno != EINVAL)
			break;
		usleep(10000);
	}
	perror("MADV_COLLAPSE");
	return errno == EINVAL ? KSFT_SKIP : 1;
}
