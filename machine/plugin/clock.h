/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The machine's time, T = instructions x CPI + stalls + idle.
 *
 * The guest reads T as TSC + offset. Its TSC counts 1 ns for an instruction of
 * any kind, and jumps while the guest idles; so
 *
 *	offset = T - TSC = (instructions x CPI + stalls) - instructions
 *
 * in which idle time does not occur. T never runs backwards: both the TSC and
 * what is in parentheses only grow, and the offset is published before every
 * instruction that reads the TSC. How much T has jumped while idle matters to
 * what the model does itself (which slot of bandwidth is now?), and the guest
 * says so, by its TSC, when it enters and leaves idle.
 *
 * An instruction may be counted and yet not execute: translated blocks are
 * counted as a whole when they begin, and a page fault ends one early. The
 * guest's TSC is exact, so each TSC that the guest hands over also tells how
 * many instructions were abandoned since the one before. Then T takes back
 * their CPI; as the guest sees it, T had fallen behind by 1 - CPI of each and
 * catches up.
 *
 * Code runs as one of three:
 * - the workload's core, whose time is T;
 * - a background thread, which has a core of its own (see background.h):
 *   T stands still and the other core's clock runs;
 * - a device: the guest's driver copies, where a device would by DMA. No
 *   clock runs. The copy's lines are spread over the time that the device
 *   needs for them, on a clock that is never behind T.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>

#include "background.h"
#include "bandwidth.h"

struct clock {
	uint64_t insn_ps;		/* CPI */
	bool own_core;			/* background threads do not run on the workload's */

	uint64_t counted;		/* instructions seen, abandoned ones among them */
	uint64_t abandoned;		/* of these, counted but never executed */
	uint64_t device_instructions;	/* of these, in copies that stand for DMA */
	uint64_t work_ps;		/* T less idle */
	uint64_t idle_ns;		/* jumps of the TSC */
	uint64_t storage_idle_ns;	/* of these, while requests were pending */

	struct background background;
	unsigned int slot;		/* of the running task, 0: not a background thread */

	bool device;			/* within a device's copy */
	uint64_t device_ps;		/* the device's clock */
	uint64_t device_line_ps;	/* that it needs for a line */

	uint64_t tsc_counted;		/* counted, when the TSC was last read */
	uint64_t synced;		/* counted, when the guest last handed over its TSC */
	int64_t skew;			/* TSC less counted, as of then */
	bool in_sync;			/* it has handed over one at all */
};

void clock_init(struct clock *clock, uint64_t insn_ps, bool own_core);

/* Bring all clocks up to this number of instructions executed since power-on. */
void clock_run(struct clock *clock, uint64_t counted);

/* T, ps. */
static inline uint64_t clock_now_ps(const struct clock *clock)
{
	return clock->work_ps + clock->idle_ns * PS_PER_NS;
}

/* T less TSC, ns: what the guest adds. */
int64_t clock_offset_ns(const struct clock *clock);

/* Instructions that were executed, by anyone. */
uint64_t clock_executed(const struct clock *clock);

/* Does the running code have a core of its own? */
static inline bool clock_in_background(const struct clock *clock)
{
	return clock->slot && clock->own_core;
}

/* On whose behalf does the running code use bandwidth, and when is its now? */
static inline enum requester clock_requester(const struct clock *clock)
{
	return clock_in_background(clock) ? REQUESTER_AHEAD : REQUESTER_WORKLOAD;
}

static inline uint64_t clock_core_ps(const struct clock *clock)
{
	return clock_in_background(clock) ? clock->background.now_ps : clock_now_ps(clock);
}

/* How far the background's core is ahead of T, ps. */
static inline uint64_t clock_ahead_ps(const struct clock *clock)
{
	return background_ahead_ps(&clock->background, clock_now_ps(clock));
}

/* The running code waits for memory. */
void clock_stall(struct clock *clock, uint64_t stall_ps);

/* Another task runs, whose background slot this is. */
void clock_switch(struct clock *clock, unsigned int slot);

/* A device's copy begins and ends. */
void clock_device_begin(struct clock *clock, uint64_t bytes_per_us);
void clock_device_end(struct clock *clock);

/*
 * The device moves on to its next line, having waited for memory this long.
 * It is held back by no more than half the ledger of bandwidth.
 */
void clock_device_line(struct clock *clock, uint64_t wait_ps);

/* The TSC is about to be read. */
void clock_read_tsc(struct clock *clock);

/*
 * The guest hands over the TSC that it read last, with interrupts off since:
 * find out how long it idled, and what was abandoned. pending: it was waiting
 * for storage. Returns by how many ns that moves T on for the guest, beyond
 * what it has read.
 */
uint64_t clock_sync(struct clock *clock, uint64_t tsc, bool pending);

#endif /* CLOCK_H */
