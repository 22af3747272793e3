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

/* How a line fits the streams that are followed. */
enum stream_fit {
	STREAM_NONE,		/* it continues none */
	STREAM_SEEN,		/* it continues one that is too young to be trusted */
	STREAM_PREFETCHED,	/* the prefetcher has it on its way */
};

/*
 * The L1 misses this line. It is prefetched if this step of a stream and the
 * one before went the same way, by one or two lines each: then only bandwidth
 * is waited for.
 */
enum stream_fit streams_follow(struct streams *streams, uint64_t line);

/*
 * Follow a new stream, of which this line is the first, in the place of the one
 * that has not gone on for longest. Only for lines that no cache had: else the
 * few lines that an interrupt touches would displace all streams.
 */
void streams_begin(struct streams *streams, uint64_t line);

#endif /* STREAM_H */
