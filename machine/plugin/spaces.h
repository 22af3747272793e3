/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys of virtual lines, by which the L1s are looked up. A key is the number of the
 * virtual line. The key of a user line also has the number of its address space, in bits
 * that are zero in every user address. So an L1 hit needs no address translation, and a
 * context switch does not empty the L1.
 *
 * An address space is known by its root page table (CR3). All cores use the same
 * numbers.
 *
 * Limits:
 * - After a page is unmapped or moved, accesses to its old virtual address still hit
 *   its lines that are left in the L1. So do accesses of a new address space whose root
 *   table takes the frame of an ended one's.
 * - Two virtual addresses of one physical line are two lines in the L1.
 * - An address space whose number was given up (SPACES_KEPT are kept) begins with a
 *   cold L1 and TLB.
 */
#ifndef SPACES_H
#define SPACES_H

#include <stdbool.h>

#include "units.h"

#define SPACES_KEPT	64		/* address spaces that keep their number */
#define SPACE_SHIFT	42		/* a user line has 48 - LINE_SHIFT bits */
#define SPACE_MAX	((1U << 15) - 1)

/* The address spaces of the machine. */
struct spaces {
	struct {
		uint64_t root;		/* page frame of the root table, 0: none */
		uint32_t number;	/* the number in keys */
	} kept[SPACES_KEPT];
	uint32_t latest;		/* number that was assigned last */
};

/* The address space that a core uses. */
struct space {
	uint64_t change[2];		/* bits that differ in keys: user, kernel */
	uint32_t number;
};

/* Return the key of the line at a virtual address. */
static inline uint64_t space_key(const struct space *space, uint64_t address)
{
	return address >> LINE_SHIFT ^ space->change[address >> 63];
}

/*
 * Set space to the address space with this root table. Return true if all numbers are used
 * up and start over: then the caller must empty all L1s and TLBs, and set the spaces of
 * the other cores again.
 */
bool spaces_switch(struct spaces *spaces, struct space *space, uint64_t root);

#endif /* SPACES_H */
