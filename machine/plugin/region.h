/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The measured region: what is counted between the guest's calls BEGIN and END.
 *
 * Counters that run from power-on (clocks, traffic, the guest's own counters) are
 * recorded at both ends as a struct moment, and the report has the differences.
 * Counters of the region alone (stalls by tier, kind and mode; the time series)
 * are in struct region.
 *
 * Limits:
 * - stall_ps and misses are of the workload's core. accesses, l1_misses,
 *   llc_misses and streamed also include background threads, and accesses also
 *   devices' copies.
 */
#ifndef REGION_H
#define REGION_H

#include "clock.h"
#include "pages.h"
#include "placement.h"
#include "tier.h"

#define SAMPLES_MAX	1024

/* All counters that run from power-on, at one moment. */
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

/* The number of frames of each kind in each tier. */
struct census {
	unsigned int kinds;
	uint32_t *frames;			/* [tier * kinds + kind] */
};

/* One sample of the time series. All but the census is counted from BEGIN. */
struct sample {
	uint64_t t_ps;
	struct census census;
	uint64_t stall_ps[TIERS_MAX];		/* of the workload's core */
	uint64_t promoted, demoted;		/* pages */
	uint64_t promoted_by[KLOC_MACHINE_REASONS];
	uint64_t demoted_by[KLOC_MACHINE_REASONS];
};

/* An index of [2] is the mode: 0 user, 1 kernel. streamed: misses that were prefetched. */
struct region {
	struct moment begin, end;
	uint64_t accesses[2];
	uint64_t l1_misses, llc_misses, streamed;
	uint64_t stall_ps[TIERS_MAX][KINDS_MAX][2];
	uint64_t misses[TIERS_MAX][KINDS_MAX][2];
	uint64_t tier_stall_ps[TIERS_MAX];	/* sum of stall_ps over kinds and modes */
	uint64_t device_misses;			/* lines that devices' copies accessed */
	struct census census;			/* at the end */
	unsigned int sample_count;
	struct sample samples[SAMPLES_MAX];
	uint64_t sample_ps, next_sample_ps;	/* period, 0: no series; T of the next sample */
};

/* Reset the counters and begin a region at this moment. sample_ps: see config.h. */
void region_begin(struct region *region, const struct moment *begin, uint64_t sample_ps);

/* End the region at this moment, with a last sample and a census. */
void region_end(struct region *region, const struct moment *end, struct pages *pages,
		struct placement *placement);

/* Return whether a sample of the time series is due at T = now_ps. */
static inline bool region_sample_due(const struct region *region, uint64_t now_ps)
{
	return region->sample_ps && now_ps >= region->next_sample_ps;
}

/*
 * Add a sample to the time series. If there are SAMPLES_MAX of them, drop every
 * second one first and double the period, so that a region of any length fits.
 */
void region_sample(struct region *region, const struct moment *now, struct pages *pages,
		   struct placement *placement);

/* Free the samples and reset the region. */
void region_clear(struct region *region);

/* Return the sum over KLOC_MACHINE_KINDS of the counters now, less those of begin. */
uint64_t moment_sum(const uint64_t *now, const uint64_t *begin);

#endif /* REGION_H */
