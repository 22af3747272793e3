// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "frames.h"

bool frames_init(struct frames *frames, struct pages *pages, const struct tier_config *fast)
{
	uint64_t count = pages->ram->frames;

	memset(frames, 0, sizeof(*frames));
	frames->pages = pages;
	frames->frames = calloc(count + 1, sizeof(*frames->frames));
	frames->saved_ps = calloc(count + 1, sizeof(*frames->saved_ps));
	tier_init(&frames->shadow, fast);
	return frames->frames && frames->saved_ps;
}

void frames_free(struct frames *frames)
{
	free(frames->frames);
	free(frames->saved_ps);
}

static void note(void *data, const struct ram_range *range, uint64_t physical,
		 uint64_t count, unsigned int kind)
{
	struct frames *frames = data;
	struct frame *frame = frames->frames + ram_frame(range, physical);
	uint32_t flags = (kind == KIND_FREE ? 0 : FRAME_IN_USE) |
			 (range->tier ? 0 : FRAME_FAST);

	if (kind == KIND_FREE && !range->tier)
		frames->free_fast += count;
	for (; count; count--, frame++)
		frame->flags = flags;
}

void frames_note_start(struct frames *frames)
{
	frames->free_fast = 0;
	frames->noted = true;
	pages_walk(frames->pages, note, frames);
}

void frames_begin(struct frames *frames, uint64_t now_ps)
{
	if (!frames->noted)
		frames_note_start(frames);
	memset(frames->saved_ps, 0, frames->pages->ram->frames * sizeof(*frames->saved_ps));
	for (uint64_t i = 0; i < frames->pages->ram->frames; i++)
		frames->frames[i].misses = 0;
	frames->total_saved_ps = 0;
	tier_clear(&frames->shadow, now_ps);
}

/*
 * Return the shadow's time, and drop the slots before it. It never steps back: a
 * miss advances T by its stall, and the savings by that stall less the shadow's.
 */
static uint64_t shadow_ps(struct frames *frames, uint64_t now_ps)
{
	uint64_t shadow = now_ps - (uint64_t)frames->total_saved_ps;

	ledger_advance(&frames->shadow.ledger, shadow);
	return shadow;
}

void frames_miss(struct frames *frames, const struct ram_range *range, uint64_t line,
		 uint64_t now_ps, uint64_t stall_ps, bool store, bool streamed)
{
	uint64_t number = ram_frame(range, line << LINE_SHIFT);
	uint64_t cost_ps = tier_miss(&frames->shadow, REQUESTER_WORKLOAD,
				     shadow_ps(frames, now_ps), line, store, streamed);
	int64_t saved_ps = (int64_t)(stall_ps - cost_ps);

	frames->saved_ps[number] += saved_ps;
	frames->total_saved_ps += saved_ps;
	frames->frames[number].misses++;
}

void frames_write_back(struct frames *frames, uint64_t line, uint64_t now_ps)
{
	tier_transfer(&frames->shadow, TRANSFER_WRITE, REQUESTER_WORKLOAD,
		      shadow_ps(frames, now_ps), line);
}

static void write_records(FILE *file, const void *data)
{
	const struct frames *frames = data;

	for (uint64_t i = 0; i < frames->pages->ram->frames; i++) {
		struct frame frame = frames->frames[i];

		frame.saved_ns = (double)frames->saved_ps[i] / (double)PS_PER_NS;
		fwrite(&frame, sizeof(frame), 1, file);
	}
}

bool frames_write(const struct frames *frames, const char *path)
{
	return file_replace(path, write_records, frames);
}
