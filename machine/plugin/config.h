/* SPDX-License-Identifier: GPL-2.0 */
/* The machine that is to be modelled, as a file of key=value lines says it. */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>

#include "units.h"

#define CONFIG_RANGES_MAX	16
#define CONFIG_NAME_MAX		32

/* One kind of memory. */
struct tier_config {
	char name[CONFIG_NAME_MAX];
	uint64_t load_ps;	/* a load that misses stalls this long */
	uint64_t store_ps;	/* a store that misses, store_stall applied */
	uint64_t unit_bytes;	/* what moves at a time, a power of two >= 64 */
	uint64_t read_unit_ps;	/* how long reading a unit keeps the tier busy */
	uint64_t write_unit_ps;	/* and writing it */
};

/* A range of guest-physical memory and the file that backs it. */
struct range_config {
	unsigned int tier;
	uint64_t start, bytes;
	char *path;
	uint64_t offset;
};

struct config {
	char *page;		/* file of the page shared with the guest */
	char *output;		/* where the result goes, JSON */
	char *live;		/* where it goes while a region is in progress, or NULL */
	char *frames;		/* key "pages": where the per-frame file goes */
	uint64_t insn_ps;	/* key "ns_per_instruction" */
	uint64_t l1_bytes, llc_bytes;
	unsigned int l1_ways, llc_ways;
	unsigned int tier_count;
	struct tier_config tiers[TIERS_MAX];
	unsigned int range_count;
	struct range_config ranges[CONFIG_RANGES_MAX];
	int force_tier;		/* index of the tier that all ranges are timed as, or -1 */
	char *fast_kinds;	/* of pages that are timed as the first tier, or NULL */
	bool own_core;		/* key "background" */
	bool observe;		/* see observer.h */
	bool dump;		/* write the per-frame file */
	uint64_t sample_ps;	/* key "sample_ns": period of the series, 0: none */
};

/*
 * Read the file at path into config. On any error one line on stderr names the
 * file, the line and the key, and the result is false.
 */
bool config_read(struct config *config, const char *path);

/* The same of a string that is already in memory; name is what errors call it. */
bool config_parse(struct config *config, const char *text, const char *name);

void config_free(struct config *config);

#endif /* CONFIG_H */
