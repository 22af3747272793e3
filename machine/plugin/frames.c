// SPDX-License-Identifier: GPL-2.0
/*
 * Per-frame counters: misses and stalls of each page frame, written to a file from which
 * `kloc` chooses the frames of the oracle.
 */
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "frames.h"

bool frames_init(struct frames *frames, struct pages *pages)
{
	uint64_t count = pages->ram->frames;

	memset(frames, 0, sizeof(*frames));
	frames->pages = pages;
	frames->frames = calloc(count + 1, sizeof(*frames->frames));
	frames->stall_ps = calloc(count + 1, sizeof(*frames->stall_ps));
	return frames->frames && frames->stall_ps;
}

void frames_free(struct frames *frames)
{
	free(frames->frames);
	free(frames->stall_ps);
}

static void note(void *data, const struct ram_range *range, uint64_t physical,
		 uint64_t count, unsigned int kind)
{
	struct frames *frames = data;
	struct frame *frame = frames->frames + ram_frame(range, physical);
	/* The frames of a kernel that does not describe itself count as free. */
	bool is_free = kind == KIND_FREE || kind == KIND_UNKNOWN;
	uint32_t flags = (is_free ? 0 : FRAME_IN_USE) | (range->tier ? 0 : FRAME_FAST);

	if (is_free && !range->tier)
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

void frames_begin(struct frames *frames)
{
	if (!frames->noted)
		frames_note_start(frames);
	memset(frames->stall_ps, 0, frames->pages->ram->frames * sizeof(*frames->stall_ps));
	for (uint64_t i = 0; i < frames->pages->ram->frames; i++)
		frames->frames[i].misses = 0;
}

static void write_records(FILE *file, const void *data)
{
	const struct frames *frames = data;

	for (uint64_t i = 0; i < frames->pages->ram->frames; i++) {
		struct frame frame = frames->frames[i];

		frame.stall_ns = (double)frames->stall_ps[i] / (double)PS_PER_NS;
		fwrite(&frame, sizeof(frame), 1, file);
	}
}

bool frames_write(const struct frames *frames, const char *path)
{
	return file_replace(path, write_records, frames);
}
