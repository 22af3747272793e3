// SPDX-License-Identifier: GPL-2.0
/*
 * stream NODE MEGABYTES PASSES MODE: access memory on a node sequentially, PASSES
 * times. MODE is 0 to read and 1 to write.
 *
 * Known answers: reading takes bytes / read bandwidth. When writing, each line is read
 * for ownership and written back later, which takes bytes / read bandwidth + bytes /
 * write bandwidth.
 */
#include "known.h"

/*
 * Loops are unrolled to this many lines, so that little else executes. Accesses are
 * volatile to keep the compiler from reordering them: the prefetcher needs them in
 * order.
 */
enum { LINES = 8 };

static uint64_t read_through(const volatile uint64_t *memory, size_t words)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < words; i += LINES * LINE / 8)
#pragma GCC unroll LINES
		for (size_t line = 0; line < LINES; line++)
			sum += memory[i + line * LINE / 8];
	return sum;
}

static void write_through(volatile uint64_t *memory, size_t words, uint64_t value)
{
	for (size_t i = 0; i < words; i += LINES * LINE / 8)
#pragma GCC unroll LINES
		for (size_t line = 0; line < LINES; line++)
			memory[i + line * LINE / 8] = value;
}

static void pass(uint64_t *memory, size_t bytes, uint64_t value, int write)
{
	uint64_t sum = 0;

	if (write)
		write_through(memory, bytes / 8, value);
	else
		sum = read_through(memory, bytes / 8);
	__asm__ volatile("" : : "r"(sum) : "memory");
}

int main(int argc, char **argv)
{
	const char usage[] = "NODE MEGABYTES PASSES MODE(0 read, 1 write)";
	long node = argument(argc, argv, 1, usage);
	size_t bytes = (size_t)argument(argc, argv, 2, usage) << 20;
	uint64_t passes = (uint64_t)argument(argc, argv, 3, usage);
	int write = (int)argument(argc, argv, 4, usage);
	uint64_t *memory = memory_on_node(bytes, node);
	struct reading from;

	/* The first pass leaves the caches as each measured pass leaves them. */
	pass(memory, bytes, 1, write);
	from = read_clocks();
	for (uint64_t i = 0; i < passes; i++)
		pass(memory, bytes, i, write);
	report(write ? "write" : "read", node, passes * bytes / LINE, passes * bytes, from,
	       read_clocks());
	return 0;
}
