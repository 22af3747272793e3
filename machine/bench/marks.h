/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How calls.c tells count.c what it is about to do: a NOP with a number in it,
 * 0f 1f 80 MARK and three bytes that nobody else uses.
 */
#ifndef MARKS_H
#define MARKS_H

#define MARK_1		0x4b	/* K */
#define MARK_2		0x4c	/* L */
#define MARK_3		0x42	/* B */

#define MARK_COUNT	1	/* from here on, look at memory accesses */
#define MARK_REST	2	/* and no more */
#define MARK_END	3	/* of a call */
#define MARK_BEGIN	16	/* and above: of the call with number MARK - MARK_BEGIN */

#define CACHE_LINE	64

#endif /* MARKS_H */
