/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The complete machine: what an access to memory costs, and what each call of
 * the guest does. model.c explains the model; this file is its core without
 * QEMU, so that the unit tests can drive it as model.c does.
 *
 * An access looks up the L1, then the last level (LLC), then goes to a tier. The
 * LLC is neither inclusive nor exclusive of the L1. A dirty line that leaves the
 * L1 is marked dirty in the LLC if it is there, and else written back to its
 * tier. A write-back takes bandwidth, and nobody waits for it.
 *
 * A copy that stands for a device's DMA bypasses the caches: it takes bandwidth,
 * and no core's time. What it writes is dropped from the caches.
 *
 * A measured region begins with empty caches and idle tiers, at the guest's
 * call KLOC_MACHINE_BEGIN. Outside of it no memory access is modeled.
 *
 * Limits:
 * - There is one L1, one LLC and one prefetcher. Background threads, which have
 *   a core of their own in time (see background.h), share them with the
 *   workload.
 * - A device reads memory, not the caches: it takes bandwidth also for a line
 *   that a cache holds, and a dirty line stays dirty.
 * - Successive accesses of a device's copy to one line count as one.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <linux/kloc_machine.h>

#include "cache.h"
#include "clock.h"
#include "config.h"
#include "frames.h"
#include "live.h"
#include "observer.h"
#include "pages.h"
#include "placement.h"
#include "ram.h"
#include "region.h"
#include "spaces.h"
#include "stream.h"
#include "tier.h"

/* Instructions since power-on, counted by translated code (abandoned ones included). */
struct counts {
	uint64_t user, kernel;
};

struct machine {
	struct config config;
	struct ram ram;
	struct pages pages;
	struct placement placement;
	struct clock clock;
	struct spaces spaces;
	struct cache l1, llc;
	struct streams streams;
	struct tier tiers[TIERS_MAX];
	struct frames frames;
	struct region region;		/* in progress, or the last one */
	struct observer observer;
	struct live live;
	char *reports;			/* JSON of the regions that have ended, or NULL */
	bool modelled;			/* a region is in progress */
	uint64_t monotonic_ns;		/* guest's CLOCK_MONOTONIC at the last BEGIN or END */
	uint64_t device_line;		/* line that the device's copy accessed last */
	bool idle_for_storage;		/* requests were pending when the guest went idle */
	uint64_t published;		/* instructions, when the page was last updated */
	const struct counts *counts;
	struct kloc_machine_page *page;	/* shared with the guest */
};

/*
 * Set up the machine that machine->config describes. The caller keeps page and
 * counts; machine_free() frees everything else, machine->config included. On
 * failure print a message and return false.
 */
bool machine_init(struct machine *machine, struct kloc_machine_page *page,
		  const struct counts *counts);
void machine_free(struct machine *machine);

/* Update the shared page: the guest is about to read its TSC. */
void machine_read_tsc(struct machine *machine);

/* Handle a call of the guest, one of enum kloc_machine_call. Ignore unknown ones. */
void machine_call(struct machine *machine, unsigned int call);

/*
 * Access the line with this key (see spaces.h) in the L1. Return false if the L1
 * does not hold it, and always during a device's copy: then the caller must call
 * machine_access_beyond() with the line's physical address.
 */
static inline bool machine_access_l1(struct machine *machine, uint64_t key, bool store)
{
	return cache_use(&machine->l1, cache_set(&machine->l1, key), key, store);
}

/*
 * Access beyond the L1: fill the L1, and charge the running code what the LLC
 * or the tier costs. kernel tells which mode a stall is counted for.
 */
void machine_access_beyond(struct machine *machine, uint64_t key, uint64_t physical,
			   bool store, bool kernel);

/* Observe that the guest wrote to the struct page that contains this address. */
void machine_page_changed(struct machine *machine, uint64_t address);

/*
 * Observe an access; with key "observe", call this after every one. The physical
 * line is that of the L1's most recently used line, which is the one accessed.
 * A device's copy and an access to device memory are not in the L1, and so are
 * not observed as references.
 */
static inline void machine_observe(struct machine *machine, uint64_t key, uint64_t address,
				   bool store)
{
	const struct cache_line *latest = cache_set(&machine->l1, key);

	if (likely(latest->key == key) && !clock_in_background(&machine->clock))
		observer_reference(&machine->observer, latest->line >> 1);
	if (unlikely(store && observer_is_memmap(&machine->observer, address)))
		machine_page_changed(machine, address);
}

/* Write the result when QEMU ends; a region in progress is reported as incomplete. */
void machine_finish(struct machine *machine);

#endif /* MACHINE_H */
