// SPDX-License-Identifier: GPL-2.0
/*
 * The result file: turns the counters of each region into JSON. report.h describes the
 * format.
 */
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "json.h"
#include "report.h"

#define SCHEMA	2

static const char *const migrated_kinds[KLOC_MACHINE_KINDS] = {
	[KLOC_MACHINE_ANON] = "anon",
	[KLOC_MACHINE_FILE] = "file",
	[KLOC_MACHINE_SHMEM] = "shmem",
	[KLOC_MACHINE_OTHER] = "other",
};

static const char *const reason_names[KLOC_MACHINE_REASONS] = {
	[KLOC_MACHINE_HINT_FAULT] = "hint_fault",
	[KLOC_MACHINE_DEMOTION] = "demotion",
	[KLOC_MACHINE_COMPACTION] = "compaction",
	[KLOC_MACHINE_MEMPOLICY] = "mempolicy",
	[KLOC_MACHINE_DAMON] = "damon",
	[KLOC_MACHINE_CONTEXT] = "context",
	[KLOC_MACHINE_OTHER_REASON] = "other",
};

static const char *const wait_names[OVERLAP_REASONS] = {
	[OVERLAP_VALUE] = "value",
	[OVERLAP_WINDOW] = "window",
	[OVERLAP_FULL] = "full",
	[OVERLAP_STORE] = "store",
	[OVERLAP_BANDWIDTH] = "bandwidth",
};

static void put_ns(struct json *json, const char *key, uint64_t ps)
{
	json_unsigned(json, key, (ps + PS_PER_NS / 2) / PS_PER_NS);
}

static const char *tier_name(const struct machine *machine, unsigned int tier)
{
	return machine->config.tiers[tier].name;
}

/* Write the time and instructions of each core. A core that is not busy is idle. */
static void put_cores(struct json *json, const struct machine *machine,
		      const struct region *region)
{
	uint64_t time_ps = region->end.time_ps - region->begin.time_ps;

	json_open_array(json, "cores");
	for (unsigned int i = 0; i < machine->config.cores; i++) {
		const struct counts *begin = &region->begin.cores[i].counts;
		const struct counts *end = &region->end.cores[i].counts;
		uint64_t user = end->user - begin->user, kernel = end->kernel - begin->kernel;
		uint64_t stall_ps = region->end.cores[i].stall_ps - region->begin.cores[i].stall_ps;
		uint64_t busy_ps = (user + kernel) * machine->config.insn_ps + stall_ps;

		json_open_object(json, NULL);
		json_unsigned(json, "user", user);
		json_unsigned(json, "kernel", kernel);
		put_ns(json, "stall_ns", stall_ps);
		/* Cores end a region at times that differ by up to a quantum. */
		put_ns(json, "idle_ns", busy_ps < time_ps ? time_ps - busy_ps : 0);
		json_close_object(json);
	}
	json_close_array(json);
}

static void put_instructions(struct json *json, const struct region *region)
{
	uint64_t user = 0, kernel = 0;

	for (unsigned int i = 0; i < CORES_MAX; i++) {
		user += region->end.cores[i].counts.user - region->begin.cores[i].counts.user;
		kernel += region->end.cores[i].counts.kernel - region->begin.cores[i].counts.kernel;
	}
	json_open_object(json, "instructions");
	json_unsigned(json, "user", user);
	json_unsigned(json, "kernel", kernel);
	json_close_object(json);
}

static void put_times(struct json *json, const struct region *region)
{
	put_ns(json, "time_ns", region->end.time_ps - region->begin.time_ps);
	json_unsigned(json, "monotonic_ns",
		      region->end.monotonic_ns - region->begin.monotonic_ns);
}

static uint64_t count_accesses(const struct region *region, int mode)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < CORES_MAX; i++)
		sum += region->end.cores[i].accesses[mode] - region->begin.cores[i].accesses[mode];
	return sum;
}

static void put_tlb(struct json *json, const struct region *region)
{
	json_open_object(json, "tlb");
	json_unsigned(json, "stlb_hits", region->stlb_hits);
	json_unsigned(json, "walks", region->walks);
	put_ns(json, "walk_ns", region->walk_ps);
	json_close_object(json);
}

