/* SPDX-License-Identifier: GPL-2.0 */
/* The result, as JSON. Nothing in it depends on the host: equal runs, equal bytes. */
#ifndef REPORT_H
#define REPORT_H

#include "machine.h"

/*
 * Add the region that is over, or is broken off (complete is false), to
 * machine->reports.
 */
void report_add_region(struct machine *machine, bool complete);

/*
 * Write the output file. complete: a region has ended, and none was broken
 * off. False, with a message, if that fails.
 */
bool report_write(const struct machine *machine, bool complete);

#endif /* REPORT_H */
