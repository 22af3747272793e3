/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The observer (key "observe"; used by `kloc objects`): which kinds of pages the
 * workload uses, how often, and for how long.
 *
 * Each load and store of the workload's core is a reference to its page. After
 * each store to a struct page, the page's kind is read again, which shows when a
 * page is allocated, freed, or changes its kind.
 *
 * A life of a page lasts from its allocation (the page has a reference, or a type such
 * as slab) until it is free again. A life and all its references count for the kind
 * that the page had for the longest stretch of the life. References between two lives
 * are the zeroing for the second, and count for the second.
 *
 * The result (key "objects" of a region) has for each kind that occurred: before,
 * allocated, freed (pages), references, misses (of the last level), and the
 * histograms lifetime_ns and interval_ns.
 *
 * The observer does not change figures of the model.
 *
 * Limits:
 * - Devices' copies are not references, nor are accesses by background threads on
 *   a core of their own. Pages that those threads allocate or free are counted.
 * - In an allocation of several pages that is not a compound page, only the first
 *   page has a reference count. The others look free.
 */
#ifndef OBSERVER_H
#define OBSERVER_H

#include <stdbool.h>

#include "histogram.h"
#include "pages.h"

#define NEVER_PS	(~0ULL)

/* The current life of a page. */
struct life {
	uint64_t born_ps;		/* allocation; NEVER_PS: before the region began */
	uint64_t since_ps;		/* when it got its current kind */
	uint64_t longest_ps;		/* longest stretch of one kind so far */
	uint64_t last_ps;		/* last reference that missed the L1, or NEVER_PS */
	uint32_t misses;		/* of the last level */
	uint16_t kind;			/* current kind; KIND_FREE between two lives */
	uint16_t longest_kind;
};

/* Totals of the lives of one kind in the region. */
struct use {
	uint64_t before;		/* pages in use when the region began */
	uint64_t allocated;		/* pages allocated in the region */
	uint64_t freed;			/* pages freed in the region */
	uint64_t references, misses;
	struct histogram lifetimes;	/* of pages both allocated and freed in the region */
	struct histogram intervals;	/* between two L1 misses on a page, in one life */
};

struct observer {
	bool on;
	struct pages *pages;
	uint64_t frames;		/* end of memory / 4096; holes are included */
	uint64_t memmap, memmap_bytes;	/* the struct pages, by guest-virtual address */
	uint64_t page_size;		/* sizeof(struct page) */
	uint64_t *references;		/* by physical frame number, in the current life */
	struct life *lives;		/* by physical frame number */
	struct use *uses;		/* by kind */
};

/*
 * Set up the observer. Return false if memory is short. If on is false, the only
 * function to call afterwards is observer_free().
 */
bool observer_init(struct observer *observer, struct pages *pages, bool on);
void observer_free(struct observer *observer);

/* Begin and end a measured region at T = now_ps. */
void observer_begin(struct observer *observer, uint64_t now_ps);
void observer_end(struct observer *observer, uint64_t now_ps);

/* Count a load or store of the workload's core on this physical line. */
static inline void observer_reference(struct observer *observer, uint64_t line)
{
	observer->references[line >> (FRAME_SHIFT - LINE_SHIFT)]++;
}

/* Count that a reference missed the L1, and that it missed the last level. */
void observer_past_l1(struct observer *observer, uint64_t physical, uint64_t now_ps);
void observer_miss(struct observer *observer, uint64_t physical);

/* Return whether this guest-virtual address is in a struct page. */
static inline bool observer_is_memmap(const struct observer *observer, uint64_t address)
{
	return address - observer->memmap < observer->memmap_bytes;
}

/* Read the kind of a page again after the guest wrote to its struct page, at address. */
void observer_page_changed(struct observer *observer, uint64_t address, uint64_t now_ps);

/* Write {kind: {...}} of the kinds that occurred. */
void observer_put(const struct observer *observer, struct json *json, const char *key);

#endif /* OBSERVER_H */
