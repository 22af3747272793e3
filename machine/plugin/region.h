/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The measured region: what is counted between the guest's BEGIN and END.
 *
 * What counts up for ever (clocks, traffic, the guest's own counters) is noted
 * at both ends, and the report is the difference. What only the region has
 * (stalls by tier, kind and mode; the series) is counted here.
 */
#ifndef REGION_H
#define REGION_H

#include "clock.h"
#include "pages.h"
#include "placement.h"
#include "tier.h"

#define SAMPLES_MAX	1024

/* All that counts up for ever, at one moment. */
struct moment {
	uint64_t user, kernel;			/* instructions */
	struct clock clock;
	uint64_t bytes[TIERS_MAX][TRANSFERS];
	uint64_t monotonic_ns;			/* the guest's CLOCK_MONOTONIC */
	uint64_t promoted[KLOC_MACHINE_KINDS];
	uint64_t demoted[KLOC_MACHINE_KINDS];
	uint64_t promoted_by[KLOC_MACHINE_REASONS];
	uint64_t demoted_by[KLOC_MACHINE_REASONS];
	uint64_t migrated[KLOC_MACHINE_SLOTS];
};

/* How many frames of each kind a tier holds. */
struct census {
	unsigned int kinds;
	uint32_t *frames;			/* [tier * kinds + kind] */
};

/* One point of the series. */
struct sample {
	uint64_t t_ps;				/* since BEGIN */
	struct census census;
	uint64_t stall_ps[TIERS_MAX];		/* since BEGIN */
	uint64_t promoted, demoted;		/* pages, since BEGIN */
	uint64_t promoted_by[KLOC_MACHINE_REASONS];
	uint64_t demoted_by[KLOC_MACHINE_REASONS];
};

/* Index 1 is the kernel, 0 the user. */
struct region {
	struct moment begin, end;
	uint64_t accesses[2];
	uint64_t l1_misses, llc_misses, streamed;
	uint64_t stall_ps[TIERS_MAX][KINDS_MAX][2];
	uint64_t misses[TIERS_MAX][KINDS_MAX][2];
	uint64_t tier_stall_ps[TIERS_MAX];	/* of the workload, all kinds */
	uint64_t device_misses;			/* lines that devices moved */
	struct census census;			/* at the end */
	unsigned int sample_count;
	struct sample samples[SAMPLES_MAX];
	uint64_t sample_ps, next_sample_ps;	/* period, 0: none; T of the next */
};

/* Forget what was counted before; a region begins at this moment. */
void region_begin(struct region *region, const struct moment *begin, uint64_t sample_ps);

/* It ends at this moment. */
void region_end(struct region *region, const struct moment *end, struct pages *pages,
		struct placement *placement);

/* Is a point of the series due at T? */
static inline bool region_sample_due(const struct region *region, uint64_t now_ps)
{
	return region->sample_ps && now_ps >= region->next_sample_ps;
}

/*
 * Add a point to the series. When there are too many, every second one is
 * dropped and the period doubled, so that regions of any length fit.
 */
void region_sample(struct region *region, const struct moment *now, struct pages *pages,
		   struct placement *placement);

/* Forget everything; frees what the region holds. */
void region_clear(struct region *region);

/* Sum of a guest's counters by kind, less what they were at BEGIN. */
uint64_t moment_sum(const uint64_t *now, const uint64_t *begin);

#endif /* REGION_H */
