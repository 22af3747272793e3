/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What pages are used for, and for how long: key "observe".
 *
 * Every load and store of the workload's core is attributed to the page that it
 * went to, and every store to a struct page shows whether that page has been
 * allocated, freed, or put to another use. A page's life goes from when somebody
 * holds it (or it is marked as a slab, say) to when nobody does. It counts, with
 * all that it was referred to, as the kind that it was for the longest stretch;
 * what refers to it between two lives is the zeroing for the second. Pages of an
 * allocation of several that is not a compound page are not told from free ones,
 * but for the first.
 *
 * Copies by devices are no references, nor is what background threads do on a
 * core of their own. What they allocate and free is seen.
 *
 * Nothing here changes what the model computes.
 */
#ifndef OBSERVER_H
#define OBSERVER_H

#include <stdbool.h>

#include "histogram.h"
#include "pages.h"

#define NEVER_PS	(~0ULL)

/* What a page has been since it was last free. */
struct life {
	uint64_t born_ps;		/* NEVER_PS: before the region */
	uint64_t since_ps;		/* that it is of this kind */
	uint64_t longest_ps;		/* stretch of one kind */
	uint64_t last_ps;		/* reference that the L1 did not serve */
	uint32_t misses;
	uint16_t kind;			/* KIND_FREE between two lives */
	uint16_t longest_kind;
};

/* What pages of a kind came to in the region. */
struct use {
	uint64_t before;		/* were there when it began */
	uint64_t allocated;
	uint64_t freed;			/* of both */
	uint64_t references, misses;
	struct histogram lifetimes;	/* of those allocated and freed in it */
	struct histogram intervals;	/* between references past the L1 */
};

struct observer {
	bool on;
	struct pages *pages;
	uint64_t frames;		/* by physical address, with gaps if there are */
	uint64_t memmap, memmap_bytes;	/* where struct pages are; the guest's addresses */
	uint64_t page_size;		/* of one of them */
	uint64_t *references;		/* since the page was last free */
	struct life *lives;
	struct use *uses;		/* by kind */
};

/* False if there is no memory. Without on, nothing else may be called but free. */
bool observer_init(struct observer *observer, struct pages *pages, bool on);
void observer_free(struct observer *observer);

/* A region begins and ends at T. */
void observer_begin(struct observer *observer, uint64_t now_ps);
void observer_end(struct observer *observer, uint64_t now_ps);

/* The workload's core loads from or stores to this physical line. */
static inline void observer_reference(struct observer *observer, uint64_t line)
{
	observer->references[line >> (FRAME_SHIFT - LINE_SHIFT)]++;
}

/* The L1, and the last level, do not serve it. */
void observer_past_l1(struct observer *observer, uint64_t physical, uint64_t now_ps);
void observer_miss(struct observer *observer, uint64_t physical);

/* Is this address of the guest's in a struct page? */
static inline bool observer_is_memmap(const struct observer *observer, uint64_t address)
{
	return address - observer->memmap < observer->memmap_bytes;
}

/* The struct page at this address has been written to. */
void observer_page_changed(struct observer *observer, uint64_t address, uint64_t now_ps);

/* {kind: {...}} of the kinds that occurred. */
void observer_put(const struct observer *observer, struct json *json, const char *key);

#endif /* OBSERVER_H */
