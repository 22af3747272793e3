/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The configuration of the model: a file of KEY=VALUE lines.
 *
 * Empty lines and lines that begin with # are ignored. A key that is given twice
 * takes its last value, except tier and ram, which add one entry each. Integers
 * are decimal or 0x hexadecimal, numbers are decimal fractions such as 0.25.
 *
 *	output=FILE		result, JSON (report.h); default: none
 *	live=FILE		progress of the measured region (live.h); default: none
 *	progress=FILE		instructions and time (progress.h); default: none
 *	pages=FILE		per-frame file (frames.h); required with dump=1
 *	dump=0|1		write the per-frame file; default 0
 *	observe=0|1		record lives and uses of pages (observer.h); default 0
 *	sample_ns=NUMBER	period of the time series; default 0: none
 *	ns_per_instruction=NUMBER	CPI, in ns; default 0.25
 *	cores=INTEGER		vCPUs of the guest, 1 to CORES_MAX; default 1
 *	sockets=INTEGER		1 to SOCKETS_MAX; default 1. Each has the same number of
 *				cores, the first socket the first ones, and a memory of
 *				each tier.
 *	remote=NS,BYTES_PER_NS	the link between two sockets (hierarchy.h): what it adds
 *				to a latency, and its bandwidth each way; required with
 *				two sockets
 *	remote_loaded=UTILISATION:FACTOR,...
 *				the link's latency under load, as in loaded
 *	l1_bytes=INTEGER	each core's L1; default 32768
 *	l1_ways=INTEGER		2 to 64; default 8
 *	llc_bytes=INTEGER	last level; default 1048576
 *	llc_ways=INTEGER	2 to 64; default 16
 *	llc_ns=NUMBER		latency of a hit in the last level; default 0
 *	snoop_ns=NUMBER		latency of a line that another L1 has dirty; default 0
 *	outstanding=INTEGER	lines of a core under way at once (overlap.h); default 10
 *	window=INTEGER		reorder window, in instructions; default 224
 *	store_buffer=INTEGER	stores under way at once; default 8
 *	prefetch=INTEGER	prefetched lines under way at once; default 20
 *	tlb=ENTRIES,WAYS	first-level TLB of 4 KiB pages (tlb.h); default 64,4
 *	tlb_huge=ENTRIES,WAYS	first-level TLB of 2 MiB pages; default 32,4
 *	stlb=ENTRIES,WAYS	second-level TLB; default 1536,12
 *	stlb_ns=NUMBER		latency of a hit in the second-level TLB; default 0
 *	force_tier=NAME		time all ranges as this tier; default: each by its own tier
 *	fast_kinds=KIND,...	place pages by kind, in the model only (placement.h);
 *				default: no. Cannot be combined with force_tier.
 *	fast_frames=FILE	one byte for each frame of all ranges: 1 is timed as the
 *				first tier (placement.h); default: none
 *	tier=NAME,READ_NS,READ_BYTES_PER_NS,WRITE_BYTES_PER_NS,UNIT_BYTES
 *				a tier, the fastest first; at least one, at most
 *				TIERS_MAX. A unit is a power of two from 64 to 4096.
 *				Each socket's memory has this bandwidth.
 *	loaded=NAME,UTILISATION:FACTOR,...
 *				latency of a tier under load (tier.h): FACTOR x READ_NS at
 *				this utilisation of the tier's bandwidth. Utilisation is
 *				from 0 to 1 and rises; the first point is 0:1.
 *				Default: latency does not depend on load.
 *	ram=TIER,START,BYTES,FILE,OFFSET[,SOCKET]
 *				a range of guest-physical memory: number of its tier
 *				(tier lines count from 0), address, size, the file
 *				that QEMU backs it with, and its socket, default 0.
 *				START, BYTES and OFFSET are multiples of 4096. At most
 *				CONFIG_RANGES_MAX.
 *
 * The number of sets of a cache, BYTES / 64 / WAYS, must be a power of two. A way
 * of the L1 has at most 4096 bytes, so that a virtual and a physical line fall
 * into the same set.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>

#include "overlap.h"
#include "tlb.h"
#include "units.h"

#define CONFIG_RANGES_MAX	16
#define CONFIG_NAME_MAX		32
#define LOADED_POINTS_MAX	8
#define LOADED_ONE		65536U	/* 1.0 in struct loaded_point */

/* At this utilisation of a tier, its latency is factor times the idle one. */
struct loaded_point {
	uint32_t utilisation, factor;	/* x LOADED_ONE */
};

/* One tier of memory. */
struct tier_config {
	char name[CONFIG_NAME_MAX];
	uint64_t read_ps;	/* idle latency */
	uint64_t unit_bytes;	/* bytes that move at a time, a power of two >= 64 */
	uint64_t read_unit_ps;	/* how long reading a unit keeps the tier busy */
	uint64_t write_unit_ps;	/* how long writing a unit does */
	unsigned int point_count;	/* 0: latency does not depend on load */
	struct loaded_point points[LOADED_POINTS_MAX];
};

/* A range of guest-physical memory and the file that backs it. */
struct range_config {
	unsigned int tier, socket;
	uint64_t start, bytes;
	char *path;
	uint64_t offset;
};

struct config {
	char *output;		/* or NULL */
	char *live;		/* or NULL */
	char *progress;		/* or NULL */
	char *frames;		/* key "pages", or NULL */
	unsigned int cores, sockets;
	struct tier_config link;	/* keys "remote"; unit_bytes is 0 without them */
	uint64_t insn_ps;	/* key "ns_per_instruction" */
	uint64_t l1_bytes, llc_bytes;
	unsigned int l1_ways, llc_ways;
	uint64_t llc_ps, snoop_ps, stlb_ps;
	struct overlap_config overlap;
	struct tlb_config tlb;
	unsigned int tier_count;
	struct tier_config tiers[TIERS_MAX];
	unsigned int range_count;
	struct range_config ranges[CONFIG_RANGES_MAX];
	int force_tier;		/* index of the tier, or -1 */
	char *fast_kinds;	/* or NULL */
	char *fast_frames;	/* or NULL */
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
