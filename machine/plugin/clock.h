/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Simulated time, T = instructions x CPI + stalls + idle.
 *
 * How the guest reads T. Under -icount shift=0 the guest's TSC counts 1 ns for
 * each instruction, of any kind, and jumps while the guest idles. The guest
 * computes T as TSC + offset, and the model publishes the offset:
 *
 *	offset = T - TSC = (instructions x CPI + stalls) - instructions
 *
 * Idle time is in both T and TSC, so it cancels out. The guest never sees T step
 * back: idle time and the value in parentheses only grow, and the model
 * publishes the offset before every instruction that reads the TSC. The model
 * itself needs to know how much T jumped while the guest idled, to find the
 * current slot of a tier's bandwidth. The guest hands over its TSC when it enters
 * and leaves idle, and the model takes the jump from these two values.
 *
 * Abandoned instructions. QEMU counts a translated block as a whole when it
 * begins, but a page fault can end it early: then instructions were counted that
 * did not execute. The guest's TSC is exact, so each TSC that the guest hands
 * over also tells how many instructions were abandoned since the one before. The
 * model then takes their CPI off its own T. The T that the guest reads was too
 * low by 1 ns - CPI for each of them, and catches up.
 *
 * Whose clock runs depends on the code that executes:
 * - Code on the workload's core: T.
 * - A background thread: the clock of the background core, while T stands still
 *   (see background.h). With background=shared it runs on the workload's core.
 * - A copy by the guest's disk driver that stands for a device's DMA: none. The
 *   copied lines are spread over the time that the device needs for them, on
 *   the device's clock, which is never behind T.
 *
 * Units: names end in _ps or _ns; other counts are instructions.
 *
 * Limits:
 * - All instructions cost the same. Branches, dependencies and the front end
 *   are in the CPI.
 * - A stall stops the whole core. Independent misses do not overlap, unless they
 *   are prefetched (see stream.h).
 * - With a CPI above 1 ns the guest's T would step back when abandoned
 *   instructions are found.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>

#include "background.h"
#include "bandwidth.h"

struct clock {
	uint64_t insn_ps;		/* CPI */
	bool own_core;			/* background threads have a core of their own */

	uint64_t counted;		/* instructions, abandoned ones included */
	uint64_t abandoned;		/* of these, counted but not executed */
	uint64_t device_instructions;	/* of these, in copies that stand for DMA */
	uint64_t work_ps;		/* T without idle */
	uint64_t idle_ns;		/* sum of the jumps of the TSC */
	uint64_t storage_idle_ns;	/* of these, while storage requests were pending */

	struct background background;
	unsigned int slot;		/* of the running task; 0: not a background thread */

	bool device;			/* a device's copy is in progress */
	uint64_t device_ps;		/* the device's clock */
	uint64_t device_line_ps;	/* time that the device needs for a line */

	uint64_t tsc_counted;		/* counted, when the TSC was last read */
	uint64_t synced;		/* counted, at the last TSC that the guest handed over */
	int64_t skew;			/* TSC - counted, at that time */
	bool in_sync;			/* the guest has handed over a TSC */
};

/* Start at T = 0. insn_ps is the CPI in ps. */
void clock_init(struct clock *clock, uint64_t insn_ps, bool own_core);

/* Advance the clocks to this number of instructions counted since power-on. */
void clock_run(struct clock *clock, uint64_t counted);

/* Return T, in ps. */
static inline uint64_t clock_now_ps(const struct clock *clock)
{
	return clock->work_ps + clock->idle_ns * PS_PER_NS;
}

/* Return T - TSC, in ns: the offset that the guest adds to its TSC. */
int64_t clock_offset_ns(const struct clock *clock);

/* Return the number of instructions executed by all code, abandoned ones excluded. */
uint64_t clock_executed(const struct clock *clock);

/* Return whether the running code is a background thread with a core of its own. */
static inline bool clock_in_background(const struct clock *clock)
{
	return clock->slot && clock->own_core;
}

/* Return which share of a tier's bandwidth the running code uses. */
static inline enum requester clock_requester(const struct clock *clock)
{
	return clock_in_background(clock) ? REQUESTER_AHEAD : REQUESTER_WORKLOAD;
}

/* Return the time on the clock of the core that executes the running code, in ps. */
static inline uint64_t clock_core_ps(const struct clock *clock)
{
	return clock_in_background(clock) ? clock->background.now_ps : clock_now_ps(clock);
}

/* Return how far the background core is ahead of T, in ps. */
static inline uint64_t clock_ahead_ps(const struct clock *clock)
{
	return background_ahead_ps(&clock->background, clock_now_ps(clock));
}

/* Charge the running code a stall on memory. */
void clock_stall(struct clock *clock, uint64_t stall_ps);

/* Switch to another task; slot is its background slot, 0 if it has none. */
void clock_switch(struct clock *clock, unsigned int slot);

/* Begin and end a device's copy. bytes_per_us is the device's bandwidth, 0: unlimited. */
void clock_device_begin(struct clock *clock, uint64_t bytes_per_us);
void clock_device_end(struct clock *clock);

/*
 * Advance the device's clock by one line, for which it waited wait_ps for
 * memory. The clock gets at most half of the bandwidth ledger (4.3 ms) ahead of
 * T.
 */
void clock_device_line(struct clock *clock, uint64_t wait_ps);

/* Note that the guest is about to read its TSC. */
void clock_read_tsc(struct clock *clock);

/*
 * Take over the TSC that the guest read last, with interrupts disabled since,
 * and compute from it how long the guest idled and how many instructions were
 * abandoned. pending: storage requests were pending while it idled.
 *
 * Return by how many ns the guest's T advances beyond what it has just read.
 */
uint64_t clock_sync(struct clock *clock, uint64_t tsc, bool pending);

#endif /* CLOCK_H */
