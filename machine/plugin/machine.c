// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "machine.h"
#include "report.h"

#define ROOT_MASK	(~(FRAME_BYTES - 1))	/* of CR3: the root table's address */

/* A line of the host's memory has so many of a cache's. */
#define LINES_PER_HOST_LINE	(64 / sizeof(struct cache_line))

/* Lines of a device's request follow each other at 1/4 of the tier's bandwidth. */
#define DMA_SPREAD	4

static void warn(const char *what)
{
	fprintf(stderr, "kloc model: %s\n", what);
}

/* Return all counters now. */
static struct moment moment_now(const struct machine *machine, uint64_t now_ps,
				uint64_t monotonic_ns)
{
	const struct kloc_machine_page *page = machine->page;
	struct moment moment = { .time_ps = now_ps, .monotonic_ns = monotonic_ns };

	for (unsigned int i = 0; i < machine->config.cores; i++) {
		const struct core *core = &machine->cores[i];

		if (core->counts)
			moment.cores[i].counts = *core->counts;
		memcpy(moment.cores[i].accesses, core->filter->counts,
		       sizeof(core->filter->counts));
		moment.cores[i].stall_ps = core->stall_ps;
	}
	for (unsigned int tier = 0; tier < machine->config.tier_count; tier++)
		memcpy(moment.bytes[tier], machine->tiers[tier].bytes,
		       sizeof(moment.bytes[tier]));
	if (!page)
		return moment;
	memcpy(moment.promoted, page->promoted, sizeof(moment.promoted));
	memcpy(moment.demoted, page->demoted, sizeof(moment.demoted));
	memcpy(moment.promoted_by, page->promoted_by, sizeof(moment.promoted_by));
	memcpy(moment.demoted_by, page->demoted_by, sizeof(moment.demoted_by));
	memcpy(moment.slots, page->slots, sizeof(moment.slots));
	return moment;
}

static void sample_if_due(struct machine *machine, uint64_t now_ps)
{
	struct moment now;

	if (likely(!region_sample_due(&machine->region, now_ps)))
		return;
	now = moment_now(machine, now_ps, 0);
	region_sample(&machine->region, &now, &machine->pages, &machine->placement);
	live_show(&machine->live, machine, live_host_ns());
}

void machine_page_changed(struct machine *machine, uint64_t address, uint64_t now_ps)
{
	observer_page_changed(&machine->observer, address, now_ps);
}

/* Write a dirty line back to its tier: it takes bandwidth, and nobody waits for it. */
static void write_back(struct machine *machine, uint64_t line, uint64_t now_ps)
{
	const struct ram_range *range = ram_find(&machine->ram, line << LINE_SHIFT);
	unsigned int tier;

	if (!range)
		return;
	tier = placement_write_back(&machine->placement, range, line << LINE_SHIFT);
	tier_transfer(&machine->tiers[tier], TRANSFER_WRITE, now_ps, line);
}

/* A dirty line leaves an L1: update the LLC's copy, or else memory. */
static void store_dirty(struct machine *machine, uint64_t line, uint64_t now_ps)
{
	if (!cache_soil(&machine->llc, cache_set(&machine->llc, cache_hash(line)), line))
		write_back(machine, line, now_ps);
}

/* Fill a line into a core's L1. */
static void fill_l1(struct machine *machine, unsigned int number, uint64_t key,
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
		store_dirty(machine, cache_physical(&victim), now_ps);
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

/* The L1's set for a physical line: a virtual line has the same (config.h). */
static struct cache_line *l1_set(const struct core *core, uint64_t line)
{
	return cache_set(&core->l1, line);
}

/*
 * Drop a line from the L1s of all cores but this one (CORES_MAX: of all cores). Return
 * whether it was dirty.
 */
static bool take_line(struct machine *machine, unsigned int number, uint64_t line)
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

/*
 * Let all other L1s that hold a line have it clean and SHARED. Set *shared if there are
 * any. Return whether it was dirty.
 */
static bool share_line(struct machine *machine, unsigned int number, uint64_t line,
		       bool *shared)
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
			dirty |= found->line & CACHE_DIRTY;
			found->line = (found->line | CACHE_SHARED) & ~CACHE_DIRTY;
			*shared = true;
			found++;
		}
	}
	return dirty;
}

/* What it takes to get a line into an L1. */
struct fetched {
	uint64_t latency_ps, bandwidth_ps;
	unsigned int tier;		/* TIER_CACHE if no tier served it */
	uint64_t flags;			/* CACHE_SHARED, or 0 */
};

