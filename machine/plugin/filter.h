/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The filter of a core: lines whose accesses change nothing in the model. Translated code
 * looks up each access in the filter, and calls the model for all others.
 *
 * The filter has an entry for each set of the L1, with the virtual address of the set's
 * most recently used line. Another load of that line is a hit that leaves the set
 * unchanged. So does a store if the line is dirty and no other core may hold it.
 *
 * Code that changes the first way of a set, its flags or the address space must drop the
 * entries concerned. QEMU counts the accesses, since the model does not see all of them.
 *
 * Limits:
 * - An L1 that does not have FILTER_LINES sets has no filter: the model sees all accesses.
 */
#ifndef FILTER_H
#define FILTER_H

#include "cache.h"
#include "units.h"

#define FILTER_LINES	64

/* An empty entry: an address that belongs to another entry, and so is never found. */
#define FILTER_NONE(entry)	(~((uint64_t)(entry) << LINE_SHIFT))

/* The layout is that of QEMU's qemu_plugin_mem_filter. */
struct filter {
	uint64_t loads[FILTER_LINES], stores[FILTER_LINES];
	uint64_t counts[2];		/* accesses since power-on: user, kernel */
};

/* Enter the line of an address, which was accessed and is now the first of its set. */
static inline void filter_enter(struct filter *filter, uint64_t address,
				const struct cache_line *first)
{
	uint64_t entry = (address >> LINE_SHIFT) % FILTER_LINES;
	uint64_t line = address & ~(LINE_BYTES - 1);
	bool storable = (first->line & (CACHE_DIRTY | CACHE_SHARED)) == CACHE_DIRTY;

	filter->loads[entry] = line;
	filter->stores[entry] = storable ? line : FILTER_NONE(entry);
}

/* Drop the entry of a line's set: its first way, or that way's flags, may have changed. */
static inline void filter_drop(struct filter *filter, uint64_t line)
{
	uint64_t entry = line % FILTER_LINES;

	filter->loads[entry] = FILTER_NONE(entry);
	filter->stores[entry] = FILTER_NONE(entry);
}

/* Drop all entries: the L1 is empty. */
static inline void filter_clear(struct filter *filter)
{
	for (uint64_t line = 0; line < FILTER_LINES; line++)
		filter_drop(filter, line);
}

/* Drop user addresses: the address space changes. Kernel addresses are in all of them. */
static inline void filter_drop_user(struct filter *filter)
{
	for (uint64_t line = 0; line < FILTER_LINES; line++)
		if (!(filter->loads[line] >> 63))
			filter_drop(filter, line);
}

#endif /* FILTER_H */