/* Write the cores' waits by reason. */
static void put_waits(struct json *json, const struct region *region)
{
	json_open_object(json, "waits_ns");
	for (int reason = 0; reason < OVERLAP_REASONS; reason++)
		put_ns(json, wait_names[reason], region->waits_ps[reason]);
	json_close_object(json);
}

static void put_cache_counters(struct json *json, const struct region *region)
{
	json_open_object(json, "accesses");
	json_unsigned(json, "user", count_accesses(region, 0));
	json_unsigned(json, "kernel", count_accesses(region, 1));
	json_close_object(json);
	json_unsigned(json, "l1_misses", region->l1_misses);
	json_unsigned(json, "llc_misses", region->llc_misses);
	json_unsigned(json, "streamed_misses", region->streamed);
	json_unsigned(json, "snoops", region->snoops);
	json_unsigned(json, "dma_lines", region->dma_lines);
}

/* Write {kind: {user, kernel}} without zeros, values divided by unit. */
static void put_kinds(struct json *json, const char *key, const struct machine *machine,
		      const uint64_t table[KINDS_MAX][2], uint64_t unit)
{
	json_open_object(json, key);
	for (unsigned int kind = 0; kind < machine->pages.kind_count; kind++) {
		const uint64_t *value = table[kind];

		if (!value[0] && !value[1])
			continue;
		json_open_object(json, pages_kind_name(&machine->pages, kind));
		json_unsigned(json, "user", (value[0] + unit / 2) / unit);
		json_unsigned(json, "kernel", (value[1] + unit / 2) / unit);
		json_close_object(json);
	}
	json_close_object(json);
}

static void put_stalls(struct json *json, const struct machine *machine,
		       const struct region *region)
{
	json_open_object(json, "stall_ns");
	for (unsigned int tier = 0; tier < machine->config.tier_count; tier++)
		put_kinds(json, tier_name(machine, tier), machine, region->stall_ps[tier],
			  PS_PER_NS);
	put_kinds(json, "cache", machine, region->stall_ps[TIER_CACHE], PS_PER_NS);
	json_close_object(json);
}

static void put_misses(struct json *json, const struct machine *machine,
		       const struct region *region)
{
	json_open_object(json, "misses");
	for (unsigned int tier = 0; tier < machine->config.tier_count; tier++)
		put_kinds(json, tier_name(machine, tier), machine, region->misses[tier], 1);
	json_close_object(json);
}

static void put_traffic(struct json *json, const struct machine *machine,
			const struct region *region)
{
	json_open_object(json, "traffic_bytes");
	for (unsigned int tier = 0; tier < machine->config.tier_count; tier++) {
		const uint64_t *begin = region->begin.bytes[tier];
		const uint64_t *end = region->end.bytes[tier];
		uint64_t bytes[TRANSFERS];

		for (int i = 0; i < TRANSFERS; i++)
			bytes[i] = end[i] - begin[i];
		json_open_object(json, tier_name(machine, tier));
		json_unsigned(json, "read", bytes[TRANSFER_READ]);
		json_unsigned(json, "write", bytes[TRANSFER_WRITE]);
		json_unsigned(json, "dma", bytes[TRANSFER_DMA_READ] +
					   bytes[TRANSFER_DMA_WRITE]);
		json_close_object(json);
	}
	json_close_object(json);
}

/* Write service that found no time in the ledger: above 0 if devices outran the tier. */
static void put_unserved(struct json *json, const struct machine *machine)
{
	json_open_object(json, "unserved_ns");
	for (unsigned int tier = 0; tier < machine->config.tier_count; tier++) {
		uint64_t lost_ps = 0;

		for (unsigned int socket = 0; socket < machine->config.sockets; socket++)
			lost_ps += machine->tiers[socket][tier].ledger.lost_ps;
		put_ns(json, tier_name(machine, tier), lost_ps);
	}
	if (machine->config.sockets > 1)
		put_ns(json, "remote", machine->links[0].ledger.lost_ps +
				       machine->links[1].ledger.lost_ps);
	json_close_object(json);
}

/* Write {thread: pages that it migrated} without zeros. */
static void put_migrated_by(struct json *json, const struct region *region)
{
	json_open_object(json, "migrated_by");
	for (int slot = 0; slot < KLOC_MACHINE_SLOTS; slot++) {
		uint64_t pages = region->end.slots[slot].migrated -
				 region->begin.slots[slot].migrated;
		char comm[KLOC_MACHINE_COMM + 1] = "";

		memcpy(comm, region->end.slots[slot].comm, KLOC_MACHINE_COMM);
		if (pages)
			json_unsigned(json, comm, pages);
	}
	json_close_object(json);
}

