/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: the record of a page's uses and moves.
 *
 * Folios and slab pages have the same record, for all observers.
 */
#ifndef _LINUX_TIERING_USE_H
#define _LINUX_TIERING_USE_H

#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/types.h>

/**
 * struct tiering_use - the record of a page's uses and moves
 * @history: the scans of the last eight in which the page was used, bit 0 for the latest
 * @moves: number of moves between nodes
 * @reason: reason of the last move, enum tiering_reason plus 1; 0 if no policy asked
 *	for it
 * @uses: scans since the last move in which the page was used, U8_MAX for more
 *
 * The owner of the record defines the begin of a scan, and may decrement @moves over
 * time.
 */
struct tiering_use {
	u8 history;
	u8 moves;
	u8 reason;
	u8 uses;
};

/**
 * tiering_use_history() - get the history relative to the current scan
 * @use: the record
 * @scans: the number of scans since the history was written
 *
 * Return: the history.
 */
static inline u8 tiering_use_history(const struct tiering_use *use, u16 scans)
{
	return scans < BITS_PER_BYTE ? use->history << scans : 0;
}

/**
 * tiering_use_note() - note that the page was used in the latest scan
 * @use: the record, with a history relative to the latest scan
 */
static inline void tiering_use_note(struct tiering_use *use)
{
	use->history |= BIT(0);
	use->uses = min(use->uses + 1, U8_MAX);
}

/**
 * tiering_use_move() - note that the page has moved to another node
 * @use: the record
 * @reason: as in struct tiering_use
 */
static inline void tiering_use_move(struct tiering_use *use, u8 reason)
{
	use->moves = min(use->moves + 1, U8_MAX);
	use->reason = reason;
	use->uses = 0;
}

#endif /* _LINUX_TIERING_USE_H */
