/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel threads that reclaim, compact, migrate or sample, on a core of their
 * own. All of them share that one core, whose clock runs while T stands still.
 *
 * In truth they run on the guest's only CPU, one after the other with the
 * workload: when one is switched in at T, its core takes up work at T, or when
 * it was done with what it did before, if that is later. So its clock runs
 * ahead of T. The guest's driver makes a thread sleep when it is 200 us ahead,
 * until T has caught up: these threads work no more than the time that passes.
 * As a last resort, what a thread is ahead by more than BACKGROUND_AHEAD_PS
 * stops the workload: T is moved on.
 */
#ifndef BACKGROUND_H
#define BACKGROUND_H

#include <linux/kloc_machine.h>

#include "units.h"

#define BACKGROUND_AHEAD_PS	(4000000 * PS_PER_NS)	/* 4 ms */

/* What one thread has done so far. */
struct background_thread {
	uint64_t instructions;
	uint64_t stall_ps;
};

struct background {
	uint64_t now_ps;	/* the core's clock */
	uint64_t excess_ps;	/* that T was moved on by */
	struct background_thread threads[KLOC_MACHINE_SLOTS];
};

/* How far the core's clock is ahead of T, ps; 0 if it is behind. */
uint64_t background_ahead_ps(const struct background *background, uint64_t t_ps);

/* The core takes up work at T, or later if it is not done with the last. */
void background_enter(struct background *background, uint64_t t_ps);

/*
 * The core has worked or waited for so long. Returns by how much T has to be
 * moved on for the core not to be too far ahead of it.
 */
uint64_t background_advance(struct background *background, uint64_t t_ps, uint64_t spent_ps);

#endif /* BACKGROUND_H */
