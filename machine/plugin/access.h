/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accesses to memory, of cores and devices: the hot path of the model.
 *
 * An access looks up its core's L1. An L1 miss waits for the lines that it depends on
 * (overlap.h), is translated (paging.h), and is fetched from another cache or a tier
 * (hierarchy.h). Then it is under way, and the core runs on.
 *
 * A device's DMA bypasses the caches: it takes bandwidth, and no core's time. Lines that
 * it writes are dropped from the caches.
 *
 * Outside of regions (calls.h) no access is modelled.
 *
 * Limits:
 * - A store to a line that is SHARED waits for nothing.
 * - A device reads memory, not the caches: it takes bandwidth also for a line
 *   that a cache holds, and a dirty line stays dirty.
 * - Devices are on no socket: they take no bandwidth of the link between two sockets.
 */
#ifndef ACCESS_H
#define ACCESS_H

#include "machine.h"

/* An access that a core's L1 did not serve at once. */
struct access {
	uint64_t key;		/* of its line, see spaces.h */
	uint64_t address;	/* virtual */
	uint64_t now_ps;	/* the core's time */
	uint64_t insn;		/* instructions of the core so far */
	bool store, kernel;
};

/* Return whether translated code may leave out accesses: each set needs an entry. */
static inline bool access_is_filtered(const struct machine *machine)
{
	return !machine->config.observe &&
	       machine->cores[0].l1.set_mask == FILTER_LINES - 1;
}

/* Enter an access into the core's filter, after it was made. Device memory is not in the L1. */
static inline void access_enter_filter(struct core *core, uint64_t key, uint64_t address)
{
	const struct cache_line *first = cache_set(&core->l1, key);

	if (likely(first->key == key))
		filter_enter(core->filter, address, first);
}

/*
 * Access a line in all ways of the core's L1. Return false on a miss: then the caller
 * must call access_beyond_l1() with the physical address.
 */
bool access_l1(struct machine *machine, unsigned int core, uint64_t key, bool store);

/* Access beyond the L1: let the core wait, fetch the line, and fill the L1. */
void access_beyond_l1(struct machine *machine, unsigned int core,
		      const struct access *access, uint64_t physical);

/* A device reads or writes memory. */
void access_by_device(struct machine *machine, uint64_t physical, uint64_t bytes, bool write,
		      uint64_t now_ps);

/*
 * Observe an access; with key "observe", call this after every one. The physical
 * line is that of the L1's most recently used line, which is the one accessed.
 * An access to device memory is not in the L1, and so is not observed.
 */
static inline void access_observe(struct machine *machine, const struct core *core,
				  uint64_t key, uint64_t address, bool store,
				  uint64_t now_ps)
{
	const struct cache_line *latest = cache_set(&core->l1, key);

	if (likely(latest->key == key))
		observer_reference(&machine->observer, cache_physical(latest));
	if (unlikely(store && observer_is_memmap(&machine->observer, address)))
		observer_page_changed(&machine->observer, address, now_ps);
}

#endif /* ACCESS_H */
