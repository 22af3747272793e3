/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The filter of a core: accesses that the model need not see, since they change nothing
 * in it. Translated code looks them up, and calls the model for all others.
 *
 * An entry for each set of the L1 has the virtual address of the set's most recently used
 * line: another load of it is a hit that leaves the set as it is. So does a store if the
 * line is dirty, and no other core may hold it.
 *
 * Who changes the first way of a set, its flags or the address space must drop entries.
 * QEMU counts the accesses, as the model does not see all.
 *
 * Limits:
 * - An L1 with another number of sets has no filter: all its accesses are seen.
 */
#ifndef FILTER_H
#define FILTER_H

#include "cache.h"
#include "units.h"

#define FILTER_LINES	64

/* What an entry has that contains no line: an address that belongs to another entry. */
#define FILTER_NONE(entry)	(~((uint64_t)(entry) << LINE_SHIFT))

/* The layout is that of QEMU's qemu_plugin_mem_filter. */
struct filter {
	uint64_t loads[FILTER_LINES], stores[FILTER_LINES];
	uint64_t counts[2];		/* accesses since power-on: user, kernel */
};

/* The core has accessed an address, whose line is now the first of its set. */
static inline void filter_enter(struct filter *filter, uint64_t address,
				const struct cache_line *first)
{
	uint64_t entry = (address >> LINE_SHIFT) % FILTER_LINES;
	uint64_t line = address & ~(LINE_BYTES - 1);
	bool storable = (first->line & (CACHE_DIRTY | CACHE_SHARED)) == CACHE_DIRTY;

	filter->loads[entry] = line;
	filter->stores[entry] = storable ? line : FILTER_NONE(entry);
}

/* The first way of a line's set, or its flags, may have changed. */
static inline void filter_drop(struct filter *filter, uint64_t line)
{
	uint64_t entry = line % FILTER_LINES;

	filter->loads[entry] = FILTER_NONE(entry);
	filter->stores[entry] = FILTER_NONE(entry);
}

/* The L1 is empty, or the address space is another one. */
static inline void filter_clear(struct filter *filter)
{
	for (uint64_t line = 0; line < FILTER_LINES; line++)
		filter_drop(filter, line);
}

/* The address space is another one; kernel addresses are in all of them. */
static inline void filter_drop_user(struct filter *filter)
{
	for (uint64_t line = 0; line < FILTER_LINES; line++)
		if (!(filter->loads[line] >> 63))
			filter_drop(filter, line);
}

#endif /* FILTER_H */
