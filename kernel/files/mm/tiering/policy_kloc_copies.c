// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc: what came of copies, and what follows from that.
 */
#include <linux/compiler.h>
#include <linux/minmax.h>

#include "policy_kloc.h"

/* One in so many pages may have been copied for nothing. */
#define POLICY_KLOC_WASTE	8

/**
 * policy_kloc_copies_forget() - begin anew
 * @copies: what is known of them
 */
void policy_kloc_copies_forget(struct policy_kloc_copies *copies)
{
	copies->value = copies->least;
	copies->seen = tiering_copies(copies->first, copies->last);
}

/**
 * policy_kloc_copies_adapt() - have more or fewer copies made from now on
 * @copies: what is known of them
 *
 * Copies are for nothing where files live for a short time, or where all is used alike:
 * what comes is no hotter than what leaves for it. Then fewer are made from now on.
 */
void policy_kloc_copies_adapt(struct policy_kloc_copies *copies)
{
	struct tiering_copies now = tiering_copies(copies->first, copies->last);
	unsigned long moved = now.moved - copies->seen.moved;
	unsigned long wasted = now.wasted - copies->seen.wasted;
	unsigned int value = copies->value;

	copies->seen = now;
	if (wasted > max(moved, 1UL * TIERING_BATCH) / POLICY_KLOC_WASTE)
		value = min(value + 1, copies->most);
	else if (wasted <= moved / POLICY_KLOC_WASTE / 2)
		value = max(value - 1, copies->least);
	WRITE_ONCE(copies->value, value);
}
