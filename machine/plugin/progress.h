/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The progress file (key "progress"), by which the kloc command shows progress and
 * notices that a guest hangs. It has two integers of 64 bits: instructions of all cores
 * since power-on, and simulated time in ns.
 *
 * A thread of its own writes it ten times a second of host time. It only reads
 * counters, so the results do not depend on it.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct machine;

struct progress_record {
	uint64_t instructions;
	uint64_t time_ns;
};

struct progress {
	volatile struct progress_record *record;	/* the mapped file */
	const struct machine *machine;
	uint64_t (*now_ps)(void);
};

/*
 * Begin to write the file that the configuration names, if any. now_ps returns
 * simulated time and is called by the thread. On failure print a message and return
 * false.
 */
bool progress_begin(struct progress *progress, const struct machine *machine,
		    uint64_t (*now_ps)(void));

#endif /* PROGRESS_H */
