// SPDX-License-Identifier: GPL-2.0
/*
 * The memory hierarchy: fetches lines from the L1s, the LLC and the tiers, and keeps the
 * L1s coherent. Each L1 miss comes here, and each entry that a page walk reads.
 */
#include "hierarchy.h"

/* struct cache_line entries per cache line of the host */
#define LINES_PER_HOST_LINE	(64 / sizeof(struct cache_line))

/*
 * Write a line that a core of this socket made dirty back to its tier. It takes
 * bandwidth, and no core waits for it.
 */
static void write_back(struct machine *machine, unsigned int socket, uint64_t line,
		       uint64_t now_ps)
{
	const struct ram_line where = ram_resolve(&machine->ram, line << LINE_SHIFT);
	unsigned int tier, home;

	if (!where.range)
		return;
	home = where.range->socket;
	tier = placement_write_back(&machine->placement, &where);
	tier_transfer(&machine->tiers[home][tier], TRANSFER_WRITE, now_ps, line);
	if (home != socket)
		tier_transfer(&machine->links[home], TRANSFER_WRITE, now_ps, line);
}

/* Return the LLC's set of a line. */
static struct cache_line *llc_set(const struct machine *machine, uint64_t line)
{
	return cache_set(&machine->llc, cache_hash(line));
}

/* Update the LLC's copy of a dirty line that leaves a core's L1, or else memory. */
static void store_dirty(struct machine *machine, unsigned int number, uint64_t line,
			uint64_t now_ps)
{
	unsigned int socket = machine->cores[number].socket;

	if (!cache_soil(&machine->llc, llc_set(machine, line), line, socket ? CACHE_FAR : 0))
		write_back(machine, socket, line, now_ps);
}

void hierarchy_fill_l1(struct machine *machine, unsigned int number, uint64_t key,
		       uint64_t line, uint64_t flags, uint64_t now_ps)
{
	struct core *core = &machine->cores[number];
	struct cache_line victim = cache_fill(&core->l1, cache_set(&core->l1, key), key, line,
					      flags);

	filter_drop(core->filter, key);
	directory_entry(&machine->directory, line)[number]++;
	if (victim.key == CACHE_NO_KEY)
		return;
	directory_entry(&machine->directory, cache_physical(&victim))[number]--;
	if (victim.line & CACHE_DIRTY)
		store_dirty(machine, number, cache_physical(&victim), now_ps);
}

/* Return whether the L1 of a core other than this one may hold a line. */
static bool others_may_hold(struct machine *machine, unsigned int number, uint64_t line)
{
	const uint16_t *counts = directory_entry(&machine->directory, line);
	unsigned int sum = 0;

	for (unsigned int i = 0; i < CORES_MAX; i++)
		sum += counts[i];
	return sum != counts[number];
}

/* Return the L1's set of a physical line. The line's virtual lines share it (config.h). */
static struct cache_line *l1_set(const struct core *core, uint64_t line)
{
	return cache_set(&core->l1, line);
}

bool hierarchy_drop_from_l1s(struct machine *machine, unsigned int number, uint64_t line)
{
	uint16_t *counts = directory_entry(&machine->directory, line);
	bool dirty = false;

	for (unsigned int i = 0; i < machine->config.cores; i++) {
		struct core *core = &machine->cores[i];

		if (i == number || !counts[i])
			continue;
		filter_drop(core->filter, line);
		counts[i] = (uint16_t)(counts[i] - cache_drop(&core->l1, l1_set(core, line), line,
							      &dirty));
	}
	return dirty;
}

void hierarchy_drop(struct machine *machine, uint64_t line)
{
	bool dirty = false;

	hierarchy_drop_from_l1s(machine, CORES_MAX, line);
	cache_drop(&machine->llc, llc_set(machine, line), line, &dirty);
}

/*
 * Make a line clean and SHARED in the L1s of all cores but this one. Set *shared if one
 * of them holds it. Return whether one of them had it dirty, and then set *owner to it.
 */
