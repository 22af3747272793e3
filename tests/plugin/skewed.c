// SPDX-License-Identifier: GPL-2.0
/*
 * skewed MIB READS: fills MIB of memory in pages of 4 KiB, and reads a word of
 * one of them so often between each two: the earlier ones are read the most.
 * With more than fits in fast memory, what has to leave is decided by accessed
 * bits, page after page.
 */
#include "known.h"

#define PAGE	4096

static volatile char *memory;
static uint64_t state = 1;

/* A number from 0 to below limit; the eighth power of a fraction: half are below limit / 256. */
static uint64_t skewed_below(uint64_t limit)
{
	double fraction;

	state = state * 6364136223846793005UL + 1442695040888963407UL;
	fraction = (double)(state >> 11) / (double)(1UL << 53);
	fraction *= fraction;
	fraction *= fraction;
	fraction *= fraction;
	return (uint64_t)((double)limit * fraction);
}

int main(int argc, char **argv)
{
	const char *usage = "MIB READS";
	uint64_t pages = (uint64_t)argument(argc, argv, 1, usage) * 1024 * 1024 / PAGE;
	uint64_t reads = (uint64_t)argument(argc, argv, 2, usage);

	memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (memory == MAP_FAILED)
		fail("mmap");
	if (madvise((void *)memory, pages * PAGE, MADV_NOHUGEPAGE))
		fail("madvise");
	for (uint64_t page = 0; page < pages; page++) {
		memory[page * PAGE] = 1;
		for (uint64_t i = 0; i < reads; i++)
			(void)memory[skewed_below(page + 1) * PAGE];
	}
	return 0;
}
