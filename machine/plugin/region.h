/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A region: a span of guest time between two calls of the guest, and its counters. WARM
 * begins the region "warm-up", BEGIN the region "measured".
 *
 * Counters that run from power-on (instructions, traffic, the guest's own counters) are
 * recorded at both ends as a struct moment, and the report has the differences.
 * Counters of the region alone (stalls by tier, kind and mode; the time series)
 * are in struct region.
 *
 * All counters are of all cores.
 */
#ifndef REGION_H
#define REGION_H

#include "core.h"
#include "pages.h"
#include "placement.h"
#include "tier.h"

#define SAMPLES_MAX	1024

/* A pseudo tier in sources and in stall_ps: lines that the LLC or another L1 served. */
#define TIER_CACHE	TIERS_MAX

/* All counters that run from power-on, at one moment. */
struct moment {
	uint64_t time_ps;
	uint64_t monotonic_ns;			/* the guest's CLOCK_MONOTONIC */
	struct {
		struct counts counts;
		uint64_t accesses[2];
		uint64_t stall_ps;
	} cores[CORES_MAX];
	uint64_t bytes[TIERS_MAX][TRANSFERS];
	uint64_t promoted[KLOC_MACHINE_KINDS];
	uint64_t demoted[KLOC_MACHINE_KINDS];
	uint64_t promoted_by[KLOC_MACHINE_REASONS];
	uint64_t demoted_by[KLOC_MACHINE_REASONS];
	struct kloc_machine_slot slots[KLOC_MACHINE_SLOTS];
};

/* The number of frames of each kind in each tier. */
struct census {
	unsigned int kinds;
	uint32_t *frames;			/* [tier * kinds + kind] */
};

/* One sample of the time series. All counters but the census run from the region's begin. */
struct sample {
	uint64_t t_ps;
	struct census census;
	uint64_t instructions;
	uint64_t stall_ps[TIERS_MAX];
	uint64_t promoted, demoted;		/* pages */
	uint64_t promoted_by[KLOC_MACHINE_REASONS];
	uint64_t demoted_by[KLOC_MACHINE_REASONS];
};

/* An index of [2] is the mode: 0 user, 1 kernel. streamed: misses that were prefetched. */
struct region {
	const char *name;
	struct moment begin, end;
	uint64_t l1_misses, llc_misses, streamed;
	uint64_t remote_misses;			/* of another socket's memory */
	uint64_t snoops;			/* lines that another L1 had dirty */
	uint64_t dma_lines;
	uint64_t stlb_hits, walks, walk_ps;
	uint64_t waits_ps[OVERLAP_REASONS];
	uint64_t stall_ps[TIERS_MAX + 1][KINDS_MAX][2];
	uint64_t misses[TIERS_MAX][KINDS_MAX][2];
	uint64_t tier_stall_ps[TIERS_MAX + 1];	/* sum of stall_ps over kinds and modes */
	struct census census;			/* at the end */
	unsigned int sample_count;
	struct sample samples[SAMPLES_MAX];
	uint64_t sample_ps, next_sample_ps;	/* period, 0: no series; time of the next sample */
};

/* Reset the counters and begin a region at this moment. sample_ps: see config.h. */
void region_begin(struct region *region, const char *name, const struct moment *begin,
		  uint64_t sample_ps);

/* End the region at this moment, with a last sample and a census. */
void region_end(struct region *region, const struct moment *end, struct pages *pages,
		struct placement *placement);

/* Return whether a sample of the time series is due at this time. */
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

/* Return the instructions of all cores at a moment. */
uint64_t moment_instructions(const struct moment *moment);

/* Return the sum over KLOC_MACHINE_KINDS of the counters now, less those of begin. */
uint64_t moment_sum(const uint64_t *now, const uint64_t *begin);

#endif /* REGION_H */
