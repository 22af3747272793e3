/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The machine that is modelled, whole: what happens at a memory access that
 * the L1 does not serve, and at each thing that the guest tells.
 *
 * Nothing here knows of QEMU; the tests drive it as model.c does.
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

/* Instructions executed since power-on, counted by translated code. */
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
	struct region region;		/* in progress, or the latest */
	struct observer observer;
	struct live live;
	char *reports;			/* JSON of the regions that are over, or NULL */
	bool modelled;			/* a region is in progress */
	uint64_t monotonic_ns;		/* the guest's, at the latest end of a region */
	uint64_t device_line;		/* that a device moved last */
	bool idle_for_storage;		/* requests were pending when idleness began */
	uint64_t published;		/* instructions, at the last publication */
	const struct counts *counts;
	struct kloc_machine_page *page;	/* shared with the guest */
};

/*
 * Set up the machine of machine->config, which machine_free() frees with the
 * rest; page and counts stay the caller's. False, with a message, on failure.
 */
bool machine_init(struct machine *machine, struct kloc_machine_page *page,
		  const struct counts *counts);
void machine_free(struct machine *machine);

/* The guest is about to read its TSC. */
void machine_read_tsc(struct machine *machine);

/* The guest calls; see enum kloc_machine_call. Unknown calls are ignored. */
void machine_call(struct machine *machine, unsigned int call);

/*
 * The L1 serves the access to the line with this key (see spaces.h). False if
 * it does not have it, and while a device copies: then machine_access_beyond()
 * must be told where in physical memory the line is.
 */
static inline bool machine_access_l1(struct machine *machine, uint64_t key, bool store)
{
	return cache_use(&machine->l1, cache_set(&machine->l1, key), key, store);
}

void machine_access_beyond(struct machine *machine, uint64_t key, uint64_t physical,
			   bool store, bool kernel);

/* The struct page at this address has been written to. */
void machine_page_changed(struct machine *machine, uint64_t address);

/*
 * With key "observe", after every access: what the L1 has now, where it went.
 * A device's copy, and device memory, are not in the L1.
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

/* QEMU ends: what is left of an unfinished region is written. */
void machine_finish(struct machine *machine);

#endif /* MACHINE_H */
