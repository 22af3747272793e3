/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest's memory: which tier a physical address belongs to, and what is
 * stored there. What lies in no range is device memory, which no tier holds.
 */
#ifndef RAM_H
#define RAM_H

#include <stdbool.h>

#include "config.h"

struct ram_range {
	uint64_t start, end;		/* physical addresses, end not included */
	uint64_t first_frame;		/* of all ranges' frames, counted in order */
	const unsigned char *bytes;	/* the memory itself */
	unsigned int tier;		/* what it is */
	unsigned int timed_as;		/* what it is modelled as: force_tier */
};

struct ram {
	struct ram_range ranges[CONFIG_RANGES_MAX];
	unsigned int count;
	uint64_t frames;		/* in all ranges */
};

/* Map the files that back the ranges; false, with a message, if one cannot be. */
bool ram_map(struct ram *ram, const struct config *config);

/* Add a range whose memory is at bytes. */
void ram_add(struct ram *ram, const struct range_config *range, int force_tier,
	     const unsigned char *bytes);

/* The range that holds this physical address, or NULL. */
static inline const struct ram_range *ram_find(const struct ram *ram, uint64_t physical)
{
	for (unsigned int i = 0; i < ram->count; i++)
		if (physical >= ram->ranges[i].start && physical < ram->ranges[i].end)
			return &ram->ranges[i];
	return NULL;
}

/* The number of the frame at this physical address, of those in all ranges. */
static inline uint64_t ram_frame(const struct ram_range *range, uint64_t physical)
{
	return range->first_frame + ((physical - range->start) >> FRAME_SHIFT);
}

/* size bytes at this physical address, or NULL if they are not all in one range. */
const void *ram_at(const struct ram *ram, uint64_t physical, uint64_t size);

#endif /* RAM_H */
