/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Placement by page kind (key "fast_kinds"; used by `kloc what-if`): pages of the
 * named kinds are timed as the first tier and all others as the last, whichever
 * node they are on. No page moves: the guest is set up identically under every
 * placement, and only its time differs.
 *
 * Placement by frame (key "fast_frames"; used for the oracle): the marked frames are
 * timed as the first tier, and all others as without this key.
 *
 * Limits:
 * - The first tier has no capacity limit here.
 * - A page's timing changes with its kind, at once and at no cost.
 * - Counts of pages by tier do not show placement by frame.
 */
#ifndef PLACEMENT_H
#define PLACEMENT_H

#include <stdbool.h>

#include "pages.h"

#define PLACEMENT_MAX	32	/* names in fast_kinds */

struct placement {
	const unsigned char *fast_frames;	/* by frame: 1 is fast; or NULL */
	bool on;				/* by kind */
	unsigned int slow;			/* index of the last tier */
	unsigned int count;
	const char *fast[PLACEMENT_MAX];	/* names of kinds, or "slab:*" for all slab */
	char *names;				/* memory that fast points into */
	unsigned char tiers[KINDS_MAX];		/* by kind, valid below known */
	unsigned int known;
	unsigned char *latest;			/* by frame: tier of its last access */
};

/*
 * Set up the placement. kinds are names separated by commas, which may be empty
 * (all pages are slow); NULL disables placement by kind. On an unknown name, or
 * if memory is short, print a message and return false.
 */
bool placement_init(struct placement *placement, const char *kinds, unsigned int tier_count,
		    uint64_t frames);

/* Place by frame: fast_frames has a byte for each frame of all ranges. */
static inline void placement_set_frames(struct placement *placement,
					const unsigned char *fast_frames)
{
	placement->fast_frames = fast_frames;
}

void placement_free(struct placement *placement);

/* Return the tier that a page of this kind in this range is timed as. */
unsigned int placement_tier(struct placement *placement, const struct pages *pages,
			    const struct ram_range *range, unsigned int kind);

/* Like placement_tier(), for a line of the page, which is being accessed. */
unsigned int placement_access(struct placement *placement, const struct pages *pages,
			      const struct ram_line *where, unsigned int kind);

/*
 * Return the tier of a page whose dirty line leaves the caches: the tier of its
 * last access, because by now the page may be free.
 */
unsigned int placement_write_back(const struct placement *placement,
				  const struct ram_line *where);

#endif /* PLACEMENT_H */
