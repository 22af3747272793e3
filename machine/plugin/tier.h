/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One tier of memory: its latency, its bandwidth, and the units that it moves.
 *
 * A line arrives after a wait for bandwidth (bandwidth.h) and the tier's read latency.
 * A store reads its line, too. overlap.h decides how much of that time the core waits.
 *
 * Latency rises with load, by the tier's curve: each point has a utilisation of the
 * bandwidth and a multiple of the idle latency. The curve is linear between its points
 * and constant after the last. Reads, write-backs and devices' copies all count.
 *
 * Memory such as Optane moves units larger than a line of 64 bytes. An access to one
 * line moves its complete unit, unless the unit is in the buffer of the UNITS_KEPT units
 * moved last. Reads and writes have a buffer each.
 *
 * Limits:
 * - A buffered unit takes no bandwidth, but has the same latency as any other.
 * - Latency depends on load alone, and not on rows, banks or the mix of reads and
 *   writes.
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
uint64_t tier_transfer(struct tier *tier, enum transfer transfer, uint64_t now_ps,
		       uint64_t line);

/*
 * Return the read latency at the tier's utilisation as of the latest transfer, in ps. A
 * wait for bandwidth adds to it.
 */
uint64_t tier_latency_ps(const struct tier *tier);

#endif /* TIER_H */
