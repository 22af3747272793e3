// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc: thresholds that adapt to the share of wasted copies.
 */
#include <linux/compiler.h>
#include <linux/math.h>
#include <linux/minmax.h>

#include "policy_kloc.h"

/* One in this many copies may be wasted. */
#define POLICY_KLOC_WASTE	8

/* A threshold falls by one part in this many of its distance to the smallest. */
#define POLICY_KLOC_FALL	8

/* The longest time until a threshold falls, in intervals of ten scans. */
#define POLICY_KLOC_PAUSE	8U

/**
 * policy_kloc_copies_forget() - reset a threshold
 * @copies: the threshold
 */
void policy_kloc_copies_forget(struct policy_kloc_copies *copies)
{
	WRITE_ONCE(copies->value, copies->least);
	copies->pause = 0;
	copies->pause_left = 0;
	copies->seen = tiering_copies(copies->first, copies->last);
}

/*
 * Adapt a threshold to the copies since the last call. It doubles while copies are
 * wasted, and falls again after a pause. Each time that copies are wasted after a
 * pause, the next one is twice as long.
 */
static void policy_kloc_copies_count(struct policy_kloc_copies *copies,
				     struct tiering_copies now)
{
	unsigned long moved = now.moved - copies->seen.moved;
	/* Pages promoted long ago may leave now, too: they count for @moved at most. */
	unsigned long wasted = min(now.wasted - copies->seen.wasted, moved);
	unsigned long some = max(moved, 1UL * TIERING_BATCH);
	unsigned int value = copies->value;

	copies->seen = now;
	if (wasted > some / POLICY_KLOC_WASTE) {
		value = min(value * 2, copies->most);
		/* The last pause is over, or there was none. */
		if (!copies->pause_left)
			copies->pause = clamp(copies->pause * 2, 1U, POLICY_KLOC_PAUSE);
		copies->pause_left = copies->pause;
	} else if (copies->pause_left) {
		copies->pause_left--;
	} else if (wasted <= some / POLICY_KLOC_WASTE / 2) {
		if (value == copies->least)
			copies->pause /= 2;
		else
			value -= DIV_ROUND_UP(value - copies->least, POLICY_KLOC_FALL);
	}
	WRITE_ONCE(copies->value, value);
}

/**
 * policy_kloc_copies_adapt() - adapt a threshold to the copies since the last call
 * @copies: the threshold
 *
 * Copies are wasted if files are short-lived, or if all files are equally hot, so that
 * promoted pages are no hotter than demoted ones. Then a higher threshold allows fewer
 * copies.
 */
void policy_kloc_copies_adapt(struct policy_kloc_copies *copies)
{
	policy_kloc_copies_count(copies, tiering_copies(copies->first, copies->last));
}

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/policy-kloc-copies-kunit.h"
#endif