/* Fetch a line from its tier, and fill it into the LLC. */
static void fetch_from_tier(struct machine *machine, const struct ram_range *range,
			    uint64_t line, uint64_t at_ps, bool kernel, bool streamed,
			    struct fetched *fetched)
{
	struct region *region = &machine->region;
	uint64_t physical = line << LINE_SHIFT;
	unsigned int kind = pages_kind(&machine->pages, physical);
	unsigned int tier = placement_access(&machine->placement, &machine->pages, range,
					     physical, kind);
	struct cache_line victim = cache_fill(&machine->llc,
					      cache_set(&machine->llc, cache_hash(line)),
					      line, line, 0);

	if (victim.key != CACHE_NO_KEY && victim.line & CACHE_DIRTY)
		write_back(machine, cache_physical(&victim), at_ps);
	fetched->tier = tier;
	fetched->bandwidth_ps = tier_transfer(&machine->tiers[tier], TRANSFER_READ, at_ps, line);
	fetched->latency_ps = tier_latency_ps(&machine->tiers[tier]);
	region->llc_misses++;
	region->streamed += streamed;
	region->misses[tier][kind][kernel]++;
	if (machine->observer.on)
		observer_miss(&machine->observer, physical);
	if (machine->config.dump)
		frames_miss(&machine->frames, ram_frame(range, physical));
}

/* Fetch a line that a core's L1 does not hold, at at_ps. Return false if no cache has it. */
static bool fetch_from_caches(struct machine *machine, unsigned int number, uint64_t line,
			      bool store, uint64_t at_ps, struct fetched *fetched)
{
	bool dirty = false, shared = false;

	*fetched = (struct fetched){ .tier = TIER_CACHE };
	if (others_may_hold(machine, number, line)) {
		dirty = store ? take_line(machine, number, line) :
				share_line(machine, number, line, &shared);
		fetched->flags = shared ? CACHE_SHARED : 0;
	}
	if (unlikely(dirty)) {
		machine->region.snoops++;
		if (!store)
			store_dirty(machine, line, at_ps);
		fetched->latency_ps = machine->config.snoop_ps;
		return true;
	}
	fetched->latency_ps = machine->config.llc_ps;
	return cache_use(&machine->llc, cache_set(&machine->llc, cache_hash(line)), line);
}

/*
 * Read an entry of a page table at at_ps, through the core's caches: its L1 as the
 * kernel reads it, then as any line. Return how long it takes; *tier is who served it.
 */
static uint64_t read_entry(struct machine *machine, unsigned int number, uint64_t physical,
			   uint64_t at_ps, unsigned int *tier)
{
	const struct ram_range *range = ram_find(&machine->ram, physical);
	struct core *core = &machine->cores[number];
	uint64_t line = physical >> LINE_SHIFT;
	uint64_t key = space_key(&core->space, machine->pages.layout.page_offset + physical);
	struct fetched fetched;

	*tier = TIER_CACHE;
	if (!range)
		return 0;
	filter_drop(core->filter, key);
	if (cache_use(&core->l1, cache_set(&core->l1, key), key))
		return 0;
	if (!fetch_from_caches(machine, number, line, false, at_ps, &fetched))
		fetch_from_tier(machine, range, line, at_ps, true, false, &fetched);
	fill_l1(machine, number, key, line, fetched.flags, at_ps);
	*tier = fetched.tier;
	return fetched.latency_ps + fetched.bandwidth_ps;
}

static uint64_t *word_at(void *context, uint64_t physical)
{
	const struct machine *machine = context;

	return ram_word(&machine->ram, physical);
}

/*
 * Walk the page table for an access at at_ps. Return how long it takes. *source is the
 * table whose entry took longest.
 */
static uint64_t walk_tables(struct machine *machine, unsigned int number,
			    const struct access *access, uint64_t at_ps,
			    struct overlap_source *source)
{
	struct core *core = &machine->cores[number];
	uint64_t walk_ps = 0, longest_ps = 0;
	struct tlb_walk walk;

	if (!core->root || !tlb_walk(&walk, core->root & ROOT_MASK, access->address, word_at,
				     machine))
		return 0;
	tlb_skip(&core->tlb, &walk, access->address, core->space.number);
	for (unsigned int level = walk.first; level < walk.levels; level++) {
		const struct ram_range *range = ram_find(&machine->ram, walk.entries[level]);
		unsigned int tier;
		uint64_t entry_ps = read_entry(machine, number, walk.entries[level],
					       at_ps + walk_ps, &tier);

		walk_ps += entry_ps;
		if (entry_ps <= longest_ps || !range)
			continue;
		longest_ps = entry_ps;
		*source = (struct overlap_source){
			.frame = (uint32_t)ram_frame(range, walk.entries[level]),
			.tier = (uint8_t)tier,
			.kernel = access->kernel,
		};
	}
	tlb_insert(&core->tlb, access->address, core->space.number, walk.physical,
		   walk.page_shift);
	machine->region.walks++;
	machine->region.walk_ps += walk_ps;
	return walk_ps;
}

