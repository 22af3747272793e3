/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The caches and tiers as one hierarchy: it fetches lines, fills caches, keeps the L1s
 * coherent and writes dirty lines back.
 *
 * All cores share the last level (LLC), which is neither inclusive nor exclusive of the
 * L1s. A dirty line that leaves an L1 is marked dirty in the LLC if it is there, and
 * else written back to its tier. A write-back takes bandwidth, and no core waits for it.
 *
 * Coherence: a line is in several L1s only if all of them have it clean and SHARED. A
 * load of a line that another L1 has dirty takes snoop_ns, and cleans it there. A
 * store drops the line from all other L1s.
 *
 * Sockets: each has a memory of each tier, with a bandwidth of its own. A line that a
 * core reads from the other socket's memory takes bandwidth of the link to its own
 * socket, and a latency that rises with the load of that link, in addition to those of
 * the memory. A line that is written back to another socket than that of the core that
 * made it dirty takes bandwidth of the link to its memory.
 *
 * Limits:
 * - A line that another L1 holds clean comes from the LLC or a tier.
 * - There is one LLC for all sockets: a hit in it, and a line that another socket's L1
 *   has dirty, do not cross the link.
 * - Requests take no bandwidth of the link, lines do.
 */
#ifndef HIERARCHY_H
#define HIERARCHY_H

#include "machine.h"

/* Where a line came from, and how long it took. */
struct fetched {
	uint64_t latency_ps, bandwidth_ps;
	unsigned int tier;		/* TIER_CACHE if no tier served it */
	uint64_t flags;			/* CACHE_SHARED, or 0 */
};

/*
 * Fetch a line that a core's L1 misses from the other L1s or the LLC, at at_ps. Return
 * false if no cache has it: then call hierarchy_fetch_from_tier() next.
 */
bool hierarchy_fetch_from_caches(struct machine *machine, unsigned int core, uint64_t line,
				 bool store, uint64_t at_ps, struct fetched *fetched);

/*
 * Fetch a line from its tier for a core, and fill it into the LLC. streamed: it is
 * prefetched.
 */
void hierarchy_fetch_from_tier(struct machine *machine, unsigned int core,
			       const struct ram_line *where, uint64_t at_ps, bool kernel,
			       bool streamed, struct fetched *fetched);

/* Fill a fetched line into a core's L1; flags are those of cache_fill(). */
void hierarchy_fill_l1(struct machine *machine, unsigned int core, uint64_t key,
		       uint64_t line, uint64_t flags, uint64_t now_ps);

/*
 * Drop a line from the L1s of all cores but this one (CORES_MAX: of all cores). Return
 * whether one of them had it dirty.
 */
bool hierarchy_drop_from_l1s(struct machine *machine, unsigned int core, uint64_t line);

/* Drop a line from all caches without writing it back: a device overwrites it. */
void hierarchy_drop(struct machine *machine, uint64_t line);

/*
 * Prefetch, into the host's caches, the memory that fetching this line will read: of the
 * model, the LLC's set and the directory; of the guest, the line and its struct page.
 */
void hierarchy_prefetch(struct machine *machine, const struct ram_line *where);

#endif /* HIERARCHY_H */
