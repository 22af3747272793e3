// SPDX-License-Identifier: GPL-2.0
/*
 * sparse COUNT - use pages that need a page table each
 *
 * Touches COUNT pages, 2 MiB apart, prints a line, and waits until its input ends.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define APART	(2UL << 20)

int main(int argc, char **argv)
{
	unsigned long count, i;
	char *memory, end;

	if (argc != 2)
		errx(1, "usage: sparse COUNT");
	count = strtoul(argv[1], NULL, 10);
	memory = mmap(NULL, count * APART, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap");
	if (madvise(memory, count * APART, MADV_NOHUGEPAGE))
		err(1, "madvise");
	for (i = 0; i < count; i++)
		memory[i * APART] = 1;
	puts("touched");
	fflush(stdout);
	while (read(0, &end, 1) > 0)
		;
	return 0;
}