static void put_moved(struct json *json, const char *key, const uint64_t *begin,
		      const uint64_t *end)
{
	json_open_object(json, key);
	for (int kind = 0; kind < KLOC_MACHINE_KINDS; kind++)
		json_unsigned(json, migrated_kinds[kind], end[kind] - begin[kind]);
	json_close_object(json);
}

static void put_migrated(struct json *json, const struct region *region)
{
	json_open_object(json, "migrated");
	put_moved(json, "promoted", region->begin.promoted, region->end.promoted);
	put_moved(json, "demoted", region->begin.demoted, region->end.demoted);
	json_close_object(json);
}

/* Write {reason: pages} without zeros. */
static void put_reasons(struct json *json, const char *key, const uint64_t *begin,
			const uint64_t *end)
{
	json_open_object(json, key);
	for (int reason = 0; reason < KLOC_MACHINE_REASONS; reason++)
		if (end[reason] != begin[reason])
			json_unsigned(json, reason_names[reason], end[reason] - begin[reason]);
	json_close_object(json);
}

static void put_moved_by_reason(struct json *json, const struct region *region)
{
	const struct moment *begin = &region->begin, *end = &region->end;

	json_open_object(json, "moved");
	put_reasons(json, "promoted", begin->promoted_by, end->promoted_by);
	put_reasons(json, "demoted", begin->demoted_by, end->demoted_by);
	json_close_object(json);
}

/* Return a count of a census; a kind that was first seen after it has none. */
static uint32_t frames_of(const struct census *census, unsigned int tier, unsigned int kind)
{
	return kind < census->kinds ? census->frames[tier * census->kinds + kind] : 0;
}

static void put_census(struct json *json, const struct machine *machine,
		       const struct census *census)
{
	json_open_object(json, "pages");
	for (unsigned int tier = 0; tier < machine->config.tier_count; tier++) {
		json_open_object(json, tier_name(machine, tier));
		for (unsigned int kind = 0; kind < census->kinds; kind++)
			if (frames_of(census, tier, kind))
				json_unsigned(json, pages_kind_name(&machine->pages, kind),
					      frames_of(census, tier, kind));
		json_close_object(json);
	}
	json_close_object(json);
}

static bool kind_occurs(const struct region *region, unsigned int tier, unsigned int kind)
{
	for (unsigned int i = 0; i < region->sample_count; i++)
		if (frames_of(&region->samples[i].census, tier, kind))
			return true;
	return false;
}

static void put_pages_series(struct json *json, const struct machine *machine,
			     const struct region *region, unsigned int tier)
{
	json_open_object(json, tier_name(machine, tier));
	for (unsigned int kind = 0; kind < machine->pages.kind_count; kind++) {
		if (!kind_occurs(region, tier, kind))
			continue;
		json_open_array(json, pages_kind_name(&machine->pages, kind));
		for (unsigned int i = 0; i < region->sample_count; i++)
			json_unsigned(json, NULL,
				      frames_of(&region->samples[i].census, tier, kind));
		json_close_array(json);
	}
	json_close_object(json);
}

static void put_stall_series(struct json *json, const struct machine *machine,
			     const struct region *region, unsigned int tier)
{
	json_open_array(json, tier_name(machine, tier));
	for (unsigned int i = 0; i < region->sample_count; i++)
		put_ns(json, NULL, region->samples[i].stall_ps[tier]);
	json_close_array(json);
}

static void put_totals_series(struct json *json, const struct region *region)
{
	json_open_array(json, "t_ns");
	for (unsigned int i = 0; i < region->sample_count; i++)
		put_ns(json, NULL, region->samples[i].t_ps);
	json_close_array(json);
	json_open_array(json, "instructions");
	for (unsigned int i = 0; i < region->sample_count; i++)
		json_unsigned(json, NULL, region->samples[i].instructions);
	json_close_array(json);
	json_open_array(json, "promoted");
	for (unsigned int i = 0; i < region->sample_count; i++)
		json_unsigned(json, NULL, region->samples[i].promoted);
	json_close_array(json);
	json_open_array(json, "demoted");
	for (unsigned int i = 0; i < region->sample_count; i++)
		json_unsigned(json, NULL, region->samples[i].demoted);
	json_close_array(json);
}

