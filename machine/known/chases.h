/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pointer chases: a random cycle through all lines of some memory, and loops that
 * follow one or several places of it at once.
 */
#ifndef CHASES_H
#define CHASES_H

#include "known.h"

/* Numbers in pragmas, which macros cannot be. */
enum {
	LANES_MAX = 16,
	/* The loop of a chase is unrolled, so that nearly all of its instructions are loads. */
	UNROLLED = 16,
};

/* order has the lines as they follow each other; the last one points to the first. */
struct cycle {
	char *memory;
	size_t lines;
	uint32_t *order;
};

static inline void **cycle_at(const struct cycle *cycle, size_t place)
{
	return (void **)(cycle->memory + cycle->order[place % cycle->lines] * LINE);
}

/* Let each line of memory point to another one, in one random cycle. */
static inline struct cycle make_cycle(char *memory, size_t bytes)
{
	struct cycle cycle = {
		.memory = memory,
		.lines = bytes / LINE,
		.order = shuffled(bytes / LINE),
	};

	for (size_t place = 0; place < cycle.lines; place++)
		*cycle_at(&cycle, place) = cycle_at(&cycle, place + 1);
	return cycle;
}

/* Follow one pointer after the other, UNROLLED times each round. Return the last one. */
static inline void **chase(void **at, size_t rounds)
{
	for (size_t round = 0; round < rounds; round++)
#pragma GCC unroll UNROLLED
		for (int i = 0; i < UNROLLED; i++)
			at = (void **)*(void *volatile *)at;
	return at;
}

/* Follow one pointer in each lane, in turn. The compiler knows how many lanes there are. */
static inline __attribute__((always_inline)) void chase_lanes(void **at[], int lanes,
							      size_t steps)
{
	for (size_t step = 0; step < steps; step++)
#pragma GCC unroll LANES_MAX
		for (int lane = 0; lane < lanes; lane++)
			at[lane] = (void **)*(void *volatile *)at[lane];
}

#endif /* CHASES_H */
