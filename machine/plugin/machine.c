// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "report.h"

#define PROGRESS_INSTRUCTIONS	10000000	/* at most, between two updates of the page */

static void warn(const char *what)
{
	fprintf(stderr, "kloc model: %s\n", what);
}

/* Advance the clocks by the instructions since the last time. */
static void settle(struct machine *machine)
{
	clock_run(&machine->clock, machine->counts->user + machine->counts->kernel);
}

/* Update the clocks in the shared page, for the guest and the kloc command. */
static void publish(struct machine *machine)
{
	struct kloc_machine_page *page = machine->page;
	const struct clock *clock = &machine->clock;

	page->offset = clock_offset_ns(clock);
	page->background = clock_ahead_ps(clock) / PS_PER_NS;
	page->time = clock_now_ps(clock) / PS_PER_NS;
	page->instructions = clock->counted;
	machine->published = clock->counted;
}

/* Return all counters now; CLOCK_MONOTONIC is as the guest gave it last. */
static struct moment this_moment(const struct machine *machine)
{
	const struct kloc_machine_page *page = machine->page;
	struct moment moment = {
		.user = machine->counts->user,
		.kernel = machine->counts->kernel,
		.clock = machine->clock,
		.monotonic_ns = machine->monotonic_ns,
	};

	for (unsigned int tier = 0; tier < machine->config.tier_count; tier++)
		memcpy(moment.bytes[tier], machine->tiers[tier].bytes,
		       sizeof(moment.bytes[tier]));
	memcpy(moment.promoted, page->promoted, sizeof(moment.promoted));
	memcpy(moment.demoted, page->demoted, sizeof(moment.demoted));
	memcpy(moment.promoted_by, page->promoted_by, sizeof(moment.promoted_by));
	memcpy(moment.demoted_by, page->demoted_by, sizeof(moment.demoted_by));
	for (int slot = 0; slot < KLOC_MACHINE_SLOTS; slot++)
		moment.migrated[slot] = page->slots[slot].migrated;
	return moment;
}

static void sample_if_due(struct machine *machine)
{
	struct moment now;

	if (!machine->modelled ||
	    likely(!region_sample_due(&machine->region, clock_now_ps(&machine->clock))))
		return;
	now = this_moment(machine);
	region_sample(&machine->region, &now, &machine->pages, &machine->placement);
	live_show(&machine->live, machine, live_host_ns());
}

/* Return T as settle() would make it, without changing the clocks. */
static uint64_t unsettled_ps(const struct machine *machine)
{
	const struct clock *clock = &machine->clock;
	uint64_t counted = machine->counts->user + machine->counts->kernel;

	if (clock->device || clock_in_background(clock))
		return clock_now_ps(clock);
	return clock_now_ps(clock) + (counted - clock->counted) * clock->insn_ps;
}

void machine_page_changed(struct machine *machine, uint64_t address)
{
	observer_page_changed(&machine->observer, address, unsettled_ps(machine));
}

/* Return a tier with its ledger advanced to T. */
static struct tier *tier_now(struct machine *machine, unsigned int index)
{
	struct tier *tier = &machine->tiers[index];

	ledger_advance(&tier->ledger, clock_now_ps(&machine->clock));
	return tier;
}

/* Write a dirty line back to its tier: it takes bandwidth, and nobody waits for it. */
static void write_back(struct machine *machine, uint64_t line)
{
	const struct ram_range *range = ram_find(&machine->ram, line << LINE_SHIFT);
	const struct clock *clock = &machine->clock;
	unsigned int tier;

	if (!range)
		return;
	settle(machine);
	tier = placement_write_back(&machine->placement, range, line << LINE_SHIFT);
	tier_transfer(tier_now(machine, tier), TRANSFER_WRITE, clock_requester(clock),
		      clock_core_ps(clock), line);
	if (machine->config.dump && !clock_in_background(clock))
		frames_write_back(&machine->frames, line, clock_now_ps(clock));
}

/* Evict a line from the L1: if it is dirty, update the LLC's copy, or else memory. */
static void evict_from_l1(struct machine *machine, struct cache_line victim)
{
	uint64_t line = victim.line >> 1;

	if (victim.key == CACHE_NO_KEY || !(victim.line & CACHE_DIRTY))
		return;
	if (!cache_soil(&machine->llc, cache_set(&machine->llc, cache_hash(line)), line))
		write_back(machine, line);
}

/* Handle an LLC miss: stall the running code, and count the stall for the page's kind. */
static void miss(struct machine *machine, const struct ram_range *range, uint64_t line,
		 bool store, bool kernel, bool streamed)
{
	struct region *region = &machine->region;
	struct clock *clock = &machine->clock;
	uint64_t physical = line << LINE_SHIFT;
	unsigned int kind = pages_kind(&machine->pages, physical);
	unsigned int tier = placement_access(&machine->placement, &machine->pages, range,
					     physical, kind);
	uint64_t now_ps = clock_now_ps(clock);
	uint64_t stall_ps = tier_miss(tier_now(machine, tier), clock_requester(clock),
				      clock_core_ps(clock), line, store, streamed);

	region->llc_misses++;
	region->streamed += streamed;
	if (!clock_in_background(clock)) {
		region->stall_ps[tier][kind][kernel] += stall_ps;
		region->misses[tier][kind][kernel]++;
		region->tier_stall_ps[tier] += stall_ps;
		if (machine->observer.on)
			observer_miss(&machine->observer, physical);
		if (machine->config.dump)
			frames_miss(&machine->frames, range, line, now_ps, stall_ps, store,
				    streamed);
	}
	clock_stall(clock, stall_ps);
}

