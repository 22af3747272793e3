/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The background core: the clock of kernel threads that reclaim, compact,
 * migrate or sample (kswapd, kcompactd, khugepaged, kdamond, klocd).
 *
 * A server runs these threads on spare cores. The guest has one CPU, on which
 * they take turns with the workload. So the model gives them a core of their
 * own: while such a thread runs, T (simulated time, see clock.h) stands still
 * and the clock of the background core advances. All of them share this core.
 *
 * A thread that is switched in at T starts at T, or when the background core
 * has finished its earlier work if that is later. So the core's clock can be
 * ahead of T. Two rules limit this:
 * - The guest's driver puts a thread to sleep when the core is 200 us ahead,
 *   until T has caught up. So the threads do no more work than fits into the
 *   time that passes.
 * - If the core still gets more than BACKGROUND_AHEAD_PS ahead, the model
 *   advances T by the excess, which stops the workload for that long. The
 *   result reports the sum as background_excess_ns.
 *
 * Limits:
 * - There is one background core, however many threads there are.
 * - The guest never runs two threads at once: no lock is contended between the
 *   cores and no IPI is waited for.
 * - The background core has no caches of its own (see machine.h).
 * - Its threads get at most half of each tier's bandwidth (see bandwidth.h).
 */
#ifndef BACKGROUND_H
#define BACKGROUND_H

#include <linux/kloc_machine.h>

#include "units.h"

#define BACKGROUND_AHEAD_PS	(4000000 * PS_PER_NS)	/* 4 ms */

/* Totals of one thread since power-on. */
struct background_thread {
	uint64_t instructions;
	uint64_t stall_ps;
};

struct background {
	uint64_t now_ps;	/* the core's clock */
	uint64_t excess_ps;	/* by which T was advanced in total */
	struct background_thread threads[KLOC_MACHINE_SLOTS];
};

/* Return how far the core's clock is ahead of T, in ps; 0 if it is behind. */
uint64_t background_ahead_ps(const struct background *background, uint64_t t_ps);

/* Switch a thread in at T. It starts at T, or when the core is free if that is later. */
void background_enter(struct background *background, uint64_t t_ps);

/*
 * Advance the core's clock by spent_ps of work or stall. Return by how much the
 * caller must advance T, so that the core is not more than BACKGROUND_AHEAD_PS
 * ahead of it.
 */
uint64_t background_advance(struct background *background, uint64_t t_ps, uint64_t spent_ps);

#endif /* BACKGROUND_H */
