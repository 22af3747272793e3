// SPDX-License-Identifier: GPL-2.0
/*
 * Overlapping misses of one core: decides when a core waits, and for which of the lines
 * that are under way. Each L1 miss comes here, so lines and pointers are compared as
 * vectors.
 */
#include <string.h>

#include "overlap.h"

#define NEVER		(~0ULL)
#define LINES_BELOW	63	/* lines that a pointer may be below the address */
#define LINES_ABOVE	1	/* lines that it may be above */

/* Vectors of 16 bytes. Comparisons of codes give truths: -1 for true. */
typedef uint64_t words_t __attribute__((vector_size(16), may_alias));
typedef uint32_t codes_t __attribute__((vector_size(16), may_alias));
typedef int32_t truths_t __attribute__((vector_size(16), may_alias));

#define VECTORS		(OVERLAP_WORDS / 4)	/* of codes, in a line */

/*
 * Compute a code of 32 bits for the line of an address. Codes of lines within the same
 * 256 GiB differ as the lines do; codes of lines far apart are close by chance only (1 in
 * 60 million). An address is a scalar or a vector.
 */
#define LINE_CODE(address)	(((address) >> LINE_SHIFT) + ((address) >> 38 << 22) + \
				 ((address) >> 38 << 9))

static uint32_t line_code(uint64_t address)
{
	return (uint32_t)LINE_CODE(address);
}

void overlap_init(struct overlap *overlap, const struct overlap_config *config)
{
	overlap->config = *config;
	overlap_clear(overlap);
}

void overlap_clear(struct overlap *overlap)
{
	struct overlap_config config = overlap->config;

	memset(overlap, 0, sizeof(*overlap));
	overlap->config = config;
	overlap->free = (uint32_t)((1ULL << config.outstanding) - 1);
	overlap->first_ps = NEVER;
}

static void note_first(struct overlap *overlap, unsigned int place)
{
	if (overlap->ready_ps[place] >= overlap->first_ps)
		return;
	overlap->first_ps = overlap->ready_ps[place];
	overlap->first = place;
}

/* Drop the lines that have arrived by now_ps. */
static void drop_arrived(struct overlap *overlap, uint64_t now_ps)
{
	unsigned int kept = 0;

	if (now_ps < overlap->first_ps)
		return;
	overlap->first_ps = NEVER;
	for (unsigned int i = 0; i < overlap->count; i++) {
		unsigned int place = overlap->order[i];
		uint64_t ready_ps = overlap->ready_ps[place];

		if (ready_ps > now_ps) {
			overlap->order[kept++] = (uint8_t)place;
			note_first(overlap, place);
			continue;
		}
		overlap->free |= 1U << place;
		overlap->stores -= overlap->lines[place].store;
		memset(overlap->points[place], 0, sizeof(overlap->points[place]));
	}
	overlap->count = kept;
}

/* Report a wait from from_ps to to_ps, if there is one. Return where it ends. */
static uint64_t note_part(struct overlap *overlap, uint64_t from_ps, uint64_t to_ps,
			  enum overlap_reason reason, const struct overlap_source *source)
{
	if (to_ps <= from_ps)
		return from_ps;
	overlap->waits[overlap->wait_count++] = (struct overlap_wait){
		.ps = to_ps - from_ps,
		.reason = reason,
		.source = *source,
	};
	return to_ps;
}

/* Report a wait from from_ps until the line at place arrives, by the parts of its time. */
static void note_wait(struct overlap *overlap, unsigned int place, uint64_t from_ps,
		      enum overlap_reason reason)
{
	const struct overlap_under_way *line = &overlap->lines[place];

	from_ps = note_part(overlap, from_ps, line->walk_end_ps, reason, &line->walk_source);
	from_ps = note_part(overlap, from_ps, line->unqueued_ps, reason, &line->source);
	note_part(overlap, from_ps, overlap->ready_ps[place], OVERLAP_BANDWIDTH,
		  &line->source);
}

/* Wait for the line at place, and drop all lines that have arrived then. Return the time. */
static uint64_t wait_for(struct overlap *overlap, unsigned int place, uint64_t now_ps,
			 enum overlap_reason reason)
{
	uint64_t ready_ps = overlap->ready_ps[place];

	note_wait(overlap, place, now_ps, reason);
	drop_arrived(overlap, ready_ps);
	return ready_ps;
}

/*
 * Wait for loads of more than `window` instructions ago, each at the time when the core
 * was `window` instructions behind it. Return the time, later by these waits.
 */
static uint64_t wait_window(struct overlap *overlap, uint64_t now_ps, uint64_t insn)
{
	for (unsigned int i = 0; i < overlap->count; i++) {
		unsigned int place = overlap->order[i];
		uint64_t behind = insn - overlap->lines[place].asked;
		uint64_t then_ps;

		if (behind <= overlap->config.window)
			break;
		if (overlap->lines[place].store)
			continue;
		then_ps = now_ps - (behind - overlap->config.window) * overlap->config.insn_ps;
		if (overlap->ready_ps[place] <= then_ps)
			continue;
		note_wait(overlap, place, then_ps, OVERLAP_WINDOW);
		now_ps += overlap->ready_ps[place] - then_ps;
	}
	return now_ps;
}

