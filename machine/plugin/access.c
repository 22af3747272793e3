// SPDX-License-Identifier: GPL-2.0
/*
 * An access beyond the L1: waits, translates the address, fetches the line and puts it
 * under way. Most of the model's host time is spent below here.
 */
#include "access.h"
#include "calls.h"
#include "hierarchy.h"
#include "paging.h"

/* Lines of a device's request follow each other at 1/4 of the tier's bandwidth. */
#define DMA_SPREAD	4

bool access_l1(struct machine *machine, unsigned int number, uint64_t key, bool store)
{
	struct core *core = &machine->cores[number];
	struct cache_line *found = cache_use(&core->l1, cache_set(&core->l1, key), key);

	if (!found)
		return false;
	if (store) {
		if (found->line & CACHE_SHARED)
			hierarchy_drop_from_l1s(machine, number, cache_physical(found));
		found->line = (found->line | CACHE_DIRTY) & ~CACHE_SHARED;
	}
	return true;
}

/* Let a core wait, and count the wait for the lines that it waits for. */
static void wait(struct machine *machine, struct core *core, uint64_t wait_ps)
{
	struct region *region = &machine->region;

	if (!wait_ps)
		return;
	for (unsigned int i = 0; i < core->overlap.wait_count; i++) {
		const struct overlap_wait *part = &core->overlap.waits[i];
		const struct overlap_source *source = &part->source;
		unsigned int kind = pages_kind(&machine->pages,
					       ram_physical(&machine->ram, source->frame));

		region->waits_ps[part->reason] += part->ps;
		region->stall_ps[source->tier][kind][source->kernel] += part->ps;
		region->tier_stall_ps[source->tier] += part->ps;
		if (machine->config.dump && source->tier != TIER_CACHE)
			frames_stall(&machine->frames, source->frame, part->ps);
	}
	core->stall_ps += wait_ps;
	machine->stall(wait_ps);
}

/*
 * Fetch the line of an access at at_ps, and fill it into the L1. Set the line's times and
 * source.
 */
static void fetch(struct machine *machine, unsigned int number, const struct access *access,
		  const struct ram_line *where, uint64_t at_ps, struct overlap_line *line)
{
	struct streams *streams = &machine->cores[number].streams;
	enum stream_fit fit = streams_follow(streams, access->key, at_ps, &line->since_ps);
	struct fetched fetched;

	line->streamed = fit == STREAM_PREFETCHED;
	if (!hierarchy_fetch_from_caches(machine, number, where->line, access->store, at_ps,
					 &fetched)) {
		if (fit == STREAM_NONE)
			streams_begin(streams, access->key, at_ps);
		hierarchy_fetch_from_tier(machine, number, where, at_ps, access->kernel,
					  line->streamed, &fetched);
	}
	hierarchy_fill_l1(machine, number, access->key, where->line,
			  access->store ? CACHE_DIRTY : fetched.flags, at_ps);
	line->latency_ps = fetched.latency_ps;
	line->bandwidth_ps = fetched.bandwidth_ps;
	line->source.tier = (uint8_t)fetched.tier;
}

/* Translate the address of an access and fetch its line, from at_ps on. Put it under way. */
static void ask_for_line(struct machine *machine, unsigned int number,
			 const struct access *access, const struct ram_line *where,
			 uint64_t at_ps)
{
	struct overlap_line line = {
		.content = ram_content(where),
		.source = { .frame = (uint32_t)where->frame, .kernel = access->kernel },
	};

	line.walk_ps = paging_translate(machine, number, access, where, at_ps,
					&line.walk_source);
	at_ps += line.walk_ps;
	fetch(machine, number, access, where, at_ps, &line);
	/* Without a walk, a store's wait for its address counts for the line itself. */
	if (!line.walk_ps)
		line.walk_source = line.source;
	overlap_add(&machine->cores[number].overlap, &line);
	calls_sample_if_due(machine, at_ps);
}

void access_beyond_l1(struct machine *machine, unsigned int number,
		      const struct access *access, uint64_t physical)
{
	const struct ram_line where = ram_resolve(&machine->ram, physical);
	struct core *core = &machine->cores[number];
	struct overlap_start start;

	if (!where.range)
		return;
	hierarchy_prefetch(machine, &where);
	machine->region.l1_misses++;
	if (unlikely(machine->observer.on))
		observer_past_l1(&machine->observer, physical, access->now_ps);
	start = overlap_wait(&core->overlap, access->now_ps, access->insn, access->address,
			     access->store);
	wait(machine, core, start.wait_ps);
	ask_for_line(machine, number, access, &where, start.start_ps);
}

/* Return the tier that a device's access to a line is timed as. */
static unsigned int device_tier(struct machine *machine, const struct ram_line *where)
{
	unsigned int kind = 0;

	if (machine->placement.on)
		kind = pages_kind(&machine->pages, where->line << LINE_SHIFT);
	return placement_access(&machine->placement, &machine->pages, where, kind);
}

void access_by_device(struct machine *machine, uint64_t physical, uint64_t bytes, bool write,
		      uint64_t now_ps)
{
	uint64_t first = physical >> LINE_SHIFT;
	uint64_t end = (physical + bytes + LINE_BYTES - 1) >> LINE_SHIFT;

	if (!machine->modelled)
		return;
	for (uint64_t line = first; line < end; line++) {
		const struct ram_line where = ram_resolve(&machine->ram, line << LINE_SHIFT);
		struct tier *tier;

		if (!where.range)
			continue;
		if (write)
			hierarchy_drop(machine, line);
		tier = &machine->tiers[where.range->socket][device_tier(machine, &where)];
		tier_transfer(tier, write ? TRANSFER_DMA_WRITE : TRANSFER_DMA_READ,
			      now_ps + (line - first) * DMA_SPREAD * tier->config->read_unit_ps *
			      LINE_BYTES / tier->config->unit_bytes, line);
		machine->region.dma_lines++;
	}
	calls_sample_if_due(machine, now_ps);
}
