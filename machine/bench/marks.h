/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Marks: calls.c executes them, and the plugin count.c recognizes them as the ends of
 * calls and of the rounds that count. A mark is a NOP with a number, 0f 1f 80 MARK MARK_1
 * MARK_2 MARK_3; no other code uses these last three bytes.
 */
#ifndef MARKS_H
#define MARKS_H

#define MARK_1		0x4b	/* K */
#define MARK_2		0x4c	/* L */
#define MARK_3		0x42	/* B */

#define MARK_COUNT	1	/* begin to count memory accesses */
#define MARK_REST	2	/* stop counting them */
#define MARK_END	3	/* a call ends */
#define MARK_BEGIN	16	/* and above: call number MARK - MARK_BEGIN begins */

#define CACHE_LINE	64

#endif /* MARKS_H */
