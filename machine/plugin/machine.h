/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The complete machine: what an access to memory costs, and what each call of
 * the guest does. model.c explains the model; this file is its core without
 * QEMU, so that the unit tests can drive it as model.c does.
 *
 * An access looks up its core's L1. What misses there waits for what it depends on
 * (overlap.h), is translated (tlb.h), and looks up the last level (LLC), which all
 * cores share; then it goes to a tier. The LLC is neither inclusive nor exclusive of
 * the L1s. A dirty line that leaves an L1 is marked dirty in the LLC if it is there,
 * and else written back to its tier. A write-back takes bandwidth, and nobody waits
 * for it.
 *
 * Coherence: a line is in several L1s only if all of them have it clean and SHARED. A
 * load of a line that another L1 has dirty takes snoop_ns, and cleans it there. A
 * store drops the line from all other L1s.
 *
 * A walk of the page table reads its entries through the same caches. It delays the
 * access, and what a core then waits for it is counted for the page table.
 *
 * A device's DMA bypasses the caches: it takes bandwidth, and no core's time. What it
 * writes is dropped from the caches.
 *
 * A region begins at the guest's calls WARM and BEGIN. The first of a run finds empty
 * caches and idle tiers. Outside of regions no memory access is modeled.
 *
 * Limits:
 * - A line that the L1 holds has no TLB miss: the TLB is looked up on L1 misses.
 * - A store to a line that is SHARED waits for nothing.
 * - A line that another L1 holds clean comes from the LLC or a tier.
 * - A device reads memory, not the caches: it takes bandwidth also for a line
 *   that a cache holds, and a dirty line stays dirty.
 * - A walk does not make page tables' lines dirty, where it sets an Accessed bit.
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
	struct tier tiers[TIERS_MAX];
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

/* An access that a core's L1 did not serve at once. */
struct access {
	uint64_t key;		/* of its line, see spaces.h */
	uint64_t address;	/* virtual */
	uint64_t now_ps;	/* the core's time */
	uint64_t insn;		/* instructions of the core so far */
	bool store, kernel;
};

/*
 * Set up the machine that machine->config describes; machine->cores[].counts are set
 * later by the caller. machine_free() frees everything. On failure print a message and
 * return false.
 */
bool machine_init(struct machine *machine, void (*stall)(uint64_t ps));
void machine_free(struct machine *machine);

/* Handle call of the guest on a core, one of enum kloc_machine_call. Ignore unknown ones. */
void machine_call(struct machine *machine, unsigned int call, uint64_t argument,
		  uint64_t now_ps);

/* The core uses other page tables, as CR3 has them; or the same ones, flushed. */
void machine_set_root(struct machine *machine, unsigned int core, uint64_t root);

/* The core drops the TLB entry of an address, or all of them. */
void machine_flush_page(struct machine *machine, unsigned int core, uint64_t address);
void machine_flush_all(struct machine *machine, unsigned int core);

/* Let a core use this filter, which translated code reads, from now on. */
void machine_set_filter(struct core *core, struct filter *filter);

/* Return whether translated code may leave out accesses: each set needs an entry. */
static inline bool machine_filters(const struct machine *machine)
{
	return !machine->config.observe &&
	       machine->cores[0].l1.set_mask == FILTER_LINES - 1;
}

/* Enter an access into the core's filter, after it was made. Device memory is not in the L1. */
static inline void machine_filter(struct core *core, uint64_t key, uint64_t address)
{
	const struct cache_line *first = cache_set(&core->l1, key);

	if (likely(first->key == key))
		filter_enter(core->filter, address, first);
}

/*
 * Access a line in all ways of the core's L1. Return false on a miss: then the caller
 * must call machine_access_beyond() with the physical address.
 */
bool machine_access_l1(struct machine *machine, unsigned int core, uint64_t key, bool store);

/* Access beyond the L1: fill the L1, and let the core wait. */
void machine_access_beyond(struct machine *machine, unsigned int core,
			   const struct access *access, uint64_t physical);

/* A device has read or written memory. */
void machine_dma(struct machine *machine, uint64_t physical, uint64_t bytes, bool write,
		 uint64_t now_ps);

/* Observe that the guest wrote to the struct page that contains this address. */
void machine_page_changed(struct machine *machine, uint64_t address, uint64_t now_ps);

/*
 * Observe an access; with key "observe", call this after every one. The physical
 * line is that of the L1's most recently used line, which is the one accessed.
 * An access to device memory is not in the L1, and so is not observed.
 */
static inline void machine_observe(struct machine *machine, const struct core *core,
				   uint64_t key, uint64_t address, bool store,
				   uint64_t now_ps)
{
	const struct cache_line *latest = cache_set(&core->l1, key);

	if (likely(latest->key == key))
		observer_reference(&machine->observer, cache_physical(latest));
	if (unlikely(store && observer_is_memmap(&machine->observer, address)))
		machine_page_changed(machine, address, now_ps);
}

/* Write the result when QEMU ends; a region in progress is reported as incomplete. */
void machine_finish(struct machine *machine, uint64_t now_ps);

#endif /* MACHINE_H */