/* Translate the address of an access. Return how long it takes, as walk_tables() does. */
static uint64_t translate(struct machine *machine, unsigned int number,
			  const struct access *access, uint64_t physical, uint64_t at_ps,
			  struct overlap_source *source)
{
	struct core *core = &machine->cores[number];

	switch (tlb_find(&core->tlb, access->address, core->space.number, physical)) {
	case TLB_FIRST:
		return 0;
	case TLB_SECOND:
		source->tier = TIER_CACHE;
		machine->region.stlb_hits++;
		return machine->config.stlb_ps;
	case TLB_MISS:
		break;
	}
	return walk_tables(machine, number, access, at_ps, source);
}

/* Let a core wait, and count what it waits for. */
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

bool machine_access_l1(struct machine *machine, unsigned int number, uint64_t key, bool store)
{
	struct core *core = &machine->cores[number];
	struct cache_line *found = cache_use(&core->l1, cache_set(&core->l1, key), key);

	if (!found)
		return false;
	if (store) {
		if (found->line & CACHE_SHARED)
			take_line(machine, number, cache_physical(found));
		found->line = (found->line | CACHE_DIRTY) & ~CACHE_SHARED;
	}
	return true;
}

/*
 * Ask the host's memory for what an access to this line will read: of the simulation, the
 * LLC's set and the directory; of the guest, the line and its struct page.
 */
static void prefetch(struct machine *machine, const struct ram_range *range, uint64_t line)
{
	const struct cache_line *set = cache_set(&machine->llc, cache_hash(line));

	for (unsigned int way = 0; way < machine->llc.ways; way += LINES_PER_HOST_LINE)
		__builtin_prefetch(set + way);
	__builtin_prefetch(directory_entry(&machine->directory, line));
	__builtin_prefetch(range->bytes + ((line << LINE_SHIFT) - range->start));
	pages_prefetch(&machine->pages, line << LINE_SHIFT);
}

void machine_access_beyond(struct machine *machine, unsigned int number,
			   const struct access *access, uint64_t physical)
{
	const struct ram_range *range = ram_find(&machine->ram, physical);
	struct core *core = &machine->cores[number];
	uint64_t line = physical >> LINE_SHIFT;
	struct overlap_line under_way = { 0 };
	struct overlap_start start;
	struct fetched fetched;
	enum stream_fit fit;
	uint64_t at_ps;

	if (!range)
		return;
	prefetch(machine, range, line);
	machine->region.l1_misses++;
	if (unlikely(machine->observer.on))
		observer_past_l1(&machine->observer, physical, access->now_ps);

	start = overlap_wait(&core->overlap, access->now_ps, access->insn, access->address,
			     access->store);
	wait(machine, core, start.wait_ps);
	at_ps = start.start_ps;
	under_way.source.frame = (uint32_t)ram_frame(range, physical);
	under_way.source.kernel = access->kernel;
	under_way.walk_ps = translate(machine, number, access, physical, at_ps,
				      &under_way.walk_source);
	at_ps += under_way.walk_ps;

	fit = streams_follow(&core->streams, access->key, at_ps, &under_way.since_ps);
	under_way.streamed = fit == STREAM_PREFETCHED;
	if (!fetch_from_caches(machine, number, line, access->store, at_ps, &fetched)) {
		if (fit == STREAM_NONE)
			streams_begin(&core->streams, access->key, at_ps);
		fetch_from_tier(machine, range, line, at_ps, access->kernel, under_way.streamed,
				&fetched);
	}
	fill_l1(machine, number, access->key, line,
		access->store ? CACHE_DIRTY : fetched.flags, at_ps);

	under_way.latency_ps = fetched.latency_ps;
	under_way.bandwidth_ps = fetched.bandwidth_ps;
	under_way.source.tier = (uint8_t)fetched.tier;
	/* What comes before the walk's end also has a store's wait for its address. */
	if (!under_way.walk_ps)
		under_way.walk_source = under_way.source;
	under_way.content = range->bytes + ((line << LINE_SHIFT) - range->start);
	overlap_add(&core->overlap, &under_way);
	sample_if_due(machine, at_ps);
}

