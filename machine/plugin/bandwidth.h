/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bandwidth of one tier, as a ledger of what is taken of it when.
 *
 * Requests do not come in the order of their times: a background thread or a
 * device runs ahead of the workload, then the workload catches up. A single
 * "busy until" time would make the workload wait for all that was booked ahead
 * of it. So time is cut into slots of 131 ns; a request takes its service time
 * from the first slot, from its own time on, that has room, and goes on into
 * the next ones. It waits until that first slot begins, and not at all if that
 * is the slot of its own time. Slots are filled to the brim, hence a stream
 * gets the tier's bandwidth exactly.
 *
 * What runs ahead of the workload would find all slots empty and leave none to
 * it, where a memory controller serves the two in turn. So it may take half of
 * each slot; the workload may take all that is left.
 */
#ifndef BANDWIDTH_H
#define BANDWIDTH_H

#include "units.h"

#define SLOT_SHIFT	17			/* 2^17 ps = 131 ns */
#define SLOT_PS		(1U << SLOT_SHIFT)
#define SLOTS		65536ULL		/* 8.6 ms */

enum requester {
	REQUESTER_WORKLOAD,	/* comes in order of its times */
	REQUESTER_AHEAD,	/* background threads and devices */
	REQUESTERS,
};

struct ledger {
	uint64_t first;		/* number of the earliest slot that is kept */
	uint64_t lost_ps;	/* service that found no room within all slots */
	uint32_t taken_ps[SLOTS];		/* by slot number modulo SLOTS */
	uint64_t full[REQUESTERS][SLOTS / 64];	/* no room for such a requester */
};

/* Forget all bookings; slots begin at this time. */
void ledger_clear(struct ledger *ledger, uint64_t now_ps);

/* The workload has come to this time: nothing will be asked for before it. */
void ledger_advance(struct ledger *ledger, uint64_t now_ps);

/*
 * Book service_ps of the tier's time from now_ps on, which lies within the
 * ledger once it has been advanced to the workload's time. Returns how long
 * after now_ps the service begins.
 */
uint64_t ledger_book(struct ledger *ledger, enum requester who, uint64_t now_ps,
		     uint64_t service_ps);

#endif /* BANDWIDTH_H */
