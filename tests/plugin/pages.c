// SPDX-License-Identifier: GPL-2.0
/*
 * pages COUNT: map COUNT pages, write the first word of each, read it again, and unmap
 * them. Prints how long the pages existed, in simulated time.
 */
#include "known.h"

int main(int argc, char **argv)
{
	size_t count = (size_t)argument(argc, argv, 1, "COUNT");
	volatile char *memory = mmap(NULL, count * 4096, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t from;

	if (memory == MAP_FAILED)
		fail("mmap");
	if (madvise((void *)memory, count * 4096, MADV_NOHUGEPAGE))
		fail("madvise");
	from = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < count; i++)
		memory[i * 4096] = 1;
	for (size_t i = 0; i < count; i++)
		(void)memory[i * 4096];
	munmap((void *)memory, count * 4096);
	printf("{\"program\": \"pages\", \"count\": %zu, \"elapsed_ns\": %lu}\n", count,
	       clock_ns(CLOCK_MONOTONIC) - from);
	return 0;
}
