/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The prefetcher: tells which misses belong to a stream.
 *
 * It follows virtual lines, as prefetchers that cross page borders do, so that
 * a stream is one stream however its frames lie in physical memory.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>

#include "units.h"

#define STREAMS		16

struct stream {
	uint64_t last;		/* the latest line */
	uint64_t used;		/* when: a count of misses */
	int direction;		/* 1 up, -1 down, 0 not known yet */
	unsigned int steps;	/* taken in that direction */
};

struct streams {
	uint64_t clock;
	struct stream streams[STREAMS];
};

void streams_clear(struct streams *streams);

/*
 * Note a miss of the L1 at this line. True if it continues a stream: this step
 * and the one before it went the same way, by one or two lines each. Then the
 * prefetcher has the line on its way, and only bandwidth is waited for.
 */
bool streams_follow(struct streams *streams, uint64_t line);

#endif /* STREAM_H */
