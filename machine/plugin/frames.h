/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What each frame of memory was at the start, and what it would have saved in
 * the first tier: the ground on which the best static placement is computed.
 *
 * Beside the machine that is modelled runs a shadow of it in which all misses
 * are served by the first tier: with that tier's latencies, and a ledger of
 * its bandwidth at the shadow's own time, which is T less all that was saved.
 * What a miss costs more than its shadow, its frame would have saved.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>

#include "pages.h"
#include "tier.h"

#define FRAME_IN_USE	1U	/* when the workload was about to load */
#define FRAME_FAST	2U	/* it lies in the first tier, whatever it is timed as */

/* One record of the per-frame file, which is an array of them in frame order. */
struct frame {
	double saved_ns;
	uint32_t misses;
	uint32_t flags;
};

struct frames {
	struct pages *pages;
	struct frame *frames;		/* saved_ns is filled in when written */
	int64_t *saved_ps;
	int64_t total_saved_ps;
	struct tier shadow;
	uint64_t free_fast;		/* frames that were free at the start */
	bool noted;			/* the start has been seen */
};

bool frames_init(struct frames *frames, struct pages *pages, const struct tier_config *fast);
void frames_free(struct frames *frames);

/* The workload is about to load: note which frames are free. */
void frames_note_start(struct frames *frames);

/* A region begins at this time: nothing is saved yet. */
void frames_begin(struct frames *frames, uint64_t now_ps);

/*
 * The workload missed at T and stalled so long, at this line of the range.
 */
void frames_miss(struct frames *frames, const struct ram_range *range, uint64_t line,
		 uint64_t now_ps, uint64_t stall_ps, bool store, bool streamed);

/* The workload's core wrote a dirty line back to memory at T. */
void frames_write_back(struct frames *frames, uint64_t line, uint64_t now_ps);

/* Write the file; false, with a message, if that fails. */
bool frames_write(const struct frames *frames, const char *path);

#endif /* FRAMES_H */
