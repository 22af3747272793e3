/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys of virtual lines, which the L1 is looked up by. A key is the number of the
 * virtual line, and for a user address also a number of its address space, in
 * bits that are zero in every user address. So an L1 hit needs no address
 * translation, and a context switch does not empty the L1.
 *
 * During a device's copy all keys have DEVICE_KEY set. No line in the L1 has it,
 * so the copy bypasses the L1.
 *
 * Limits:
 * - After a page is unmapped or moved, accesses to its old virtual address still
 *   hit the lines of it that are left in the L1.
 * - Two virtual addresses of one physical line are two lines in the L1.
 * - An address space that has lost its number to another one (SPACES_KEPT are
 *   kept) begins with a cold L1.
 */
#ifndef SPACES_H
#define SPACES_H

#include <stdbool.h>

#include "units.h"

#define SPACES_KEPT	64		/* address spaces that keep their number */
#define SPACE_SHIFT	42		/* a user line has 48 - LINE_SHIFT bits */
#define SPACE_MAX	((1U << 15) - 1)
#define DEVICE_KEY	(1ULL << 60)

struct spaces {
	uint64_t change[2];		/* bits that differ: user keys, kernel keys */
	struct {
		uint64_t mm;		/* the guest's number, never used twice */
		uint32_t number;	/* the number in keys */
	} kept[SPACES_KEPT];
	uint32_t latest;		/* number in keys that was assigned last */
};

/* Return the key of the line at a virtual address. */
static inline uint64_t spaces_key(const struct spaces *spaces, uint64_t address)
{
	return address >> LINE_SHIFT ^ spaces->change[address >> 63];
}

/*
 * Switch to the address space of this mm; 0, a kernel thread, changes nothing.
 * Return true if all numbers were used up and start over: then the caller must
 * empty the L1.
 */
bool spaces_switch(struct spaces *spaces, uint64_t mm);

/* Begin (device is true) or end a device's copy. */
void spaces_device(struct spaces *spaces, bool device);

#endif /* SPACES_H */
