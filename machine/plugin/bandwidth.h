/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bandwidth of one tier: a ledger of how much of it is booked at what time.
 *
 * A request keeps the tier busy for its service time, bytes / bandwidth. Time is
 * cut into slots of 131 ns. A request takes its service time from the first
 * slot with time left, beginning with the slot of the request's own time, and
 * continues in later slots if it needs more. It waits until that first slot
 * begins, and not at all if that is the slot of its own time. Slots can be
 * filled completely, so a stream gets exactly the tier's bandwidth.
 *
 * Why slots: requests do not arrive in the order of their times. Background
 * threads and devices run ahead of the workload, and the workload catches up
 * later. With a single "busy until" time the workload would wait behind
 * everything that was booked ahead of it.
 *
 * Why shares: requesters that run ahead (REQUESTER_AHEAD) would find all slots
 * empty and leave nothing to the workload, where a memory controller serves
 * both in turn. So they may book time in a slot only until half of it is taken,
 * by any requester; the workload may take all that is left.
 *
 * All times are picoseconds.
 *
 * Limits:
 * - Background threads and devices together get at most half of a tier's
 *   bandwidth, even while the workload uses none of it.
 * - A request waits only if its slot is full: latency does not rise with load
 *   below saturation.
 * - There is no order within a slot, so a wait is accurate to about 131 ns.
 * - Channels, banks, and the turnaround between reads and writes are not
 *   modeled; reads and writes share the ledger.
 * - The ledger covers 8.6 ms from the workload's time on. Service that finds no
 *   time in it is dropped and counted in lost_ps.
 */
#ifndef BANDWIDTH_H
#define BANDWIDTH_H

#include "units.h"

#define SLOT_SHIFT	17			/* 2^17 ps = 131 ns */
#define SLOT_PS		(1U << SLOT_SHIFT)
#define SLOTS		65536ULL		/* 8.6 ms */

enum requester {
	REQUESTER_WORKLOAD,	/* its requests come in the order of their times */
	REQUESTER_AHEAD,	/* background threads on their own core, and devices */
	REQUESTERS,
};

struct ledger {
	uint64_t first;		/* number of the earliest slot in the ledger */
	uint64_t lost_ps;	/* service that found no time in any slot */
	uint32_t taken_ps[SLOTS];		/* by slot number modulo SLOTS */
	uint64_t full[REQUESTERS][SLOTS / 64];	/* bit set: nothing left for this requester */
};

/* Drop all bookings and set lost_ps to 0. The ledger begins at now_ps. */
void ledger_clear(struct ledger *ledger, uint64_t now_ps);

/* Drop slots before now_ps, the workload's time: no request comes for them any more. */
void ledger_advance(struct ledger *ledger, uint64_t now_ps);

/*
 * Book service_ps of the tier's time for a request made at now_ps. now_ps must
 * be within the ledger after it was advanced to the workload's time.
 *
 * Return the time from now_ps until the service begins.
 */
uint64_t ledger_book(struct ledger *ledger, enum requester who, uint64_t now_ps,
		     uint64_t service_ps);

#endif /* BANDWIDTH_H */