/* Return whether a word of a line under way points to the line of this code, or near it. */
static bool is_pointed_to(const struct overlap *overlap, uint32_t code)
{
	const int32_t limit = INT32_MIN + LINES_BELOW + LINES_ABOVE + 1;
	const uint32_t biased = code + LINES_ABOVE + (1U << 31);
	const codes_t *points = (const codes_t *)overlap->points;
	const codes_t above = { biased, biased, biased, biased };
	const truths_t limits = { limit, limit, limit, limit };
	truths_t any = { 0 }, other = { 0 };

	/* Free places point nowhere. */
	for (unsigned int place = 0; place < overlap->config.outstanding; place += 2) {
		any |= (truths_t)(above - points[0]) < limits;
		other |= (truths_t)(above - points[1]) < limits;
		any |= (truths_t)(above - points[2]) < limits;
		other |= (truths_t)(above - points[3]) < limits;
		points += 2 * VECTORS;
	}
	any |= other;
	return any[0] | any[1] | any[2] | any[3];
}

/* Return the place of the line whose words have the nearest pointer to address, or -1. */
static int find_pointer(const struct overlap *overlap, uint64_t address)
{
	uint32_t code = line_code(address);
	uint32_t nearest = LINES_BELOW + 1;
	int found = -1;

	if (likely(!is_pointed_to(overlap, code)))
		return -1;
	for (unsigned int i = 0; i < overlap->count; i++) {
		unsigned int place = overlap->order[i];

		for (int word = 0; word < OVERLAP_WORDS; word++) {
			uint32_t below = code - overlap->points[place][word];

			/* A pointer above the address counts as one just below it. */
			if (below + LINES_ABOVE < LINES_ABOVE)
				below = 1;
			if (below > nearest || below > LINES_BELOW)
				continue;
			nearest = below;
			found = (int)place;
		}
	}
	return found;
}

static unsigned int oldest_store(const struct overlap *overlap)
{
	unsigned int i = 0;

	while (!overlap->lines[overlap->order[i]].store)
		i++;
	return overlap->order[i];
}

struct overlap_start overlap_wait(struct overlap *overlap, uint64_t now_ps, uint64_t insn,
				  uint64_t address, bool store)
{
	uint64_t begin_ps = now_ps, start_ps = 0;
	int pointer = -1;

	overlap->wait_count = 0;
	if (overlap->count) {
		now_ps = wait_window(overlap, now_ps, insn);
		drop_arrived(overlap, now_ps);
	}
	if (overlap->count)
		pointer = find_pointer(overlap, address);
	if (pointer >= 0 && store)
		start_ps = overlap->ready_ps[pointer];
	else if (pointer >= 0)
		now_ps = wait_for(overlap, (unsigned int)pointer, now_ps, OVERLAP_VALUE);
	if (store && overlap->stores >= overlap->config.store_buffer)
		now_ps = wait_for(overlap, oldest_store(overlap), now_ps, OVERLAP_STORE);
	if (overlap->count >= overlap->config.outstanding)
		now_ps = wait_for(overlap, overlap->first, now_ps, OVERLAP_FULL);
	if (start_ps < now_ps)
		start_ps = now_ps;
	overlap->now_ps = now_ps;
	overlap->start_ps = start_ps;
	overlap->insn = insn;
	overlap->address = address;
	overlap->store = store;
	return (struct overlap_start){ .wait_ps = now_ps - begin_ps, .start_ps = start_ps };
}

/* Note the targets of a line's words. Words that point into the line itself do not count. */
static void note_pointers(uint32_t *points, const void *content, uint64_t address)
{
	const uint32_t own = line_code(address);
	const words_t *words = content;

	for (int i = 0; i < VECTORS; i++) {
		codes_t low = (codes_t)LINE_CODE(words[2 * i]);
		codes_t high = (codes_t)LINE_CODE(words[2 * i + 1]);
		codes_t codes = { low[0], low[2], high[0], high[2] };

		((codes_t *)points)[i] = codes & (codes_t)(codes != own);
	}
}

/* Return when the streamed line that is being used was prefetched. */
static uint64_t prefetched_at(const struct overlap *overlap, uint64_t since_ps)
{
	uint64_t issued_ps = overlap->used_ps[overlap->next_used];

	return issued_ps > since_ps ? issued_ps : since_ps;
}

static void use_prefetched(struct overlap *overlap, uint64_t used_ps)
{
	overlap->used_ps[overlap->next_used] = used_ps;
	if (++overlap->next_used == overlap->config.prefetch)
		overlap->next_used = 0;
}

void overlap_add(struct overlap *overlap, const struct overlap_line *line)
{
	uint64_t walk_end_ps = overlap->start_ps + line->walk_ps;
	uint64_t unqueued_ps = walk_end_ps + line->latency_ps;
	uint64_t ready_ps = unqueued_ps + line->bandwidth_ps;
	unsigned int place;

	if (line->streamed) {
		unqueued_ps = prefetched_at(overlap, line->since_ps) + line->latency_ps;
		ready_ps = walk_end_ps + line->bandwidth_ps;
		if (ready_ps < unqueued_ps)
			ready_ps = unqueued_ps;
		use_prefetched(overlap, ready_ps);
	}
	if (ready_ps <= overlap->now_ps)
		return;
	place = (unsigned int)__builtin_ctz(overlap->free);
	overlap->free &= overlap->free - 1;
	overlap->order[overlap->count++] = (uint8_t)place;
	overlap->stores += overlap->store;
	overlap->ready_ps[place] = ready_ps;
	note_first(overlap, place);
	overlap->lines[place] = (struct overlap_under_way){
		.asked = overlap->insn,
		.walk_end_ps = walk_end_ps,
		.unqueued_ps = unqueued_ps,
		.store = overlap->store,
		.source = line->source,
		.walk_source = line->walk_source,
	};
	if (line->content)
		note_pointers(overlap->points[place], line->content, overlap->address);
}
