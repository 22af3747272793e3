// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "stream.h"

#define STEPS_TO_TRUST	2	/* steps in one direction, before lines are prefetched */
#define STEP_MAX	2	/* longest step, in lines */

void streams_clear(struct streams *streams)
{
	memset(streams, 0, sizeof(*streams));
}

/* Return whether a line at this distance from a stream's last line continues it. */
static bool is_step(int64_t distance)
{
	return distance >= -STEP_MAX && distance <= STEP_MAX;
}

static void take_step(struct stream *stream, uint64_t line, int64_t distance, uint64_t now_ps)
{
	int direction = distance > 0 ? 1 : -1;

	if (!distance)
		return;
	if (direction != stream->direction) {
		stream->direction = direction;
		stream->steps = 0;
	}
	if (stream->steps < STEPS_TO_TRUST) {
		stream->steps++;
		stream->since_ps = stream->used_ps;
	}
	stream->last = line;
	stream->used_ps = now_ps;
}

enum stream_fit streams_follow(struct streams *streams, uint64_t line, uint64_t now_ps,
			       uint64_t *since_ps)
{
	streams->clock++;
	for (struct stream *s = streams->streams; s < streams->streams + STREAMS; s++) {
		int64_t distance = (int64_t)(line - s->last);

		if (!is_step(distance))
			continue;
		take_step(s, line, distance, now_ps);
		s->used = streams->clock;
		*since_ps = s->since_ps;
		return s->steps >= STEPS_TO_TRUST ? STREAM_PREFETCHED : STREAM_SEEN;
	}
	return STREAM_NONE;
}

void streams_begin(struct streams *streams, uint64_t line, uint64_t now_ps)
{
	struct stream *oldest = streams->streams;

	for (struct stream *s = streams->streams; s < streams->streams + STREAMS; s++)
		if (s->used < oldest->used)
			oldest = s;
	*oldest = (struct stream){
		.last = line,
		.used = streams->clock,
		.used_ps = now_ps,
	};
}
