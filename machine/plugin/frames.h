/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Per-frame savings: how much stall time each page frame would have saved in
 * the first (fast) tier. `kloc` computes the best static placement, the oracle,
 * from these (key "dump").
 *
 * The model runs a shadow machine in which the first tier serves all misses. It
 * has that tier's latency and a bandwidth ledger of its own, at the shadow's own
 * time: T less everything saved so far. A frame's saving is the sum over its
 * misses of the real stall less the stall in the shadow.
 *
 * The per-frame file is an array of struct frame in the host's byte order, one
 * for each frame of all ranges, in the order of the ranges.
 *
 * Limits:
 * - Only misses and write-backs of the workload's core are counted. Background
 *   threads and devices take no bandwidth in the shadow.
 * - The guest runs in the time of the machine that is modeled, so the shadow sees
 *   that machine's misses in their order. On a machine with fast memory only,
 *   the guest might schedule differently.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>

#include "pages.h"
#include "tier.h"

#define FRAME_IN_USE	1U	/* was not free when the workload began to load */
#define FRAME_FAST	2U	/* is in a range of the first tier, however that is timed */

/* One record of the per-frame file. */
struct frame {
	double saved_ns;
	uint32_t misses;
	uint32_t flags;
};

struct frames {
	struct pages *pages;
	struct frame *frames;		/* saved_ns is set only when the file is written */
	int64_t *saved_ps;
	int64_t total_saved_ps;
	struct tier shadow;
	uint64_t free_fast;		/* free frames of the first tier at the start */
	bool noted;			/* frames_note_start() has run */
};

/* Allocate; fast is the first tier. Return false if memory is short. */
bool frames_init(struct frames *frames, struct pages *pages, const struct tier_config *fast);
void frames_free(struct frames *frames);

/* Note which frames are free, just before the workload begins to load. */
void frames_note_start(struct frames *frames);

/* Begin a measured region at T = now_ps: reset savings, misses and the shadow. */
void frames_begin(struct frames *frames, uint64_t now_ps);

/*
 * Count a miss of the workload's core on this physical line of range: at T =
 * now_ps it stalled for stall_ps. store and streamed are as in tier_miss().
 */
void frames_miss(struct frames *frames, const struct ram_range *range, uint64_t line,
		 uint64_t now_ps, uint64_t stall_ps, bool store, bool streamed);

/* Book the write-back of a dirty line by the workload's core in the shadow. */
void frames_write_back(struct frames *frames, uint64_t line, uint64_t now_ps);

/* Write the per-frame file. On failure print a message and return false. */
bool frames_write(const struct frames *frames, const char *path);

#endif /* FRAMES_H */
