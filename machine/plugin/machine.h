/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The complete machine: its state, how it is set up, and how it is freed. model.c
 * explains the model, and connects it to QEMU. All other files do without QEMU, so that
 * the unit tests can drive the machine as model.c does.
 *
 * The machine in operation:
 *	access.h	accesses of cores and devices, the hot path
 *	hierarchy.h	L1s, LLC and tiers together
 *	paging.h	address spaces, TLBs and walks of page tables
 *	calls.h		calls of the guest, which begin and end regions
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <linux/kloc_machine.h>

#include "config.h"
#include "core.h"
#include "frames.h"
#include "live.h"
#include "observer.h"
#include "pages.h"
#include "placement.h"
#include "progress.h"
#include "ram.h"
#include "region.h"
#include "tier.h"

struct machine {
	struct config config;
	struct ram ram;
	struct pages pages;
	struct placement placement;
	struct spaces spaces;
	struct core cores[CORES_MAX];
	struct directory directory;
	struct cache llc;
	struct tier tiers[SOCKETS_MAX][TIERS_MAX];
	struct tier links[SOCKETS_MAX];	/* of lines that come to this socket from the other */
	struct frames frames;
	struct region region;		/* in progress, or the last one */
	struct observer observer;
	struct live live;
	struct progress progress;
	char *reports;			/* JSON of the regions that have ended, or NULL */
	bool modelled;			/* a region is in progress */
	const struct kloc_machine_page *page;	/* in guest memory, NULL before LAYOUT */

	/* Let the running core wait. Its time at the next access is later by as much. */
	void (*stall)(uint64_t ps);
};

/*
 * Set up the machine that machine->config describes; the caller sets
 * machine->cores[].counts later. machine_free() frees everything. On failure print a
 * message and return false.
 */
bool machine_init(struct machine *machine, void (*stall)(uint64_t ps));
void machine_free(struct machine *machine);

/* Let a core use this filter, which translated code reads, from now on. */
void machine_set_filter(struct core *core, struct filter *filter);

#endif /* MACHINE_H */
