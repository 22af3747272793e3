/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The configuration of the model: a file of KEY=VALUE lines.
 *
 * Empty lines and lines that begin with # are ignored. A key that is given twice
 * takes its last value, except tier and ram, which add one entry each. Integers
 * are decimal or 0x hexadecimal, numbers are decimal fractions such as 0.25.
 *
 *	page=FILE		memory shared with the guest; model.c requires it
 *	output=FILE		result, JSON (report.h); default: none
 *	live=FILE		progress of the measured region (live.h); default: none
 *	pages=FILE		per-frame file (frames.h); required with dump=1
 *	dump=0|1		write the per-frame file; default 0
 *	observe=0|1		record what pages are used for (observer.h); default 0
 *	sample_ns=NUMBER	period of the time series; default 0: none
 *	ns_per_instruction=NUMBER	CPI, in ns; default 0.25
 *	l1_bytes=INTEGER	L1; default 32768
 *	l1_ways=INTEGER		2 to 64; default 8
 *	llc_bytes=INTEGER	last level; default 1048576
 *	llc_ways=INTEGER	2 to 64; default 16
 *	store_stall=NUMBER	share of WRITE_NS that a store's miss stalls for;
 *				default 0.5
 *	background=own-core|shared	where background threads run (background.h);
 *				default own-core
 *	force_tier=NAME		time all ranges as this tier; default: each as its own
 *	fast_kinds=KIND,...	place pages by kind, in the model only (placement.h);
 *				default: no. Cannot be combined with force_tier.
 *	tier=NAME,READ_NS,WRITE_NS,READ_BYTES_PER_NS,WRITE_BYTES_PER_NS,UNIT_BYTES
 *				a tier, the fastest first; at least one, at most
 *				TIERS_MAX. A unit is a power of two from 64 to 4096.
 *	ram=TIER,START,BYTES,FILE,OFFSET
 *				a range of guest-physical memory: number of its tier
 *				(tier lines count from 0), address, size, and the
 *				file that QEMU backs it with. START, BYTES and OFFSET
 *				are multiples of 4096. At most CONFIG_RANGES_MAX.
 *
 * The number of sets of a cache, BYTES / 64 / WAYS, must be a power of two. A way
 * of the L1 has at most 4096 bytes, so that a virtual and a physical line fall
 * into the same set.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>

#include "units.h"

#define CONFIG_RANGES_MAX	16
#define CONFIG_NAME_MAX		32

/* One tier of memory. */
struct tier_config {
	char name[CONFIG_NAME_MAX];
	uint64_t load_ps;	/* stall of a load that misses */
	uint64_t store_ps;	/* stall of a store that misses: WRITE_NS x store_stall */
	uint64_t unit_bytes;	/* bytes that move at a time, a power of two >= 64 */
	uint64_t read_unit_ps;	/* how long reading a unit keeps the tier busy */
	uint64_t write_unit_ps;	/* how long writing a unit does */
};

/* A range of guest-physical memory and the file that backs it. */
struct range_config {
	unsigned int tier;
	uint64_t start, bytes;
	char *path;
	uint64_t offset;
};

struct config {
	char *page;
	char *output;		/* or NULL */
	char *live;		/* or NULL */
	char *frames;		/* key "pages", or NULL */
	uint64_t insn_ps;	/* key "ns_per_instruction" */
	uint64_t l1_bytes, llc_bytes;
	unsigned int l1_ways, llc_ways;
	unsigned int tier_count;
	struct tier_config tiers[TIERS_MAX];
	unsigned int range_count;
	struct range_config ranges[CONFIG_RANGES_MAX];
	int force_tier;		/* index of the tier, or -1 */
	char *fast_kinds;	/* or NULL */
	bool own_core;		/* key "background" */
	bool observe;
	bool dump;
	uint64_t sample_ps;	/* key "sample_ns"; 0: no time series */
};

/*
 * Read the file at path into config. On an error print one line to stderr that
 * names the file, the line and the key, and return false.
 */
bool config_read(struct config *config, const char *path);

/* Like config_read(), for text in memory; name stands for the file in messages. */
bool config_parse(struct config *config, const char *text, const char *name);

/* Free the strings of config and set its defaults again. */
void config_free(struct config *config);

#endif /* CONFIG_H */