/* Return the tier that a device's access to this page is timed as. */
static unsigned int device_tier(struct machine *machine, const struct ram_range *range,
				uint64_t physical)
{
	unsigned int kind = machine->placement.on ? pages_kind(&machine->pages, physical) : 0;

	return placement_access(&machine->placement, &machine->pages, range, physical, kind);
}

void machine_dma(struct machine *machine, uint64_t physical, uint64_t bytes, bool write,
		 uint64_t now_ps)
{
	uint64_t first = physical >> LINE_SHIFT;
	uint64_t end = (physical + bytes + LINE_BYTES - 1) >> LINE_SHIFT;
	bool dirty = false;

	if (!machine->modelled)
		return;
	for (uint64_t line = first; line < end; line++) {
		const struct ram_range *range = ram_find(&machine->ram, line << LINE_SHIFT);
		struct tier *tier;

		if (!range)
			continue;
		if (write) {
			take_line(machine, CORES_MAX, line);
			cache_drop(&machine->llc, cache_set(&machine->llc, cache_hash(line)),
				   line, &dirty);
		}
		tier = &machine->tiers[device_tier(machine, range, line << LINE_SHIFT)];
		tier_transfer(tier, write ? TRANSFER_DMA_WRITE : TRANSFER_DMA_READ,
			      now_ps + (line - first) * DMA_SPREAD * tier->config->read_unit_ps *
			      LINE_BYTES / tier->config->unit_bytes, line);
		machine->region.dma_lines++;
	}
	sample_if_due(machine, now_ps);
}

/* All numbers of address spaces were used up: begin anew, and find those of all cores. */
static void restart_spaces(struct machine *machine)
{
	memset(&machine->directory, 0, sizeof(machine->directory));
	for (unsigned int i = 0; i < machine->config.cores; i++) {
		struct core *core = &machine->cores[i];

		cache_clear(&core->l1);
		filter_clear(core->filter);
		tlb_flush_all(&core->tlb);
		if (core->root)
			spaces_switch(&machine->spaces, &core->space, core->root);
	}
}

void machine_set_root(struct machine *machine, unsigned int number, uint64_t root)
{
	struct core *core = &machine->cores[number];

	if (number >= CORES_MAX)
		return;
	if ((core->root & ROOT_MASK) == (root & ROOT_MASK)) {
		tlb_flush_space(&core->tlb, core->space.number);
		return;
	}
	core->root = root;
	filter_drop_user(core->filter);
	if (spaces_switch(&machine->spaces, &core->space, root))
		restart_spaces(machine);
}

void machine_flush_page(struct machine *machine, unsigned int number, uint64_t address)
{
	struct core *core = &machine->cores[number];

	tlb_flush_page(&core->tlb, address, core->space.number);
}

void machine_flush_all(struct machine *machine, unsigned int number)
{
	tlb_flush_all(&machine->cores[number].tlb);
}

void machine_set_filter(struct core *core, struct filter *filter)
{
	core->filter = filter;
	filter_clear(filter);
}

/* Modelled time begins: caches are empty, the tiers idle, and no frame has stalled anything. */
static void cool_down(struct machine *machine, uint64_t now_ps)
{
	frames_begin(&machine->frames);
	memset(&machine->directory, 0, sizeof(machine->directory));
	for (unsigned int i = 0; i < machine->config.cores; i++) {
		struct core *core = &machine->cores[i];

		cache_clear(&core->l1);
		filter_clear(core->filter);
		tlb_flush_all(&core->tlb);
		streams_clear(&core->streams);
		overlap_clear(&core->overlap);
	}
	cache_clear(&machine->llc);
	for (unsigned int tier = 0; tier < machine->config.tier_count; tier++)
		tier_clear(&machine->tiers[tier], now_ps);
}

static void begin_region(struct machine *machine, const char *name,
			 const struct moment *now)
{
	pages_forget_caches(&machine->pages);
	if (machine->observer.on)
		observer_begin(&machine->observer, now->time_ps);
	region_begin(&machine->region, name, now, machine->config.sample_ps);
	machine->modelled = true;
}

static void end_region(struct machine *machine, const struct moment *now, bool complete)
{
	region_end(&machine->region, now, &machine->pages, &machine->placement);
	if (machine->observer.on)
		observer_end(&machine->observer, now->time_ps);
	machine->modelled = false;
	report_add_region(machine, complete);
	report_write(machine, complete);
	if (machine->config.dump)
		frames_write(&machine->frames, machine->config.frames);
}

