/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Units that all parts of the model share.
 *
 * Durations and points in time are integers in picoseconds. 64 bits hold 213
 * days, sums are exact in any order, and 0.25 ns for an instruction is an
 * integer. Output is in nanoseconds. Names end in _ps or _ns.
 *
 * Memory moves in lines of 64 bytes. A frame is a 4 KiB page of guest-physical
 * memory. "line" and "physical line" in names is a physical address / 64.
 */
#ifndef UNITS_H
#define UNITS_H

#include <stddef.h>
#include <stdint.h>

#define PS_PER_NS	1000ULL
#define LINE_SHIFT	6
#define LINE_BYTES	64ULL
#define FRAME_SHIFT	12
#define FRAME_BYTES	4096ULL

#define TIERS_MAX	4
#define SOCKETS_MAX	2

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#endif /* UNITS_H */
