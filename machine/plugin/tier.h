/* SPDX-License-Identifier: GPL-2.0 */
/* One tier of memory at work: its bandwidth, its units, what it has moved. */
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

/* The units served last, which the device still holds in its buffer. */
struct units {
	uint64_t units[UNITS_KEPT];
	unsigned int next;
};

struct tier {
	const struct tier_config *config;
	unsigned int unit_shift;	/* from a line's number to its unit's */
	struct units read, written;
	uint64_t bytes[TRANSFERS];	/* moved so far */
	struct ledger ledger;
};

void tier_init(struct tier *tier, const struct tier_config *config);

/* Forget what is booked and buffered; what was moved stays counted. */
void tier_clear(struct tier *tier, uint64_t now_ps);

/*
 * Move a line at this time. If the tier's unit is larger, all of it moves,
 * unless it is among those served last. Returns how long the transfer has to
 * wait for bandwidth.
 */
uint64_t tier_transfer(struct tier *tier, enum transfer transfer, enum requester who,
		       uint64_t now_ps, uint64_t line);

/*
 * What a miss at this line costs the core: it waits for bandwidth, and for the
 * tier's latency if the prefetcher did not see it coming.
 */
uint64_t tier_miss(struct tier *tier, enum requester who, uint64_t now_ps, uint64_t line,
		   bool store, bool streamed);

#endif /* TIER_H */
