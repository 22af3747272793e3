/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Per-frame stalls: how long the cores stalled for lines of each page frame. `kloc`
 * chooses the frames of the oracle by these (key "dump"), and runs the workload again
 * with them timed as fast (key "fast_frames", see placement.h).
 *
 * The per-frame file is an array of struct frame in the host's byte order, one
 * for each frame of all ranges, in the order of the ranges.
 *
 * Limits:
 * - Of misses that overlap, the line that the core happened to wait for gets the stall.
 *   Frames whose misses always overlap with slower ones show none.
 * - Waits of devices are not counted.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>

#include "pages.h"

#define FRAME_IN_USE	1U	/* was not free when the workload began to load */
#define FRAME_FAST	2U	/* is in a range of the first tier, whatever its timing */

/* One record of the per-frame file. */
struct frame {
	double stall_ns;
	uint32_t misses;
	uint32_t flags;
};

struct frames {
	struct pages *pages;
	struct frame *frames;		/* stall_ns is set only when the file is written */
	uint64_t *stall_ps;
	uint64_t free_fast;		/* free frames of the first tier at the start */
	bool noted;			/* frames_note_start() has run */
};

/* Allocate. Return false if memory is short. */
bool frames_init(struct frames *frames, struct pages *pages);
void frames_free(struct frames *frames);

/* Note which frames are free, just before the workload begins to load. */
void frames_note_start(struct frames *frames);

/* Reset stalls and misses, as modelled time begins (with the warm-up, if there is one). */
void frames_begin(struct frames *frames);

/* Count a miss of the last level on a frame, by its number in all ranges. */
static inline void frames_miss(struct frames *frames, uint64_t number)
{
	frames->frames[number].misses++;
}

/* Count that a core stalled for a line of a frame. */
static inline void frames_stall(struct frames *frames, uint64_t number, uint64_t ps)
{
	frames->stall_ps[number] += ps;
}

/* Write the per-frame file. On failure print a message and return false. */
bool frames_write(const struct frames *frames, const char *path);

#endif /* FRAMES_H */