/* Return an array by reason of a sample, by its offset in struct sample. */
static const uint64_t *reasons_at(const struct region *region, unsigned int sample,
				  size_t offset)
{
	const void *reasons = (const char *)&region->samples[sample] + offset;

	return reasons;
}

/* Write {reason: [pages, ...]}. Counts only grow: if the last is 0, all are. */
static void put_reasons_series(struct json *json, const char *key,
			       const struct region *region, size_t offset)
{
	unsigned int count = region->sample_count;

	json_open_object(json, key);
	for (int reason = 0; count && reason < KLOC_MACHINE_REASONS; reason++) {
		if (!reasons_at(region, count - 1, offset)[reason])
			continue;
		json_open_array(json, reason_names[reason]);
		for (unsigned int i = 0; i < count; i++)
			json_unsigned(json, NULL, reasons_at(region, i, offset)[reason]);
		json_close_array(json);
	}
	json_close_object(json);
}

static void put_moved_series(struct json *json, const struct region *region)
{
	json_open_object(json, "moved");
	put_reasons_series(json, "promoted", region, offsetof(struct sample, promoted_by));
	put_reasons_series(json, "demoted", region, offsetof(struct sample, demoted_by));
	json_close_object(json);
}

static void put_series(struct json *json, const struct machine *machine,
		       const struct region *region)
{
	json_open_object(json, "series");
	put_totals_series(json, region);
	put_moved_series(json, region);
	json_open_object(json, "stall_ns");
	for (unsigned int tier = 0; tier < machine->config.tier_count; tier++)
		put_stall_series(json, machine, region, tier);
	json_close_object(json);
	json_open_object(json, "pages");
	for (unsigned int tier = 0; tier < machine->config.tier_count; tier++)
		put_pages_series(json, machine, region, tier);
	json_close_object(json);
	json_close_object(json);
}

static void put_region(struct json *json, struct machine *machine, bool complete)
{
	struct region *region = &machine->region;

	json_open_object(json, NULL);
	json_string(json, "name", region->name);
	json_bool(json, "complete", complete);
	put_cores(json, machine, region);
	put_instructions(json, region);
	put_times(json, region);
	put_cache_counters(json, region);
	json_unsigned(json, "free_fast_at_start", machine->frames.free_fast);
	put_tlb(json, region);
	put_waits(json, region);
	put_stalls(json, machine, region);
	put_misses(json, machine, region);
	put_traffic(json, machine, region);
	put_unserved(json, machine);
	if (machine->config.sockets > 1)
		json_unsigned(json, "remote_misses", region->remote_misses);
	put_migrated(json, region);
	put_moved_by_reason(json, region);
	put_migrated_by(json, region);
	put_census(json, machine, &region->census);
	put_series(json, machine, region);
	if (machine->observer.on)
		observer_put(&machine->observer, json, "objects");
	json_close_object(json);
}

void report_add_region(struct machine *machine, bool complete)
{
	char *text = NULL;
	size_t size;
	struct json json = { .file = open_memstream(&text, &size), .depth = 1 };

	if (!json.file)
		return;
	if (machine->reports)
		json_raw(&json, NULL, machine->reports);
	put_region(&json, machine, complete);
	fclose(json.file);
	free(machine->reports);
	machine->reports = text;
}

struct document {
	const struct machine *machine;
	bool complete;
};

static void write_document(FILE *file, const void *data)
{
	const struct document *document = data;
	const struct machine *machine = document->machine;
	struct json json = { .file = file };

	json_open_object(&json, NULL);
	json_unsigned(&json, "schema", SCHEMA);
	json_bool(&json, "complete", document->complete);
	json_bool(&json, "layout_known", machine->pages.known);
	json_open_array(&json, "regions");
	if (machine->reports)
		json_raw(&json, NULL, machine->reports);
	json_close_array(&json);
	json_close_object(&json);
	fputc('\n', file);
}

bool report_write(const struct machine *machine, bool complete)
{
	const struct document document = { machine, complete };

	return !machine->config.output ||
	       file_replace(machine->config.output, write_document, &document);
}
