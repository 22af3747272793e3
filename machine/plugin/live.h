/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the region in progress has come to, in a file for whoever watches the
 * run: pages of each tier by kind, pages moved, stalls by tier and kind. It is
 * made from the series' samples, and nothing of the model depends on it.
 */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>
#include <stdint.h>

struct machine;

struct live {
	uint64_t next_ns;	/* the host's time from which on it is due again */
	bool failed;		/* the file could not be written: leave it */
};

/* The host's time, for live_show(). */
uint64_t live_host_ns(void);

/*
 * A point was added to machine's series: replace the file, if the
 * configuration names one and the last time is a second of the host's ago.
 */
void live_show(struct live *live, const struct machine *machine, uint64_t host_ns);

#endif /* LIVE_H */
