// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of the guest: record the counters at the ends of a region, reset the machine at
 * the first one, and report each when it ends.
 */
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "report.h"

static void warn(const char *what)
{
	fprintf(stderr, "kloc model: %s\n", what);
}

/* Count the bytes that a tier's memory has moved, of all sockets. */
static void count_bytes(const struct machine *machine, unsigned int tier, uint64_t *bytes)
{
	for (unsigned int socket = 0; socket < machine->config.sockets; socket++)
		for (int i = 0; i < TRANSFERS; i++)
			bytes[i] += machine->tiers[socket][tier].bytes[i];
}

/* Return all counters that run from power-on, as they are now. */
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
		count_bytes(machine, tier, moment.bytes[tier]);
	if (!page)
		return moment;
	memcpy(moment.promoted, page->promoted, sizeof(moment.promoted));
	memcpy(moment.demoted, page->demoted, sizeof(moment.demoted));
	memcpy(moment.promoted_by, page->promoted_by, sizeof(moment.promoted_by));
	memcpy(moment.demoted_by, page->demoted_by, sizeof(moment.demoted_by));
	memcpy(moment.slots, page->slots, sizeof(moment.slots));
	return moment;
}

void calls_sample(struct machine *machine, uint64_t now_ps)
{
	struct moment now = moment_now(machine, now_ps, 0);

	region_sample(&machine->region, &now, &machine->pages, &machine->placement);
	live_show(&machine->live, machine, live_host_ns());
}

/* Begin modelled time: empty caches, idle tiers, and frames without stalls. */
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
	for (unsigned int socket = 0; socket < machine->config.sockets; socket++) {
		for (unsigned int tier = 0; tier < machine->config.tier_count; tier++)
			tier_clear(&machine->tiers[socket][tier], now_ps);
		tier_clear(&machine->links[socket], now_ps);
	}
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

void calls_handle(struct machine *machine, unsigned int call, uint64_t argument,
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

void calls_finish(struct machine *machine, uint64_t now_ps)
{
	struct moment now = moment_now(machine, now_ps, 0);

	if (machine->modelled)
		end_region(machine, &now, false);
	else if (!machine->reports)
		report_write(machine, false);
}
