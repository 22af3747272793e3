/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Misses of one core that overlap.
 *
 * A core does not stop at a miss: it runs on, and may ask for more lines. It waits
 *
 *	value	if a load's address comes from a line under way: one of the line's
 *		eight words, as they were when the line was asked for, points at
 *		most 4 KiB below the address or one line above it
 *	window	at instruction i + `window`, for the load of instruction i
 *	store	if `store_buffer` stores are under way: for the oldest
 *	full	if `outstanding` lines are under way: for the first to arrive
 *
 * and else not at all. A store asks for ownership of its line, and takes one of the
 * places, but no instruction waits until the store is done. If the store's address comes
 * from a line under way, the store asks when that line has arrived; the core runs on.
 *
 * These functions are called when a line is asked for, so a wait for the window is found
 * late. The wait is computed as of the instruction that had to wait: between two calls
 * the core executes instructions and does nothing else.
 *
 * A line that continues a stream is prefetched: it was asked for when the core used the
 * streamed line `prefetch` lines earlier, of any stream, but not before the stream was
 * detected. So a core streams at most `prefetch` lines in one latency. A prefetched line
 * that has not arrived takes a place like any other.
 *
 * A line's time has three parts: the page walk, the latency, and the delay for lack of
 * bandwidth. A wait is reported in these parts, so that each is counted for its cause.
 *
 * For given lines, times and dependences, the arrival of each line and the core's waits
 * are exact. The dependences are guesses:
 *
 * - A word that only looks like a pointer makes independent misses wait. Words
 *   that point into their own line, as empty lists do, are ignored. Of several
 *   lines that point near an address, the nearest pointer counts.
 * - An index is not recognized: a[b[i]] does not wait for b[i]. Nor is a pointer
 *   that was compressed, shifted, or lies across two words.
 * - An L1 hit on a line under way does not wait. An address made from its value is
 *   found among the line's words, and waits for the line then. A pointer stored to the
 *   line since is forwarded from the store, and is rightly not among the words.
 * - A dependence through a line that the L1 holds is not seen.
 * - Branches are not seen: a mispredicted branch that depends on a miss ends the overlap
 *   of real cores. Nor are locked instructions and fences, which drain the store buffer.
 * - A load that waits for a value stops the core, where a real one would run on
 *   to the end of the window: independent misses that follow in the window begin
 *   late.
 *
 * Limits:
 * - Instructions are counted by translated blocks, so the window is accurate to the
 *   length of a block.
 * - Time in which a core is idle counts as if it came before the instructions
 *   since the last call.
 * - Two cores that ask for the same line do not share the wait: the second finds the
 *   line in the LLC.
 * - A stream's bandwidth is booked when the line is used, not when it is prefetched.
 */
#ifndef OVERLAP_H
#define OVERLAP_H

#include <stdbool.h>

#include "units.h"

#define OVERLAP_LINES_MAX	32	/* largest `outstanding` */
#define OVERLAP_PREFETCH_MAX	64	/* largest `prefetch` */
#define OVERLAP_WORDS		8	/* words of a line */
#define OVERLAP_PARTS		3	/* walk, latency, bandwidth */

struct overlap_config {
	unsigned int outstanding;	/* 1 to OVERLAP_LINES_MAX */
	unsigned int store_buffer;	/* at least 1 */
	unsigned int prefetch;		/* 1 to OVERLAP_PREFETCH_MAX */
	uint64_t window;		/* in instructions */
	uint64_t insn_ps;
};

/* The cause that a stall is counted for. It is handed back as it was given. */
struct overlap_source {
	uint32_t frame;
	uint8_t tier;
	uint8_t kernel;
};

enum overlap_reason {
	OVERLAP_VALUE,
	OVERLAP_WINDOW,
	OVERLAP_FULL,
	OVERLAP_STORE,
	OVERLAP_BANDWIDTH,	/* lack of bandwidth, whichever line the core waited for */
	OVERLAP_REASONS,
};

struct overlap_wait {
	uint64_t ps;
	enum overlap_reason reason;
	struct overlap_source source;	/* the line, or the page table for a walk's part */
};

/* A line that is asked for, with the times that its parts take. */
struct overlap_line {
	uint64_t walk_ps;	/* page walk, before the line is asked for */
	uint64_t latency_ps;	/* from the end of the walk on, without a wait for bandwidth */
	uint64_t bandwidth_ps;	/* wait for bandwidth */
	bool streamed;		/* it was prefetched */
	uint64_t since_ps;	/* if streamed: when its stream was detected */
	const void *content;	/* the line's 64 bytes, aligned to 16; or NULL: no pointers */
	struct overlap_source source;
	struct overlap_source walk_source;	/* of the page table, if walk_ps > 0 */
};

/* A line under way. */
struct overlap_under_way {
	uint64_t asked;		/* number of the instruction that asked for it */
	uint64_t walk_end_ps;
	uint64_t unqueued_ps;	/* when it would arrive if bandwidth were unlimited */
	bool store;
	struct overlap_source source, walk_source;
};

struct overlap {
	struct overlap_config config;

	unsigned int count;			/* lines under way */
	unsigned int stores;			/* lines under way for stores */
	uint32_t free;				/* places that are free, as bits */
	uint64_t first_ps;			/* when the first of them arrives, or ~0 */
	unsigned int first;			/* its place */
	uint8_t order[OVERLAP_LINES_MAX];	/* their places, the oldest first */
	uint64_t ready_ps[OVERLAP_LINES_MAX];	/* by place: when the line arrives */
	struct overlap_under_way lines[OVERLAP_LINES_MAX];
	/* By place: codes of the lines that the words point to, see overlap.c */
	uint32_t points[OVERLAP_LINES_MAX][OVERLAP_WORDS] __attribute__((aligned(16)));

	uint64_t used_ps[OVERLAP_PREFETCH_MAX];	/* when streamed lines were used, a ring */
	unsigned int next_used;

	/* The access of the last overlap_wait(). */
	uint64_t now_ps, start_ps, insn, address;
	bool store;

	/* The waits of that access. */
	unsigned int wait_count;
	struct overlap_wait waits[OVERLAP_LINES_MAX * OVERLAP_PARTS];
};

void overlap_init(struct overlap *overlap, const struct overlap_config *config);

/* Forget all lines under way and all prefetches. */
void overlap_clear(struct overlap *overlap);

struct overlap_start {
	uint64_t wait_ps;	/* how long the core stalls: the sum of overlap.waits */
	uint64_t start_ps;	/* when the line can be asked for, at least now + wait_ps */
};

/*
 * Begin an access that misses the L1, at the core's time now_ps and its instruction
 * number insn. address is virtual. Return how long the core stalls before the access;
 * overlap.waits has the parts of that stall.
 */
struct overlap_start overlap_wait(struct overlap *overlap, uint64_t now_ps, uint64_t insn,
				  uint64_t address, bool store);

/* Put the line of the last overlap_wait() under way; it is asked for at start_ps. */
void overlap_add(struct overlap *overlap, const struct overlap_line *line);

#endif /* OVERLAP_H */