static bool share_line(struct machine *machine, unsigned int number, uint64_t line,
		       bool *shared, unsigned int *owner)
{
	const uint16_t *counts = directory_entry(&machine->directory, line);
	bool dirty = false;

	for (unsigned int i = 0; i < machine->config.cores; i++) {
		struct core *core = &machine->cores[i];
		struct cache_line *set = l1_set(core, line), *found = set;

		if (i == number || !counts[i])
			continue;
		filter_drop(core->filter, line);
		while ((found = cache_find(&core->l1, set, (unsigned int)(found - set), line))) {
			if (found->line & CACHE_DIRTY) {
				dirty = true;
				*owner = i;
			}
			found->line = (found->line | CACHE_SHARED) & ~CACHE_DIRTY;
			*shared = true;
			found++;
		}
	}
	return dirty;
}

bool hierarchy_fetch_from_caches(struct machine *machine, unsigned int number, uint64_t line,
				 bool store, uint64_t at_ps, struct fetched *fetched)
{
	bool dirty = false, shared = false;
	unsigned int owner = number;

	*fetched = (struct fetched){ .tier = TIER_CACHE };
	if (others_may_hold(machine, number, line)) {
		dirty = store ? hierarchy_drop_from_l1s(machine, number, line) :
				share_line(machine, number, line, &shared, &owner);
		fetched->flags = shared ? CACHE_SHARED : 0;
	}
	if (unlikely(dirty)) {
		machine->region.snoops++;
		if (!store)
			store_dirty(machine, owner, line, at_ps);
		fetched->latency_ps = machine->config.snoop_ps;
		return true;
	}
	fetched->latency_ps = machine->config.llc_ps;
	return cache_use(&machine->llc, llc_set(machine, line), line);
}

/* Let a fetched line come over the link to a socket. */
static void cross_link(struct machine *machine, unsigned int socket, uint64_t line,
		       uint64_t at_ps, struct fetched *fetched)
{
	struct tier *link = &machine->links[socket];
	uint64_t bandwidth_ps = tier_transfer(link, TRANSFER_READ, at_ps, line);

	/* The line waits for the memory and for the link at the same time. */
	if (bandwidth_ps > fetched->bandwidth_ps)
		fetched->bandwidth_ps = bandwidth_ps;
	fetched->latency_ps += tier_latency_ps(link);
	machine->region.remote_misses++;
}

void hierarchy_fetch_from_tier(struct machine *machine, unsigned int number,
			       const struct ram_line *where, uint64_t at_ps, bool kernel,
			       bool streamed, struct fetched *fetched)
{
	unsigned int socket = machine->cores[number].socket, home = where->range->socket;
	struct region *region = &machine->region;
	uint64_t line = where->line;
	unsigned int kind = pages_kind(&machine->pages, line << LINE_SHIFT);
	unsigned int tier = placement_access(&machine->placement, &machine->pages, where, kind);
	struct cache_line victim = cache_fill(&machine->llc, llc_set(machine, line), line, line,
					      0);

	if (victim.key != CACHE_NO_KEY && victim.line & CACHE_DIRTY)
		write_back(machine, victim.line & CACHE_FAR ? 1 : 0, cache_physical(&victim),
			   at_ps);
	fetched->tier = tier;
	fetched->bandwidth_ps = tier_transfer(&machine->tiers[home][tier], TRANSFER_READ, at_ps,
					      line);
	fetched->latency_ps = tier_latency_ps(&machine->tiers[home][tier]);
	if (home != socket)
		cross_link(machine, socket, line, at_ps, fetched);
	region->llc_misses++;
	region->streamed += streamed;
	region->misses[tier][kind][kernel]++;
	if (machine->observer.on)
		observer_miss(&machine->observer, line << LINE_SHIFT);
	if (machine->config.dump)
		frames_miss(&machine->frames, where->frame);
}

void hierarchy_prefetch(struct machine *machine, const struct ram_line *where)
{
	const struct cache_line *set = llc_set(machine, where->line);

	for (unsigned int way = 0; way < machine->llc.ways; way += LINES_PER_HOST_LINE)
		__builtin_prefetch(set + way);
	__builtin_prefetch(directory_entry(&machine->directory, where->line));
	__builtin_prefetch(ram_content(where));
	pages_prefetch(&machine->pages, where->line << LINE_SHIFT);
}
