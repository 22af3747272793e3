/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The result, as JSON (key "output"). Nothing in it depends on the host: identical
 * runs give identical bytes.
 *
 *	schema			1
 *	complete		a region has ended, and the last one was not broken off
 *	layout_known		the guest has described its struct page
 *	regions			[...], in order
 *
 * Each region. Times are simulated, in ns; pages and frames are of 4 KiB.
 *
 *	complete		the region has ended
 *	instructions		user, kernel (without background threads on a core of
 *				their own, and without device); device (copies that
 *				stand for DMA); abandoned (part of user and kernel,
 *				see clock.h)
 *	time_ns			length of the region by the model's T
 *	monotonic_ns		the same by the guest's CLOCK_MONOTONIC
 *	idle_ns			the guest was idle
 *	storage_wait_ns		part of idle_ns with storage requests pending
 *	background_excess_ns	by which background threads stopped the workload
 *	accesses		loads and stores: user, kernel; of all code
 *	l1_misses, llc_misses	of all code but devices' copies
 *	streamed_misses		part of llc_misses that was prefetched
 *	device_lines		lines that devices' copies accessed
 *	free_fast_at_start	free frames of the first tier when loading began
 *	stall_ns, misses	{tier: {kind: {user, kernel}}}; the workload's core
 *	traffic_bytes		{tier: {read, write, dma}}
 *	unserved_ns		{tier: service that found no bandwidth (bandwidth.h)};
 *				above 0, the tier was busier than the model shows
 *	background		{thread: {instructions, stall_ns, time_ns, migrated}}
 *	migrated		{promoted, demoted: {kind: pages}}
 *	moved			{promoted, demoted: {reason: pages}}
 *	pages			{tier: {kind: frames}} at the end
 *	series			the time series; all arrays have the length of t_ns
 *	objects			only with observe=1, see observer.h
 */
#ifndef REPORT_H
#define REPORT_H

#include "machine.h"

/*
 * Append machine->region to machine->reports. complete is false if the region was
 * broken off.
 */
void report_add_region(struct machine *machine, bool complete);

/*
 * Write the result file, if the configuration names one. complete is its value of
 * that key. On failure print a message and return false.
 */
bool report_write(const struct machine *machine, bool complete);

#endif /* REPORT_H */
