/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The live file: totals of the measured region so far, for a viewer to show
 * while the region is in progress (key "live").
 *
 * The totals are those of the latest sample of the time series, so key "sample_ns" is
 * needed. A new file replaces the old one at most once a second of host time. Results
 * do not depend on it.
 *
 * The file is one JSON object:
 *	t_ns		simulated time since the region began
 *	instructions	user and kernel, of all cores
 *	promoted, demoted	pages
 *	pages		{tier: {kind: 4 KiB pages}}
 *	stall_ns	{tier: {kind: stall time of all cores}}
 */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>
#include <stdint.h>

struct machine;

struct live {
	uint64_t next_ns;	/* host time from which the file is to be replaced again */
	bool failed;		/* the file could not be written: do not try again */
};

/* Return the host's monotonic time in ns, for live_show(). */
uint64_t live_host_ns(void);

/*
 * Replace the live file, if the configuration names one and a second of host
 * time has passed since the last time. Call it after each sample of the time
 * series.
 */
void live_show(struct live *live, const struct machine *machine, uint64_t host_ns);

#endif /* LIVE_H */
