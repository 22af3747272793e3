/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The prefetcher: detects streams among L1 misses.
 *
 * A stream is a sequence of lines one or two lines apart, up or down. Lines from the
 * third on are prefetched; overlap.h says when they arrive. STREAMS streams are
 * followed at once.
 *
 * Streams are made of virtual lines, as those of prefetchers that cross page boundaries
 * are, so that a stream does not depend on the placement of its frames in physical
 * memory.
 *
 * Limits:
 * - Prefetches of lines that are never accessed take no bandwidth: it is booked when the
 *   line is accessed.
 * - Strides of more than two lines are not detected.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>

#include "units.h"

#define STREAMS		16

struct stream {
	uint64_t used_ps;	/* the core's time when its last line was accessed */
	uint64_t since_ps;	/* when the stream was detected */
	int direction;		/* 1 up, -1 down, 0 not known yet */
	unsigned int steps;	/* in that direction, up to STEPS_TO_TRUST */
};

struct streams {
	uint64_t clock;			/* L1 misses so far */
	/* Codes of the lines accessed last of each stream, see stream.c */
	uint32_t last[STREAMS] __attribute__((aligned(16)));
	uint64_t used[STREAMS];		/* value of clock at that time */
	struct stream streams[STREAMS];
};

void streams_clear(struct streams *streams);

/* Whether a line continues a stream. */
enum stream_fit {
	STREAM_NONE,		/* no */
	STREAM_SEEN,		/* yes, but the stream is too short to prefetch from */
	STREAM_PREFETCHED,	/* yes, and the line is prefetched */
};

/*
 * Look up the stream that a line continues, and advance the stream to the line. Call this
 * for each line that the L1 misses. The line is prefetched if this step and the one before
 * went in the same direction, by one or two lines each; then *since_ps is set to the time
 * of the stream's first step, when prefetches could begin.
 */
enum stream_fit streams_follow(struct streams *streams, uint64_t line, uint64_t now_ps,
			       uint64_t *since_ps);

/*
 * Begin a new stream at this line, in place of the one that has not advanced for
 * longest. Call this only for a line that no cache holds: otherwise the few
 * lines that an interrupt touches would replace all streams.
 */
void streams_begin(struct streams *streams, uint64_t line, uint64_t now_ps);

#endif /* STREAM_H */