static void access_llc(struct machine *machine, const struct ram_range *range,
		       uint64_t key, uint64_t line, bool store, bool kernel)
{
	struct cache_line *set = cache_set(&machine->llc, cache_hash(line));
	enum stream_fit fit = streams_follow(&machine->streams, key);
	struct cache_line victim;

	if (cache_use(&machine->llc, set, line, false))
		return;
	if (fit == STREAM_NONE)
		streams_begin(&machine->streams, key);
	victim = cache_fill(&machine->llc, set, line, line, false);
	settle(machine);
	if (victim.key != CACHE_NO_KEY && victim.line & CACHE_DIRTY)
		write_back(machine, victim.line >> 1);
	miss(machine, range, line, store, kernel, fit == STREAM_PREFETCHED);
	sample_if_due(machine);
	if (unlikely(machine->clock.counted - machine->published > PROGRESS_INSTRUCTIONS))
		publish(machine);
}

/* Return the tier that a device's access to this page is timed as. */
static unsigned int device_tier(struct machine *machine, const struct ram_range *range,
				uint64_t physical)
{
	if (!machine->placement.on)
		return range->timed_as;
	return placement_access(&machine->placement, &machine->pages, range, physical,
				pages_kind(&machine->pages, physical));
}

/*
 * Handle an access by a device's copy. The driver copies a line in pieces, one
 * after the other: count it once. A line that the device writes is dropped from
 * the caches; a line that it reads stays in them.
 */
static void access_by_device(struct machine *machine, const struct ram_range *range,
			     uint64_t line, bool store)
{
	struct clock *clock = &machine->clock;
	unsigned int tier;
	uint64_t wait_ps;

	if (line == machine->device_line)
		return;
	machine->device_line = line;
	machine->region.device_misses++;
	if (store) {
		/* A virtual and a physical line have the same set in the L1 (config.h). */
		cache_drop(&machine->l1, cache_set(&machine->l1, line), line);
		cache_drop(&machine->llc, cache_set(&machine->llc, cache_hash(line)), line);
	}
	tier = device_tier(machine, range, line << LINE_SHIFT);
	wait_ps = tier_transfer(tier_now(machine, tier),
				store ? TRANSFER_DMA_WRITE : TRANSFER_DMA_READ,
				REQUESTER_AHEAD, clock->device_ps, line);
	clock_device_line(clock, wait_ps);
}

void machine_access_beyond(struct machine *machine, uint64_t key, uint64_t physical,
			   bool store, bool kernel)
{
	const struct ram_range *range = ram_find(&machine->ram, physical);
	uint64_t line = physical >> LINE_SHIFT;

	if (!range)
		return;
	if (unlikely(machine->clock.device)) {
		access_by_device(machine, range, line, store);
		return;
	}
	if (unlikely(machine->observer.on) && !clock_in_background(&machine->clock))
		observer_past_l1(&machine->observer, physical, unsettled_ps(machine));
	machine->region.l1_misses++;
	evict_from_l1(machine, cache_fill(&machine->l1, cache_set(&machine->l1, key), key,
					  line, store));
	access_llc(machine, range, key, line, store, kernel);
}

/* Begin a region, with empty caches and idle tiers. */
static void begin_region(struct machine *machine)
{
	uint64_t now_ps = clock_now_ps(&machine->clock);
	struct moment now;

	cache_clear(&machine->l1);
	cache_clear(&machine->llc);
	streams_clear(&machine->streams);
	for (unsigned int tier = 0; tier < machine->config.tier_count; tier++)
		tier_clear(&machine->tiers[tier], now_ps);
	pages_forget_caches(&machine->pages);
	frames_begin(&machine->frames, now_ps);
	if (machine->observer.on)
		observer_begin(&machine->observer, now_ps);
	now = this_moment(machine);
	region_begin(&machine->region, &now, machine->config.sample_ps);
	machine->modelled = true;
}

static void end_region(struct machine *machine, bool complete)
{
	struct moment now = this_moment(machine);

	region_end(&machine->region, &now, &machine->pages, &machine->placement);
	if (machine->observer.on)
		observer_end(&machine->observer, clock_now_ps(&machine->clock));
	machine->modelled = false;
	report_add_region(machine, complete);
	report_write(machine, complete);
	if (machine->config.dump)
		frames_write(&machine->frames, machine->config.frames);
}

