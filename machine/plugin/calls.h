/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest's calls (enum kloc_machine_call): the kernel describes its structures, and
 * the workload begins and ends regions, which are counted and reported.
 *
 * The first region of a run finds empty caches and idle tiers.
 */
#ifndef CALLS_H
#define CALLS_H

#include "machine.h"

/* Handle a call of the guest at now_ps. Unknown calls are ignored. */
void calls_handle(struct machine *machine, unsigned int call, uint64_t argument,
		  uint64_t now_ps);

/* Add a sample to the region's time series, and show it in the live file. */
void calls_sample(struct machine *machine, uint64_t now_ps);

static inline void calls_sample_if_due(struct machine *machine, uint64_t now_ps)
{
	if (unlikely(region_sample_due(&machine->region, now_ps)))
		calls_sample(machine, now_ps);
}

/* Write the result when QEMU ends; a region in progress is reported as incomplete. */
void calls_finish(struct machine *machine, uint64_t now_ps);

#endif /* CALLS_H */
