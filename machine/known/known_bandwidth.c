// SPDX-License-Identifier: GPL-2.0
/*
 * known_bandwidth NODE CORES: the bandwidth of memory on a node, for sequential access.
 *
 *	TIER.read.one, TIER.read.all	GB/s that one core reads, and that all cores read
 *	TIER.write.one, TIER.write.all	GB/s that they store; memory is read as well, since
 *					a core owns a line before it stores to it
 */
#include "streams.h"

/* Return the bytes per ns of this many cores together. */
static double measure(char *memory, int cores, bool store)
{
	struct share shares[CORES_MAX];
	int cpus[CORES_MAX];

	for (int core = 0; core < cores; core++) {
		cpus[core] = core;
		shares[core] = (struct share){
			.memory = (volatile uint64_t *)(memory + (size_t)core * EACH),
			.store = store,
		};
	}
	return stream_all(shares, cpus, cores);
}

int main(int argc, char **argv)
{
	const char usage[] = "NODE CORES";
	int node = (int)argument(argc, argv, 1, 0, NODES_MAX - 1, usage);
	int cores = (int)argument(argc, argv, 2, 1, CORES_MAX, usage);
	const char *tier = tier_name(node);
	char *memory = memory_on(node, (size_t)cores * EACH, true);

	result(measure(memory, 1, false), "GB/s", "%s.read.one", tier);
	result(measure(memory, cores, false), "GB/s", "%s.read.all", tier);
	result(measure(memory, 1, true), "GB/s", "%s.write.one", tier);
	result(measure(memory, cores, true), "GB/s", "%s.write.all", tier);
	return 0;
}
