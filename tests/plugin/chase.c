// SPDX-License-Identifier: GPL-2.0
/*
 * chase NODE MEGABYTES ACCESSES: follow pointers through memory on a node, one in
 * each line, in an order that no prefetcher can predict.
 *
 * Known answer: if the memory is much larger than the last-level cache, each access
 * stalls for the node's read latency.
 */
#include "known.h"

/* Return the next number of a fixed pseudo-random sequence (xorshift64). */
static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Link all lines into one cycle, in random order (Sattolo's shuffle), and return its start. */
static void **make_cycle(char *memory, size_t lines)
{
	uint32_t *order = malloc(lines * sizeof(*order));

	if (!order)
		fail("malloc");
	for (size_t i = 0; i < lines; i++)
		order[i] = (uint32_t)i;
	for (size_t i = lines - 1; i; i--) {
		size_t j = next_random() % i;
		uint32_t other = order[j];

		order[j] = order[i];
		order[i] = other;
	}
	for (size_t i = 0; i < lines; i++)
		*(void **)(memory + (size_t)order[i] * LINE) =
			memory + (size_t)order[(i + 1) % lines] * LINE;
	free(order);
	return (void **)memory;
}

int main(int argc, char **argv)
{
	const char usage[] = "NODE MEGABYTES ACCESSES";
	long node = argument(argc, argv, 1, usage);
	size_t bytes = (size_t)argument(argc, argv, 2, usage) << 20;
	uint64_t accesses = (uint64_t)argument(argc, argv, 3, usage);
	void **at = make_cycle(memory_on_node(bytes, node), bytes / LINE);
	struct reading from = read_clocks();

	for (uint64_t i = 0; i < accesses; i++)
		at = *at;
	__asm__ volatile("" : : "r"(at));
	report("chase", node, accesses, accesses * LINE, from, read_clocks());
	return 0;
}
