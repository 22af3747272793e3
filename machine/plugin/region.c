// SPDX-License-Identifier: GPL-2.0
/*
 * Regions: take the samples of the time series, and count the frames of each kind in each
 * tier.
 */
#include <stdlib.h>
#include <string.h>

#include "region.h"

uint64_t moment_instructions(const struct moment *moment)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < CORES_MAX; i++)
		sum += moment->cores[i].counts.user + moment->cores[i].counts.kernel;
	return sum;
}

uint64_t moment_sum(const uint64_t *now, const uint64_t *begin)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < KLOC_MACHINE_KINDS; kind++)
		sum += now[kind] - begin[kind];
	return sum;
}

/* Argument of count_frames(). The walk may find new kinds, so there is room for all. */
struct counting {
	uint32_t frames[TIERS_MAX][KINDS_MAX];
	struct pages *pages;
	struct placement *placement;
};

static void count_frames(void *data, const struct ram_range *range, uint64_t physical,
			 uint64_t count, unsigned int kind)
{
	struct counting *counting = data;
	unsigned int tier;

	(void)physical;
	tier = placement_tier(counting->placement, counting->pages, range, kind);
	counting->frames[tier][kind] += (uint32_t)count;
}

static void take_census(struct census *census, struct pages *pages,
			struct placement *placement)
{
	struct counting counting;

	memset(&counting, 0, sizeof(counting));
	counting.pages = pages;
	counting.placement = placement;
	pages_walk(pages, count_frames, &counting);
	census->kinds = pages->kind_count;
	census->frames = calloc((size_t)TIERS_MAX * census->kinds, sizeof(*census->frames));
	if (!census->frames) {
		census->kinds = 0;
		return;
	}
	for (unsigned int tier = 0; tier < TIERS_MAX; tier++)
		memcpy(census->frames + (size_t)tier * census->kinds, counting.frames[tier],
		       census->kinds * sizeof(*census->frames));
}

void region_clear(struct region *region)
{
	free(region->census.frames);
	for (unsigned int i = 0; i < region->sample_count; i++)
		free(region->samples[i].census.frames);
	memset(region, 0, sizeof(*region));
}

void region_begin(struct region *region, const char *name, const struct moment *begin,
		  uint64_t sample_ps)
{
	region_clear(region);
	region->name = name;
	region->begin = *begin;
	region->sample_ps = sample_ps;
	region->next_sample_ps = begin->time_ps;
}

/* Drop every second sample and double the period. */
static void thin_out(struct region *region)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < region->sample_count; i++) {
		if (i % 2)
			free(region->samples[i].census.frames);
		else
			region->samples[kept++] = region->samples[i];
	}
	region->sample_count = kept;
	region->sample_ps *= 2;
}

/* Compute the counts by reason since BEGIN. */
static void count_reasons(uint64_t *since, const uint64_t *now, const uint64_t *begin)
{
	for (int reason = 0; reason < KLOC_MACHINE_REASONS; reason++)
		since[reason] = now[reason] - begin[reason];
}

void region_sample(struct region *region, const struct moment *now, struct pages *pages,
		   struct placement *placement)
{
	struct sample *sample;

	if (region->sample_count == SAMPLES_MAX)
		thin_out(region);
	sample = &region->samples[region->sample_count++];
	/* A core may be up to a quantum behind the core that began the region. */
	sample->t_ps = now->time_ps > region->begin.time_ps ?
		       now->time_ps - region->begin.time_ps : 0;
	sample->instructions = moment_instructions(now) - moment_instructions(&region->begin);
	memcpy(sample->stall_ps, region->tier_stall_ps, sizeof(sample->stall_ps));
	sample->promoted = moment_sum(now->promoted, region->begin.promoted);
	sample->demoted = moment_sum(now->demoted, region->begin.demoted);
	count_reasons(sample->promoted_by, now->promoted_by, region->begin.promoted_by);
	count_reasons(sample->demoted_by, now->demoted_by, region->begin.demoted_by);
	take_census(&sample->census, pages, placement);
	region->next_sample_ps = now->time_ps + region->sample_ps;
}

void region_end(struct region *region, const struct moment *end, struct pages *pages,
		struct placement *placement)
{
	if (region->sample_ps)
		region_sample(region, end, pages, placement);
	region->end = *end;
	take_census(&region->census, pages, placement);
}
