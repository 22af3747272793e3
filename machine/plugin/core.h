/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The private state of one core: its L1, TLB, prefetcher, lines under way and counters.
 * hierarchy.h explains how the cores' caches work together.
 */
#ifndef CORE_H
#define CORE_H

#include "cache.h"
#include "filter.h"
#include "overlap.h"
#include "spaces.h"
#include "stream.h"
#include "tlb.h"

#define CORES_MAX	8

/* Instructions since power-on, counted by translated code as each block begins. */
struct counts {
	uint64_t user, kernel;
};

struct core {
	unsigned int socket;
	struct cache l1;
	struct space space;
	uint64_t root;			/* root page table, as CR3 has it */
	struct streams streams;
	struct tlb tlb;
	struct overlap overlap;
	const struct counts *counts;
	struct filter *filter;		/* QEMU's, or own_filter */
	struct filter own_filter;
	uint64_t stall_ps;		/* since power-on */
};

/*
 * The directory: which cores' L1s may hold a line. It counts, for each hash of a line and
 * each core, the lines of the core's L1 with that hash. After an L1 miss, only L1s with a
 * count above 0 are searched.
 */
#define DIRECTORY_ENTRIES	8192ULL

struct directory {
	uint16_t counts[DIRECTORY_ENTRIES][CORES_MAX] __attribute__((aligned(16)));
};

static inline uint16_t *directory_entry(struct directory *directory, uint64_t line)
{
	return directory->counts[(line ^ line >> 13 ^ line >> 26) % DIRECTORY_ENTRIES];
}

#endif /* CORE_H */
