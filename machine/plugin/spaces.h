/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys of virtual lines, by which the L1 is looked up: the number of the
 * virtual line, with a number of the address space in the bits that are zero
 * in every user address. So a context switch does not empty the L1, and
 * looking up needs no translation. What it costs: a page that is unmapped or
 * moved is still found in the L1 for the moments that its lines stay there.
 *
 * While a device copies, its bit is in all keys: none of them is in the L1.
 */
#ifndef SPACES_H
#define SPACES_H

#include <stdbool.h>

#include "units.h"

#define SPACES_KEPT	64		/* address spaces that are told apart */
#define SPACE_SHIFT	42		/* a user address has 48 - LINE_SHIFT bits */
#define SPACE_MAX	((1U << 15) - 1)
#define DEVICE_KEY	(1ULL << 60)

struct spaces {
	uint64_t change[2];		/* of user keys, of kernel keys */
	struct {
		uint64_t mm;		/* as the guest names it */
		uint32_t number;	/* as keys have it */
	} kept[SPACES_KEPT];
	uint32_t latest;		/* number given out */
};

static inline uint64_t spaces_key(const struct spaces *spaces, uint64_t address)
{
	return address >> LINE_SHIFT ^ spaces->change[address >> 63];
}

/*
 * The address space of this mm is in use from here. True if numbers have been
 * used up and start over: what was cached under them must be dropped.
 */
bool spaces_switch(struct spaces *spaces, uint64_t mm);

/* A device's copy begins or ends. */
void spaces_device(struct spaces *spaces, bool device);

#endif /* SPACES_H */
