// SPDX-License-Identifier: GPL-2.0
/*
 * The prefetcher: recognizes streams among the lines that a core's L1 misses.
 */
#include <string.h>

#include "stream.h"

#define STEPS_TO_TRUST	2	/* steps in one direction, before lines are prefetched */
#define STEP_MAX	2	/* longest step, in lines */

/* Vectors of 16 bytes. Comparisons give truths: all bits set for true. */
typedef uint32_t codes_t __attribute__((vector_size(16), may_alias));
typedef int32_t truths_t __attribute__((vector_size(16), may_alias));

void streams_clear(struct streams *streams)
{
	memset(streams, 0, sizeof(*streams));
}

/*
 * Return a code of 32 bits for a line. Codes of lines within 256 GiB differ as the lines
 * do; codes of lines far apart are close by chance only (1 in 800 million).
 */
static uint32_t line_code(uint64_t line)
{
	return (uint32_t)line + (uint32_t)(line >> 32) * 0x9e3779b1U;
}

/*
 * Return the first stream that the line of this code continues, or STREAMS. Each L1 miss
 * comes here, and few lines continue a stream, so all streams are compared at once.
 */
static unsigned int find_stream(const struct streams *streams, uint32_t code)
{
	const int32_t limit = INT32_MIN + 2 * STEP_MAX + 1;
	const codes_t *last = (const codes_t *)streams->last;
	truths_t bits = { 1, 2, 4, 8 };
	truths_t fits = { 0 };

	for (unsigned int i = 0; i < STREAMS / 4; i++) {
		fits |= ((truths_t)(code + STEP_MAX + (1U << 31) - last[i]) < limit) & bits;
		bits <<= 4;
	}
	return (unsigned int)__builtin_ctz((uint32_t)(fits[0] | fits[1] | fits[2] | fits[3]) |
					   1U << STREAMS);
}

static void take_step(struct stream *stream, int32_t distance, uint64_t now_ps)
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
	stream->used_ps = now_ps;
}

enum stream_fit streams_follow(struct streams *streams, uint64_t line, uint64_t now_ps,
			       uint64_t *since_ps)
{
	uint32_t code = line_code(line);
	unsigned int i = find_stream(streams, code);
	struct stream *stream = &streams->streams[i];

	streams->clock++;
	if (i == STREAMS)
		return STREAM_NONE;
	take_step(stream, (int32_t)(code - streams->last[i]), now_ps);
	streams->last[i] = code;
	streams->used[i] = streams->clock;
	*since_ps = stream->since_ps;
	return stream->steps >= STEPS_TO_TRUST ? STREAM_PREFETCHED : STREAM_SEEN;
}

void streams_begin(struct streams *streams, uint64_t line, uint64_t now_ps)
{
	unsigned int oldest = 0;

	for (unsigned int i = 1; i < STREAMS; i++)
		oldest = streams->used[i] < streams->used[oldest] ? i : oldest;
	streams->last[oldest] = line_code(line);
	streams->used[oldest] = streams->clock;
	streams->streams[oldest] = (struct stream){ .used_ps = now_ps };
}
