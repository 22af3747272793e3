/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Placement by kind, in the model alone: a page of certain kinds is timed as the
 * first tier, any other as the last, whatever node it lies on. So the guest is
 * the same under every such placement, and only its time differs.
 */
#ifndef PLACEMENT_H
#define PLACEMENT_H

#include <stdbool.h>

#include "pages.h"

#define PLACEMENT_MAX	32	/* kinds that can be named */

struct placement {
	bool on;
	unsigned int slow;			/* index of the last tier */
	unsigned int count;
	const char *fast[PLACEMENT_MAX];	/* names, or "slab:*" */
	char *names;				/* what they point into */
	unsigned char tiers[KINDS_MAX];		/* by kind, for those below known */
	unsigned int known;
	unsigned char *latest;			/* by frame: tier that it was timed as last */
};

/*
 * kinds: names separated by commas, NULL for no such placement. False, with a
 * message, if there is an unknown one or no memory.
 */
bool placement_init(struct placement *placement, const char *kinds, unsigned int tier_count,
		    uint64_t frames);
void placement_free(struct placement *placement);

/* The tier that a page of this kind, in this range, is timed as. */
unsigned int placement_tier(struct placement *placement, const struct pages *pages,
			    const struct ram_range *range, unsigned int kind);

/* The same of the page at this physical address, which is being accessed. */
unsigned int placement_access(struct placement *placement, const struct pages *pages,
			      const struct ram_range *range, uint64_t physical,
			      unsigned int kind);

/*
 * The tier of a page whose dirty line leaves the caches: what it was when it
 * was accessed last. By now it may be free.
 */
unsigned int placement_write_back(const struct placement *placement,
				  const struct ram_range *range, uint64_t physical);

#endif /* PLACEMENT_H */
