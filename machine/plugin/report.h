/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The result, as JSON (key "output"). Nothing in it depends on the host: identical
 * runs give identical bytes.
 *
 *	schema			2
 *	complete		a measured region has ended, and the last region is complete
 *	layout_known		the guest has described its struct page
 *	regions			[...], in order
 *
 * Each region. Times are simulated, in ns; pages and frames are of 4 KiB. All figures but
 * "cores" are sums over all cores, and those of a tier are sums over all sockets.
 *
 *	name			"warm-up" or "measured"
 *	complete		the region has ended
 *	cores			[{user, kernel (instructions), stall_ns, idle_ns}, ...]
 *	instructions		user, kernel
 *	time_ns			length of the region
 *	monotonic_ns		the same by the guest's CLOCK_MONOTONIC
 *	accesses		loads and stores: user, kernel
 *	l1_misses, llc_misses	of them, walks included in llc_misses
 *	streamed_misses		part of llc_misses that was prefetched
 *	snoops			L1 misses on a line that another core's L1 had dirty
 *	dma_lines		lines that devices read or wrote
 *	free_fast_at_start	free frames of the first tier when loading began
 *	tlb			stlb_hits; walks, walk_ns: of page tables
 *	waits_ns		stalls by reason: value, window, full, store, bandwidth;
 *				see overlap.h
 *	stall_ns		{tier: {kind: {user, kernel}}}; the tier "cache" has stalls
 *				for lines from the LLC and other cores' L1s
 *	misses			{tier: {kind: {user, kernel}}}
 *	traffic_bytes		{tier: {read, write, dma}}
 *	unserved_ns		{tier: service that found no bandwidth (bandwidth.h)};
 *				above 0, the tier was busier than the model shows. With two
 *				sockets, "remote" is the links between them.
 *	remote_misses		only with two sockets: part of llc_misses that the other
 *				socket's memory served
 *	migrated		{promoted, demoted: {kind: pages}}
 *	moved			{promoted, demoted: {reason: pages}}
 *	migrated_by		{thread: pages}
 *	pages			{tier: {kind: frames}} at the end
 *	series			the time series; all arrays have the length of t_ns
 *	objects			only with observe=1, see observer.h
 */
#ifndef REPORT_H
#define REPORT_H

#include "machine.h"

/*
 * Append machine->region to machine->reports. complete is false if the region was cut
 * short.
 */
void report_add_region(struct machine *machine, bool complete);

/*
 * Write the result file, if the configuration names one. complete is its value of
 * that key. On failure print a message and return false.
 */
bool report_write(const struct machine *machine, bool complete);

#endif /* REPORT_H */
