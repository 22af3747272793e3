/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bandwidth of one tier: a ledger of the service time that is booked in each slot.
 *
 * A request keeps the tier busy for its service time, bytes / bandwidth. Time is
 * cut into slots of 131 ns. A request takes its service time from the first
 * slot with time left, beginning with the slot of the request's own time, and
 * continues in later slots if it needs more. It waits until that first slot
 * begins, and not at all if that is the slot of its own time. Slots can be
 * filled completely, so a stream gets exactly the tier's bandwidth, and never
 * more.
 *
 * Slots are needed because requests do not arrive in the order of their times. QEMU
 * runs the cores in turn, each for up to a quantum, and makes a device's copy at one
 * moment although the copy takes time. With a single "busy until" time a core would
 * wait behind all bookings ahead of it. Cores, write-backs and devices are served
 * alike.
 *
 * The ledger also knows the utilisation of the tier: the share of each slot that
 * was booked, as an average with a time constant of 16.8 us. A slot counts
 * once it is 4.2 us old, when all cores have passed it; later bookings in that slot
 * count at once. A tier's latency depends on its utilisation, and the rate of requests
 * on the latency: with less delay, or a shorter average, latency and utilisation would
 * oscillate, and their means would be wrong.
 *
 * All times are picoseconds.
 *
 * Limits:
 * - There is no order within a slot, so a wait is accurate to about 131 ns.
 * - Requests are served in the order of booking: a large copy that is booked at
 *   one time delays all requests behind it.
 * - Channels, banks, and the turnaround between reads and writes are not
 *   modelled; reads and writes share the ledger.
 * - The ledger covers 1.0 ms before the time that it was advanced to, and 7.5 ms
 *   after. An earlier request waits until the ledger begins; service that finds no
 *   free slot is dropped and counted in lost_ps.
 * - Utilisation is a few microseconds late, and within one quantum the same for
 *   all cores.
 */
#ifndef BANDWIDTH_H
#define BANDWIDTH_H

#include "units.h"

#define SLOT_SHIFT	17			/* 2^17 ps = 131 ns */
#define SLOT_PS		(1U << SLOT_SHIFT)
#define SLOTS		65536ULL		/* 8.6 ms */
#define SLOTS_KEPT	8192ULL			/* 1.0 ms: past slots that can be booked */
#define SLOTS_OPEN	32ULL			/* 4.2 us: too young for the utilisation */
#define AVERAGE_SHIFT	7			/* 2^7 slots: time constant of the utilisation */

struct ledger {
	uint64_t latest;	/* number of the slot that it was advanced to */
	uint64_t first;		/* number of the earliest slot in the ledger */
	uint64_t closed;	/* slots before this one are in the average */
	uint64_t average;	/* booked ps in a slot, << AVERAGE_SHIFT */
	uint64_t lost_ps;	/* service that found no time in any slot */
	uint32_t taken_ps[SLOTS];	/* by slot number modulo SLOTS */
	uint64_t full[SLOTS / 64];	/* bit set: nothing left */
};

/* Drop all bookings and set lost_ps to 0. The ledger begins at now_ps. */
void ledger_clear(struct ledger *ledger, uint64_t now_ps);

/*
 * Tell the ledger that a core has reached now_ps. Other cores may be behind it, by up
 * to 4.2 us for an exact utilisation, and up to 1.0 ms for exact bookings.
 */
void ledger_advance(struct ledger *ledger, uint64_t now_ps);

/*
 * Book service_ps of the tier's time for a request made at now_ps, which may be before
 * or after requests booked already. Return the time from now_ps until the service begins.
 */
uint64_t ledger_book(struct ledger *ledger, uint64_t now_ps, uint64_t service_ps);

/* Return the utilisation of the tier, from 0 to SLOT_PS. */
static inline uint32_t ledger_utilisation(const struct ledger *ledger)
{
	uint64_t average = ledger->average >> AVERAGE_SHIFT;

	return average < SLOT_PS ? (uint32_t)average : SLOT_PS;
}

#endif /* BANDWIDTH_H */
