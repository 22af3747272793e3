/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One tier of memory: its latency, its bandwidth, and the units that it moves.
 *
 * A miss stalls the core until the tier has bandwidth for it (see bandwidth.h),
 * and then for the tier's latency: for a load READ_NS, for a store store_stall x
 * WRITE_NS (see config.h), since the store buffer hides a part of it. A
 * prefetched miss waits for bandwidth only.
 *
 * Memory such as Optane moves larger units than a line of 64 bytes. Accessing one
 * line then moves its complete unit, unless the unit is in the buffer of the
 * UNITS_KEPT units moved last. Reads and writes have a buffer each.
 *
 * Limits:
 * - A store's miss is a read for ownership, but its latency comes from WRITE_NS:
 *   with the profile `optane` it stalls for 45 ns, where a load stalls for 305.
 * - A buffered unit takes no bandwidth, and has the same latency as any other.
 * - Latency is constant: it depends on neither rows and banks nor load.
 */
#ifndef TIER_H
#define TIER_H

#include <stdbool.h>

#include "bandwidth.h"
#include "config.h"

#define UNITS_KEPT	16

enum transfer {
	TRANSFER_READ,
	TRANSFER_WRITE,
	TRANSFER_DMA_READ,
	TRANSFER_DMA_WRITE,
	TRANSFERS,
};

/* A buffer of the units moved last, in the order in which they came. */
struct units {
	uint64_t units[UNITS_KEPT];
	unsigned int next;
};

struct tier {
	const struct tier_config *config;
	unsigned int unit_shift;	/* line >> unit_shift is its unit */
	struct units read, written;
	uint64_t bytes[TRANSFERS];	/* moved since power-on */
	struct ledger ledger;
};

void tier_init(struct tier *tier, const struct tier_config *config);

/* Drop all bookings and buffered units; keep the counts of bytes. */
void tier_clear(struct tier *tier, uint64_t now_ps);

/*
 * Move the unit of a line at now_ps, unless it is buffered. Return how long the
 * transfer waits for bandwidth, in ps.
 */
uint64_t tier_transfer(struct tier *tier, enum transfer transfer, enum requester who,
		       uint64_t now_ps, uint64_t line);

/*
 * Serve a miss on a line at now_ps. streamed: the line was prefetched. Return how
 * long the core stalls, in ps.
 */
uint64_t tier_miss(struct tier *tier, enum requester who, uint64_t now_ps, uint64_t line,
		   bool store, bool streamed);

#endif /* TIER_H */
