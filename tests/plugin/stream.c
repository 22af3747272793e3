// SPDX-License-Identifier: GPL-2.0
/*
 * stream NODE MEGABYTES PASSES MODE: go through memory on a node from end to
 * end. MODE 0 reads: the time is bytes / read bandwidth. MODE 1 writes: each
 * line is read for ownership and written back, and the time is bytes / read
 * bandwidth + bytes / write bandwidth.
 */
#include "known.h"

/*
 * Lines to a turn of a loop, so that little else executes. They are volatile
 * so that the compiler leaves them in order: the prefetcher follows no other.
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

	/* The first pass fills the caches with what the measured ones leave. */
	pass(memory, bytes, 1, write);
	from = read_clocks();
	for (uint64_t i = 0; i < passes; i++)
		pass(memory, bytes, i, write);
	report(write ? "write" : "read", node, passes * bytes / LINE, passes * bytes, from,
	       read_clocks());
	return 0;
}
