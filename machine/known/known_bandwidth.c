// SPDX-License-Identifier: GPL-2.0
/*
 * known_bandwidth NODE CORES: the bandwidth of memory on a node, for sequential access.
 *
 *	TIER.read.one, TIER.read.all	GB/s that one core reads, and that all cores read
 *	TIER.write.one, TIER.write.all	GB/s that they store; memory is read as well, since
 *					a core owns a line before it stores to it
 */
#include "known.h"

#define EACH	(16UL << 20)	/* bytes of each core */

/* Loops are unrolled to this many lines, so that nearly all instructions access memory. */
enum { LINES = 8 };

struct share {
	volatile uint64_t *memory;
	bool store;
	double rate;	/* bytes per ns */
};

static void read_through(const volatile uint64_t *memory)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < EACH / 8; i += LINES * LINE / 8)
#pragma GCC unroll LINES
		for (size_t line = 0; line < LINES; line++)
			sum += memory[i + line * LINE / 8];
}

static void store_through(volatile uint64_t *memory)
{
	for (size_t i = 0; i < EACH / 8; i += LINES * LINE / 8)
#pragma GCC unroll LINES
		for (size_t line = 0; line < LINES; line++)
			memory[i + line * LINE / 8] = i;
}

static void pass(const struct share *share)
{
	if (share->store)
		store_through(share->memory);
	else
		read_through(share->memory);
}

/* Access the core's share twice, and measure the second time: caches are then as always. */
static void *work(void *data)
{
	struct member *member = data;
	struct share *share = member->data;
	uint64_t begin;

	pin(member->core);
	pass(share);
	crew_ready(member);
	begin = now_ns();
	pass(share);
	share->rate = (double)EACH / (double)(now_ns() - begin);
	return NULL;
}

/* Return the bytes per ns of this many cores together. */
static double measure(char *memory, int cores, bool store)
{
	struct member members[CORES_MAX];
	struct share shares[CORES_MAX];
	struct crew crew;
	double rate = 0;

	for (int core = 0; core < cores; core++) {
		shares[core] = (struct share){
			.memory = (volatile uint64_t *)(memory + (size_t)core * EACH),
			.store = store,
		};
		members[core] = (struct member){ .core = core, .data = &shares[core] };
	}
	crew_begin(&crew, cores, members, work);
	crew_end(&crew);
	for (int core = 0; core < cores; core++)
		rate += shares[core].rate;
	return rate;
}

int main(int argc, char **argv)
{
	const char usage[] = "NODE CORES";
	int node = (int)argument(argc, argv, 1, 0, 1, usage);
	int cores = (int)argument(argc, argv, 2, 1, CORES_MAX, usage);
	const char *tier = tier_name(node);
	char *memory = memory_on(node, (size_t)cores * EACH, true);

	result(measure(memory, 1, false), "GB/s", "%s.read.one", tier);
	result(measure(memory, cores, false), "GB/s", "%s.read.all", tier);
	result(measure(memory, 1, true), "GB/s", "%s.write.one", tier);
	result(measure(memory, cores, true), "GB/s", "%s.write.all", tier);
	return 0;
}
