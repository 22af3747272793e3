/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One core: what belongs to it alone. machine.h explains how cores work together.
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
 * Which cores' L1s may hold a line: for each hash of a line and each core, the number of
 * entries of its L1 with that hash. A core that misses its L1 has to look into the
 * others' only if they have any.
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