/*
 * Take over the guest's clocks at BEGIN and END. The guest read CLOCK_MONOTONIC
 * before the call. If the call reveals abandoned instructions, the guest's T jumps
 * ahead, and the jump belongs to the value that it read.
 */
static void sync_monotonic(struct machine *machine)
{
	uint64_t jump_ns = clock_sync(&machine->clock, machine->page->tsc, false);

	machine->monotonic_ns = machine->page->monotonic + jump_ns;
}

static void call_begin(struct machine *machine)
{
	sync_monotonic(machine);
	if (machine->modelled) {
		warn("the guest began a measured region inside another; the first is incomplete");
		end_region(machine, false);
	}
	begin_region(machine);
}

static void call_end(struct machine *machine)
{
	sync_monotonic(machine);
	if (machine->modelled)
		end_region(machine, true);
	else
		warn("the guest ended a measured region that it had not begun; ignored");
}

static void call_layout(struct machine *machine)
{
	if (!pages_set_layout(&machine->pages, &machine->page->layout))
		warn("the guest's layout of struct page is not valid: all pages are 'unknown'; "
		     "build the kernel and the plugin from the same version");
}

static void call_switch(struct machine *machine)
{
	uint64_t slot = machine->page->slot;

	clock_switch(&machine->clock, slot < KLOC_MACHINE_SLOTS ? (unsigned int)slot : 0);
	if (spaces_switch(&machine->spaces, machine->page->mm))
		cache_clear(&machine->l1);
}

static void call_device_begin(struct machine *machine)
{
	clock_device_begin(&machine->clock, machine->page->dma_bytes_per_us);
	spaces_device(&machine->spaces, true);
	machine->device_line = CACHE_NO_KEY;
}

static void call_device_end(struct machine *machine)
{
	clock_device_end(&machine->clock);
	spaces_device(&machine->spaces, false);
}

void machine_read_tsc(struct machine *machine)
{
	settle(machine);
	clock_read_tsc(&machine->clock);
	sample_if_due(machine);
	publish(machine);
}

void machine_call(struct machine *machine, unsigned int call)
{
	settle(machine);
	switch (call) {
	case KLOC_MACHINE_LAYOUT:
		call_layout(machine);
		break;
	case KLOC_MACHINE_START:
		frames_note_start(&machine->frames);
		break;
	case KLOC_MACHINE_BEGIN:
		call_begin(machine);
		break;
	case KLOC_MACHINE_END:
		call_end(machine);
		break;
	case KLOC_MACHINE_SWITCH:
		call_switch(machine);
		break;
	case KLOC_MACHINE_DMA_BEGIN:
		call_device_begin(machine);
		break;
	case KLOC_MACHINE_DMA_END:
		call_device_end(machine);
		break;
	case KLOC_MACHINE_IDLE_ENTER:
		clock_sync(&machine->clock, machine->page->tsc, false);
		machine->idle_for_storage = machine->page->storage_pending != 0;
		break;
	case KLOC_MACHINE_IDLE_EXIT:
		clock_sync(&machine->clock, machine->page->tsc, machine->idle_for_storage);
		machine->idle_for_storage = false;
		break;
	}
	machine->page->modelled = machine->modelled;
	publish(machine);
}

void machine_finish(struct machine *machine)
{
	settle(machine);
	publish(machine);
	if (machine->modelled)
		end_region(machine, false);
	else if (!machine->reports)
		report_write(machine, false);
}

static void init_tiers(struct machine *machine)
{
	for (unsigned int tier = 0; tier < machine->config.tier_count; tier++)
		tier_init(&machine->tiers[tier], &machine->config.tiers[tier]);
}

bool machine_init(struct machine *machine, struct kloc_machine_page *page,
		  const struct counts *counts)
{
	const struct config *config = &machine->config;

	machine->page = page;
	machine->counts = counts;
	if (!ram_map(&machine->ram, config) ||
	    !placement_init(&machine->placement, config->fast_kinds, config->tier_count,
			    machine->ram.frames))
		return false;
	pages_init(&machine->pages, &machine->ram);
	clock_init(&machine->clock, config->insn_ps, config->own_core);
	init_tiers(machine);
	if (!cache_init(&machine->l1, config->l1_bytes, config->l1_ways) ||
	    !cache_init(&machine->llc, config->llc_bytes, config->llc_ways) ||
	    !frames_init(&machine->frames, &machine->pages, &config->tiers[0]) ||
	    !observer_init(&machine->observer, &machine->pages, config->observe)) {
		warn("out of memory");
		return false;
	}
	page->magic = KLOC_MACHINE_MAGIC;
	page->version = KLOC_MACHINE_VERSION;
	page->own_core = config->own_core;
	publish(machine);
	return true;
}

void machine_free(struct machine *machine)
{
	region_clear(&machine->region);
	placement_free(&machine->placement);
	observer_free(&machine->observer);
	frames_free(&machine->frames);
	cache_free(&machine->llc);
	cache_free(&machine->l1);
	pages_free(&machine->pages);
	free(machine->reports);
	config_free(&machine->config);
}
