// SPDX-License-Identifier: GPL-2.0
/*
 * The observer: follows the life of each page from allocation to free, and sums lives,
 * references and misses by page kind.
 */
#include <stdlib.h>
#include <string.h>

#include "observer.h"

bool observer_init(struct observer *observer, struct pages *pages, bool on)
{
	const struct ram *ram = pages->ram;

	memset(observer, 0, sizeof(*observer));
	if (!on)
		return true;
	observer->on = true;
	observer->pages = pages;
	for (unsigned int i = 0; i < ram->count; i++)
		if (observer->frames < ram->ranges[i].end >> FRAME_SHIFT)
			observer->frames = ram->ranges[i].end >> FRAME_SHIFT;
	observer->references = calloc(observer->frames + 1, sizeof(*observer->references));
	observer->lives = calloc(observer->frames + 1, sizeof(*observer->lives));
	observer->uses = calloc(KINDS_MAX, sizeof(*observer->uses));
	return observer->references && observer->lives && observer->uses;
}

void observer_free(struct observer *observer)
{
	free(observer->references);
	free(observer->lives);
	free(observer->uses);
}

/*
 * Return the time from from_ps to now_ps, or 0 if now_ps is earlier: cores run in turn,
 * and their times differ by up to a quantum.
 */
static uint64_t passed_ps(uint64_t from_ps, uint64_t now_ps)
{
	return now_ps > from_ps ? now_ps - from_ps : 0;
}

static void be_born(struct life *life, unsigned int kind, uint64_t now_ps)
{
	life->born_ps = now_ps;
	life->longest_ps = 0;
	life->longest_kind = (uint16_t)kind;
}

static void end_stretch(struct life *life, uint64_t now_ps)
{
	uint64_t stretch_ps = passed_ps(life->since_ps, now_ps);

	if (stretch_ps >= life->longest_ps) {
		life->longest_ps = stretch_ps;
		life->longest_kind = life->kind;
	}
}

/* Add the references and misses of a frame's life to use, and reset them. */
static void count_references(struct observer *observer, uint64_t frame, struct use *use)
{
	struct life *life = &observer->lives[frame];

	use->references += observer->references[frame];
	use->misses += life->misses;
	observer->references[frame] = 0;
	life->misses = 0;
	life->last_ps = NEVER_PS;
}

static void count_birth(const struct life *life, struct use *use)
{
	if (life->born_ps == NEVER_PS)
		use->before++;
	else
		use->allocated++;
}

static void die(struct observer *observer, uint64_t frame, uint64_t now_ps)
{
	struct life *life = &observer->lives[frame];
	struct use *use = &observer->uses[life->longest_kind];

	count_birth(life, use);
	count_references(observer, frame, use);
	use->freed++;
	if (life->born_ps != NEVER_PS)
		histogram_add(&use->lifetimes, passed_ps(life->born_ps, now_ps) / PS_PER_NS);
}

/* Read the kind of a page again. Return whether it has changed. */
static bool look(struct observer *observer, uint64_t frame, uint64_t now_ps)
{
	struct life *life = &observer->lives[frame];
	unsigned int kind = pages_state(observer->pages, frame);

	if (kind == life->kind)
		return false;
	if (life->kind == KIND_FREE)
		be_born(life, kind, now_ps);
	else
		end_stretch(life, now_ps);
	if (kind == KIND_FREE)
		die(observer, frame, now_ps);
	life->kind = (uint16_t)kind;
	life->since_ps = now_ps;
	return true;
}

void observer_page_changed(struct observer *observer, uint64_t address, uint64_t now_ps)
{
	uint64_t frame = (address - observer->memmap) / observer->page_size;
	uint64_t tail = frame + 1;

	if (frame >= observer->frames || !look(observer, frame, now_ps))
		return;
	/* The tails of a compound page have the kind of its head. */
	for (; tail < observer->frames && pages_is_tail_of(observer->pages, tail, frame); tail++)
		look(observer, tail, now_ps);
}

void observer_past_l1(struct observer *observer, uint64_t physical, uint64_t now_ps)
{
	struct life *life = &observer->lives[physical >> FRAME_SHIFT];
	struct use *use;

	if (life->last_ps != NEVER_PS) {
		use = &observer->uses[pages_kind(observer->pages, physical)];
		histogram_add(&use->intervals, passed_ps(life->last_ps, now_ps) / PS_PER_NS);
	}
	life->last_ps = now_ps;
}

void observer_miss(struct observer *observer, uint64_t physical)
{
	observer->lives[physical >> FRAME_SHIFT].misses++;
}

/* Argument of begin_lives(). */
struct beginning {
	struct observer *observer;
	uint64_t now_ps;
};

static void begin_lives(void *data, const struct ram_range *range, uint64_t physical,
			uint64_t count, unsigned int kind)
{
	struct beginning *beginning = data;
	struct life *life = &beginning->observer->lives[physical >> FRAME_SHIFT];

	(void)range;
	for (; count; count--, life++) {
		memset(life, 0, sizeof(*life));
		life->born_ps = NEVER_PS;
		life->last_ps = NEVER_PS;
		life->since_ps = beginning->now_ps;
		life->kind = (uint16_t)kind;
		life->longest_kind = (uint16_t)kind;
	}
}

void observer_begin(struct observer *observer, uint64_t now_ps)
{
	const struct kloc_machine_layout *layout = &observer->pages->layout;
	struct beginning beginning = { observer, now_ps };

	memset(observer->references, 0, observer->frames * sizeof(*observer->references));
	memset(observer->uses, 0, KINDS_MAX * sizeof(*observer->uses));
	for (uint64_t frame = 0; frame < observer->frames; frame++)
		observer->lives[frame].kind = KIND_FREE;
	observer->page_size = layout->page_size;
	observer->memmap = layout->memmap_base;
	observer->memmap_bytes = observer->frames * layout->page_size;
	pages_walk(observer->pages, begin_lives, &beginning);
}

void observer_end(struct observer *observer, uint64_t now_ps)
{
	for (uint64_t frame = 0; frame < observer->frames; frame++) {
		struct life *life = &observer->lives[frame];

		if (life->kind == KIND_FREE) {
			count_references(observer, frame, &observer->uses[KIND_OTHER]);
			continue;
		}
		end_stretch(life, now_ps);
		count_birth(life, &observer->uses[life->longest_kind]);
		count_references(observer, frame, &observer->uses[life->longest_kind]);
	}
}

static bool occurred(const struct use *use)
{
	return use->before || use->allocated || use->references;
}

void observer_put(const struct observer *observer, struct json *json, const char *key)
{
	json_open_object(json, key);
	for (unsigned int kind = 0; kind < observer->pages->kind_count; kind++) {
		const struct use *use = &observer->uses[kind];

		if (!occurred(use))
			continue;
		json_open_object(json, pages_kind_name(observer->pages, kind));
		json_unsigned(json, "before", use->before);
		json_unsigned(json, "allocated", use->allocated);
		json_unsigned(json, "freed", use->freed);
		json_unsigned(json, "references", use->references);
		json_unsigned(json, "misses", use->misses);
		histogram_put(&use->lifetimes, json, "lifetime_ns");
		histogram_put(&use->intervals, json, "interval_ns");
		json_close_object(json);
	}
	json_close_object(json);
}
