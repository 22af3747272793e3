// SPDX-License-Identifier: GPL-2.0
/*
 * The live file: totals of the region in progress, for `kloc run --follow`.
 */
#include <time.h>

#include "file.h"
#include "json.h"
#include "live.h"
#include "machine.h"

#define PERIOD_NS	1000000000ULL

/* live_show() is called only after a sample was added. */
static const struct sample *latest(const struct region *region)
{
	return &region->samples[region->sample_count - 1];
}

static void put_if_any(struct json *json, const struct machine *machine, unsigned int kind,
		       uint64_t value)
{
	if (value)
		json_unsigned(json, pages_kind_name(&machine->pages, kind), value);
}

static void put_pages(struct json *json, const struct machine *machine, unsigned int tier)
{
	const struct census *census = &latest(&machine->region)->census;

	json_open_object(json, machine->config.tiers[tier].name);
	for (unsigned int kind = 0; kind < census->kinds; kind++)
		put_if_any(json, machine, kind, census->frames[tier * census->kinds + kind]);
	json_close_object(json);
}

static void put_stalls(struct json *json, const struct machine *machine, unsigned int tier)
{
	json_open_object(json, machine->config.tiers[tier].name);
	for (unsigned int kind = 0; kind < machine->pages.kind_count; kind++) {
		const uint64_t *stall_ps = machine->region.stall_ps[tier][kind];

		put_if_any(json, machine, kind, (stall_ps[0] + stall_ps[1]) / PS_PER_NS);
	}
	json_close_object(json);
}

static void put_by_tier(struct json *json, const char *key, const struct machine *machine,
			void (*put)(struct json *json, const struct machine *machine,
				    unsigned int tier))
{
	json_open_object(json, key);
	for (unsigned int tier = 0; tier < machine->config.tier_count; tier++)
		put(json, machine, tier);
	json_close_object(json);
}

static void write_live(FILE *file, const void *data)
{
	const struct machine *machine = data;
	const struct sample *sample = latest(&machine->region);
	struct json json = { .file = file };

	json_open_object(&json, NULL);
	json_unsigned(&json, "t_ns", sample->t_ps / PS_PER_NS);
	json_unsigned(&json, "instructions",
		      sample->instructions);
	json_unsigned(&json, "promoted", sample->promoted);
	json_unsigned(&json, "demoted", sample->demoted);
	put_by_tier(&json, "pages", machine, put_pages);
	put_by_tier(&json, "stall_ns", machine, put_stalls);
	json_close_object(&json);
	fputc('\n', file);
}

uint64_t live_host_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * PERIOD_NS + (uint64_t)now.tv_nsec;
}

void live_show(struct live *live, const struct machine *machine, uint64_t host_ns)
{
	if (!machine->config.live || live->failed || host_ns < live->next_ns)
		return;
	live->next_ns = host_ns + PERIOD_NS;
	live->failed = !file_replace(machine->config.live, write_live, machine);
}
