// SPDX-License-Identifier: GPL-2.0
/*
 * small NODE KILOBYTES PASSES: read and write memory that fits into the last-level
 * cache, PASSES times.
 *
 * Known answer: after the first pass nothing stalls, and the time is instructions x
 * CPI.
 */
#include "known.h"

static void pass(volatile uint64_t *memory, size_t words)
{
	for (size_t i = 0; i < words; i += 8)
		memory[i]++;
}

int main(int argc, char **argv)
{
	const char usage[] = "NODE KILOBYTES PASSES";
	long node = argument(argc, argv, 1, usage);
	size_t bytes = (size_t)argument(argc, argv, 2, usage) << 10;
	uint64_t passes = (uint64_t)argument(argc, argv, 3, usage);
	uint64_t *memory = memory_on_node(bytes, node);
	struct reading from;

	pass(memory, bytes / 8);
	from = read_clocks();
	for (uint64_t i = 0; i < passes; i++)
		pass(memory, bytes / 8);
	report("small", node, passes * bytes / LINE, passes * bytes, from, read_clocks());
	return 0;
}
