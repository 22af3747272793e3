/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest's memory: the tier and socket of each physical address, and the content, which the model
 * maps from the files that QEMU backs the memory with. A physical address outside all
 * ranges is device memory, which no tier holds.
 *
 * Frames are numbered through all ranges, in the order of the ranges.
 */
#ifndef RAM_H
#define RAM_H

#include <stdbool.h>

#include "config.h"

struct ram_range {
	uint64_t start, end;		/* physical addresses, end is exclusive */
	uint64_t first_frame;		/* number of the first frame */
	unsigned char *bytes;		/* the memory's content */
	unsigned int socket;
	unsigned int tier;		/* configured tier */
	unsigned int timed_as;		/* tier whose timing applies: force_tier, or tier */
};

/* A line of the guest's memory, resolved from its physical address. */
struct ram_line {
	const struct ram_range *range;
	uint64_t line;			/* physical line */
	uint64_t frame;			/* number of the line's frame in all ranges */
};

struct ram {
	struct ram_range ranges[CONFIG_RANGES_MAX];
	unsigned int count;
	uint64_t frames;		/* in all ranges */
};

/* Map the files of all ranges. On failure print a message and return false. */
bool ram_map(struct ram *ram, const struct config *config);

/* Add a range whose content is at bytes. force_tier is an index, or -1 for none. */
void ram_add(struct ram *ram, const struct range_config *range, int force_tier,
	     unsigned char *bytes);

/* Return the range of this physical address, or NULL. */
static inline const struct ram_range *ram_find(const struct ram *ram, uint64_t physical)
{
	for (unsigned int i = 0; i < ram->count; i++)
		if (physical >= ram->ranges[i].start && physical < ram->ranges[i].end)
			return &ram->ranges[i];
	return NULL;
}

/* Return the number of the frame at this physical address of range. */
static inline uint64_t ram_frame(const struct ram_range *range, uint64_t physical)
{
	return range->first_frame + ((physical - range->start) >> FRAME_SHIFT);
}

/* Resolve the line of this physical address. The range is NULL for device memory. */
static inline struct ram_line ram_resolve(const struct ram *ram, uint64_t physical)
{
	const struct ram_range *range = ram_find(ram, physical);

	return (struct ram_line){
		.range = range,
		.line = physical >> LINE_SHIFT,
		.frame = range ? ram_frame(range, physical) : 0,
	};
}

/* Return the content of a line, LINE_BYTES. */
static inline const unsigned char *ram_content(const struct ram_line *where)
{
	return where->range->bytes + ((where->line << LINE_SHIFT) - where->range->start);
}

/* Return the physical address of a frame, by its number in all ranges. */
uint64_t ram_physical(const struct ram *ram, uint64_t frame);

/* Return the word at this physical address, to read or write it, or NULL. */
uint64_t *ram_word(const struct ram *ram, uint64_t physical);

/* Return size bytes at this physical address, or NULL if they are not all in one range. */
const void *ram_at(const struct ram *ram, uint64_t physical, uint64_t size);

#endif /* RAM_H */