static void call_warm(struct machine *machine, const struct moment *now)
{
	if (machine->modelled) {
		warn("the guest began a warm-up inside another region, which is incomplete");
		end_region(machine, now, false);
	}
	cool_down(machine, now->time_ps);
	begin_region(machine, "warm-up", now);
}

static void call_begin(struct machine *machine, const struct moment *now)
{
	bool warm = machine->modelled && !strcmp(machine->region.name, "warm-up");

	if (machine->modelled && !warm)
		warn("the guest began a measured region inside another; the first is incomplete");
	if (machine->modelled)
		end_region(machine, now, warm);
	else
		cool_down(machine, now->time_ps);
	begin_region(machine, "measured", now);
}

static void call_end(struct machine *machine, const struct moment *now)
{
	if (machine->modelled)
		end_region(machine, now, true);
	else
		warn("the guest ended a measured region that it had not begun; ignored");
}

/* The guest's kernel has described itself in a page of its own. */
static void call_layout(struct machine *machine, uint64_t physical)
{
	const struct kloc_machine_page *page = ram_at(&machine->ram, physical, sizeof(*page));

	if (page && page->magic == KLOC_MACHINE_MAGIC &&
	    page->version == KLOC_MACHINE_VERSION &&
	    pages_set_layout(&machine->pages, &page->layout)) {
		machine->page = page;
		return;
	}
	warn("the guest's layout of struct page is not valid: all pages are 'unknown'; "
	     "build the kernel and the plugin from the same version");
}

void machine_call(struct machine *machine, unsigned int call, uint64_t argument,
		  uint64_t now_ps)
{
	struct moment now = moment_now(machine, now_ps, argument);

	switch (call) {
	case KLOC_MACHINE_LAYOUT:
		call_layout(machine, argument);
		break;
	case KLOC_MACHINE_START:
		frames_note_start(&machine->frames);
		break;
	case KLOC_MACHINE_WARM:
		call_warm(machine, &now);
		break;
	case KLOC_MACHINE_BEGIN:
		call_begin(machine, &now);
		break;
	case KLOC_MACHINE_END:
		call_end(machine, &now);
		break;
	}
}

void machine_finish(struct machine *machine, uint64_t now_ps)
{
	struct moment now = moment_now(machine, now_ps, 0);

	if (machine->modelled)
		end_region(machine, &now, false);
	else if (!machine->reports)
		report_write(machine, false);
}

static bool init_core(struct core *core, const struct config *config)
{
	machine_set_filter(core, &core->own_filter);
	overlap_init(&core->overlap, &config->overlap);
	return cache_init(&core->l1, config->l1_bytes, config->l1_ways) &&
	       tlb_init(&core->tlb, &config->tlb);
}

static bool init_cores(struct machine *machine)
{
	for (unsigned int i = 0; i < machine->config.cores; i++)
		if (!init_core(&machine->cores[i], &machine->config))
			return false;
	return true;
}

/* Map the file that places frames, if there is one. */
static bool init_fast_frames(struct machine *machine)
{
	const char *path = machine->config.fast_frames;
	const unsigned char *frames;

	if (!path)
		return true;
	frames = file_map("fast_frames", path, 0, machine->ram.frames, false);
	placement_set_frames(&machine->placement, frames);
	return frames;
}

bool machine_init(struct machine *machine, void (*stall)(uint64_t ps))
{
	const struct config *config = &machine->config;

	machine->stall = stall;
	if (!ram_map(&machine->ram, config) ||
	    !placement_init(&machine->placement, config->fast_kinds, config->tier_count,
			    machine->ram.frames) ||
	    !init_fast_frames(machine))
		return false;
	pages_init(&machine->pages, &machine->ram);
	for (unsigned int tier = 0; tier < config->tier_count; tier++)
		tier_init(&machine->tiers[tier], &config->tiers[tier]);
	if (!init_cores(machine) ||
	    !cache_init(&machine->llc, config->llc_bytes, config->llc_ways) ||
	    !frames_init(&machine->frames, &machine->pages) ||
	    !observer_init(&machine->observer, &machine->pages, config->observe)) {
		warn("out of memory");
		return false;
	}
	return true;
}

void machine_free(struct machine *machine)
{
	region_clear(&machine->region);
	placement_free(&machine->placement);
	observer_free(&machine->observer);
	frames_free(&machine->frames);
	cache_free(&machine->llc);
	for (unsigned int i = 0; i < machine->config.cores; i++) {
		cache_free(&machine->cores[i].l1);
		tlb_free(&machine->cores[i].tlb);
	}
	pages_free(&machine->pages);
	free(machine->reports);
	config_free(&machine->config);
}
