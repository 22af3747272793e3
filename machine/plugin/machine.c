// SPDX-License-Identifier: GPL-2.0
/*
 * The machine's setup and teardown: maps the guest's memory, and allocates what the
 * configuration asks for.
 */
#include <stdio.h>
#include <stdlib.h>

#include "file.h"
#include "machine.h"

void machine_set_filter(struct core *core, struct filter *filter)
{
	core->filter = filter;
	filter_clear(filter);
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
	const struct config *config = &machine->config;

	for (unsigned int i = 0; i < config->cores; i++) {
		machine->cores[i].socket = i / (config->cores / config->sockets);
		if (!init_core(&machine->cores[i], config))
			return false;
	}
	return true;
}

static void init_tiers(struct machine *machine)
{
	const struct config *config = &machine->config;

	for (unsigned int socket = 0; socket < config->sockets; socket++) {
		for (unsigned int tier = 0; tier < config->tier_count; tier++)
			tier_init(&machine->tiers[socket][tier], &config->tiers[tier]);
		if (config->sockets > 1)
			tier_init(&machine->links[socket], &config->link);
	}
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
	init_tiers(machine);
	if (!init_cores(machine) ||
	    !cache_init(&machine->llc, config->llc_bytes, config->llc_ways) ||
	    !frames_init(&machine->frames, &machine->pages) ||
	    !observer_init(&machine->observer, &machine->pages, config->observe)) {
		fprintf(stderr, "kloc model: out of memory\n");
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
